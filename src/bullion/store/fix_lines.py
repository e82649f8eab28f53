"""Lines to venues in the store: who holds each of them, and its kept numbers. See `bullion.hedge.fix`."""

from bullion.hedge.fix.lease import LineHolder, NotHolder
from bullion.hedge.fix.line_ports import KeptNumbers
from bullion.hedge.fix.session_effects import Numbers

from .engine import Engine, Row, Transaction, Value, one_row

_US_PER_S = 1_000_000


class StoredLines:
    """Leases of lines, and kept numbers. Only a line's holder changes them: NotHolder for others."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- Leases ---------------------------------------------------------------------------------------

    async def take(self, line: str, holder: LineHolder, lease_s: float) -> bool:
        async def body(transaction: Transaction) -> bool:
            now_us = (await one_row(transaction, "catalogue_state"))["clock_us"]
            until_us = now_us + round(lease_s * _US_PER_S)
            values = (line, holder.holder, until_us, now_us, holder.address, holder.token)
            return await transaction.one("take_line", *values) is not None

        return await self._engine.write("take_line", body)

    async def release(self, line: str, holder: str) -> None:
        async def body(transaction: Transaction) -> None:
            await transaction.run("release_line", line, holder)

        await self._engine.write("release_line", body)

    async def holder(self, line: str) -> LineHolder | None:
        async def body(transaction: Transaction) -> LineHolder | None:
            row = await transaction.one("line_holder", line)
            if row is None or row["until_us"] < row["clock_us"]:
                return None
            return LineHolder(row["holder"], row["address"], row["token"])

        return await self._engine.read("line_holder", body)

    async def begin_connection(self, line: str, holder: str) -> int:
        number: int = (await self._change("begin_line_connection", line, holder))["connection_no"]
        return number

    # --- Numbers --------------------------------------------------------------------------------------

    async def numbers(self, line: str) -> KeptNumbers | None:
        async def body(transaction: Transaction) -> KeptNumbers | None:
            row = await transaction.one("line_numbers", line)
            if row is None or row["stored_us"] is None:
                return None
            return KeptNumbers(row["outgoing"], row["incoming"], row["stored_us"])

        return await self._engine.read("line_numbers", body)

    async def begin_numbers(self, line: str, holder: str, numbers: Numbers) -> None:
        await self._change("begin_line_numbers", line, holder, numbers.outgoing, numbers.incoming)

    async def restart_incoming(self, line: str, holder: str) -> None:
        await self._change("restart_line_incoming", line, holder)

    async def reserve_numbers(self, line: str, holder: str, below: int) -> None:
        await self._change("reserve_line_numbers", line, holder, below)

    async def _change(self, query: str, line: str, holder: str, *values: Value) -> Row:
        async def body(transaction: Transaction) -> Row:
            return await _changed(transaction, query, line, holder, *values)

        return await self._engine.write(query, body)


async def store_incoming(transaction: Transaction, line: str, holder: str, incoming: int) -> None:
    """In the transaction that records what the messages below this number said."""
    await _changed(transaction, "store_line_incoming", line, holder, incoming)


async def _changed(transaction: Transaction, query: str, line: str, holder: str, *values: Value) -> Row:
    row = await transaction.one(query, line, holder, *values)
    if row is None:
        raise NotHolder(f"Another process holds the line {line}.")
    return row
