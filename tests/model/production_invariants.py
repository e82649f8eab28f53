"""What must be true of the tables at every committed point once there are production orders.

As in `invariants`, nothing of the service is imported here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import invariants
from .invariants import Rows

Row = dict[str, Any]
TABLES = {
    **invariants.TABLES,
    "order_events": "SELECT * FROM order_events ORDER BY book_id, ordinal, at_us",
    "account_events": "SELECT * FROM account_events ORDER BY book_id, number, orders_through",
    "open_weights": "SELECT * FROM open_weights ORDER BY book_id, symbol_code",
    "hedge_requests": "SELECT * FROM hedge_requests ORDER BY book_id, ordinal",
    "deals": "SELECT * FROM deals ORDER BY broker",
    "stocks": "SELECT * FROM stocks ORDER BY broker, symbol_code",
    "venue_orders": "SELECT * FROM venue_orders ORDER BY order_id",
    "unmatched_executions": "SELECT * FROM unmatched_executions ORDER BY broker, execution_id",
}
HOLDING = {"pending", "open", "closing"}
DEALS = {"open", "closing", "closed"}
LIVES: dict[str, list[set[str]]] = {
    "pending": [set()],
    "open": [{"open"}],
    "closing": [{"open", "closing"}],
    "closed": [{"open", "closing", "closed"}],
    "rejected": [{"rejected"}],
    "deleted": [{"deleted"}, {"open", "deleted"}, {"open", "closing", "deleted"}],
}
"""By status: the states that may lie between being pending and it, with itself."""

STANDING: dict[tuple[str, str | None], set[str]] = {
    ("waiting", None): {"pending", "deleted"},
    ("withdrawn", None): {"deleted"},
    ("answered", "confirmed"): {*DEALS, "deleted"},
    ("answered", "refused"): {"rejected", "deleted"},
    ("broken", "confirmed"): {*DEALS, "rejected", "deleted"},
    ("broken", "refused"): DEALS,
}
"""By the state of a request and the venue's word: what its order may be."""


async def read(store: str | Path) -> Rows:
    return await invariants.read(store, TABLES)


def problems(
    tables: Rows,
    *,
    stocks_e4: Mapping[tuple[str, str], int] | None = None,
    by_venue: bool = False,
    reconciled: bool = False,
) -> list[str]:
    """What is wrong, in sentences.

    `stocks_e4`: what each stock, of a broker and a symbol, held before any order. `by_venue`: the simulated
    venue alone decided what became of pending orders. `reconciled`: its executions were all compared with
    our requests.
    """
    requests = {(row["book_id"], row["ordinal"]): row for row in tables["hedge_requests"]}
    pairs = [(order, requests.get((order["book_id"], order["ordinal"]))) for order in _orders(tables)]
    found = [
        *invariants.problems(tables),
        *_weights(tables),
        *_deals(tables),
        *_lives(tables),
        *_events(tables),
    ]
    found += _requests(tables, pairs)
    found += _stocks(tables, pairs, stocks_e4 or {})
    if reconciled:
        found += _unaccounted(tables, pairs)
    return [*found, *_executions(tables, pairs)] if by_venue else found


Pairs = list[tuple[Row, Row | None]]
"""Production orders, each with its hedge request."""


def _orders(tables: Rows) -> list[Row]:
    return [order for order in tables["orders"] if order["book_id"] % 2]


def _weights(tables: Rows) -> Iterator[str]:
    """2. Per symbol too."""
    held: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for order in _orders(tables):
        if order["status"] in HOLDING:
            name = (order["book_id"], order["symbol_code"], order["metal"])
            held[name][order["trade_type"]] += order["quantity_e4"]
    for row in tables["open_weights"]:
        own = held.pop((row["book_id"], row["symbol_code"], row["metal"]), Counter())
        if (row["buy_e4"], row["sell_e4"]) != (own["buy"], own["sell"]):
            yield f"open weights {row}, and the orders say {dict(own)}"
    yield from (f"no open weights of {name}, which holds {dict(own)}" for name, own in held.items())


def _deals(tables: Rows) -> Iterator[str]:
    """8. A deal has its number, once within the broker; nothing else has one, or the fields of a close."""
    opened = {(row["book_id"], row["ordinal"]) for row in tables["order_events"] if row["status"] == "open"}
    brokers = {row["id"]: row["broker"] for row in tables["accounts"]}
    last = {row["broker"]: row["last_deal_no"] for row in tables["deals"]}
    numbers: Counter[tuple[str, int]] = Counter()
    for order in tables["orders"]:
        number, status = order["deal_no"], order["status"]
        if (number is not None) is not ((order["book_id"], order["ordinal"]) in opened):
            yield f"order {order['id']} is {status} and has the deal number {number}"
        close = (order["close_price_paise"], order["realized_pnl_paise"], order["closed_at_us"])
        if (status == "closed") != (None not in close) or (status != "closed" and close != (None,) * 3):
            yield f"order {order['id']} is {status} and closed with {close}"
        if number is not None:
            broker = brokers[order["book_id"] // 2]
            numbers[broker, number] += 1
            if not 0 < number <= last.get(broker, 0):
                yield f"order {order['id']} has the deal number {number}, which was not given yet"
    yield from (f"deal number {name} is there {times} times" for name, times in numbers.items() if times > 1)


def _events(tables: Rows) -> Iterator[str]:
    """12. What an account is told: everything once, numbered without gaps, nothing before it happened."""
    sources = {(row["book_id"], row["ordinal"]): row["source"] for row in tables["orders"]}
    told: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in tables["order_events"]:
        hides = row["status"] == "rejected" and sources.get((row["book_id"], row["ordinal"])) != "api"
        if (row["number"] is None) != hides:
            yield f"an order of book {row['book_id']} is {row['status']}, and was told as {row['number']}"
        elif row["number"] is not None:
            if row["orders_through"] < row["ordinal"]:
                yield f"event {row['number']} of book {row['book_id']} comes before its order"
            told[row["book_id"]].append((row["number"], row["orders_through"]))
    for row in tables["account_events"]:
        if row["kind"] != "hidden":
            told[row["book_id"]].append((row["number"], row["orders_through"]))
    hidden = {
        (row["book_id"], row["orders_through"]) for row in tables["account_events"] if row["kind"] == "hidden"
    }
    elsewhere = {name for name, source in sources.items() if source != "api"}
    yield from (f"order {name} is hidden, or is not and should be" for name in hidden ^ elsewhere)
    for book in tables["books"]:
        yield from _numbers(book, sorted(told[book["id"]]), sources)


def _numbers(book: Row, told: list[tuple[int, int]], sources: Mapping[tuple[int, int], str]) -> Iterator[str]:
    """Each row stands where its number says: behind the orders shown by then, and the rows before it."""
    shown, seen = 0, 0
    for place, (number, orders_through) in enumerate(told, start=1):
        while seen < orders_through:
            seen += 1
            shown += sources.get((book["id"], seen)) == "api"
        if number != shown + place:
            yield f"event {number} of book {book['id']} is the {shown + place}th"
    shown += sum(sources[book["id"], each] == "api" for each in range(seen + 1, book["order_count"] + 1))
    newest = book["order_count"] + book["event_shift"]
    if newest != shown + len(told):
        yield f"book {book['id']} counts {newest} events and has {shown + len(told)}"


def _lives(tables: Rows) -> Iterator[str]:
    """8. Only legal transitions, and none before the order was recorded."""
    lives: dict[tuple[int, int], set[str]] = defaultdict(set)
    for event in tables["order_events"]:
        lives[event["book_id"], event["ordinal"]].add(event["status"])
    for order in _orders(tables):
        life = lives.pop((order["book_id"], order["ordinal"]), set())
        if life not in LIVES.get(order["status"], []):
            yield f"order {order['id']} is {order['status']} after {sorted(life)}"
    yield from (f"a life of {name}, which is no production order" for name in lives)


def _requests(tables: Rows, pairs: Pairs) -> Iterator[str]:
    """Every production order has its request. It waits until there is a word; a break is a contradiction."""
    if len(tables["hedge_requests"]) != sum(request is not None for _, request in pairs):
        yield "a hedge request of no production order"
    for order, request in pairs:
        if request is None:
            yield f"order {order['id']} has no hedge request"
            continue
        right = order["status"] in STANDING.get((request["state"], request["outcome"]), set())
        if not right or request["order_id"] != order["id"]:
            yield f"order {order['id']} is {order['status']}, and its request is {request}"
        if (request["execution_id"] is None) is not (request["outcome"] is None):
            yield f"the request of order {order['id']} is half answered"


def _stocks(tables: Rows, pairs: Pairs, stocks_e4: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """What is left, with what buys hold that took from it, is what there was."""
    left = {(row["broker"], row["symbol_code"]): row["weight_e4"] for row in tables["stocks"]}
    taken: Counter[tuple[str, str]] = Counter()
    for order, request in pairs:
        if request is not None and request["took_stock"]:
            if order["trade_type"] != "buy":
                yield f"order {order['id']} is a sell, and took stock"
            if order["status"] in HOLDING:
                taken[request["broker"], order["symbol_code"]] += order["quantity_e4"]
    for name, there_was_e4 in stocks_e4.items():
        if left[name] < 0 or left[name] + taken[name] != there_was_e4:
            yield f"stock {name}: {left[name]} are left and {taken[name]} taken of {there_was_e4}"


def _executions(tables: Rows, pairs: Pairs) -> Iterator[str]:
    """1. The venue executed what is a deal, once, and refused what is rejected. It knows nothing else."""
    at_venue = {row["order_id"]: row for row in tables["venue_orders"]}
    times = Counter(row["execution_id"] for row in at_venue.values() if row["execution_id"] is not None)
    yield from (f"execution {name} is there {number} times" for name, number in times.items() if number > 1)
    for order, request in pairs:
        row = at_venue.pop(order["id"], {"outcome": None, "execution_id": None})
        deal = order["deal_no"] is not None
        if deal and row["outcome"] != "confirmed":
            yield f"order {order['id']} is a deal, and the venue says {row['outcome']}"
        if order["status"] == "rejected" and row["outcome"] != "refused":
            yield f"order {order['id']} is rejected, and the venue says {row['outcome']}"
        if request is not None and request["outcome"] is not None:
            told = (request["outcome"], request["execution_id"])
            if told != (row["outcome"], row["execution_id"]):
                yield f"order {order['id']}: the venue says {row['outcome']}, and was heard to say {told}"
    shown = {row["order_id"] for row in tables["unmatched_executions"]}
    yield from (
        f"the venue has {name}, which is no production order" for name in at_venue if name not in shown
    )


def _unaccounted(tables: Rows, pairs: Pairs) -> Iterator[str]:
    """Every deal that the venue made is a request's, of a deal or a break, or an unmatched execution."""
    known = {(row["order_id"], row["execution_id"]) for row in tables["unmatched_executions"]}
    for order, request in pairs:
        if request is not None and request["outcome"] == "confirmed":
            known.add((order["id"], request["execution_id"]))
    for row in tables["venue_orders"]:
        if row["outcome"] == "confirmed" and (row["order_id"], row["execution_id"]) not in known:
            yield f"execution {row['execution_id']} of {row['order_id']} is in none of our books"
