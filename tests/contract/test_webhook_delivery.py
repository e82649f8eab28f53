"""Webhooks: events arrive at least once and in order, whatever becomes of nodes and receivers."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from bullion.events import webhook_delivery
from bullion.events.event import AccountEvent
from bullion.events.webhook import (
    ATTEMPTS_KEPT,
    LOST_TYPE,
    WEBHOOKS_MAX,
    Receipt,
    TooManyWebhooks,
    Webhook,
    WebhookChange,
)
from bullion.events.webhook_call import CALL_S, LookUpsBusy, WebhookCalls
from bullion.events.webhook_changes import OVERLAP_S, rotate_secret
from bullion.events.webhook_delivery import WebhookDelivery
from bullion.events.webhook_retries import (
    OFF_AFTER_S,
    OFF_TRIES,
    PAUSE_KEPT_S,
    PAUSES_S,
    TRIES_KEPT,
    US_PER_S,
)
from bullion.faults import StoreUnavailable
from bullion.keys.encryption import Cipher
from bullion.store.engine import Engine
from bullion.store.records import RecordStore
from bullion.store.webhook_queue import StoredWebhookQueue
from bullion.store.webhooks import StoredWebhookTable
from tests.booking.fixtures import rows
from tests.support.receiver import Received, answer, receiving

from .webhooks import CIPHER, Hooked, delivery_on, hooked_on, until, wall_us

pytestmark = pytest.mark.anyio


@pytest.fixture
async def hooked(engine: Engine) -> Hooked:
    return await hooked_on(engine)


async def test_events_arrive_signed_and_in_order(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        await hooked.happen(2)
        webhook, secret = await hooked.hook(receiver.url)
        await hooked.happen(60)
        await delivery_on(engine).deliver_due()
        # Those before it was set up are not for it.
        assert receiver.numbers == [*range(3, 63)]
        for each in receiver.received:
            event = Verifier(secret).verify(each.body, each.headers)
            assert event == each.event
            assert each.headers["webhook-id"] == event["id"]
            assert (event["type"], event["environment"]) == ("allocation.changed", "test")
        assert receiver.received[-1].event["data"]["gold"]["limit"] == "0.0062"
        now = await hooked.now(webhook)
        assert (now.delivered_through, now.tries, now.failing_since_us) == (62, 0, None)
        assert now.last_delivered_at_us is not None
        attempts = await hooked.attempts(webhook)
        assert [each.number for each in attempts] == [*range(62, 2, -1)]
        assert {(each.receipt.status, each.receipt.response) for each in attempts} == {(200, "ok")}


async def test_the_log_of_attempts_is_bounded(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(ATTEMPTS_KEPT + 5)
        await delivery_on(engine).deliver_due()
        numbers = [each.number for each in await hooked.attempts(webhook)]
        assert numbers == [*range(ATTEMPTS_KEPT + 5, 5, -1)]


async def test_only_the_types_that_were_asked_for(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url, ("key.revoked", "order.created"))
        await hooked.happen(3)
        await hooked.happen_otherwise()
        await hooked.happen(55)
        await delivery_on(engine).deliver_due()
        assert receiver.numbers == [4]
        assert (await hooked.now(webhook)).delivered_through == 59


async def test_an_event_that_is_no_longer_wanted_has_not_failed(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(500)) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(2)
        delivery = delivery_on(engine)
        await delivery.deliver_due()
        await hooked.change(webhook, types=("key.revoked",))
        await hooked.make_due()
        await delivery.deliver_due()
        now = await hooked.now(webhook)
        assert (now.delivered_through, now.tries, now.failing_since_us) == (2, 0, None)


async def test_nothing_overtakes_an_event_that_fails(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(500, b"no")) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(3)
        delivery = delivery_on(engine)
        await delivery.deliver_due()
        now = await hooked.now(webhook)
        assert (now.delivered_through, now.tries) == (0, 1)
        assert now.failing_since_us is not None
        assert 3 * US_PER_S < now.next_try_at_us - wall_us() < 7 * US_PER_S
        await delivery.deliver_due()
        assert receiver.numbers == [1]
        receiver.behave = answer()
        await hooked.make_due()
        await delivery.deliver_due()
        assert receiver.numbers == [1, 1, 2, 3]
        now = await hooked.now(webhook)
        assert (now.tries, now.failing_since_us) == (0, None)
        assert delivery.outcomes == {"delivered": 3, "failed": 1}
        (failed,) = [each for each in await hooked.attempts(webhook) if not each.receipt.delivered]
        assert (failed.number, failed.receipt.status, failed.receipt.response) == (1, 500, "no")
        assert failed.receipt.error == "The receiver answered 500."


async def test_an_event_is_given_up_and_can_be_replayed(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(500)) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(2)
        delivery = delivery_on(engine)
        await hooked.set(f"tries = {len(PAUSES_S)}, failing_since_us = {wall_us() - 3 * 86_400 * US_PER_S}")
        await delivery.deliver_due()
        (dead,) = await hooked.dead(webhook)
        assert (dead.number, dead.tries, dead.error) == (1, len(PAUSES_S) + 1, "The receiver answered 500.")
        assert (await hooked.now(webhook)).delivered_through == 1
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2]
        # A replay is one try, and goes on beside what waits.
        assert await hooked.replay(webhook, 7) == 0
        assert await hooked.replay(webhook, 1) == 1
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2, 1]
        (dead,) = await hooked.dead(webhook)
        assert (dead.tries, dead.replaying) == (len(PAUSES_S) + 2, False)
        assert not (await hooked.now(webhook)).replaying
        now = await hooked.now(webhook)
        assert now.failing_since_us is not None
        assert now.last_delivered_at_us is None
        receiver.behave = answer()
        assert await hooked.replay(webhook) == 1
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2, 1, 1]
        assert await hooked.dead(webhook) == []
        now = await hooked.now(webhook)
        assert now.failing_since_us is None
        assert now.last_delivered_at_us is not None
        await hooked.make_due()
        await delivery.deliver_due()
        assert receiver.numbers[-1] == 2


async def test_a_webhook_that_fails_for_days_is_switched_off(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(500)) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen()
        delivery = delivery_on(engine)
        await hooked.set(f"tries = {OFF_TRIES}, failing_since_us = {wall_us() - OFF_AFTER_S * US_PER_S}")
        await delivery.deliver_due()
        now = await hooked.now(webhook)
        assert (now.on, now.off_reason) == (False, "Nothing could be delivered for 5 days.")
        assert delivery.switched_off == 1
        (stopped,) = await RecordStore(engine).read(
            "off", lambda records: records.stopped_webhooks("main", 1)
        )
        assert (stopped.id, stopped.login_id, stopped.environment) == (webhook.id, "c1", "test")
        assert (
            await RecordStore(engine).read("off", lambda records: records.stopped_webhooks("other", 1)) == []
        )
        await hooked.make_due()
        await delivery.deliver_due()
        assert receiver.numbers == [1]
        # Switched on again, it goes on where it stopped.
        receiver.behave = answer()
        await hooked.change(webhook, on=True)
        await hooked.happen()
        await delivery.deliver_due()
        assert receiver.numbers == [1, 1, 2]
        assert (
            await RecordStore(engine).read("off", lambda records: records.stopped_webhooks("main", 1)) == []
        )


async def test_a_webhook_switched_off_and_on_keeps_its_pauses(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(500)) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen()
        delivery = delivery_on(engine)
        await delivery.deliver_due()
        before = await hooked.now(webhook)
        for on in (False, True, True):
            await hooked.change(webhook, on=on, off_reason=None if on else "for a test")
        now = await hooked.now(webhook)
        assert (now.on, now.tries, now.next_try_at_us) == (True, 1, before.next_try_at_us)
        await delivery.deliver_due()
        assert receiver.numbers == [1]
        # Of a long pause and many tries, the beginning is kept.
        await hooked.set(f"state = 'off', tries = 17, next_try_at_us = {wall_us() + 6 * 3600 * US_PER_S}")
        await hooked.change(webhook, on=True)
        now = await hooked.now(webhook)
        assert now.tries == TRIES_KEPT
        assert abs(now.next_try_at_us - wall_us() - PAUSE_KEPT_S * US_PER_S) < 60 * US_PER_S


async def test_who_waits_for_other_names_has_not_failed(hooked: Hooked, engine: Engine) -> None:
    class Busy(WebhookCalls):
        async def post(self, *_: Any, **__: Any) -> Receipt:
            raise LookUpsBusy

    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen()
        delivery = delivery_on(engine, Busy())
        await delivery.deliver_due()
        now = await hooked.now(webhook)
        assert (now.tries, now.failing_since_us, await hooked.attempts(webhook)) == (0, None, [])
        assert not delivery.outcomes
        assert not (await delivery.test(webhook, "evt_t", "webhook.test", b"{}")).delivered
        # Any node goes on at once.
        await delivery_on(engine).deliver_due()
        assert receiver.numbers == [1]


async def test_a_receiver_that_is_gone(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(410)) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen()
        await delivery_on(engine).deliver_due()
        now = await hooked.now(webhook)
        assert (now.on, now.off_reason, now.delivered_through) == (
            False,
            "The receiver answered 410 Gone.",
            0,
        )


@pytest.mark.parametrize("column", ["active", "api_access"])
async def test_nothing_is_sent_for_an_account_that_is_switched_off(
    hooked: Hooked, engine: Engine, column: str
) -> None:
    async with receiving() as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen()
        await rows(engine, f"UPDATE accounts SET {column} = 0")
        delivery = delivery_on(engine)
        await delivery.deliver_due()
        assert receiver.numbers == []
        await rows(engine, f"UPDATE accounts SET {column} = 1")
        await delivery.deliver_due()
        assert receiver.numbers == [1]


SWITCHED_OFF = [
    "UPDATE accounts SET active = 0",
    "UPDATE accounts SET api_access = 0",
    "UPDATE brokers SET moved_store = 'another', moved_to = 'db-b', moved_at_us = 1",
]
SWITCHED_ON = (
    "UPDATE accounts SET active = 1, api_access = 1",
    "UPDATE brokers SET moved_store = NULL, moved_to = NULL, moved_at_us = NULL",
)


@pytest.mark.parametrize("change", SWITCHED_OFF)
async def test_an_account_that_is_switched_off_gets_nothing_more_under_a_lease(
    hooked: Hooked, engine: Engine, change: str
) -> None:
    async def closing(request: Received, writer: asyncio.StreamWriter) -> None:
        await rows(engine, change)
        await answer()(request, writer)

    async with receiving(closing) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(3)
        delivery = delivery_on(engine)
        await delivery.deliver_due()
        # What was delivered is recorded.
        now = await hooked.now(webhook)
        assert (receiver.numbers, now.delivered_through, now.attempts) == ([1], 1, 1)
        receiver.behave = answer()
        for each in SWITCHED_ON:
            await rows(engine, each)
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2, 3]


@pytest.mark.parametrize("change", SWITCHED_OFF)
async def test_nor_does_it_get_events_again_that_were_given_up(
    hooked: Hooked, engine: Engine, change: str
) -> None:
    async def closing(request: Received, writer: asyncio.StreamWriter) -> None:
        await rows(engine, change)
        await answer()(request, writer)

    async with receiving(closing) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(2)
        await hooked.set("delivered_through = 2")
        await given_up(hooked, webhook, 1, 2)
        await hooked.replay(webhook)
        await delivery_on(engine).deliver_due()
        assert receiver.numbers == [1]
        assert [each.number for each in await hooked.dead(webhook)] == [2]


@pytest.mark.parametrize("change", SWITCHED_OFF)
async def test_a_lease_is_not_renewed_for_an_account_that_is_switched_off(
    hooked: Hooked, engine: Engine, change: str
) -> None:
    await hooked.hook("http://127.0.0.1:9/")
    await hooked.happen()
    queue = StoredWebhookQueue(engine)
    (held,) = await queue.claim(1, 15)
    await rows(engine, change)
    assert await queue.renew(held, 15) is None
    assert await queue.skip(held, 1, 15) is None


@pytest.mark.parametrize(("status", "tries"), [(410, 0), (500, len(PAUSES_S))])
async def test_a_new_url_is_not_judged_by_the_old_one(
    hooked: Hooked, engine: Engine, status: int, tries: int
) -> None:
    """Neither switched off, nor is an event given up, because of the one that was called."""
    async with receiving() as second:

        async def moving(request: Received, writer: asyncio.StreamWriter) -> None:
            await hooked.change(webhook, url=second.url)
            await answer(status)(request, writer)

        async with receiving(moving) as receiver:
            webhook, _ = await hooked.hook(receiver.url)
            await hooked.happen()
            await hooked.set(f"tries = {tries}")
            delivery = delivery_on(engine)
            await delivery.deliver_due()
            now = await hooked.now(webhook)
            assert (now.on, now.delivered_through, now.tries) == (True, 0, tries + 1)
            assert 0 < now.next_try_at_us - wall_us() < 7 * US_PER_S
            assert await hooked.dead(webhook) == []
            assert delivery.switched_off == 0
            await hooked.make_due()
            await delivery.deliver_due()
            assert (receiver.numbers, second.numbers) == ([1], [1])


@pytest.mark.parametrize("wanted_after", [0, 1])
async def test_types_that_are_added_during_a_lease_are_not_passed_over(
    hooked: Hooked, engine: Engine, monkeypatch: pytest.MonkeyPatch, wanted_after: int
) -> None:
    """After the claim an event happens that it wants only now, and perhaps one that it always wanted."""
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url, ("key.revoked",))
        await hooked.happen()
        delivery = delivery_on(engine)
        read = delivery._reader.read

        async def changed_before(book_id: int, after: int, limit: int) -> Sequence[AccountEvent]:
            monkeypatch.setattr(delivery._reader, "read", read)
            await hooked.change(webhook, types=("key.revoked", "allocation.changed"))
            await hooked.happen()
            for _ in range(wanted_after):
                await hooked.happen_otherwise()
            return await read(book_id, after, limit)

        monkeypatch.setattr(delivery._reader, "read", changed_before)
        await delivery.deliver_due()
        assert receiver.numbers == []
        await delivery.deliver_due()
        assert receiver.numbers == [*range(1, 3 + wanted_after)]


async def test_a_slow_receiver_keeps_no_other_waiting(hooked: Hooked, engine: Engine) -> None:
    free = asyncio.Event()

    async def slow(request: Received, writer: asyncio.StreamWriter) -> None:
        await free.wait()
        await answer()(request, writer)

    async with receiving(slow) as stuck, receiving() as receiver:
        await hooked.hook(stuck.url)
        await hooked.hook(receiver.url)
        await hooked.happen(3)
        delivery = delivery_on(engine)
        await delivery.start_due()
        await until(lambda: receiver.numbers == [1, 2, 3])
        assert stuck.numbers == [1]
        free.set()
        await until(lambda: stuck.numbers == [1, 2, 3])
        await asyncio.gather(*delivery._tasks)


async def test_one_account_does_not_occupy_a_node(
    hooked: Hooked, engine: Engine, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_delivery, "_TURN_S", 0.05)
    free = asyncio.Event()

    async def slow(request: Received, writer: asyncio.StreamWriter) -> None:
        await free.wait()
        await answer()(request, writer)

    async with receiving(slow) as stuck:
        for _ in range(4):
            await hooked.hook(stuck.url)
        await hooked.happen()
        delivery = delivery_on(engine)
        await delivery.start_due()
        await until(lambda: len(delivery._tasks) == 2 and len(stuck.numbers) == 2)
        # Nor do its other webhooks begin on another node.
        assert not await StoredWebhookQueue(other_engine).claim(9, 30)
        free.set()
        await asyncio.gather(*delivery._tasks)
        await delivery.deliver_due()
        assert stuck.numbers == [1] * 4


async def test_a_slow_receiver_leaves_a_full_node_after_each_call(
    hooked: Hooked, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_delivery, "_SLOW_MS", -1)
    async with receiving() as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen(3)
        delivery = delivery_on(engine)
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2, 3]
        await hooked.happen(2)
        monkeypatch.setattr(webhook_delivery, "_AT_ONCE", 1)
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2, 3, 4]
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2, 3, 4, 5]


async def test_a_clock_that_steps_back_stops_nothing(hooked: Hooked, engine: Engine) -> None:
    """As after a failover to a machine whose clock is behind."""
    async with receiving() as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen()
        ahead = wall_us() + 3600 * US_PER_S
        await hooked.set(f"next_try_at_us = {ahead}, lease_until_us = {ahead}")
        await delivery_on(engine).deliver_due()
        assert receiver.numbers == [1]


async def test_many_nodes_at_once_deliver_in_order(
    hooked: Hooked, engine: Engine, other_engine: Engine
) -> None:
    """Each event once: nobody is killed here, and the leases last."""
    async with receiving() as receiver, receiving() as second:
        await hooked.hook(receiver.url)
        await hooked.hook(second.url)
        nodes = [delivery_on(each) for each in (engine, other_engine) * 2]
        for _ in range(5):
            await hooked.happen(8)
            await asyncio.gather(*(each.deliver_due() for each in nodes))
        assert receiver.numbers == second.numbers == [*range(1, 41)]


def without_repeats(numbers: list[int]) -> list[int]:
    return [*dict.fromkeys(numbers)]


async def test_a_node_that_is_killed_anywhere_loses_and_reorders_nothing(
    hooked: Hooked, engine: Engine, other_engine: Engine
) -> None:
    """Cancelled at each of its steps in turn, before or after what it does, without releasing its lease."""
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        left = 0

        class Killed(BaseException):
            pass

        class Dying(StoredWebhookQueue):
            """Ends as a process does: no step after the last one."""

        def dying(name: str, after: bool) -> Callable[..., Awaitable[Any]]:
            real = getattr(StoredWebhookQueue, name)

            async def step(self: Any, *values: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0 and not after:
                    raise Killed
                result = await real(self, *values, **named)
                if left == 0 and after:
                    raise Killed
                return result

            return step

        expected = 0
        for after in (False, True):
            for name in ("claim", "delivered", "skip", "release"):
                setattr(Dying, name, dying(name, after))
            for step in count(1):
                await hooked.happen(2)
                expected += 2
                left = step
                first = delivery_on(engine)
                first._queue = Dying(engine)
                try:
                    await first.deliver_due()
                except Killed:
                    await asyncio.gather(*first._tasks, return_exceptions=True)
                killed = left <= 0
                # While the lease lasts, nobody else delivers; then the next node goes on.
                held = (await rows(engine, "SELECT lease_until_us FROM webhooks"))[0]["lease_until_us"]
                await hooked.set(f"lease_until_us = {held and 1}")
                await delivery_on(other_engine).deliver_due()
                assert without_repeats(receiver.numbers) == [*range(1, expected + 1)]
                assert receiver.numbers == sorted(receiver.numbers)
                if not killed:
                    break
            assert step > 3
        assert (await hooked.now(webhook)).delivered_through == expected


async def test_a_lease_that_another_node_holds_is_left_alone(
    hooked: Hooked, engine: Engine, other_engine: Engine
) -> None:
    free = asyncio.Event()

    async def slow(request: Received, writer: asyncio.StreamWriter) -> None:
        await free.wait()
        await answer()(request, writer)

    async with receiving(slow) as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen(2)
        first, second = delivery_on(engine), delivery_on(other_engine)
        await first.start_due()
        await until(lambda: receiver.numbers == [1])
        await second.deliver_due()
        assert receiver.numbers == [1]
        # The first node was paused for longer than its lease: the second takes over, and the first stops.
        await hooked.set("lease_until_us = 1")
        await second.start_due()
        await until(lambda: receiver.numbers == [1, 1])
        free.set()
        await asyncio.gather(*first._tasks, *second._tasks)
        assert without_repeats(receiver.numbers) == [1, 2]
        assert receiver.numbers == sorted(receiver.numbers)


async def test_no_request_is_made_that_may_outlive_the_lease(
    hooked: Hooked, engine: Engine, other_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_delivery, "LEASE_S", CALL_S)
    async with receiving() as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen()
        delivery = delivery_on(engine)
        queue = StoredWebhookQueue(other_engine)

        async def taken_over(webhook: Webhook, _lease_s: float) -> Webhook | None:
            await hooked.set("lease_until_us = 1")
            await queue.claim(9, 30)
            return await StoredWebhookQueue(engine).renew(webhook, 30)

        monkeypatch.setattr(delivery._queue, "renew", taken_over)
        await delivery.deliver_due()
        assert receiver.numbers == []


async def test_a_node_that_stops_leaves_its_webhooks_to_others(
    hooked: Hooked, engine: Engine, other_engine: Engine
) -> None:
    async def never(_request: Received, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with receiving(never) as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen(2)
        running = asyncio.create_task(delivery_on(engine).run())
        await until(lambda: receiver.numbers == [1])
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        receiver.behave = answer()
        await delivery_on(other_engine).deliver_due()
        assert receiver.numbers == [1, 1, 2]


async def test_a_node_looks_often_only_after_something_happened(
    hooked: Hooked, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_delivery, "_EVERY_S", 0.001)
    monkeypatch.setattr(webhook_delivery, "_IDLE_S", 600.0)
    delivery, looks = delivery_on(engine), list[int]()
    claim, passes = delivery._queue.claim, list[int]()

    async def counted(limit: int, lease_s: float) -> Sequence[Webhook]:
        looks.append(limit)
        return await claim(limit, lease_s)

    sleep = asyncio.sleep

    async def passing(seconds: float) -> None:
        passes.extend([1] if seconds == webhook_delivery._EVERY_S else [])
        await sleep(seconds)

    delivery._queue.claim = counted  # type: ignore[method-assign]
    monkeypatch.setattr(asyncio, "sleep", passing)
    async with receiving() as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen()
        running = asyncio.create_task(delivery.run())
        await until(lambda: receiver.numbers == [1])
        await until(lambda: len(passes) > 20)
        assert len(looks) == 1
        await hooked.happen()
        delivery.look_soon()
        await until(lambda: receiver.numbers == [1, 2])
        # Events of other nodes are found, too.
        monkeypatch.setattr(webhook_delivery, "_IDLE_S", 0.0)
        delivery._look_at_s = 0.0
        await hooked.happen()
        await until(lambda: receiver.numbers == [1, 2, 3])
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_store_that_fails_after_a_delivery(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        await hooked.hook(receiver.url)
        await hooked.happen(2)
        delivery = delivery_on(engine)

        async def fails(*_: Any) -> None:
            raise StoreUnavailable("gone")

        delivery._queue.delivered = fails  # type: ignore[method-assign,assignment]
        await delivery.deliver_due()
        await hooked.set("lease_until_us = 1")
        await delivery_on(engine).deliver_due()
        assert receiver.numbers == [1, 1, 2]


async def test_changes_take_effect_with_the_next_event(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as second:

        async def moving(request: Received, writer: asyncio.StreamWriter) -> None:
            await hooked.change(webhook, url=second.url)
            await answer()(request, writer)

        async with receiving(moving) as receiver:
            webhook, _ = await hooked.hook(receiver.url)
            await hooked.happen(3)
            await delivery_on(engine).deliver_due()
            assert (receiver.numbers, second.numbers) == ([1], [2, 3])


async def test_a_webhook_switched_off_or_deleted_meanwhile_gets_nothing_more(
    hooked: Hooked, engine: Engine
) -> None:
    async def ending(request: Received, writer: asyncio.StreamWriter) -> None:
        await hooked.change(webhook, on=False, off_reason="The desk said so.")
        await answer()(request, writer)

    async with receiving(ending) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(3)
        delivery = delivery_on(engine)
        await delivery.deliver_due()
        now = await hooked.now(webhook)
        assert (receiver.numbers, now.on, now.delivered_through) == ([1], False, 1)
        receiver.behave = answer()
        await hooked.change(webhook, on=True)

        async def deleting(request: Received, writer: asyncio.StreamWriter) -> None:
            await hooked.webhooks.write("delete", lambda table: table.delete(hooked.book_id, webhook.id))
            await answer()(request, writer)

        receiver.behave = deleting
        await delivery.deliver_due()
        assert receiver.numbers == [1, 2]
        for table in ("webhooks", "webhook_attempts", "webhook_dead_events"):
            assert await rows(engine, f"SELECT * FROM {table}") == []


async def test_events_that_are_not_kept_are_passed_over(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(3)
        await rows(engine, f"UPDATE account_events SET at_us = {wall_us() - 40 * 86_400 * US_PER_S}")
        await hooked.happen(2)
        await delivery_on(engine).deliver_due()
        assert receiver.numbers == [4, 5]
        lost = (await hooked.attempts(webhook))[-1]
        assert (lost.number, lost.type, lost.receipt.status) == (3, LOST_TYPE, None)
        assert lost.receipt.error == "3 events were not sent: they are no longer kept."
        # Nor can they be replayed.
        await rows(
            engine,
            "INSERT INTO webhook_dead_events (book_id, webhook_id, number, event_id, type, dead_at_us, "
            f"tries, error) VALUES ({hooked.book_id}, '{webhook.id}', 2, 'evt_2', 'x', 1, 1, 'e')",
        )
        assert await hooked.replay(webhook) == 1
        await delivery_on(engine).deliver_due()
        assert await hooked.dead(webhook) == []
        assert receiver.numbers == [4, 5]
        assert (await hooked.attempts(webhook))[0].receipt.error == "The event is no longer kept."


async def given_up(hooked: Hooked, webhook: Webhook, *numbers: int, replaying: int = 0) -> None:
    columns = "book_id, webhook_id, number, event_id, type, dead_at_us, tries, error, replaying"
    for number in numbers:
        values = f"{hooked.book_id}, '{webhook.id}', {number}, 'e', 'x', 1, 1, 'e', {replaying}"
        await rows(hooked.engine, f"INSERT INTO webhook_dead_events ({columns}) VALUES ({values})")


async def test_changes_at_the_same_time_undo_nothing(hooked: Hooked) -> None:
    webhook, _ = await hooked.hook("https://hooks.example.com/")

    class Late(StoredWebhookTable):
        """Whatever it reads, it reads before the other change."""

        async def find(self, book_id: int, webhook_id: str) -> Webhook | None:
            del book_id, webhook_id
            return webhook

    await hooked.change(webhook, url="https://new.example.com/", description="new")
    change = WebhookChange(types=("key.revoked",))
    await hooked.engine.write("late", lambda open_: Late(open_).change(hooked.book_id, webhook.id, change))
    now = await hooked.now(webhook)
    assert (now.url, now.types, now.description) == ("https://new.example.com/", ("key.revoked",), "new")


async def test_a_replay_ends_when_the_webhook_is_switched_off(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(410)) as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await given_up(hooked, webhook, 1, 2)
        assert await hooked.replay(webhook) == 2
        await hooked.change(webhook, on=False, off_reason="for a test")
        assert [each.replaying for each in await hooked.dead(webhook)] == [False, False]
        assert await hooked.replay(webhook) == 0
        await hooked.change(webhook, on=True)
        await hooked.happen(3)
        await given_up(hooked, webhook, 3, replaying=1)
        await delivery_on(engine).deliver_due()
        assert not (await hooked.now(webhook)).on
        assert not any(each.replaying for each in await hooked.dead(webhook))


async def test_a_replay_of_nothing_ends(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.set("replaying = 1")
        await delivery_on(engine).deliver_due()
        assert not (await hooked.now(webhook)).replaying


async def test_a_replay_without_the_lease_is_not_recorded(
    hooked: Hooked, engine: Engine, other_engine: Engine
) -> None:
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen()
        await hooked.set("delivered_through = 1")
        await given_up(hooked, webhook, 1)
        await hooked.replay(webhook)

        async def taken_over(request: Received, writer: asyncio.StreamWriter) -> None:
            await hooked.set("lease_until_us = 1")
            await StoredWebhookQueue(other_engine).claim(9, 30)
            await answer()(request, writer)

        receiver.behave = taken_over
        await delivery_on(engine).deliver_due()
        assert [each.replaying for each in await hooked.dead(webhook)] == [True]
        assert (await hooked.now(webhook)).replaying


async def test_both_secrets_sign_after_a_rotation(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        webhook, old = await hooked.hook(receiver.url)
        rotated = await hooked.webhooks.write("rotate", lambda table: rotate_secret(table, CIPHER, webhook))
        assert rotated is not None
        now, new = rotated
        assert now.previous_until_us is not None
        assert abs(now.previous_until_us - wall_us() - OVERLAP_S * US_PER_S) < 60 * US_PER_S
        # Who rotated from the same state comes too late.
        assert (
            await hooked.webhooks.write("rotate", lambda table: rotate_secret(table, CIPHER, webhook)) is None
        )
        await hooked.happen()
        await delivery_on(engine).deliver_due()
        await hooked.set("previous_until_us = 1")
        await hooked.happen()
        await delivery_on(engine).deliver_due()
        both, one = receiver.received
        for secret in (old, new):
            assert Verifier(secret).verify(both.body, both.headers)
        assert Verifier(new).verify(one.body, one.headers)
        assert len(one.headers["webhook-signature"].split()) == 1


async def test_a_secret_that_cannot_be_read_sends_nothing(hooked: Hooked, engine: Engine) -> None:
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen()
        delivery = delivery_on(engine)
        delivery._cipher = Cipher(b"another", "webhook")
        await delivery.deliver_due()
        assert receiver.connections == 0
        (attempt,) = await hooked.attempts(webhook)
        assert attempt.receipt.error == "Its secret cannot be read. Rotate it."


async def test_an_account_has_a_few_at_the_most(hooked: Hooked) -> None:
    async def hook() -> bool:
        try:
            await hooked.hook("https://hooks.example.com/")
        except TooManyWebhooks:
            return False
        return True

    made = await asyncio.gather(*(hook() for _ in range(WEBHOOKS_MAX + 3)))
    assert made.count(True) == WEBHOOKS_MAX
    found = await hooked.webhooks.read("all", lambda table: table.of_book(hooked.book_id))
    assert len(found) == WEBHOOKS_MAX


async def test_random_failures_and_kills(hooked: Hooked, engine: Engine, other_engine: Engine) -> None:
    """Without repeats, the receiver has exactly what happened, in order."""
    chance = random.Random(7)  # noqa: S311

    async def moody(request: Received, writer: asyncio.StreamWriter) -> None:
        if chance.random() < 0.3:
            writer.transport.abort()
        else:
            await answer(chance.choice([200, 204, 500, 301]))(request, writer)

    async with receiving(moody) as receiver:
        await hooked.hook(receiver.url)
        happened = 0
        for _ in range(25):
            more = chance.randrange(4)
            await hooked.happen(more)
            happened += more
            delivery = delivery_on(chance.choice([engine, other_engine]))
            task = asyncio.create_task(delivery.deliver_due())
            await asyncio.sleep(chance.random() * 0.02)
            if chance.random() < 0.5:
                for each in (task, *delivery._tasks):
                    each.cancel()
            await asyncio.gather(task, *delivery._tasks, return_exceptions=True)
            await hooked.set("lease_until_us = 0, next_try_at_us = 0")
        receiver.behave = answer()
        await delivery_on(engine).deliver_due()
        accepted = without_repeats(receiver.numbers)
        assert accepted == [*range(1, happened + 1)]
        assert receiver.numbers == sorted(receiver.numbers)


async def test_a_test_is_sent_at_once_and_moves_nothing(hooked: Hooked, engine: Engine) -> None:
    async with receiving(answer(202, b"thanks")) as receiver:
        webhook, secret = await hooked.hook(receiver.url, ("order.created",))
        await hooked.change(webhook, on=False, off_reason="not yet")
        body = b'{"type":"webhook.test"}'
        receipt: Receipt = await delivery_on(engine).test(webhook, "evt_t", "webhook.test", body)
        assert (receipt.status, receipt.delivered, receipt.response) == (202, True, "thanks")
        (sent,) = receiver.received
        assert Verifier(secret).verify(sent.body, sent.headers) == {"type": "webhook.test"}
        assert abs(int(sent.headers["webhook-timestamp"]) - time.time()) < 60
        (attempt,) = await hooked.attempts(webhook)
        assert (attempt.number, attempt.type) == (0, "webhook.test")
        assert (await hooked.now(webhook)).delivered_through == 0


async def test_private_addresses_are_not_called(hooked: Hooked, engine: Engine) -> None:
    """A webhook that was set up while the deployment allowed it."""
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen()
        delivery: WebhookDelivery = delivery_on(engine, WebhookCalls())
        await delivery.deliver_due()
        assert receiver.connections == 0
        assert (await hooked.now(webhook)).tries == 1


async def test_an_event_that_cannot_be_written_is_a_failure_like_others(
    hooked: Hooked, engine: Engine
) -> None:
    async with receiving() as receiver:
        webhook, _ = await hooked.hook(receiver.url)
        await hooked.happen(2)
        delivery = delivery_on(engine)
        write = delivery._body_of

        def fails(event: AccountEvent) -> bytes:
            if event.number == 1:
                raise KeyError("gold")
            return write(event)

        delivery._body_of = fails
        await delivery.deliver_due()
        assert (await hooked.now(webhook)).tries == 1
        await hooked.set(f"tries = {len(PAUSES_S)}, next_try_at_us = 0")
        await delivery.deliver_due()
        await delivery.deliver_due()
        assert [each.number for each in await hooked.dead(webhook)] == [1]
        assert receiver.numbers == [2]
