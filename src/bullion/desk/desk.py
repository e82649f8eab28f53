"""Runs every change of the desk in one transaction with its audit entry, and notifies all nodes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec
import structlog

from bullion.booking.production import Production
from bullion.faults import StoreFault
from bullion.hedge.venue import VenueAbilities
from bullion.hedge.venues import SIMULATED, abilities_of
from bullion.keys.encryption import Cipher
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import KeyIssuer
from bullion.orders.instant import instant_text
from bullion.orders.trace import TraceLog
from bullion.records.audit import Chain, Entry, Head
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, ROLE_TOO_LOW, TOKEN_REQUIRED
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records, RecordStore
from bullion.store.standby import Reports, Told
from bullion.unreadable import Unreadable, UnreadableRow

from .price_confirmation import PricesUnconfirmed, fingerprint, preview, without_moves
from .price_guard import PriceRow, moved_prices
from .price_lock import PriceLocks
from .price_snapshot import read_snapshot
from .unreadable import read_or_unreadable, unreadable_error

T = TypeVar("T")
View = dict[str, Any]
OnlyIf = Callable[[View | None], None]
"""Called with the state before a change, in its transaction; raises if that is not as expected."""

CONFIRMED = "confirmed"
"""The field of an audit entry's state that holds what somebody saw and confirmed."""
UNDO_US = 60_000_000
"""How long a change of prices can be taken back."""
_log = structlog.get_logger("desk")


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The state before and after a change, for the audit trail. Without `answer`, `after` is the response."""

    before: View | None
    after: View | None
    answer: View | None = None
    begins_trail: bool = False
    """The broker is new: this is the first entry of its trail."""
    prices: Sequence[PriceRow] = ()
    """Prices that it sets beside those of the broker's offers, such as a closing price."""
    starts_from: str = ""
    """What is not sent, and the change depends on: what a difference is added to, or the terms of a group
    that is sent by its name. It is confirmed for that alone."""


@dataclass(frozen=True, slots=True)
class Desk:
    store: RecordStore
    chain: Chain
    key_issuer: KeyIssuer
    token_hasher: Hasher
    refresh: Callable[[], Awaitable[None]]
    """Reads the store into this node's memory, so that a change takes effect here before it is answered."""
    fed_instruments: frozenset[str] = frozenset()
    """Instruments of the simulated feed: the desk can only pin their rates. Other feeds have none here."""
    hedge: str = SIMULATED
    """Who hedges orders: a venue, or the desk itself."""
    production: Production | None = None
    """Places production orders; None for commands that place none."""
    price_locks: PriceLocks | None = None
    """Signs locked prices; None for commands that lock none."""
    start_trading: Callable[[], Awaitable[None]] | None = None
    """Starts to keep the memory behind `production` up to date, where that is not always done."""
    traces: TraceLog | None = None
    """Records why an order was accepted or refused. None: it is not recorded."""
    webhook_cipher: Cipher | None = None
    """Encrypts the secrets of webhooks; None: it sets up none."""
    webhooks_may_be_private: bool = False
    """Whether webhooks may lead to private addresses."""
    reports: Reports | None = None
    """Reads reports, at a standby if there is one. None: they are read like everything else."""
    on_standby: Told | None = None
    """Called with the time that a report is complete up to, if it was read at a standby."""
    action: str = ""
    """The action that is being done. `registry.action` sets it for the function that it declares."""

    @property
    def venue(self) -> VenueAbilities:
        """What the venue that hedges orders can do."""
        return abilities_of(self.hedge)

    sent: str | None = None
    """What was sent to an action that may move prices of clients; None: this one cannot."""
    confirm: str | None = None
    """The fingerprint of the price changes that somebody confirmed."""
    can_undo: bool = False
    """Whether what the action does can be taken back."""

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
        undoes: bool = False,
    ) -> View:
        """Do `work` and record it in the trail of `broker` (the actor's own unless named), or do neither.

        Where the action may move prices, neither is done before its problems are confirmed: see
        `price_guard`. The answer then has the prices that it moves. `undoes`: it brings earlier prices back.

        `catalogue`: whether to move the catalogue's version, after which nodes read the configuration anew
        and check again all orders that they have in hand. Not for a change of one order. `entry` is the
        name of the trail's entry, where that is not the action's.
        """
        action, trail = self._entry_name(entry), broker or actor.broker

        async def body(records: Records) -> View:
            await require_token(records, actor)
            guarded = self.sent is not None
            old = await read_snapshot(records, trail) if guarded and catalogue else None
            done = await work(records)
            if only_if is not None:
                only_if(done.before)
            prices = list(done.prices)
            if old is not None:
                prices += moved_prices(old, await read_snapshot(records, trail, old))
            if undoes:
                prices = without_moves(prices)
            confirmed = self._confirmed(trail, action, prices, done.starts_from)
            await require_here(records, trail)
            head = await records.lock_audit_head(trail)
            if not catalogue:
                # Without the catalogue's lock, the token may have been deleted meanwhile.
                await require_token(records, actor)
            kept = done if confirmed is None else replace(done, after={**(done.after or {}), **confirmed})
            added = await self._append(records, head, trail, actor, action, subject, kept)
            answer = done.answer or done.after or {}
            if not prices:
                return answer
            may_undo = self.can_undo and old is not None and done.before is not None
            return {**answer, **preview(prices, "prices"), **(_undo(added) if may_undo else {})}

        try:
            answer = await self.store.write(action, body, catalogue=catalogue)
        except UnreadableRow as row:
            raise unreadable_error(row.entry) from None
        _log.info("action", action=action, subject=subject, actor=actor.name, broker=trail)
        if catalogue:
            await self._refresh(action)
        return answer

    def _confirmed(
        self, broker: str, action: str, prices: Sequence[PriceRow], starts_from: str
    ) -> View | None:
        """Refuse what is not confirmed. Gives what the trail keeps of a confirmation, if there was one."""
        wrong = [row for row in prices if row.problems]
        if not wrong:
            return None
        expected = fingerprint(broker, action, f"{self.sent or ''}{starts_from}", prices)
        if self.confirm != expected:
            raise PricesUnconfirmed(prices, expected, changed=self.confirm is not None)
        return {CONFIRMED: {"fingerprint": expected, **preview(wrong, "prices")}}

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

    async def report(self, actor: Actor, name: str, work: Callable[[Records], Awaitable[T]]) -> T:
        """Like `read`, for what is read for people alone: it may be read at a standby."""
        if self.reports is None:
            return await self.read(actor, name, work)
        require(actor, Role.VIEWER)
        try:
            return await self.reports.read(name, work, self.on_standby)
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
    ) -> Entry:
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
        return linked


def _undo(added: Entry) -> View:
    """How a change of prices can be taken back."""
    return {"undo": {"number": added.ordinal, "until": instant_text(added.at_us + UNDO_US)}}


def require(actor: Actor, role: Role) -> None:
    if not actor.role.includes(role):
        raise RefusalError(ROLE_TOO_LOW, f"This needs the role {role}; yours is {actor.role}.")


async def require_here(records: Records, broker: str) -> None:
    """Refuse to change anything of a broker that was moved to another store."""
    place = await records.moved_to(broker)
    if place is not None:
        raise RefusalError(CONFLICT, f"The broker {broker} was moved to {place}. Change it there.")


async def require_token(records: Records, actor: Actor) -> None:
    """Check the token again in the transaction: it may have been changed since the request arrived."""
    if actor.token_id is not None:
        token = await read_or_unreadable(records.token(actor.token_id))
        if token is None or isinstance(token, Unreadable) or token.deleted_at_us is not None:
            raise RefusalError(TOKEN_REQUIRED)
        if not token.role.includes(actor.role):
            raise RefusalError(ROLE_TOO_LOW, f"Your role was changed to {token.role} meanwhile.")


def _json(view: View | None) -> str | None:
    return None if view is None else msgspec.json.encode(view, order="sorted").decode()
