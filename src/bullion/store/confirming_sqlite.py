"""Makes deals of many pending orders at once on SQLite, as the query `confirm_orders` does on PostgreSQL.

The writer's thread waits for the GIL after each statement and each row. So it reads one row, and writes each
table once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from bullion.booking.attempt import ToHedge
from bullion.booking.house_book import deal_entry
from bullion.orders import life
from bullion.orders.order import Order
from bullion.orders.status import Event

from .sqlite import SqliteConnection

OrderName = tuple[int, int]
"""Book and ordinal."""
Confirmation = tuple[ToHedge, str]
"""An order, and the id of its execution."""
Deals = Mapping[OrderName, tuple[ToHedge, str, Order]]
"""The orders that become deals, each with its execution and as it is then."""

_encode = msgspec.json.Encoder().encode
_decode_names = msgspec.json.Decoder(list[OrderName]).decode
_decode_books = msgspec.json.Decoder(list[tuple[int, int, int, int]]).decode
_decode_positions = msgspec.json.Decoder(list[tuple[str, str, int]]).decode


def confirm_orders(
    connection: SqliteConnection,
    confirmations: Sequence[Confirmation],
    at_us: int,
    actor: str,
    *,
    covered: bool,
) -> dict[OrderName, Order]:
    """The deals: all but those that are no longer pending, or that the venue filled in part before.

    `covered`: whether the venue has covered them.
    """
    asked = {(each.order.book_id, each.order.ordinal): (each, execution) for each, execution in confirmations}
    brokers = {each.broker for each, _ in asked.values()}
    values = (list(asked), list({book_id for book_id, _ in asked}), list(brokers))
    (state,) = connection.fetch("confirming_state", [_encode(each).decode() for each in values])
    pending = sorted(_decode_names(state["pending"]))
    if not pending:
        return {}
    deal_nos = _deal_nos(connection, [asked[name][0].broker for name in pending])
    deals: Deals = {
        name: (*asked[name], life.after(asked[name][0].order, Event.CONFIRM, at_us, deal_no=deal_no))
        for name, deal_no in zip(pending, deal_nos, strict=True)
    }
    _write_orders(connection, deals, at_us)
    unsummed = _write_events(connection, deals, _decode_books(state["books"]), at_us, actor)
    _count(connection, deals, unsummed)
    positions = _decode_positions(state["positions"])
    if positions:
        in_turn = [deals[name] for name in asked if name in deals]
        _enter(connection, in_turn, positions, at_us, covered=covered)
    return {name: deal for name, (_, _, deal) in deals.items()}


def _deal_nos(connection: SqliteConnection, brokers: Sequence[str]) -> list[int]:
    """The next numbers of these brokers, one for each deal."""
    wanted = Counter(brokers)
    rows = connection.fetch_for("take_deal_nos", list(wanted.items()))
    last = {row["broker"]: row["last_deal_no"] - wanted[row["broker"]] for row in rows}
    found = []
    for broker in brokers:
        last[broker] += 1
        found.append(last[broker])
    return found


def _write_orders(connection: SqliteConnection, deals: Deals, at_us: int) -> None:
    connection.fetch_for("open_orders", [(*name, deal.deal_no) for name, (_, _, deal) in deals.items()])
    connection.fetch_for(
        "answer_hedges", [(*name, execution_id, at_us) for name, (_, execution_id, _) in deals.items()]
    )


def _write_events(
    connection: SqliteConnection,
    deals: Deals,
    books: Sequence[tuple[int, int, int, int]],
    at_us: int,
    actor: str,
) -> dict[int, int]:
    """Number the events within their books. Returns where the unsummed orders of each book begin."""
    order_counts = {book_id: order_count for book_id, order_count, _, _ in books}
    newest = {book_id: order_count + event_shift for book_id, order_count, event_shift, _ in books}
    events = []
    for (book_id, ordinal), (_, execution_id, deal) in deals.items():
        newest[book_id] += 1
        place = (newest[book_id], order_counts[book_id])
        about = (deal.status, at_us, actor, f"execution {execution_id}")
        events.append((book_id, ordinal, *about, *place))
    connection.fetch_for("insert_order_events", events)
    connection.fetch_for("number_events", list(Counter(book_id for book_id, _ in deals).items()))
    return {book_id: unsummed_from for book_id, _, _, unsummed_from in books}


def _count(connection: SqliteConnection, deals: Deals, unsummed: Mapping[int, int]) -> None:
    """Count the deals whose block is summed: most are newer."""
    for (book_id, ordinal), (to_hedge, _, deal) in deals.items():
        if ordinal < unsummed[book_id]:
            before, now = life.kinds_of(to_hedge.order), life.kinds_of(deal)
            for kind in before - now:
                connection.fetch("uncount_order", (book_id, ordinal, *kind))
            for kind in now - before:
                connection.fetch("count_order", (book_id, ordinal, *kind))


def _enter(
    connection: SqliteConnection,
    deals: Sequence[tuple[ToHedge, str, Order]],
    positions: Sequence[tuple[str, str, int]],
    at_us: int,
    *,
    covered: bool,
) -> None:
    """Into the hedge books of brokers that keep one."""
    for broker, metal, version in positions:
        own = [
            (deal.id, deal_entry(deal, each.fineness_e4, covered=covered))
            for each, _, deal in deals
            if each.broker == broker and deal.metal.value == metal
        ]
        if not own:
            continue
        weights = (sum(entry.client_mg for _, entry in own), sum(entry.cover_mg for _, entry in own))
        connection.fetch("move_book_position_by", (broker, metal, *weights, at_us, len(own)))
        connection.fetch_for(
            "insert_book_entries",
            [
                (broker, metal, version + nth, entry.kind, name, entry.client_mg, entry.cover_mg, at_us)
                for nth, (name, entry) in enumerate(own, 1)
            ],
        )
