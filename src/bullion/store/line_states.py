"""What the holders of lines say about them, and what the desk asks of lines."""

import msgspec

from bullion.hedge.fix.line_control import LineReport, LineWish, OpenOrders

from .desk_transaction import DeskTransaction
from .engine import Engine, Transaction, one_row

UNKNOWN_US = 2_000_000
"""An order that was sent this long ago should have an outcome."""
_encode = msgspec.json.Encoder().encode


class ReportedLine(msgspec.Struct, frozen=True):
    name: str
    report: LineReport
    wish: LineWish
    orders: OpenOrders


class StoredLineControls:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def exchange(
        self, line: str, holder: str, broker: str, report: LineReport | None, reset_done_us: int
    ) -> tuple[LineWish, OpenOrders]:
        async def body(transaction: Transaction) -> tuple[LineWish, OpenOrders]:
            if report is not None:
                text = _encode(report).decode()
                await transaction.run("put_line_state", line, holder, broker, report.at_us, text)
            if reset_done_us:
                await transaction.run("note_line_reset", line, reset_done_us)
            now_us = (await one_row(transaction, "catalogue_state"))["clock_us"]
            return await _wish(transaction, line), await _open_orders(transaction, line, now_us)

        if report is None and not reset_done_us:
            return await self._engine.read("line_wish", body)
        return await self._engine.write("line_state", body)


class LineStateRecords(DeskTransaction):
    async def lines(self, broker: str) -> list[ReportedLine]:
        """Those of the broker that a node has held. What another version wrote may be left out."""
        found, now_us = [], await self.now_us()
        for row in await self._transaction.all("line_states", broker):
            try:
                report = msgspec.json.decode(row["report"], type=LineReport)
            except msgspec.MsgspecError:
                continue
            wish = await _wish(self._transaction, row["line"])
            orders = await _open_orders(self._transaction, row["line"], now_us)
            found.append(ReportedLine(row["line"], report, wish, orders))
        return found

    async def wish_line_connected(self, line: str, at_us: int, *, connected: bool) -> None:
        await self._transaction.run("wish_line_connected", line, int(connected), at_us)

    async def wish_line_reset(self, line: str, at_us: int) -> None:
        await self._transaction.run("wish_line_reset", line, at_us)


async def _wish(transaction: Transaction, line: str) -> LineWish:
    row = await transaction.one("line_wish", line)
    if row is None:
        return LineWish()
    return LineWish(bool(row["connected"]), row["at_us"], row["reset_at_us"], row["reset_done_us"])


async def _open_orders(transaction: Transaction, line: str, now_us: int) -> OpenOrders:
    row = await one_row(transaction, "open_line_orders", line, now_us - UNKNOWN_US)
    return OpenOrders(int(row["number"]), int(row["late"]))
