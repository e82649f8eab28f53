"""The hedge book for the desk: positions, terms and rules."""

from collections.abc import Sequence

import msgspec

from bullion.hedge.book.rules import Rule
from bullion.metals.fine_weight import fine_mg
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.records.hedge_book import BookPosition

from .desk_transaction import DeskTransaction
from .engine import Row, Transaction, one_row

_encode = msgspec.json.Encoder().encode
_rule = msgspec.json.Decoder(Rule).decode


class BookRecords(DeskTransaction):
    async def book_positions(self, broker: str) -> dict[Metal, BookPosition]:
        """The books that the broker has opened."""
        rows = await self._transaction.all("book_positions_of_broker", broker)
        return {each.metal: each for each in map(book_position, rows)}

    async def lock_book_position(self, broker: str, metal: Metal) -> BookPosition | None:
        row = await self._transaction.one("lock_book_position", broker, metal.value)
        return None if row is None else book_position(row)

    async def held_weights(self, broker: str, now_us: int) -> dict[Metal, tuple[int, int]]:
        return await held_weights(self._transaction, broker, now_us)

    async def book_rules(self, broker: str, metal: Metal) -> list[Rule]:
        """In the order in which they are applied."""
        rows = await self._transaction.all("rules_of_book", broker, metal.value)
        return [_rule(row["terms"]) for row in rows]

    async def set_book_rules(self, broker: str, metal: Metal, rules: Sequence[Rule]) -> None:
        name = (broker, metal.value)
        await self._transaction.run("delete_rules", *name)
        for place, rule in enumerate(rules, 1):
            await self._transaction.run("insert_rule", *name, place, _encode(rule).decode())

    async def open_book(self, wanted: BookPosition) -> BookPosition:
        """Open the book of a metal with the deals that there are. They count as covered."""
        name = (wanted.broker, wanted.metal.value)
        await self._transaction.run("lock_book_positions")
        client_mg = await clients_mg(self._transaction, *name)
        at_us = await self.now_us()
        terms = (wanted.policy, wanted.limit_mg, wanted.volatility_e4)
        await self._transaction.run("insert_book_position", *name, *terms, client_mg, -client_mg, at_us)
        await self._transaction.run(
            "insert_book_entry", *name, 1, "opening", "", client_mg, -client_mg, at_us
        )
        await self._transaction.run("note_book_terms", *name)
        await self._notify(wanted)
        return book_position(await one_row(self._transaction, "one_book_position", *name))

    async def set_book_terms(self, wanted: BookPosition) -> None:
        terms = (wanted.policy, wanted.limit_mg, wanted.volatility_e4)
        name = (wanted.broker, wanted.metal.value)
        await self._transaction.run("set_book_terms", *name, *terms)
        await self._transaction.run("note_book_terms", *name)
        await self._notify(wanted)

    async def _notify(self, changed: BookPosition) -> None:
        """Nodes keep the policy with the symbols."""
        for row in await self._transaction.all("symbols_of_broker", changed.broker):
            if row["metal"] == changed.metal:
                await self._record_change("symbol", changed.broker, row["code"])


async def held_weights(transaction: Transaction, broker: str, now_us: int) -> dict[Metal, tuple[int, int]]:
    """The fine weight and the number of the orders that a limit holds back."""
    found: dict[Metal, tuple[int, int]] = {}
    for row in await transaction.all("books_with_held_orders", now_us):
        if row["broker"] == broker:
            metal = Metal(row["metal"])
            weight_mg, orders = found.get(metal, (0, 0))
            found[metal] = (weight_mg + _signed_mg(row, metal), orders + row["orders"])
    return found


async def clients_mg(transaction: Transaction, broker: str, metal: str) -> int:
    """The fine weight of the broker's deals in a metal, from the orders themselves."""
    rows = await transaction.all("deals_of_metal", broker, metal)
    return sum(_signed_mg(row, Metal(metal)) for row in rows)


def _signed_mg(row: Row, metal: Metal) -> int:
    """Of orders of the same side, weight and fineness."""
    weight_mg: int = row["orders"] * fine_mg(row["quantity_e4"], metal, row["fineness_e4"])
    return -weight_mg if row["trade_type"] == Side.BUY else weight_mg


def book_position(row: Row) -> BookPosition:
    return BookPosition(
        row["broker"],
        Metal(row["metal"]),
        row["policy"],
        row["limit_mg"],
        row["volatility_e4"],
        row["client_mg"],
        row["cover_mg"],
        row["version"],
        row["opened_at_us"],
        row["open_since_us"],
    )
