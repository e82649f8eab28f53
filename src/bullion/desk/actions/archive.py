"""Moves old test orders into the archive: still readable by id, and their idempotency keys stay used.

Only orders that a reset has removed from the lists. Each pack is moved in a short transaction, so that no
booking waits for it. The progress is only in the store: after a crash, the next run continues there.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from time import monotonic

from bullion.desk import texts
from bullion.desk.audit_wording.orders import tell_archive
from bullion.desk.bodies import ArchiveBody, Option
from bullion.desk.desk import ChangeResult, Desk, View, require, require_token
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action, role_of
from bullion.orders.instant import instant_text
from bullion.orders.packed_orders import PACK_SIZE_MAX, PackedOrders, pack
from bullion.records.archive import BookToArchive
from bullion.records.token import Actor, Role
from bullion.store.records import Records

from .accounts import find_client

_ACCOUNTS_AT_ONCE = 200
_PACKS_AT_ONCE = 20
_PAUSE_S_MIN = 0.002
_AGE = re.compile(r"([0-9]{1,5})([dh])")
_UNIT_US = {"d": 86_400_000_000, "h": 3_600_000_000}
_ALL = "all accounts"

Progress = Callable[[int], None]
"""Called with the number of orders archived so far."""


@dataclass(frozen=True, slots=True)
class ArchiveSelection:
    """Orders made before a time, of one account or of all."""

    before_us: int
    login_id: str | None = None

    def view(self) -> View:
        return {"before": instant_text(self.before_us), "login_id": self.login_id}


async def resolve_selection(
    desk: Desk, actor: Actor, before: str | None, login_id: str | None = None
) -> ArchiveSelection:
    """`before` is a time, or an age such as 30d or 12h; None is now. By the store's clock."""

    async def work(records: Records) -> int:
        if login_id is not None:
            await find_client(records, actor.broker, login_id)
        return await records.now_us()

    now_us = await desk.read(actor, "archive", work)
    if before is None:
        return ArchiveSelection(now_us, login_id)
    age = _AGE.fullmatch(before)
    if age is None:
        try:
            return ArchiveSelection(texts.instant_us(before), login_id)
        except ValueError as error:
            raise invalid_field(("before",), str(error)) from None
    return ArchiveSelection(max(0, now_us - int(age[1]) * _UNIT_US[age[2]]), login_id)


BEFORE = "Only what is older than this: a date, a time in ISO 8601, or an age such as 30d or 12h."


@action(
    "GET /archive",
    command="archive show",
    query={
        "before": Option(f"{BEFORE} Default: now.", metavar="WHEN"),
        "login_id": Option("Only for this account.", "--login", "LOGIN_ID"),
    },
)
async def get_archive(
    desk: Desk, actor: Actor, before: str | None = None, login_id: str | None = None
) -> View:
    """Show what is in the archive, and what could be archived. Changes nothing."""
    return await archive_status(desk, actor, await resolve_selection(desk, actor, before, login_id))


@action(
    "POST /archive/orders",
    Role.ADMIN,
    audit_text="archived orders",
    tell=tell_archive("orders{number} archived"),
)
async def archive_old_orders(desk: Desk, actor: Actor, body: ArchiveBody) -> View:
    selection = await resolve_selection(desk, actor, body.before, body.login_id)
    return await archive_orders(desk, actor, selection, body.limit)


async def archive_status(desk: Desk, actor: Actor, selection: ArchiveSelection) -> View:
    """The orders that can be archived, and the size of the archive."""
    orders = accounts = 0
    async for book in _books(desk, actor, selection):
        orders += book.count
        accounts += 1
    size = await desk.read(
        actor, "archive", lambda records: records.archive_size(actor.broker, selection.login_id)
    )
    return {
        **selection.view(),
        "to_archive": {"orders": orders, "accounts": accounts},
        "archived": {
            "orders": size.orders,
            "packs": size.packs,
            "plain_bytes": size.plain_bytes,
            "packed_bytes": size.packed_bytes,
        },
    }


async def archive_orders(
    desk: Desk,
    actor: Actor,
    selection: ArchiveSelection,
    limit: int | None = None,
    progress: Progress | None = None,
) -> View:
    """Archive the selected orders, up to `limit`: if that is reached, there may be more.

    The trail gets an entry before the first order is moved, and one with the number of orders after the last.
    After a crash in between, only the first exists.
    """
    require(actor, role_of(archive_old_orders))
    subject = selection.login_id or _ALL

    async def intended(_records: Records) -> ChangeResult:
        return ChangeResult(None, selection.view())

    await desk.change(actor, subject, intended, catalogue=False, entry="archive_orders")
    orders, accounts = 0, set()
    async for book in _books(desk, actor, selection):
        if limit is not None:
            book = replace(book, last_ordinal=min(book.last_ordinal, book.first_ordinal + limit - orders - 1))
        async for count in _archive(desk, actor, book):
            orders += count
            accounts.add(book.book_id)
            if progress is not None:
                progress(orders)
        if orders == limit:
            break
    done = {**selection.view(), "orders": orders, "accounts": len(accounts), "more": orders == limit}
    await desk.add_audit_entry(actor, subject, done, entry="archived_orders")
    return done


async def archived_packs(
    desk: Desk, actor: Actor, login_id: str | None
) -> AsyncIterator[tuple[str, PackedOrders]]:
    """All packs in the archive, each with its login."""
    async for book in _accounts(desk, actor, ArchiveSelection(0, login_id)):
        last = 0
        while packs := await _next_packs(desk, actor, book.book_id, last):
            for each in packs:
                yield book.login_id, each
            last = packs[-1].last_ordinal


async def _next_packs(desk: Desk, actor: Actor, book_id: int, after: int) -> list[PackedOrders]:
    return await desk.report(
        actor, "archived_orders", lambda records: records.archived_packs(book_id, after, _PACKS_AT_ONCE)
    )


async def _books(desk: Desk, actor: Actor, selection: ArchiveSelection) -> AsyncIterator[BookToArchive]:
    async for book in _accounts(desk, actor, selection):
        if book.count > 0:
            yield book


async def _accounts(desk: Desk, actor: Actor, selection: ArchiveSelection) -> AsyncIterator[BookToArchive]:
    """The selected accounts, also those with nothing to archive."""
    if selection.login_id is not None:
        one = await desk.read(
            actor,
            "books_to_archive",
            lambda records: records.books_to_archive(
                actor.broker, str(selection.login_id), 1, selection.before_us, this_too=True
            ),
        )
        for book in one:
            yield book
        return
    last = ""
    while books := await _next_books(desk, actor, selection, last):
        for book in books:
            yield book
        last = books[-1].login_id


async def _next_books(
    desk: Desk, actor: Actor, selection: ArchiveSelection, after: str
) -> list[BookToArchive]:
    return await desk.read(
        actor,
        "books_to_archive",
        lambda records: records.books_to_archive(actor.broker, after, _ACCOUNTS_AT_ONCE, selection.before_us),
    )


async def _archive(desk: Desk, actor: Actor, book: BookToArchive) -> AsyncIterator[int]:
    """Archive one book, pack by pack. Stops if another process archives the same book."""
    for first in range(book.first_ordinal, book.last_ordinal + 1, PACK_SIZE_MAX):
        last = min(first + PACK_SIZE_MAX - 1, book.last_ordinal)
        began_s = monotonic()
        packed = await _packed(desk, actor, book.book_id, first, last)
        if packed is None or not await _move(desk, actor, packed):
            return
        yield packed.count
        # Leave at least half of the time to other writers.
        await asyncio.sleep(max(_PAUSE_S_MIN, monotonic() - began_s))


async def _packed(desk: Desk, actor: Actor, book_id: int, first: int, last: int) -> PackedOrders | None:
    """Packed before the transaction, to keep that short: these orders never change."""
    orders = await desk.read(
        actor, "orders_to_archive", lambda records: records.orders_to_archive(book_id, first, last)
    )
    if len(orders) != last - first + 1:
        return None
    return await asyncio.to_thread(pack, orders)


async def _move(desk: Desk, actor: Actor, packed: PackedOrders) -> bool:
    async def body(records: Records) -> bool:
        await require_token(records, actor)
        return await records.archive_orders(packed)

    return await desk.store.write("archive_orders", body, catalogue=False)
