"""Runs every change of the desk in one transaction with its audit entry, and notifies all nodes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import structlog

from bullion.booking.production import Production
from bullion.faults import StoreFault
from bullion.hedge.venue import SIMULATED
from bullion.keys.hashing import Hasher
from bullion.orders.trace import TraceLog
from bullion.records.audit import Chain, Entry, Head
from bullion.records.token import Actor, Role
from bullion.refusals.desk import ROLE_TOO_LOW, TOKEN_REQUIRED
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records, RecordStore
from bullion.unreadable import Unreadable, UnreadableRow

from .unreadable import read_or_unreadable, unreadable_error

T = TypeVar("T")
View = dict[str, Any]
OnlyIf = Callable[[View | None], None]
"""Called with the state before a change, in its transaction; raises if that is not as expected."""

_log = structlog.get_logger("desk")


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The state before and after a change, for the audit trail. Without `answer`, `after` is the response."""

    before: View | None
    after: View | None
    answer: View | None = None
    begins_trail: bool = False
    """The broker is new: this is the first entry of its trail."""


@dataclass(frozen=True, slots=True)
class Desk:
    store: RecordStore
    chain: Chain
    key_hasher: Hasher
    token_hasher: Hasher
    refresh: Callable[[], Awaitable[None]]
    """Reads the store into this node's memory, so that a change takes effect here before it is answered."""
    fed_instruments: frozenset[str] = frozenset()
    """Instruments that the deployment's feed supplies: the desk cannot set their rates."""
    hedge: str = SIMULATED
    """Who hedges orders: a venue, or the desk itself."""
    production: Production | None = None
    """Places production orders; None for commands that place none."""
    traces: TraceLog | None = None
    """Records why an order was accepted or refused. None: it is not recorded."""
    action: str = ""
    """The action that is being done. `registry.action` sets it for the function that it declares."""

    async def change(
        self,
        actor: Actor,
        subject: str,
        work: Callable[[Records], Awaitable[ChangeResult]],
        *,
        broker: str | None = None,
        catalogue: bool = True,
        only_if: OnlyIf | None = None,
        entry: str | None = None,
    ) -> View:
        """Do `work` and record it in the trail of `broker` (the actor's own unless named), or do neither.

        `catalogue`: whether it may change what nodes keep in memory. Orders are not kept there, and nodes
        must not check again all orders that they have in hand because one was closed. `entry` is the name
        of the trail's entry, where that is not the action's.
        """
        action, trail = self._entry_name(entry), broker or actor.broker

        async def body(records: Records) -> ChangeResult:
            await require_token(records, actor)
            done = await work(records)
            if only_if is not None:
                only_if(done.before)
            head = await records.lock_audit_head(trail)
            if not catalogue:
                # Without the catalogue's lock, the token may have been deleted meanwhile.
                await require_token(records, actor)
            await self._append(records, head, trail, actor, action, subject, done)
            return done

        try:
            done = await self.store.write(action, body, catalogue=catalogue)
        except UnreadableRow as row:
            raise unreadable_error(row.entry) from None
        _log.info("action", action=action, subject=subject, actor=actor.name, broker=trail)
        if catalogue:
            await self._refresh(action)
        return done.answer or done.after or {}

    async def add_audit_entry(
        self, actor: Actor, subject: str, after: View, *, entry: str | None = None
    ) -> None:
        """Record in the trail what is done and cannot be undone, whatever became of the actor since."""
        action = self._entry_name(entry)

        async def body(records: Records) -> None:
            head = await records.lock_audit_head(actor.broker)
            await self._append(records, head, actor.broker, actor, action, subject, ChangeResult(None, after))

        await self.store.write(action, body, catalogue=False)
        _log.info("action", action=action, subject=subject, actor=actor.name, broker=actor.broker)

    def _entry_name(self, entry: str | None) -> str:
        name = entry or self.action
        if not name:
            raise LookupError("a change outside of every declared action has no name for the trail")
        return name

    async def _refresh(self, action: str) -> None:
        try:
            await self.refresh()
        except StoreFault as fault:
            # It is committed. The follower reads it as soon as the store can be read again.
            _log.warning("refresh_postponed", action=action, fault=repr(fault))

    async def read(self, actor: Actor, name: str, work: Callable[[Records], Awaitable[T]]) -> T:
        require(actor, Role.VIEWER)
        try:
            return await self.store.read(name, work)
        except UnreadableRow as row:
            raise unreadable_error(row.entry) from None

    async def _append(
        self,
        records: Records,
        head: Head | None,
        broker: str,
        actor: Actor,
        action: str,
        subject: str,
        done: ChangeResult,
    ) -> None:
        entry = Entry(
            broker=broker,
            ordinal=0,
            at_us=await records.now_us(),
            actor=actor.name,
            action=action,
            subject=subject,
            before=_json(done.before),
            after=_json(done.after),
        )
        linked, new_head = self.chain.append(head, entry, beginning=done.begins_trail)
        await records.append_audit(linked, new_head)


def require(actor: Actor, role: Role) -> None:
    if not actor.role.includes(role):
        raise RefusalError(ROLE_TOO_LOW, f"This needs the role {role}; yours is {actor.role}.")


async def require_token(records: Records, actor: Actor) -> None:
    """Check the token again in the transaction: it may have been deleted since the request arrived."""
    if actor.token_id is not None:
        token = await read_or_unreadable(records.token(actor.token_id))
        if token is None or isinstance(token, Unreadable) or token.deleted_at_us is not None:
            raise RefusalError(TOKEN_REQUIRED)


def _json(view: View | None) -> str | None:
    return None if view is None else msgspec.json.encode(view, order="sorted").decode()
