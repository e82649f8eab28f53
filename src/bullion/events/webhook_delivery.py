"""Delivers the events of accounts to their webhooks: at least once, and for each webhook in order.

Every node runs it. A node leases a webhook before it delivers its events, sends nothing unless the lease
outlives the request, and moves the webhook's cursor after each delivery. So wherever a node is killed, the
next one goes on with the event after the last that was recorded as delivered.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from random import random as any_random
from time import monotonic
from typing import Protocol
from weakref import WeakValueDictionary

import structlog

from bullion.faults import StoreFault
from bullion.keys.encryption import Cipher, NotDecryptable
from bullion.last_success import note_start, note_success

from .event import AccountEvent, EventsGone
from .reader import EventReader
from .webhook import LOST_TYPE, Attempt, DeadEvent, Receipt, Webhook
from .webhook_call import CALL_S, LOOK_UP_TURN_S, LookUpsBusy, WebhookCalls
from .webhook_retries import US_PER_S, Decision, NextStep, after_failure
from .webhook_secret import signature, signing_keys

LEASE_S = 15.0
_MARGIN_S = 2.0
"""Between the end of a request and that of the lease."""
_SLICE_S = 20.0
"""After this time a webhook is left to any node, so that others get their turn."""
_EVERY_S = 0.5
"""How often the store is asked for events, while something happens on this node."""
_IDLE_S = 2.0
"""And otherwise: what other nodes left, and tries that are due."""
_AT_ONCE = 64
_OF_ONE_BOOK = 2
"""So many webhooks of one account in one environment get their events at once. See also the claim."""
_TURN_S = 1.0
"""How long another one of them waits for its turn before it is left for later."""
_SLOW_MS = 2000
"""After a call that took longer, a node that is full goes on with another webhook."""
_PAGE = 50
_RELEASE_S = 1.0
USER_AGENT = "Bullion-Webhooks/1"

DELIVERED, FAILED = "delivered", "failed"

_log = structlog.get_logger("webhooks")


class WebhookQueue(Protocol):
    """The webhooks that have something to deliver, in the store. Every method may raise StoreFault.

    A method that takes a webhook returns None if another node has leased it, if it was switched off or
    deleted, or if its account gets nothing any more. Otherwise it renews the lease, and returns the webhook
    as it is then.
    """

    async def claim(self, limit: int, lease_s: float) -> Sequence[Webhook]: ...

    async def renew(self, webhook: Webhook, lease_s: float) -> Webhook | None: ...

    async def skip(
        self, webhook: Webhook, through: int, lease_s: float, lost: Attempt | None = None
    ) -> Webhook | None:
        """Move the cursor past events that it does not want. `lost` tells of those that are gone.

        None also if its types were changed meanwhile: it may want them now.
        """

    async def delivered(self, webhook: Webhook, attempt: Attempt, lease_s: float) -> Webhook | None: ...

    async def failed(self, webhook: Webhook, attempt: Attempt, decision: Decision) -> NextStep | None:
        """Record it, with what follows, and end the lease. Returns what follows; None: nothing was recorded.

        If its URL was changed meanwhile, the event is tried again whatever was decided about the old one.
        """

    async def replays(self, webhook: Webhook) -> Sequence[DeadEvent]:
        """Those that wait to be sent again. If there are none, the webhook is no longer replaying."""

    async def replayed(
        self, webhook: Webhook, attempt: Attempt, lease_s: float, *, forget: bool
    ) -> Webhook | None:
        """An event that was given up was tried again. `forget`: it is no longer one of those."""

    async def release(self, webhook: Webhook) -> None: ...

    async def reencrypt(self, webhook: Webhook, secret: str, previous: str | None, secret_id: str) -> None:
        """Replace its encrypted secrets, if `secret_id` is the secret of the store."""

    async def attempted(self, webhook: Webhook, attempt: Attempt) -> None:
        """Log an attempt outside of every lease, such as a test."""


class _LeaseLost(Exception):
    """Another node may deliver the events now, or they must be read again."""


class _Held:
    """A webhook under this node's lease."""

    def __init__(self, webhook: Webhook, until_s: float) -> None:
        self.webhook = webhook
        self.until_s = until_s
        """By this process's monotonic clock, read before the store was asked: the lease is never shorter."""
        self.slice_until_s = 0.0

    def take(self, after: Webhook | None, asked_s: float) -> None:
        if after is None:
            raise _LeaseLost
        self.webhook, self.until_s = after, asked_s + LEASE_S

    def ends_slice(self) -> bool:
        return monotonic() >= self.slice_until_s

    def covers_call(self) -> bool:
        return monotonic() + LOOK_UP_TURN_S + CALL_S + _MARGIN_S < self.until_s


class WebhookDelivery:
    def __init__(
        self,
        queue: WebhookQueue,
        reader: EventReader,
        calls: WebhookCalls,
        cipher: Cipher,
        body_of: Callable[[AccountEvent], bytes],
        now_us: Callable[[], int],
        random: Callable[[], float] = any_random,
    ) -> None:
        self._queue = queue
        self._reader = reader
        self._calls = calls
        self._cipher = cipher
        self._body_of = body_of
        self._now_us = now_us
        self._random = random
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()
        """Of each book."""
        self._committed = True
        self._look_at_s = 0.0
        self.outcomes: Counter[str] = Counter()
        """How many attempts of this node were delivered, and how many failed."""
        self.switched_off = 0
        """How many webhooks this node switched off because their deliveries failed."""

    def look_soon(self) -> None:
        """This node wrote something to the store: it may be an event."""
        self._committed = True

    async def run(self) -> None:
        """Deliver in the background, until cancelled."""
        note_start("webhook_delivery")
        try:
            while True:
                try:
                    if self._committed or monotonic() >= self._look_at_s:
                        self._committed, self._look_at_s = False, monotonic() + _IDLE_S
                        await self.start_due()
                        note_success("webhook_delivery")
                except StoreFault as fault:
                    _log.warning("webhook_delivery_failed", fault=repr(fault))
                except Exception:  # noqa: BLE001 - a fault here must not end the node
                    _log.exception("webhook_delivery_failed")
                await asyncio.sleep(_EVERY_S)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def start_due(self) -> None:
        """Claim what is due, and begin to deliver it."""
        room = _AT_ONCE - len(self._tasks)
        if room <= 0:
            return
        asked_s = monotonic()
        for webhook in await self._queue.claim(room, LEASE_S):
            task = asyncio.create_task(self._deliver(_Held(webhook, asked_s + LEASE_S)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def deliver_due(self) -> None:
        """Deliver what is due now, and return when that is done: for tests."""
        await self.start_due()
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def test(self, webhook: Webhook, event_id: str, event_type: str, body: bytes) -> Receipt:
        """Send an event of no account at once, whatever the state of the webhook."""
        at_us = self._now_us()
        try:
            receipt = await self._send(webhook, event_id, body)
        except LookUpsBusy:
            busy = "It was not sent: other names are being looked up. Try again."
            receipt = Receipt(status=None, duration_ms=0, error=busy)
        attempt = Attempt(number=0, event_id=event_id, type=event_type, at_us=at_us, receipt=receipt)
        await self._queue.attempted(webhook, attempt)
        return receipt

    # --- One webhook ----------------------------------------------------------------------------------

    async def _deliver(self, held: _Held) -> None:
        try:
            await self._deliver_in_turn(held)
        except (_LeaseLost, LookUpsBusy):
            await self._let_go(held)
        except StoreFault as fault:
            # The lease runs out by itself. Until then nobody delivers, so nothing is sent out of order.
            _log.warning("webhook_delivery_failed", webhook=held.webhook.id, fault=repr(fault))
        except asyncio.CancelledError:
            await self._let_go(held)
            raise
        except Exception:  # noqa: BLE001 - one webhook must not end the delivery to others
            _log.exception("webhook_delivery_failed", webhook=held.webhook.id)

    async def _let_go(self, held: _Held) -> None:
        """If that cannot be done, the lease runs out by itself."""
        with contextlib.suppress(StoreFault, TimeoutError):
            async with asyncio.timeout(_RELEASE_S):
                await self._queue.release(held.webhook)

    async def _deliver_in_turn(self, held: _Held) -> None:
        turn = self._turns.setdefault(held.webhook.book_id, asyncio.Semaphore(_OF_ONE_BOOK))
        try:
            async with asyncio.timeout(_TURN_S):
                await turn.acquire()
        except TimeoutError:
            await self._queue.release(held.webhook)
            return
        try:
            held.slice_until_s = monotonic() + _SLICE_S
            await self._deliver_all(held)
        finally:
            turn.release()

    async def _deliver_all(self, held: _Held) -> None:
        if held.webhook.secret_id != self._cipher.secret_id:
            await self._reencrypt(held.webhook)
        if held.webhook.replaying:
            await self._replay(held)
        while not held.ends_slice() and self._is_due(held.webhook):
            events = await self._next_events(held)
            if not events:
                break
            for event in events:
                if held.ends_slice():
                    break
                if not held.webhook.wants(event.type):
                    continue
                # By itself, not with the delivery: its types may have been changed since it was read.
                await self._skip(held, event.number - 1)
                if not await self._deliver_event(held, event):
                    return
            if not held.ends_slice():
                await self._skip(held, events[-1].number)
        await self._queue.release(held.webhook)

    async def _skip(self, held: _Held, through: int) -> None:
        if through > held.webhook.delivered_through:
            asked_s = monotonic()
            held.take(await self._queue.skip(held.webhook, through, LEASE_S), asked_s)

    def _is_due(self, webhook: Webhook) -> bool:
        return webhook.tries == 0 or webhook.next_try_at_us <= self._now_us()

    async def _next_events(self, held: _Held) -> Sequence[AccountEvent]:
        webhook = held.webhook
        try:
            return await self._reader.read(webhook.book_id, webhook.delivered_through, _PAGE)
        except EventsGone as gone:
            # It was off, or failed, for longer than events are kept.
            asked_s, through = monotonic(), min(gone.oldest - 1, gone.newest)
            lost = through - webhook.delivered_through
            if lost <= 0:
                return ()
            _log.error("webhook_events_gone", webhook=webhook.id, events=lost)
            trace = _lost(lost, through, self._now_us())
            held.take(await self._queue.skip(webhook, through, LEASE_S, trace), asked_s)
            return await self._reader.read(webhook.book_id, through, _PAGE)

    async def _deliver_event(self, held: _Held, event: AccountEvent) -> bool:
        """False: it failed, and the webhook is left for later."""
        attempt = await self._attempt(held, event)
        if attempt.receipt.delivered:
            asked_s = monotonic()
            held.take(await self._queue.delivered(held.webhook, attempt, LEASE_S), asked_s)
            return True
        decision = after_failure(held.webhook, attempt.receipt, self._now_us(), self._random)
        step = await self._queue.failed(held.webhook, attempt, decision)
        self._log_failure(held.webhook, attempt, step, decision.reason)
        return False

    async def _reencrypt(self, webhook: Webhook) -> None:
        """The deployment's secret was exchanged after it was set up. What cannot be read is left."""

        def again(encrypted: str) -> str:
            return self._cipher.encrypt(self._cipher.decrypt(encrypted, webhook.id), webhook.id)

        before = webhook.previous_secret
        try:
            secret, previous = again(webhook.encrypted_secret), None if before is None else again(before)
        except NotDecryptable:
            return
        await self._queue.reencrypt(webhook, secret, previous, self._cipher.secret_id)

    async def _replay(self, held: _Held) -> None:
        """Each is tried once. One that fails stays in the list of those that were given up."""
        for dead in await self._queue.replays(held.webhook):
            if held.ends_slice():
                return
            try:
                events = await self._reader.read(held.webhook.book_id, dead.number - 1, 1)
            except EventsGone:
                events = ()
            kept = bool(events) and events[0].number == dead.number
            if kept:
                attempt = await self._attempt(held, events[0])
            else:
                receipt = Receipt(status=None, duration_ms=0, error="The event is no longer kept.")
                attempt = _attempt_of(dead, self._now_us(), receipt)
            asked_s, forget = monotonic(), attempt.receipt.delivered or not kept
            after = await self._queue.replayed(held.webhook, attempt, LEASE_S, forget=forget)
            held.take(after, asked_s)

    async def _attempt(self, held: _Held, event: AccountEvent) -> Attempt:
        if not held.covers_call():
            asked_s = monotonic()
            held.take(await self._queue.renew(held.webhook, LEASE_S), asked_s)
        at_us = self._now_us()
        try:
            body = self._body_of(event)
        except Exception:  # noqa: BLE001 - an event that nobody can write must not hold up the others for ever
            _log.exception("webhook_delivery_failed", webhook=held.webhook.id, event_id=event.id)
            receipt = Receipt(status=None, duration_ms=0, error="The service could not write the event.")
        else:
            receipt = await self._send(held.webhook, event.id, body)
        if receipt.duration_ms > _SLOW_MS and len(self._tasks) >= _AT_ONCE:
            held.slice_until_s = 0.0
        self.outcomes[DELIVERED if receipt.delivered else FAILED] += 1
        return Attempt(number=event.number, event_id=event.id, type=event.type, at_us=at_us, receipt=receipt)

    async def _send(self, webhook: Webhook, event_id: str, body: bytes) -> Receipt:
        now_us = self._now_us()
        try:
            keys = signing_keys(webhook, self._cipher, now_us)
        except NotDecryptable:
            _log.error("webhook_secret_unreadable", webhook=webhook.id)
            error = "Its secret cannot be read. Rotate it."
            return Receipt(status=None, duration_ms=0, error=error)
        at_s = now_us // US_PER_S
        headers = {
            "content-type": "application/json",
            "user-agent": USER_AGENT,
            "webhook-id": event_id,
            "webhook-timestamp": str(at_s),
            "webhook-signature": signature(keys, event_id, at_s, body),
        }
        return await self._calls.post(webhook.url, headers, body, owner=webhook.book_id)

    def _log_failure(self, webhook: Webhook, attempt: Attempt, step: NextStep | None, reason: str) -> None:
        about = {"webhook": webhook.id, "event_id": attempt.event_id, "error": attempt.receipt.error}
        if step is NextStep.SWITCH_OFF:
            self.switched_off += 1
            _log.error("webhook_switched_off", reason=reason, **about)
        elif step is NextStep.GIVE_UP:
            _log.error("webhook_event_given_up", tries=webhook.tries + 1, **about)
        else:
            _log.info("webhook_attempt_failed", tries=webhook.tries + 1, **about)


def _lost(events: int, through: int, at_us: int) -> Attempt:
    """What the log of attempts tells of events that are gone."""
    error = f"{events} events were not sent: they are no longer kept."
    if events == 1:
        error = "1 event was not sent: it is no longer kept."
    receipt = Receipt(status=None, duration_ms=0, error=error)
    return Attempt(number=through, event_id="", type=LOST_TYPE, at_us=at_us, receipt=receipt)


def _attempt_of(dead: DeadEvent, at_us: int, receipt: Receipt) -> Attempt:
    return Attempt(number=dead.number, event_id=dead.event_id, type=dead.type, at_us=at_us, receipt=receipt)
