"""A source over FIX on a real line, with the faults of the demo's venue: none of them is traded."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from bullion.hedge.fix.message_log import MessageLog
from bullion.hedge.fix.profile import SymbolForm
from bullion.hedge.fix.schedule import Timetable
from bullion.market_demo.fix_quotes import QuoteFault
from bullion.market_demo.session_acceptor import clock_us
from bullion.market_file import MarketSettings, Messages
from bullion.rates.feeds.quote import Alive, Quote
from bullion.rates.feeds.source_settings import FeedSettings, GuardNumbers, SourceInstrument, SourceSettings
from bullion.wiring.fix_source import message_log
from tests.support.fix_quotes import QUICK, following, line_to, quoting
from tests.support.servers import free_port

pytestmark = pytest.mark.anyio

GOLD = SourceInstrument(instrument="GOLD", symbol="XAU/USD", lowest="1000", highest="9000")
SOURCE = SourceSettings(name="venue", kind="fix", instruments=(GOLD,), alive_s=3)
QUICK_GUARD = FeedSettings(sources=(), guards={"GOLD": GuardNumbers(old_s=1)}, failover_s=1)


async def test_quotes_arrive_exactly_as_the_venue_has_them() -> None:
    async with quoting() as venue, following([SOURCE], [line_to(venue.port)]) as running:
        await running.until(running.publishes)
        venue.set_fault(QuoteFault.SILENCE)
        seen = {(each.bid_e6, each.ask_e6) for each in running.items if isinstance(each, Quote)}
        assert seen
        assert all(bid and ask and 0 < bid < ask and bid % 10_000 == 0 for bid, ask in seen)
        assert venue.engine.subscribed == ["XAU/USD"]
        assert running.drops() == {}


async def test_a_quiet_line_that_beats_keeps_its_quote() -> None:
    async with quoting() as venue, following([SOURCE], [line_to(venue.port)]) as running:
        await running.until(running.publishes)
        venue.set_fault(QuoteFault.SILENCE)
        quotes = sum(isinstance(each, Quote) for each in running.items)
        await running.until(lambda: all(isinstance(each, Alive) for each in running.items[-2:]))
        assert sum(isinstance(each, Quote) for each in running.items) <= quotes + 1
        assert running.publishes()


async def test_a_quiet_line_keeps_its_quote_after_the_clock_was_set_back() -> None:
    async with quoting() as venue, following([SOURCE], [line_to(venue.port)]) as running:
        await running.until(running.publishes)
        venue.set_fault(QuoteFault.SILENCE)
        await running.until(lambda: all(isinstance(each, Alive) for each in running.items[-2:]))
        running.set_back_us = 100_000_000
        assert not running.publishes()
        await running.until(running.publishes)
        assert running.losses == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (QuoteFault.NAN, "unreadable"),
        (QuoteFault.NEGATIVE, "sides"),
        (QuoteFault.CROSSED, "sides"),
        (QuoteFault.HALF, "sides"),
        (QuoteFault.WIDE, "width"),
        (QuoteFault.OLD, "time"),
        (QuoteFault.FROZEN, "time"),
        (QuoteFault.THOUSAND, "bounds"),
        (QuoteFault.GAP, "unreadable"),
        (QuoteFault.UNKNOWN_ENTRY, "unreadable"),
        (QuoteFault.REJECT, "unreadable"),
    ],
)
async def test_a_fault_is_not_published_but_counted_and_over_when_it_ends(
    fault: QuoteFault, reason: str
) -> None:
    async with quoting() as venue, following([SOURCE], [line_to(venue.port)], QUICK_GUARD) as running:
        await running.until(running.publishes)
        venue.set_fault(fault)
        await running.until(lambda: reason in running.drops() and not running.publishes())
        last = running.feed.step(clock_us())
        assert last == []
        venue.set_fault(QuoteFault.NONE)
        await running.until(running.publishes)
        assert set(running.drops()) == {reason}
        assert running.losses == [], "the line itself was never lost"
        assert venue.engine.subscribed == ["XAU/USD"], "there is one subscription, whatever happened"


async def test_a_lost_line_suspends_the_quote_and_comes_back() -> None:
    async with quoting() as venue, following([SOURCE], [line_to(venue.port)]) as running:
        await running.until(running.publishes)
        venue.cut()
        await running.until(lambda: bool(running.losses))
        await running.until(lambda: venue.logons == 2 and running.publishes())


async def test_a_venue_that_is_not_there_or_refuses_is_told() -> None:
    async with following([SOURCE], [line_to(free_port())]) as running:
        await running.until(lambda: bool(running.losses))
        assert running.losses[0].endswith("Connection refused")
    async with quoting() as venue:
        stranger = msgspec.structs.replace(line_to(venue.port), sender="STRANGER")
        async with following([SOURCE], [stranger]) as running:
            await running.until(lambda: bool(running.losses))
            assert running.items == []


async def test_outside_of_its_hours_the_line_rests() -> None:
    async with quoting() as venue:
        today = datetime.now(UTC).date()
        days = tuple((today + timedelta(each)).isoformat() for each in (-1, 0, 1))
        closed = msgspec.structs.replace(line_to(venue.port), timetable=Timetable(closed_on=days))
        async with (
            following([SOURCE], [closed]) as resting,
            following([SOURCE], [line_to(venue.port)]) as running,
        ):
            await running.until(running.publishes)
            assert (resting.items, resting.losses, venue.logons) == ([], [], 1)


async def test_instruments_by_security_id() -> None:
    profile = msgspec.structs.replace(QUICK, symbol=SymbolForm.SECURITY_ID)
    async with quoting() as venue, following([SOURCE], [line_to(venue.port, profile)]) as running:
        await running.until(running.publishes)


async def test_another_source_takes_over_and_what_differs_is_not_published() -> None:
    second = msgspec.structs.replace(SOURCE, name="backup")
    async with (
        quoting() as venue,
        quoting() as backup,
        following([SOURCE, second], [line_to(venue.port), line_to(backup.port)], QUICK_GUARD) as running,
    ):
        await running.until(lambda: running.publishes() and running.instrument().quotes[1].good)
        assert running.instrument().source == "venue"
        venue.set_fault(QuoteFault.CROSSED)
        await running.until(lambda: running.instrument().source == "backup" and running.publishes())
        assert running.feed.switches == 1


async def test_a_held_quote_is_shown_and_the_desk_releases_it() -> None:
    unbounded = msgspec.structs.replace(GOLD, lowest=None, highest=None)
    source = msgspec.structs.replace(SOURCE, instruments=(unbounded,))
    async with (
        quoting() as venue,
        following([source], [line_to(venue.port)], published_e6=None) as running,
    ):
        await running.until(lambda: running.instrument().quotes[0].held is not None)
        assert not running.publishes(), "there is nothing to compare the first quote with"
        held = running.instrument().quotes[0].held
        assert held is not None
        assert running.feed.release("venue", "GOLD", held.bid_e6 + held.ask_e6)
        await running.until(running.publishes)


@pytest.mark.parametrize("log_quotes", [False, True])
async def test_prices_are_kept_in_the_message_log_only_if_wanted(tmp_path: Path, *, log_quotes: bool) -> None:
    source = msgspec.structs.replace(SOURCE, log_quotes=log_quotes)
    log = message_log(source, MarketSettings(messages=Messages(str(tmp_path))), clock_us)
    assert isinstance(log, MessageLog)
    async with quoting() as venue, following([source], [line_to(venue.port)], log=log) as running:
        # The first is of the snapshot, the next of an increment.
        await running.until(lambda: sum(isinstance(each, Quote) for each in running.items) > 1)
    (file,) = (tmp_path / "sources").glob("venue-*.log")
    kinds = {line.partition("\x0135=")[2][0] for line in file.read_text("latin-1").splitlines()}
    assert {"A", "V"} <= kinds
    assert ("W" in kinds) is ("X" in kinds) is log_quotes
