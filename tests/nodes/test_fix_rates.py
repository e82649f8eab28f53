"""A node whose rates and whose deals come from one venue over FIX: prices agree, also when it dies."""

import contextlib
import csv
import signal
from collections.abc import Iterator
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest

from tests.support.command import environment
from tests.support.fix_node import Acceptor, add_source, fix_market, fix_settings, market_file
from tests.support.forked_process import run
from tests.support.node import start, until
from tests.support.orders import refused
from tests.support.production import LiveMarket, opened

PATIENCE_S = 30.0
AGE_S_MAX = 3


@pytest.fixture
def venue(tmp_path: Path) -> Iterator[Acceptor]:
    with Acceptor(tmp_path, "GOLD=150000") as found:
        yield found.start()


@pytest.fixture
def market(venue: Acceptor, tmp_path: Path) -> Iterator[LiveMarket]:
    path = add_source(market_file(tmp_path, venue.port, unknown_after_s="2.5"), venue.quotes_port)
    node = start(tmp_path, **(fix_settings(path) | {"BULLION_FEED": "live"}))
    with contextlib.ExitStack() as ends:
        ends.callback(node.stop, signal.SIGKILL)
        yield ends.enter_context(fix_market(node))


def statement(folder: Path) -> list[dict[str, str]]:
    words = ["--statement", "--book", str(folder / "venue.db")]
    done = run(words, folder, environment(), module="bullion.market_demo.fix_acceptor")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(StringIO(done.stdout)))


def feed_light(market: LiveMarket) -> str:
    """What the desk's health call says of the source."""
    lights = market.desk.do("GET", "/health")["items"]
    return "".join(each["text"] for each in lights if (each["part"], each["name"]) == ("feed", "venue"))


def test_rates_and_fills_are_those_of_the_venue_until_it_dies(
    market: LiveMarket, venue: Acceptor, tmp_path: Path
) -> None:
    market.live("LIVE", pricing={"kind": "direct", "instrument": "GOLD"}, rate_age_s_max=AGE_S_MAX)
    trader, tester = market.trader(), market.tester()
    order = opened(trader.place(symbol_code="LIVE"))
    (row,) = statement(tmp_path)
    assert row["order_id"] == order["id"]
    assert abs(Decimal(row["price"]) - Decimal(order["price"])) <= 150, "within ten bps of the client's price"
    assert row["price"] != "2000.0"

    venue.kill()
    # In the test environment nothing but the rate is missing.
    until(lambda: tester.quote("LIVE")["reason"] == "stale_rate", within_s=PATIENCE_S)
    refused(tester.place(symbol_code="LIVE"), "stale_rate")
    until(lambda: "source away" in feed_light(market), within_s=PATIENCE_S)

    venue.start()
    until(lambda: trader.quote("LIVE")["reason"] is None, within_s=PATIENCE_S)
    again = opened(trader.place(symbol_code="LIVE"))
    assert statement(tmp_path)[-1]["order_id"] == again["id"]
