"""Recomputes derived data from the orders, over one snapshot, and lists what differs from the store.

The comparison is done by queries that return only differences. They take a range of books at a time, so that
memory stays bounded and progress can be shown.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence

import msgspec

from bullion.orders.order import Order
from bullion.orders.packed_orders import PackedOrders
from bullion.records.audit import Chain
from bullion.store.archive_reader import packed_orders
from bullion.store.engine import Engine, Row, Transaction

from .audit import AuditCheck
from .difference import Check, Difference, Owner, Report
from .hedge_books import hedge_book_differences

RANGE_ORDERS = 250_000
LISTED_MAX = 1_000
"""How many differences each check lists."""
_PACKS_AT_ONCE = 200
_FIRST, _LAST = -(2**63), 2**63 - 1

_json = msgspec.json.Encoder().encode

Progress = Callable[[int, int], None]
"""Called with the number of orders checked so far, and the total."""


RANGE_CHECKS = (
    Check("verify_nets", "net", "net of", weight=True),
    Check("verify_open_weights", "position", "open weight of", weight=True),
    Check("verify_order_counts", "order_count", "count of orders,"),
    Check("verify_bounds", "bounds", "bounds of the book,"),
    Check("verify_block_counts", "block_count", "count in"),
    Check("verify_keys", "key", "times that a key is settled,"),
    Check("verify_archived_key_counts", "archived_key", "number of archived"),
    Check("verify_order_ids", "order_id", "id of"),
    Check("verify_times", "time", "time in microseconds, not before the order before it, of"),
    Check("verify_statuses", "status", "status of"),
    Check("verify_deals", "deal", "deal of"),
    Check("verify_hedges", "hedge", "hedge of"),
    Check("verify_events", "event", "numbers of events less orders, at"),
)
STORE_CHECKS = (
    Check("verify_accounts", "account", "an account's"),
    Check("verify_shared_order_ids", "order_id", "orders with the id of"),
    Check("verify_shared_deal_numbers", "deal", "orders with the number of"),
)
_PACK = Check("verify_packs", "archive", "pack")
_ARCHIVED_KEY = Check("verify_archived_keys", "archived_key", "ordinal of the archived key")
_STOCK = Check("verify_stocks", "stock", "stock of", weight=True)


async def verify_books(engine: Engine, chain: Chain, progress: Progress = lambda _done, _of: None) -> Report:
    """Verify all books over one snapshot. Bookings do not wait for it."""

    async def body(transaction: Transaction) -> Report:
        return await _Verification(transaction, chain, progress).run()

    return await engine.read_whole("books_verify", body)


class _Verification:
    def __init__(self, transaction: Transaction, chain: Chain, progress: Progress) -> None:
        self._transaction = transaction
        self._chain = chain
        self._progress = progress
        self._report = Report()
        self._owners: dict[int, Owner] = {}
        self._held_e4: dict[tuple[str, str], int] = {}

    async def run(self) -> Report:
        report = self._report
        ranges = await self._transaction.all("verify_ranges", RANGE_ORDERS)
        report.books, report.orders = (sum(each[name] for each in ranges) for name in ("books", "orders"))
        firsts = [_FIRST, *(each["first_book"] for each in ranges[1:])]
        lasts = [*(first - 1 for first in firsts[1:]), _LAST]
        done = 0
        self._progress(done, report.orders)
        for index, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
            await self._verify_range(first, last)
            done += ranges[index]["orders"] if ranges else 0
            self._progress(done, report.orders)
        for check in STORE_CHECKS:
            await self._compare(check)
        await self._verify_audit_and_stocks()
        for check, owner, name, stored, recomputed in await hedge_book_differences(self._transaction):
            self._differs(check, owner, name, stored, recomputed)
        return report

    async def _verify_range(self, first: int, last: int) -> None:
        for check in RANGE_CHECKS:
            await self._compare(check, first, last)
        for row in await self._transaction.all("verify_stock_held", first, last):
            name = (row["broker"], row["symbol_code"])
            self._held_e4[name] = self._held_e4.get(name, 0) + row["held_e4"]
        await self._verify_packs(first, last)

    async def _compare(self, check: Check, *values: int) -> None:
        await self._add(check, await self._transaction.all(check.query, *values, LISTED_MAX))

    async def _add(self, check: Check, rows: Sequence[Row], book_id: int | None = None) -> None:
        for row in rows:
            owner = await self._owner(row["book_id"] if book_id is None else book_id)
            self._differs(check, owner, row["name"], row["stored"], row["recomputed"])
        self._report.more |= len(rows) >= LISTED_MAX

    def _differs(self, check: Check, owner: Owner, name: str, stored: object, recomputed: object) -> None:
        what = " ".join(f"{check.what} {name}".split())
        self._report.differences.append(
            Difference(check.kind, owner, what, check.text(stored), check.text(recomputed))
        )

    async def _owner(self, book_id: int) -> Owner:
        if book_id not in self._owners:
            row = await self._transaction.one("verify_book_owner", book_id)
            self._owners[book_id] = (
                Owner(environment=f"book {book_id} of no account")
                if row is None
                else Owner(row["broker"], row["login_id"], row["environment"])
            )
        return self._owners[book_id]

    # The archive

    async def _verify_packs(self, first: int, last: int) -> None:
        after = (first, 0)
        while True:
            rows = await self._transaction.all("verify_packs", *after, last, _PACKS_AT_ONCE)
            for row in rows:
                await self._verify_pack(packed_orders(row))
            if len(rows) < _PACKS_AT_ONCE:
                return
            after = (rows[-1]["book_id"], rows[-1]["first_ordinal"])

    async def _verify_pack(self, pack: PackedOrders) -> None:
        name = f"of the orders {pack.first_ordinal} to {pack.last_ordinal}"
        try:
            orders = list(pack.orders())
        except (ValueError, zlib.error, msgspec.DecodeError):
            self._differs(
                _PACK, await self._owner(pack.book_id), name, "a text that cannot be read", "orders"
            )
            return
        stored = (pack.first_ordinal, pack.last_ordinal, pack.from_us, pack.to_us)
        found = _ends(orders)
        complete = all(
            (order.book_id, order.ordinal) == (pack.book_id, ordinal)
            for ordinal, order in enumerate(orders, pack.first_ordinal)
        )
        if stored != found or not complete:
            self._differs(_PACK, await self._owner(pack.book_id), name, stored, found)
        keys = [
            (order.source, order.idempotency_key, order.ordinal, order.created_at_us // 1000)
            for order in orders
        ]
        missing = await self._transaction.all("verify_archived_keys", pack.book_id, _json(keys).decode())
        await self._add(_ARCHIVED_KEY, missing, pack.book_id)

    # The audit trail and the stocks

    async def _verify_audit_and_stocks(self) -> None:
        check = AuditCheck(self._transaction, self._chain)
        for each in await check.run():
            self._report.differences.append(
                Difference(
                    "audit",
                    Owner(each.broker),
                    f"audit entry {each.ordinal}",
                    each.why,
                    "an intact chain",
                )
            )
        self._report.audit_entries = check.entries
        for row in await self._transaction.all("verify_stocks"):
            name = (row["broker"], row["symbol_code"])
            if name in check.stocks_unknown:
                self._report.skipped.append(
                    f"{name[0]}: the stock of {name[1]} was switched off and on again while it was in use, "
                    "so it cannot be recomputed."
                )
                continue
            expected_e4 = check.stocks_set_e4.get(name, 0) - self._held_e4.get(name, 0)
            if row["weight_e4"] != expected_e4:
                self._differs(_STOCK, Owner(name[0]), name[1], row["weight_e4"], expected_e4)


def _ends(orders: Iterable[Order]) -> tuple[int, int, int, int]:
    found = list(orders)
    first, last = found[0], found[-1]
    return first.ordinal, last.ordinal, first.created_at_us, last.created_at_us
