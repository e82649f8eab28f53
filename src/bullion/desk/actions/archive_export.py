"""Exports archived orders, and exports and deletes old decision traces."""

from collections.abc import AsyncIterator
from hashlib import sha256

import msgspec

from bullion.desk.desk import ChangeResult, Desk, View, require, require_token
from bullion.desk.registry import role_of
from bullion.records.archive import TraceBatch
from bullion.records.orders import AccountOrder
from bullion.records.token import Actor
from bullion.store.records import Records

from . import traces
from .archive import ArchiveSelection, archive_old_orders, archived_packs
from .order_view import view

_BATCHES_AT_ONCE = 20

BatchHashes = dict[int, bytes]
"""The batches that were read, each with a hash of its content."""


async def exported_orders(desk: Desk, actor: Actor, selection: ArchiveSelection) -> AsyncIterator[View]:
    """The archived orders that were made before a time, account by account and oldest first."""
    async for login_id, packed in archived_packs(desk, actor, selection.login_id):
        if packed.from_us < selection.before_us:
            for order in packed.orders():
                if order.created_at_us < selection.before_us:
                    yield _order(AccountOrder(order, login_id, archived=True))


def _order(found: AccountOrder) -> View:
    order = found.order
    return {
        **view(found),
        "idempotency_key": order.idempotency_key,
        "expected_price": order.asked.expected_price,
        "price_anatomy": msgspec.json.decode(order.price_anatomy),
    }


async def old_traces(desk: Desk, actor: Actor, before_us: int, seen: BatchHashes) -> AsyncIterator[View]:
    """The broker's traces from before a time. The batches that were read are added to `seen`."""
    require(actor, role_of(archive_old_orders))
    async for batch in _batches(desk, actor, before_us):
        if batch.matching:
            seen[batch.ordinal] = _hash(batch)
        for found in batch.matching:
            yield traces.view(found)


async def delete_traces(desk: Desk, actor: Actor, before_us: int, seen: BatchHashes, written: View) -> None:
    """Delete the traces that were exported, and nothing written since. `written` is for the audit trail."""

    async def intended(_records: Records) -> ChangeResult:
        return ChangeResult(None, {**ArchiveSelection(before_us).view(), **written})

    require(actor, role_of(archive_old_orders))
    await desk.change(actor, "decisions", intended, catalogue=False, entry="archive_traces")
    async for batch in _batches(desk, actor, before_us):
        if seen.get(batch.ordinal) == _hash(batch):
            await _delete(desk, actor, batch)


async def _delete(desk: Desk, actor: Actor, batch: TraceBatch) -> None:
    async def body(records: Records) -> None:
        await require_token(records, actor)
        await records.delete_traces(batch)

    await desk.store.write("archive_traces", body, catalogue=False)


async def _batches(desk: Desk, actor: Actor, before_us: int) -> AsyncIterator[TraceBatch]:
    last = 0
    while batches := await _next_batches(desk, actor, before_us, last):
        for batch in batches:
            yield batch
        last = batches[-1].ordinal


async def _next_batches(desk: Desk, actor: Actor, before_us: int, after: int) -> list[TraceBatch]:
    return await desk.read(
        actor,
        "traces",
        lambda records: records.trace_batches(actor.broker, after, before_us, _BATCHES_AT_ONCE),
    )


def _hash(batch: TraceBatch) -> bytes:
    return sha256(batch.written.encode()).digest()
