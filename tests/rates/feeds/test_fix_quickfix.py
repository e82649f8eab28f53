"""A second opinion: our market data, from a QuickFIX acceptor that answers subscriptions."""

from collections.abc import Iterator
from importlib.util import find_spec

import msgspec
import pytest

from bullion.rates.feeds.quote import Quote, Unreadable
from bullion.rates.feeds.source_settings import SourceInstrument, SourceSettings
from tests.hedge.fix.test_quickfix import QuickFix
from tests.support import quickfix_wheel
from tests.support.fix_peer import until
from tests.support.fix_quotes import following, line_to
from tests.support.servers import free_port

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        find_spec("quickfix") is None and not quickfix_wheel.exists(),
        reason="quickfix-py has no wheel for this platform",
    ),
]


@pytest.fixture(scope="module")
def acceptor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickFix]:
    process = QuickFix(
        "acceptor", free_port(), tmp_path_factory.mktemp("quickfix"), "QUOTES", "QUOTES-REFUSED"
    )
    process.tell("start")
    yield process
    process.end()


def source(symbol: str) -> SourceSettings:
    gold = SourceInstrument(instrument="GOLD", symbol=symbol, lowest="1000", highest="9000")
    return SourceSettings(name="venue", kind="fix", instruments=(gold,))


async def test_its_snapshot_and_its_change_are_quotes(acceptor: QuickFix) -> None:
    await until(lambda: acceptor.seen("", "started"))
    line = msgspec.structs.replace(line_to(acceptor.port), sender="QUOTES", target="QUICKFIX")
    async with following([source("XAU/USD")], [line]) as running:
        await running.until(lambda: sum(isinstance(each, Quote) for each in running.items) >= 2)
        assert running.publishes()
    quotes = [(each.bid_e6, each.ask_e6) for each in running.items if isinstance(each, Quote)]
    assert quotes == [(4_000_100_000, 4_000_500_000), (4_000_300_000, 4_000_500_000)]
    await until(lambda: acceptor.seen("QUOTES", "from_admin", "35=5"))
    assert len(acceptor.seen("QUOTES", "from_app", "35=V", "264=1", "267=2", "146=1", "55=XAU/USD")) == 1
    assert acceptor.seen("QUOTES", "to_admin", "35=3") == [], "it rejected nothing"


async def test_its_refusal_is_told_and_asked_again(acceptor: QuickFix) -> None:
    await until(lambda: acceptor.seen("", "started"))
    line = msgspec.structs.replace(line_to(acceptor.port), sender="QUOTES-REFUSED", target="QUICKFIX")
    async with following([source("NONE")], [line]) as running:
        await running.until(lambda: len(acceptor.seen("QUOTES-REFUSED", "from_app", "35=V")) >= 2)
        assert Unreadable in {type(each) for each in running.items}
        assert not running.publishes()
