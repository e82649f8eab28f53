"""A venue's engine and its durable book, an SQLite file. No sockets: messages and times in, messages out."""

import csv
import sqlite3
from collections.abc import Iterator
from enum import StrEnum
from heapq import heappop, heappush
from io import StringIO
from itertools import count

import msgspec

from bullion.hedge.fix.codec import Message, time_text
from bullion.hedge.fix.order_messages import price_text, quantity_text
from bullion.metals.scaled import NotAnAmount, scaled

from .faults import Fault, Faults
from .prices import Prices
from .session_acceptor import Pairs

_MS = 1_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    order_id INTEGER PRIMARY KEY, client_order_id TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL,
    quantity_e8 INTEGER NOT NULL, state TEXT NOT NULL, text TEXT NOT NULL, limit_e6 INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS orders_by_client ON orders (client_order_id);
CREATE TABLE IF NOT EXISTS executions (
    execution_id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, client_order_id TEXT NOT NULL,
    symbol TEXT NOT NULL, side TEXT NOT NULL, quantity_e8 INTEGER NOT NULL,
    price_e6 INTEGER NOT NULL, at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS executions_by_order ON executions (order_id);
"""

_WORKING, _FILLED, _CANCELLED, _REJECTED = "0", "2", "4", "8"


class Mode(StrEnum):
    FILL = "fill"
    REFUSE = "refuse"
    HOLD = "hold"


class Behaviour(msgspec.Struct):
    """How the venue behaves. It may be changed at any time."""

    mode: Mode = Mode.FILL
    delay_ms: int = 0
    """How long it takes to decide an order."""
    fill_percent: int = 100
    """Below 100: a part is filled, and the rest cancelled."""
    refuses_doubles: bool = True
    unknown_as_reject: bool = False
    echoes_question: bool = True
    lag_ms: int = 1_000
    """How far the engine is behind, when it lags."""
    late_ms: int = 300
    price_e6: int = 2_000_000_000
    """What an order without a limit is filled at, for a symbol that the venue does not quote."""


class _Order(msgspec.Struct, frozen=True):
    order_id: int
    client_order_id: str
    symbol: str
    side: str
    quantity_e8: int
    state: str
    text: str
    limit_e6: int | None


class Exchange:
    def __init__(
        self,
        book: sqlite3.Connection,
        faults: Faults,
        behaviour: Behaviour | None = None,
        prices: Prices | None = None,
    ) -> None:
        """`prices`: those that the venue quotes, if it does. Orders are filled at them."""
        self.behaviour = behaviour or Behaviour()
        self._prices = prices or Prices()
        self._book = book
        self._faults = faults
        self._events: list[tuple[int, int, tuple[str, object]]] = []
        self._turn = count()
        book.executescript(_SCHEMA)
        _add_limits(book)

    # --- Messages and time ----------------------------------------------------------------------------

    def received(self, message: Message, now_us: int) -> list[Pairs]:
        """The reports to send at once. Others come from `due`."""
        if message.type == "D":
            if self._faults.happens(Fault.SWALLOWED):
                return []
            if self._faults.happens(Fault.LAG):
                self._later(now_us + self.behaviour.lag_ms * _MS, "take", message)
                return []
            return self._take(message, now_us)
        if message.type == "H":
            return [] if self._faults.happens(Fault.QUESTION_SWALLOWED) else self._status(message, now_us)
        if message.type == "AF":
            return [] if self._faults.happens(Fault.QUESTION_SWALLOWED) else self._all(message, now_us)
        return [
            [(35, "j"), (45, message.get(34) or "0"), (372, message.type), (380, "3"), (58, "Not supported")]
        ]

    def due(self, now_us: int) -> list[Pairs]:
        reports: list[Pairs] = []
        while self._events and self._events[0][0] <= now_us:
            _, _, (kind, what) = heappop(self._events)
            if kind == "take" and isinstance(what, Message):
                reports += self._take(what, now_us)
            elif kind == "decide" and isinstance(what, int):
                reports += self._decide(what, now_us)
            elif kind == "send" and isinstance(what, list):
                reports.append(what)
        return reports

    def next_us(self) -> int | None:
        return self._events[0][0] if self._events else None

    def decide_all(self, now_us: int) -> list[Pairs]:
        """Decide what was held, after a change of mode."""
        rows = self._book.execute(
            "SELECT order_id FROM orders WHERE state = '0' ORDER BY order_id"
        ).fetchall()
        return [report for (order_id,) in rows for report in self._decide(order_id, now_us)]

    def _later(self, at_us: int, kind: str, what: object) -> None:
        heappush(self._events, (at_us, next(self._turn), (kind, what)))

    # --- Orders ---------------------------------------------------------------------------------------

    def _take(self, message: Message, now_us: int) -> list[Pairs]:
        client_order_id = message.get(11) or ""
        try:
            quantity_e8 = scaled(message.get(38) or "", 8)
        except NotAnAmount:
            return [_reject(message, 38, "OrderQty is wrong")]
        try:
            limit_e6 = scaled(message.get(44) or "", 6) if message.get(40) == "2" else None
        except NotAnAmount:
            return [_reject(message, 44, "Price is wrong")]
        symbol, side = message.get(55) or "", message.get(54) or ""
        if self.behaviour.refuses_doubles and self._find(client_order_id) is not None:
            return [_refusal(client_order_id, symbol, side, "6", "Duplicate ClOrdID", now_us)]
        with self._book:
            cursor = self._book.execute(
                "INSERT INTO orders (client_order_id, symbol, side, quantity_e8, state, text, limit_e6) "
                "VALUES (?, ?, ?, ?, '0', '', ?)",
                (client_order_id, symbol, side, quantity_e8, limit_e6),
            )
        order_id = cursor.lastrowid or 0
        reports = [self._report(order_id, "0", now_us)]
        if self.behaviour.delay_ms:
            self._later(now_us + self.behaviour.delay_ms * _MS, "decide", order_id)
            return self._faulty(reports, now_us)
        return self._faulty(reports + self._decided(order_id, now_us), now_us)

    def _decide(self, order_id: int, now_us: int) -> list[Pairs]:
        return self._faulty(self._decided(order_id, now_us), now_us)

    def _decided(self, order_id: int, now_us: int) -> list[Pairs]:
        mode = self.behaviour.mode
        order = self._order(order_id)
        if mode is Mode.HOLD or order.state != _WORKING:
            return []
        if mode is Mode.REFUSE or self._faults.happens(Fault.REFUSED):
            self._close(order_id, _REJECTED, "No credit")
            return [self._report(order_id, "8", now_us)]
        percent = 50 if self._faults.happens(Fault.PARTIAL) else self.behaviour.fill_percent
        if percent < 100 and order.quantity_e8 >= 2:
            return self._fill(order, [order.quantity_e8 * percent // 100 or 1], now_us, cancel=True)
        if self._faults.happens(Fault.SPLIT) and order.quantity_e8 >= 3:
            third = order.quantity_e8 // 3
            return self._fill(order, [third, third, order.quantity_e8 - 2 * third], now_us)
        return self._fill(order, [order.quantity_e8], now_us)

    def _fill(self, order: _Order, parts: list[int], now_us: int, *, cancel: bool = False) -> list[Pairs]:
        """All parts are in the book in one transaction, with the state behind them."""
        found_e6 = self._prices.fill_e6(order.symbol, order.side, order.limit_e6)
        price_e6 = self.behaviour.price_e6 if found_e6 is None else found_e6
        with self._book:
            ids = [
                self._book.execute(
                    "INSERT INTO executions (order_id, client_order_id, symbol, side, quantity_e8, "
                    "price_e6, at_us) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (order.order_id, order.client_order_id, order.symbol, order.side, part, price_e6,
                     now_us),
                ).lastrowid
                or 0
                for part in parts
            ]  # fmt: skip
            state, text = (_CANCELLED, "No more liquidity") if cancel else (_FILLED, "")
            self._book.execute(
                "UPDATE orders SET state = ?, text = ? WHERE order_id = ?", (state, text, order.order_id)
            )
        reports: list[Pairs] = []
        total = 0
        for execution_id, part in zip(ids, parts, strict=True):
            total += part
            reports.append(self._fill_report(order, execution_id, part, total, price_e6, now_us))
        if cancel:
            reports.append(self._report(order.order_id, "4", now_us))
        return [*reports, *self._oddities(order, ids[-1], price_e6, now_us)]

    def _oddities(self, order: _Order, execution_id: int, price_e6: int, now_us: int) -> Iterator[Pairs]:
        if self._faults.happens(Fault.FOREIGN_ID):
            odd = msgspec.structs.replace(order, client_order_id=f"X{order.client_order_id[1:]}", order_id=0)
            whole_e8 = order.quantity_e8
            yield self._fill_report(odd, -execution_id, whole_e8, whole_e8, price_e6, now_us)
        if self._faults.happens(Fault.TRADE_CANCELLED):
            pairs = self._report(order.order_id, "H", now_us)
            yield [*pairs, (19, f"E{execution_id}")]

    def _close(self, order_id: int, state: str, text: str) -> None:
        with self._book:
            self._book.execute(
                "UPDATE orders SET state = ?, text = ? WHERE order_id = ?", (state, text, order_id)
            )

    def _faulty(self, reports: list[Pairs], now_us: int) -> list[Pairs]:
        if len(reports) > 1 and self._faults.happens(Fault.REORDERED):
            reports = [reports[-1], *reports[:-1]]
        sent: list[Pairs] = []
        for each in reports:
            if self._faults.happens(Fault.UNREPORTED):
                continue
            if self._faults.happens(Fault.LATE):
                self._later(now_us + self._faults.between(1, self.behaviour.late_ms) * _MS, "send", each)
                continue
            sent.append(each)
            if self._faults.happens(Fault.TWICE):
                sent.append(each)
        return sent

    # --- Reports --------------------------------------------------------------------------------------

    def _status(self, message: Message, now_us: int) -> list[Pairs]:
        client_order_id = message.get(11) or ""
        question: Pairs = [(790, message.get(790) or "")] if self.behaviour.echoes_question else []
        order = self._find(client_order_id)
        if order is not None:
            # What was held is decided by the next question after a change of mode.
            decided = [] if self.behaviour.delay_ms else self._decide(order.order_id, now_us)
            return [*decided, [*self._report(order.order_id, "I", now_us), *question]]
        if self.behaviour.unknown_as_reject:
            return [[(35, "3"), (45, message.get(34) or "0"), (372, "H"), (373, "99"), (58, "Unknown order")]]
        symbol, side = message.get(55) or "", message.get(54) or ""
        return [[*_refusal(client_order_id, symbol, side, "5", "Unknown order", now_us, kind="I"), *question]]

    def _all(self, message: Message, now_us: int) -> list[Pairs]:
        """All orders, also finished ones; a report without an order if there is none."""
        rows = self._book.execute("SELECT order_id FROM orders ORDER BY order_id").fetchall()
        decided = [] if self.behaviour.delay_ms else self.decide_all(now_us)
        reports = [self._report(order_id, "I", now_us) for (order_id,) in rows]
        if not rows:
            reports = [_refusal("NONE", "", "", "99", "No orders", now_us, kind="I")]
        answer: Pairs = [(584, message.get(584) or ""), (911, len(rows))]
        last = len(reports) - 1
        told = [[*pairs, *answer, (912, "Y" if at == last else "N")] for at, pairs in enumerate(reports)]
        return [*decided, *told]

    def _report(self, order_id: int, kind: str, now_us: int) -> Pairs:
        order = self._order(order_id)
        fills = self._book.execute(
            "SELECT quantity_e8, price_e6 FROM executions WHERE order_id = ?", (order_id,)
        ).fetchall()
        total = sum(quantity_e8 for quantity_e8, _ in fills)
        average_e6 = sum(quantity_e8 * price_e6 for quantity_e8, price_e6 in fills) // total if total else 0
        state = "0" if kind == "0" else order.state
        if kind == "0":
            total, average_e6 = 0, 0
        number = self._book.execute("SELECT coalesce(max(execution_id), 0) FROM executions").fetchone()[0]
        execution_id = "0" if kind == "I" else f"R{order_id}-{kind}-{number}"
        pairs = _order_fields(order, kind, state, execution_id, total, average_e6, now_us)
        return [*pairs, (58, order.text)] if order.text and kind != "0" else pairs

    def _fill_report(
        self, order: _Order, execution_id: int, part_e8: int, total_e8: int, price_e6: int, now_us: int
    ) -> Pairs:
        state = "2" if total_e8 >= order.quantity_e8 else "1"
        pairs = _order_fields(order, "F", state, f"E{execution_id}", total_e8, price_e6, now_us)
        return [*pairs, (32, quantity_text(part_e8)), (31, price_text(price_e6))]

    def _find(self, client_order_id: str) -> _Order | None:
        row = self._book.execute(
            "SELECT * FROM orders WHERE client_order_id = ? ORDER BY order_id LIMIT 1", (client_order_id,)
        ).fetchone()
        return None if row is None else _Order(*row)

    def _order(self, order_id: int) -> _Order:
        return _Order(*self._book.execute("SELECT * FROM orders WHERE order_id = ?", (order_id,)).fetchone())

    # --- Its own account ------------------------------------------------------------------------------

    def executed_orders(self) -> dict[str, dict[str, int]]:
        """By ClOrdID: what was executed of each order that has it. More than one is a doubled order."""
        found: dict[str, dict[str, int]] = {}
        rows = self._book.execute(
            "SELECT client_order_id, order_id, sum(quantity_e8) FROM executions "
            "GROUP BY client_order_id, order_id"
        )
        for client_order_id, order_id, quantity_e8 in rows:
            found.setdefault(client_order_id, {})[f"V{order_id}"] = quantity_e8
        return found

    def statement(self) -> str:
        """The trades of the book as CSV."""
        text = StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["execution_id", "order_id", "symbol", "side", "quantity", "price", "time"])
        rows = self._book.execute(
            "SELECT execution_id, client_order_id, symbol, side, quantity_e8, price_e6, at_us "
            "FROM executions ORDER BY execution_id"
        )
        for number, order_id, symbol, side, quantity_e8, price_e6, at_us in rows:
            side_name = "buy" if side == "1" else "sell"
            values = [quantity_text(quantity_e8), price_text(price_e6), time_text(at_us)]
            lines.writerow([f"E{number}", order_id, symbol, side_name, *values])
        return text.getvalue()


def _add_limits(book: sqlite3.Connection) -> None:
    """A book of an earlier version has no limits."""
    if all(name != "limit_e6" for _, name, *_ in book.execute("PRAGMA table_info(orders)")):
        book.execute("ALTER TABLE orders ADD COLUMN limit_e6 INTEGER")


def _reject(message: Message, tag: int, text: str) -> Pairs:
    return [(35, "3"), (45, message.get(34) or "0"), (371, tag), (373, "5"), (58, text)]


def _order_fields(
    order: _Order, kind: str, state: str, execution_id: str, total_e8: int, average_e6: int, now_us: int
) -> Pairs:
    open_e8 = order.quantity_e8 - total_e8 if state in ("0", "1") else 0
    return [
        (35, "8"), (37, f"V{order.order_id}"), (11, order.client_order_id), (17, execution_id), (150, kind),
        (39, state), (55, order.symbol), (54, order.side), (38, quantity_text(order.quantity_e8)),
        (14, quantity_text(total_e8)), (151, quantity_text(open_e8)), (6, price_text(average_e6)),
        (60, time_text(now_us)),
    ]  # fmt: skip


def _refusal(
    client_order_id: str, symbol: str, side: str, reason: str, text: str, now_us: int, kind: str = "8"
) -> Pairs:
    return [
        (35, "8"), (37, "NONE"), (11, client_order_id), (17, "0"), (150, kind), (39, "8"),
        (55, symbol or "[N/A]"), (54, side or "1"), (14, "0"), (151, "0"), (6, "0"), (103, reason),
        (58, text), (60, time_text(now_us)),
    ]  # fmt: skip
