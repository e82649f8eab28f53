"""Reading orders back: the list with its filters and pages, and single orders."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.orders import ORDERS, Market, Trader, all_at_once, booked, problems, refused

COUNT = 600
"""More than one page, and more than one block of the store's counts."""


@dataclass
class Book:
    """An account with many orders, all of them known."""

    trader: Trader
    newest_first: list[dict[str, Any]]

    def matching(self, **filters: str) -> list[dict[str, Any]]:
        return [
            order
            for order in self.newest_first
            if all(order[name] == value for name, value in filters.items())
        ]


@pytest.fixture(scope="module")
def book(shared_market: Market) -> Iterator[Book]:
    with shared_market.visit() as market:
        market.symbol("RARE")
        trader = market.trader()
        chance = random.Random(3)  # noqa: S311
        bodies = [
            {
                "symbol_code": chance.choice(["GOLD"] * 5 + ["SILVER"] * 3),
                "trade_type": chance.choice(["buy", "sell"]),
                "quantity": 1,
                "client_order_id": chance.choice([None, "a", "b", "", f"own {number}"]),
            }
            for number in range(COUNT - 3)
        ]
        rare = {"symbol_code": "RARE", "trade_type": "buy", "quantity": 1}
        orders = [booked(trader.place(**rare, client_order_id="a"))]
        answers = all_at_once([trader], [(str(uuid4()), body) for body in bodies], at_once=30)
        orders += [booked(answer) for answer in answers]
        orders += [booked(trader.place(**rare)) for _ in range(2)]
        orders.sort(key=lambda order: int(order["deal_label"].removeprefix("T-")), reverse=True)
        assert [order["deal_label"] for order in orders] == [f"T-{number}" for number in range(COUNT, 0, -1)]
        for newer, older in pairwise(orders):
            assert newer["created_at"] >= older["created_at"]
        yield Book(trader, orders)


def whole(trader: Trader, limit: int, **filters: str) -> list[dict[str, Any]]:
    """Page by page to the end."""
    found: list[dict[str, Any]] = []
    while True:
        page = trader.orders(limit=limit, offset=len(found), **filters)
        found += page["items"]
        if len(page["items"]) < limit:
            assert page["total"] == len(found)
            return found


def test_by_default_the_newest_fifty(book: Book) -> None:
    answer = book.trader.orders()
    assert answer == {"items": book.newest_first[:50], "total": COUNT}


@pytest.mark.parametrize("limit", [1, 7, 50, 200])
def test_pages_are_slices_of_the_whole(book: Book, limit: int) -> None:
    offsets = {0, 1, 49, 255, 256, 257, COUNT - 1, COUNT, COUNT + 1, COUNT - limit}
    for offset in offsets:
        answer = book.trader.orders(limit=limit, offset=offset)
        assert answer == {"items": book.newest_first[offset : offset + limit], "total": COUNT}


FILTERS: list[dict[str, str]] = [
    {"symbol_code": "GOLD"},
    {"symbol_code": "SILVER"},
    {"symbol_code": "RARE"},
    {"trade_type": "buy"},
    {"trade_type": "sell"},
    {"symbol_code": "GOLD", "trade_type": "sell"},
    {"symbol_code": "RARE", "trade_type": "sell"},
    {"client_order_id": "a"},
    {"client_order_id": ""},
    {"client_order_id": "own 7"},
    {"client_order_id": "a", "symbol_code": "RARE"},
    {"client_order_id": "b", "trade_type": "buy", "symbol_code": "SILVER"},
    {"symbol_code": "NOWHERE"},
    {"symbol_code": "gold"},
    {"symbol_code": ""},
    {"symbol_code": "x" * 32},
    {"trade_type": "hold"},
    {"trade_type": "BUY"},
    {"trade_type": ""},
    {"trade_type": "x" * 8},
    {"client_order_id": "x" * 64},
    {"client_order_id": "'; DROP TABLE orders; --"},
    {"symbol_code": "%"},
    {"client_order_id": "own _"},
]


@pytest.mark.parametrize("filters", FILTERS, ids=lambda filters: " ".join(map("=".join, filters.items())))
def test_filters_and_their_totals_are_exact(book: Book, filters: dict[str, str]) -> None:
    expected = book.matching(**filters)
    assert whole(book.trader, 200, **filters) == expected
    for offset in (1, len(expected) // 2, len(expected), 10**18):
        answer = book.trader.orders(limit=3, offset=offset, **filters)
        assert answer == {"items": expected[offset : offset + 3], "total": len(expected)}


@pytest.mark.parametrize("filters", [{}, *FILTERS[:11]], ids=str)
def test_since_combines_with_every_filter_and_includes_its_instant(
    book: Book, filters: dict[str, str]
) -> None:
    for place in (0, 1, 80, 88, 300, COUNT - 2, COUNT - 1):
        since = book.newest_first[place]["created_at"]
        expected = [order for order in book.matching(**filters) if order["created_at"] >= since]
        assert whole(book.trader, 200, since=since, **filters) == expected
        answer = book.trader.orders(limit=2, offset=5, since=since, **filters)
        assert answer == {"items": expected[5:7], "total": len(expected)}
    just_after = datetime.fromisoformat(book.newest_first[0]["created_at"]) + timedelta(microseconds=1)
    assert book.trader.orders(since=just_after.isoformat(), **filters) == {"items": [], "total": 0}


def test_since_in_every_form(book: Book) -> None:
    """All of them name the instant of an order in the middle, or a moment that has as many since."""
    at = datetime.fromisoformat(book.newest_first[COUNT // 2]["created_at"])
    east, west = timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=8))
    total = sum(order["created_at"] >= at.isoformat() for order in book.newest_first)
    utc = at.astimezone(UTC)
    for form in (
        at.isoformat(),
        f"{utc:%Y-%m-%dT%H:%M:%S.%f}Z",
        f"{utc:%Y-%m-%dT%H:%M:%S.%f}",
        f"{utc:%Y-%m-%d %H:%M:%S.%f}",
        f"{utc:%Y%m%dT%H%M%S.%f}Z",
        f"{utc:%G-W%V-%u}T{utc:%H:%M:%S.%f}+00:00",
        at.astimezone(east).isoformat(),
        at.astimezone(west).isoformat(),
    ):
        assert book.trader.orders(since=form, limit=1)["total"] == total, form
    # A plus that nobody escaped, and so arrives as a space.
    text = at.astimezone(east).isoformat()
    answer = book.trader.http.get(f"{ORDERS}?limit=1&since={text}")
    assert answer.json()["total"] == total


@pytest.mark.parametrize(
    "since", ["0001-01-01", "1969-12-31T23:59:59", "2000-01-01", "0001-01-01T00:00+23:59"]
)
def test_since_long_ago_is_everything(book: Book, since: str) -> None:
    assert book.trader.orders(since=since)["total"] == COUNT


@pytest.mark.parametrize("since", ["9999-12-31T23:59:59.999999-23:59", "9999-12-31"])
def test_since_the_far_future_is_nothing(book: Book, since: str) -> None:
    assert book.trader.orders(since=since) == {"items": [], "total": 0}


def test_a_date_alone_is_its_midnight_in_utc(book: Book) -> None:
    day = datetime.fromisoformat(book.newest_first[-1]["created_at"]).date()
    assert book.trader.orders(since=day.isoformat())["total"] == COUNT
    assert book.trader.orders(since=(day + timedelta(days=2)).isoformat())["total"] == 0


@pytest.mark.parametrize(
    ("query", "name", "kind"),
    [
        ("limit=0", "limit", "too_small"),
        ("limit=-1", "limit", "too_small"),
        ("limit=201", "limit", "too_large"),
        ("limit=99999999999999999999", "limit", "too_large"),
        ("limit=", "limit", "empty"),
        ("limit=1&limit=1", "limit", "duplicate"),
        ("limit=ten", "limit", "not_an_integer"),
        ("limit=1.0", "limit", "not_an_integer"),
        ("limit=1e1", "limit", "not_an_integer"),
        ("limit=%2B1", "limit", "not_an_integer"),
        ("limit=%201", "limit", "not_an_integer"),
        ("limit=%D9%A1", "limit", "not_an_integer"),
        ("limit=1_0", "limit", "not_an_integer"),
        ("limit=%00", "limit", "not_an_integer"),
        ("offset=-1", "offset", "too_small"),
        ("offset=-99999999999999999999", "offset", "too_small"),
        ("offset=", "offset", "empty"),
        ("offset=0&offset=0", "offset", "duplicate"),
        ("offset=x", "offset", "not_an_integer"),
        ("offset=0x10", "offset", "not_an_integer"),
        ("since=", "since", "empty"),
        ("since=yesterday", "since", "not_a_time"),
        ("since=1700000000", "since", "not_a_time"),
        ("since=2026-13-01", "since", "not_a_time"),
        ("since=2026-02-30", "since", "not_a_time"),
        ("since=2026-01-01T25:00", "since", "not_a_time"),
        ("since=2026-01-01T00:00%2B99:00", "since", "not_a_time"),
        ("since=2026-01-01&since=2026-01-01", "since", "duplicate"),
        ("since=%FF", "since", "not_utf8"),
        ("symbol_code=" + "x" * 33, "symbol_code", "too_long"),
        ("symbol_code=%00", "symbol_code", "bad_character"),
        ("symbol_code=%FF", "symbol_code", "not_utf8"),
        ("trade_type=" + "x" * 9, "trade_type", "too_long"),
        ("client_order_id=" + "x" * 65, "client_order_id", "too_long"),
        ("client_order_id=%ED%A0%80", "client_order_id", "not_utf8"),
    ],
)
def test_bad_parameters_are_told_with_their_place(book: Book, query: str, name: str, kind: str) -> None:
    answer = book.trader.http.get(f"{ORDERS}?{query}")
    assert problems(answer) == [(["query", name], kind)]


def test_every_bad_parameter_is_told_at_once(trader: Trader) -> None:
    query = f"limit=0&offset=-1&since=x&symbol_code={'x' * 33}&trade_type={'x' * 9}"
    found = problems(trader.http.get(f"{ORDERS}?{query}"))
    assert {loc[1] for loc, _ in found} == {"limit", "offset", "since", "symbol_code", "trade_type"}


@pytest.mark.parametrize(
    "query",
    [
        "status=pending",
        "status=rubbish",
        "status=&status=",
        "page=7&sort=asc&source=web",
        "Limit=1",
        "limit%20=1",
        "=&&=1&",
        "%FF=1",
        "x=%FF%00",
        "x" * 4000,
    ],
)
def test_status_and_what_we_do_not_know_are_ignored(book: Book, query: str) -> None:
    assert book.trader.http.get(f"{ORDERS}?{query}").json() == {
        "items": book.newest_first[:50],
        "total": COUNT,
    }


@pytest.mark.parametrize(
    "offset", ["1" + "0" * 18, str(2**63), str(2**64), "9" * 400, "000000000000000000000600"]
)
def test_an_offset_far_past_the_end_is_an_empty_page(book: Book, offset: str) -> None:
    for query in ("", "&symbol_code=GOLD", "&client_order_id=a", "&since=2000-01-01&trade_type=buy"):
        answer = book.trader.http.get(f"{ORDERS}?offset={offset}{query}")
        assert answer.status_code == 200, answer.text
        assert answer.json()["items"] == []
        assert answer.json()["total"] > 0


def test_escaped_parameters_are_read(book: Book) -> None:
    assert book.trader.http.get(f"{ORDERS}?li%6Dit=%32&symbol%5Fcode=G%4FLD").json() == {
        "items": book.matching(symbol_code="GOLD")[:2],
        "total": len(book.matching(symbol_code="GOLD")),
    }


def test_a_list_is_the_accounts_own(market: Market, book: Book) -> None:
    other = market.trader()
    assert other.orders() == {"items": [], "total": 0}
    order = other.buy(1, client_order_id="a")
    assert other.orders(client_order_id="a") == {"items": [order], "total": 1}
    assert other.orders(symbol_code="GOLD", trade_type="buy") == {"items": [order], "total": 1}
    assert book.trader.orders()["total"] == COUNT


def test_every_key_of_the_account_sees_the_same_list(market: Market, book: Book) -> None:
    reader = market.trader(book.trader.login_id, scopes=["orders:read"])
    assert reader.orders() == book.trader.orders()
    refused(
        market.trader(book.trader.login_id, scopes=["orders:write"]).http.get(ORDERS), "insufficient_scope"
    )


def test_what_was_answered_is_there_to_read(trader: Trader) -> None:
    for number in range(1, 11):
        order = trader.buy(1, client_order_id=f"{number}")
        assert trader.order(order["id"]).json() == order
        assert trader.orders()["items"][0] == order
        assert trader.orders(client_order_id=f"{number}")["items"] == [order]
        assert trader.orders(symbol_code="GOLD")["total"] == number
        assert trader.net() == f"{number}.0000"


# --- Single orders --------------------------------------------------------------------------------------


def test_a_single_order(book: Book) -> None:
    for order in book.newest_first[:: COUNT // 5]:
        answer = book.trader.order(order["id"])
        assert (answer.status_code, answer.json()) == (200, order)


def test_orders_that_are_not_there_all_look_alike(market: Market, book: Book) -> None:
    other = market.trader()
    known = book.newest_first[0]["id"]
    ids = [
        known,
        str(uuid4()),
        str(UUID(int=0)),
        "T-1",
        "1",
        "x",
        "null",
        known[:-1],
        known + "0",
        known.replace("-", ""),
        "{" + known + "}",
        f"urn:uuid:{known}",
        "%27%3B%20DROP%20TABLE%20orders",
        "%00",
        "%FF",
        "x" * 4000,
        "%E2%82%B9",
        "٠" * 8,
    ]
    answers = [other.order(order_id) for order_id in ids]
    for answer in answers:
        refused(answer, "order_not_found")
    assert len({answer.content for answer in answers}) == 1
    assert book.trader.order(known).status_code == 200


@pytest.mark.parametrize("path", [f"{ORDERS}/", f"{ORDERS}/{UUID(int=0)}/", f"{ORDERS}/a/b", f"{ORDERS}//"])
def test_another_path_is_not_an_order(trader: Trader, path: str) -> None:
    answer = trader.http.get(path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "POST"])
def test_orders_are_not_changed_through_the_api(book: Book, method: str) -> None:
    order = book.newest_first[0]
    answer = book.trader.http.request(method, f"{ORDERS}/{order['id']}")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"
    assert book.trader.order(order["id"]).json() == order


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_the_list_takes_get_and_post_alone(trader: Trader, method: str) -> None:
    answer = trader.http.request(method, ORDERS)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"


def test_reads_do_not_use_the_order_budget(own_market: Market) -> None:
    own_market.switch(budgets={"orders_per_minute": 3, "orders_per_10_seconds": 2})
    trader = own_market.trader()
    first = trader.place()
    order = booked(first)
    assert first.headers["ratelimit-remaining"] == "1"
    for _ in range(5):
        assert trader.order(order["id"]).headers["ratelimit-limit"] == "100000"
        trader.orders()
        trader.net()
    assert trader.place().headers["ratelimit-remaining"] == "0"
