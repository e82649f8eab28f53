"""The demo's venue fills at what it quotes, and its statement says the same."""

import csv
import sqlite3
from io import StringIO

import pytest

from bullion.hedge.fix.codec import Message, Pair, message_of
from bullion.market_demo.exchange import Exchange
from bullion.market_demo.faults import Faults
from bullion.market_demo.fix_acceptor import open_book
from bullion.market_demo.prices import Prices

NOW_US = 1_800_000_000_000_000
BASE_E6 = 4_000_000_000


def order(name: str, side: str = "1", limit: str | None = None, symbol: str = "XAU/USD") -> Message:
    price: list[Pair] = [(40, "1")] if limit is None else [(40, "2"), (44, limit)]
    return message_of([(35, "D"), (34, 7), (11, name), (55, symbol), (54, side), (38, "2"), *price])


def filled(exchange: Exchange, message: Message) -> str:
    *_, report = exchange.received(message, NOW_US)
    fields = dict(report)
    assert fields[150] == "F"
    assert fields[31] == fields[6]
    return str(fields[31])


def new_exchange() -> Exchange:
    return Exchange(open_book(":memory:"), Faults(), prices=Prices({"XAU/USD": BASE_E6}))


@pytest.mark.parametrize(
    ("side", "limit", "price"),
    [
        ("1", None, "4000.4"),
        ("2", None, "3999.6"),
        ("1", "4020", "4000.4"),
        ("2", "3980", "3999.6"),
        ("1", "4000.1", "4000.1"),
        ("2", "4000.1", "4000.1"),
    ],
)
def test_a_fill_is_at_the_quote_and_never_worse_than_the_limit(
    side: str, limit: str | None, price: str
) -> None:
    assert filled(new_exchange(), order("A", side, limit)) == price


def test_without_a_quote_the_limit_is_the_price() -> None:
    exchange = new_exchange()
    assert filled(exchange, order("A", limit="31.25", symbol="XAG/USD")) == "31.25"
    assert filled(exchange, order("B", symbol="XAG/USD")) == "2000.0"


def test_the_statement_has_the_prices_of_the_reports_also_after_they_moved() -> None:
    prices = Prices({"XAU/USD": BASE_E6}, seed=3)
    exchange = Exchange(open_book(":memory:"), Faults(), prices=prices)
    told = []
    for name in "ABCDEFGH":
        told.append(filled(exchange, order(name)))
        prices.step()
    assert len(set(told)) > 1
    stated = [row["price"] for row in csv.DictReader(StringIO(exchange.statement()))]
    assert stated == told
    status = message_of([(35, "H"), (11, "A"), (790, "Q"), (54, "1"), (55, "XAU/USD")])
    assert dict(exchange.received(status, NOW_US)[-1])[6] == told[0]


def test_prices_walk_near_their_base_with_two_sides() -> None:
    prices = Prices({"XAU/USD": BASE_E6}, seed=1)
    seen = set()
    for _ in range(2_000):
        prices.step()
        quote = prices.of("XAU/USD")
        assert quote is not None
        assert 0 < quote.bid_e6 < quote.ask_e6
        assert abs(quote.ask_e6 - BASE_E6) <= BASE_E6 // 90
        seen.add(quote)
    assert len(seen) > 100
    assert prices.of("XAG/USD") is None


def test_a_limit_that_is_no_price_is_rejected() -> None:
    (report,) = new_exchange().received(order("A", limit="dear"), NOW_US)
    assert (dict(report)[35], dict(report)[371]) == ("3", 44)


def test_a_book_of_an_earlier_version_is_still_read() -> None:
    book = sqlite3.connect(":memory:")
    book.execute(
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, client_order_id TEXT NOT NULL, "
        "symbol TEXT NOT NULL, side TEXT NOT NULL, quantity_e8 INTEGER NOT NULL, state TEXT NOT NULL, "
        "text TEXT NOT NULL) STRICT"
    )
    book.execute("INSERT INTO orders VALUES (1, 'OLD', 'XAU/USD', '1', 100, '0', '')")
    exchange = Exchange(book, Faults(), prices=Prices({"XAU/USD": BASE_E6}))
    *_, report = exchange.decide_all(NOW_US)
    assert (dict(report)[11], dict(report)[31]) == ("OLD", "4000.4")
