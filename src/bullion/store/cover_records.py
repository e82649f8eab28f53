"""Contracts and covers of hedge books, for the desk."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from bullion.booking.house_book import BookEntry
from bullion.hedge.book.position import fill_change_mg
from bullion.hedge.contract import Contract
from bullion.hedge.cover import OPEN, BookCover
from bullion.hedge.venue import Fill
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.records.hedge_book import CoverDeal, StoredContract
from bullion.records.page import Page

from .book_entries import enter
from .desk_transaction import DeskTransaction
from .engine import Row, Transaction, one_row

COUNTED_MAX = 1_000
"""How many covers a list counts: its cost must not grow with those that ended long ago."""
_FIELDS = tuple(each.name for each in msgspec.structs.fields(Contract))
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Contract).decode


class CoverRecords(DeskTransaction):
    async def contracts(self, broker: str) -> list[StoredContract]:
        return [stored_contract(row) for row in await self._transaction.all("contracts_of_broker", broker)]

    async def active_contracts(self) -> Mapping[str, Sequence[Contract]]:
        """Those that may be dealt in, by broker."""
        found: dict[str, list[Contract]] = defaultdict(list)
        for row in await self._transaction.all("active_contracts"):
            found[row["broker"]].append(stored_contract(row).contract)
        return found

    async def contract(self, broker: str, code: str) -> StoredContract | None:
        row = await self._find("one_contract", broker, code)
        return None if row is None else stored_contract(row)

    async def held_contracts(self, broker: str) -> dict[str, int]:
        """The quantity that is held of each contract, above 0 for bought, by its code."""
        rows = await self._transaction.all("held_contracts_of_broker", broker)
        return {row["contract"]: row["held_e8"] for row in rows}

    async def add_contract(self, broker: str, stored: StoredContract) -> None:
        """No-op if there is one with its code."""
        await self._transaction.run("add_contract", broker, *_contract_values(stored))

    async def put_contract(self, broker: str, stored: StoredContract) -> None:
        await self._transaction.run("put_contract", broker, *_contract_values(stored))

    async def book_covers(
        self, broker: str, page: Page, state: str | None = None
    ) -> tuple[list[BookCover], int]:
        """Newest first. `state` may be `OPEN`.

        The total is exact up to `COUNTED_MAX`. Of more it says that there are some after the page, if so.
        """
        if state == OPEN:
            found, total = await self._page("unfinished_covers", "count_unfinished_covers", broker, page)
            return [cover_of(row) for row in found], total
        of: tuple[str, ...] = (broker,)
        queries = ("covers_page", "count_covers")
        if state is not None:
            of, queries = (broker, state), ("covers_of_state", "count_covers_of_state")
        most = max(COUNTED_MAX, page.offset + page.limit + 1)
        total = (await one_row(self._transaction, queries[1], *of, most))["total"]
        found = await self._transaction.all(queries[0], *of, page.limit, page.offset)
        return [cover_of(row) for row in found], total

    async def cover_deals(self, covers: Sequence[BookCover]) -> dict[str, list[CoverDeal]]:
        """What was dealt for these covers, by the cover's id."""
        ids = _encode([each.id for each in covers]).decode()
        found: dict[str, list[CoverDeal]] = {}
        for row in await self._transaction.all("fills_of_covers", ids):
            found.setdefault(row["cover_id"], []).append(_deal(row))
        return found

    async def cover_of_key(self, broker: str, idempotency_key: str) -> BookCover | None:
        row = await self._find("cover_by_key", broker, idempotency_key)
        return None if row is None else cover_of(row)

    async def lock_cover(self, broker: str, cover_id: str) -> BookCover | None:
        row = await self._find("lock_cover", cover_id, broker)
        return None if row is None else cover_of(row)

    async def insert_book_cover(self, cover: BookCover) -> None:
        await self._transaction.run(
            "insert_book_cover",
            cover.id,
            cover.broker,
            cover.metal.value,
            cover.contract.code,
            _encode(cover.contract).decode(),
            cover.contract.venue,
            cover.side,
            cover.quantity_e8,
            cover.fine_mg,
            cover.rule,
            cover.made_by,
            cover.idempotency_key,
            cover.created_at_us,
        )

    async def send_cover(self, cover: BookCover, by: str, at_us: int) -> None:
        """It is due at once: a node sends it. See `bullion.booking.cover_sending`."""
        await self._transaction.run("send_cover", cover.id, at_us, by)

    async def finish_cover(
        self, cover: BookCover, state: str, execution_id: str | None, words: str | None, at_us: int
    ) -> None:
        await self._transaction.run("finish_cover", cover.id, state, execution_id, words, at_us)

    async def settle_cover(
        self, cover: BookCover, state: str, execution_id: str | None, words: str, by: str, at_us: int
    ) -> None:
        """A dealer says what became of it. See `bullion.desk.actions.cover_settling`."""
        await self._transaction.run("settle_cover", cover.id, state, execution_id, words, at_us, by)

    async def cover_fill_known(self, broker: str, venue: str, execution_id: str) -> bool:
        return await self._find("one_cover_fill", broker, venue, execution_id) is not None

    async def add_cover_deal(self, cover: BookCover, deal: CoverDeal, at_us: int) -> None:
        """See `add_deal`."""
        await add_deal(self._transaction, cover, deal, at_us)


async def add_deal(transaction: Transaction, cover: BookCover, deal: CoverDeal, at_us: int) -> None:
    """Record a deal, and move the position of the book with it. May raise AlreadyExists.

    The position must be locked. Fine weights are rounded for the whole quantity in a contract. A deal by
    telephone has its own price as its reference.
    """
    contract, fill = cover.contract, deal.fill
    buys = cover.side == Side.BUY
    quantity_e8 = fill.quantity_e8 if buys else -fill.quantity_e8
    held = await one_row(transaction, "add_held", cover.broker, contract.code, quantity_e8)
    change_mg = fill_change_mg(contract, held["held_e8"] - quantity_e8, quantity_e8)
    await transaction.run(
        "insert_cover_fill",
        cover.broker,
        contract.venue,
        fill.execution_id,
        cover.id,
        fill.quantity_e8,
        fill.price_e6,
        fill.price_e6 if cover.reference_e6 is None else cover.reference_e6,
        deal.fee_minor,
        deal.dollar_e6,
        change_mg if buys else -change_mg,
        fill.at_us,
    )
    entry = BookEntry("fill", 0, change_mg)
    await enter(transaction, cover.broker, cover.metal.value, fill.execution_id, entry, at_us)


def _contract_values(stored: StoredContract) -> tuple[str | int, ...]:
    of = stored.contract
    return (
        of.code,
        of.venue,
        of.venue_symbol,
        of.security_id,
        of.metal,
        of.instrument,
        of.lot_ng,
        of.fineness_e4,
        of.step_e8,
        of.price_ng,
        of.currency,
        of.tick_e6,
        of.expires_on,
        of.hold_until,
        of.mode,
        int(stored.active),
    )


def stored_contract(row: Row) -> StoredContract:
    return StoredContract(
        msgspec.convert({name: row[name] for name in _FIELDS}, Contract), bool(row["active"])
    )


def cover_of(row: Row) -> BookCover:
    return BookCover(
        row["id"],
        row["broker"],
        Metal(row["metal"]),
        _decode(row["terms"]),
        row["side"],
        row["quantity_e8"],
        row["fine_mg"],
        row["rule"],
        row["made_by"],
        row["idempotency_key"],
        row["state"],
        row["created_at_us"],
        row["words"],
        row["finished_at_us"],
        row["sent_at_us"],
        row["sent_by"],
        row["tries"],
        row["execution_id"],
        row["reference_e6"],
        row["dollar_e6"],
        row["sent_to"],
        row["claimed_until_us"],
        row["settled_by"],
    )


def _deal(row: Row) -> CoverDeal:
    fill = Fill(row["execution_id"], row["quantity_e8"], row["price_e6"], row["at_us"])
    return CoverDeal(fill, row["fee_minor"], row["dollar_e6"], row["fine_mg"])
