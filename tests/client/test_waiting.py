"""Waiting for a pending order, without time passing: at a service without events, and with them."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from bullion_client import BudgetRefused, CredentialRefused, NoAnswer, NotFound, Order
from bullion_client.flow import Flow
from tests.client.event_samples import event
from tests.client.scripted_network import LIVE_ORDER, Outcome, answer, caller, refusal
from tests.client.scripted_network import World as ScriptedWorld

PENDING = answer(200, LIVE_ORDER | {"status": "pending", "price": None})
LOST = httpx.ReadTimeout("")
NO_EVENTS = answer(404, {"detail": "Not Found"})


class World(ScriptedWorld):
    """A service whose outcomes are for orders; how it answers for events stands apart."""

    def __init__(self, *outcomes: Outcome, events: Callable[[httpx.Request], Outcome] | None = None) -> None:
        super().__init__(*outcomes)
        self.events = events
        self.asked: list[httpx.Request] = []

    def _send(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/events"):
            return super()._send(request)
        self.asked.append(request)
        outcome = NO_EVENTS if self.events is None else self.events(request)
        if isinstance(outcome, httpx.RequestError):
            raise outcome
        return httpx.Response(
            outcome.status_code, content=outcome.content, headers=outcome.headers, request=request
        )


def settled(status: str) -> httpx.Response:
    return answer(200, LIVE_ORDER | {"status": status})


def pending_order() -> Order:
    return World(PENDING).run(caller()._order("7"))


def waiting(order: Order | str, timeout: float = 30.0, chance: float = 0.5) -> Flow[Order]:
    patient = caller()
    patient._chance = lambda: chance
    return patient._wait(order, timeout)


@pytest.mark.parametrize("status", ["open", "rejected", "deleted", "closed", "from_next_year"])
def test_it_asks_until_the_order_is_decided(status: str) -> None:
    world = World(PENDING, PENDING, settled(status))
    assert world.run(waiting(pending_order())).status == status
    assert world.pauses == [1.5, 1.5, 1.5]


@pytest.mark.parametrize(("chance", "pause"), [(0.0, 1.0), (1.0, 2.0)])
def test_every_one_to_two_seconds(chance: float, pause: float) -> None:
    world = World(PENDING)
    assert world.run(waiting(pending_order(), chance=chance)).status == "pending"
    assert set(world.pauses) == {pause}
    assert 28 <= world.sent_at[-1] <= 30.1


def test_an_order_that_is_decided_is_not_asked_for() -> None:
    order = World(settled("open")).run(caller()._order("7"))
    world = World(PENDING)
    assert world.run(waiting(order)) is order
    assert world.sent == []


def test_an_id_is_asked_for_at_once_and_at_least_once() -> None:
    world = World(PENDING)
    assert world.run(waiting("7", timeout=0)).status == "pending"
    assert (len(world.sent), world.sent[0].url.path) == (1, "/api/trading/v1/orders/7")


def test_it_stops_after_its_time_with_the_order_as_it_is() -> None:
    world = World(PENDING)
    assert world.run(waiting("7", timeout=10)).status == "pending"
    assert world.sent_at[-1] <= 10


@pytest.mark.parametrize(
    "failed", [LOST, refusal(503, "service_unavailable"), answer(502, b"<html>")], ids=["lost", "503", "502"]
)
def test_a_read_that_fails_in_between_does_not_end_it(failed: Any) -> None:
    world = World(PENDING, failed, failed, settled("open"))
    assert world.run(waiting("7")).status == "open"


def test_retry_after_is_obeyed_in_between() -> None:
    world = World(PENDING, refusal(429, "rate_limited", retry_after=9), settled("open"))
    assert world.run(waiting("7")).status == "open"
    assert world.pauses == [0.0, 1.5, 9]


def test_when_the_last_reads_failed_the_order_is_returned_as_it_was_last_seen() -> None:
    assert World(PENDING, LOST).run(waiting("7")).status == "pending"
    assert World(refusal(429, "rate_limited", retry_after=60)).run(waiting(pending_order())).id


def test_when_no_read_worked_its_error_is_raised() -> None:
    with pytest.raises(NoAnswer):
        World(LOST).run(waiting("7"))
    with pytest.raises(BudgetRefused):
        World(refusal(429, "rate_limited", retry_after=60)).run(waiting("7"))


@pytest.mark.parametrize(
    ("refused", "kind"),
    [
        (refusal(404, "order_not_found"), NotFound),
        (refusal(401, "credential_revoked"), CredentialRefused),
    ],
    ids=["not found", "revoked"],
)
def test_a_refusal_that_stays_ends_it(refused: httpx.Response, kind: type[Exception]) -> None:
    world = World(PENDING, refused)
    with pytest.raises(kind):
        world.run(waiting("7"))
    assert len(world.sent) == 2


def test_a_read_near_the_end_has_the_time_that_is_left() -> None:
    world = World(PENDING)
    world.run(waiting("7", timeout=5))
    read_timeouts = [request.extensions["timeout"]["read"] for request in world.sent]
    assert read_timeouts[0] == 5.0
    assert read_timeouts == sorted(read_timeouts, reverse=True)
    assert read_timeouts[-1] >= 1.0


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_time_that_is_none(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be"):
        caller()._wait("7", timeout)
    with pytest.raises(TypeError, match="timeout must be"):
        caller()._wait("7", "soon")  # type: ignore[arg-type]


# --- With events ------------------------------------------------------------------------------------------

ORDER_ID = str(LIVE_ORDER["id"])


class Events:
    """The list of events. Each call that is held takes its time, or brings the next of `happening`."""

    def __init__(self, *happening: dict[str, Any] | None, newest: int = 7) -> None:
        self.newest = newest
        self.happening = list(happening)
        self.world: World | None = None

    def __call__(self, request: httpx.Request) -> Outcome:
        after, hold = (int(request.url.params.get(name, 0)) for name in ("after", "wait"))
        if after > self.newest:
            return refusal(410, "events_gone", oldest=1, newest=self.newest)
        happens = self.happening.pop(0) if self.happening else None
        assert self.world is not None
        if happens is None:
            self.world.seconds += hold
            return answer(200, {"items": [], "next_after": after, "has_more": False})
        self.world.seconds += 0.5
        self.newest = happens["number"]
        return answer(200, {"items": [happens], "next_after": happens["number"], "has_more": False})


def world_with(events: Any, *outcomes: Outcome) -> World:
    world = World(*outcomes, events=events)
    if isinstance(events, Events):
        events.world = world
    return world


def queries(world: World) -> list[str]:
    return [request.url.query.decode() for request in world.asked]


def opened(number: int = 8, order_id: str = ORDER_ID) -> dict[str, Any]:
    return event(number, "order.opened", data=LIVE_ORDER | {"id": order_id})


def test_an_event_of_the_order_ends_the_wait() -> None:
    world = world_with(Events(opened()), PENDING, settled("open"))
    assert world.run(waiting(pending_order())).status == "open"
    assert queries(world) == ["after=9007199254740991&limit=1", "after=7&limit=200&wait=25"]
    assert (len(world.sent), world.pauses) == (2, [])


def test_an_order_that_opened_before_the_first_look_at_the_events_is_noticed() -> None:
    world = world_with(Events(), settled("open"))
    assert world.run(waiting(pending_order())).status == "open"
    assert (len(world.sent), len(world.asked)) == (1, 1)


def test_an_id_is_read_first_and_a_decided_order_needs_no_events() -> None:
    world = world_with(Events(), settled("open"))
    assert world.run(waiting(ORDER_ID)).status == "open"
    assert world.asked == []


def test_events_of_other_orders_are_passed_over() -> None:
    others = [opened(8, "another"), event(9, "trading.halted"), opened(10)]
    world = world_with(Events(*others), PENDING, settled("open"))
    assert world.run(waiting(pending_order())).status == "open"
    assert [query.partition("&")[0] for query in queries(world)[1:]] == ["after=7", "after=8", "after=9"]


def test_without_news_the_order_is_read_now_and_then_and_the_time_is_kept() -> None:
    world = world_with(Events(), PENDING)
    assert world.run(waiting(pending_order())).status == "pending"
    assert [query.rpartition("=")[2] for query in queries(world)] == ["1", "25", "3"]
    assert len(world.sent) == 4
    assert world.seconds - 1000 <= 30


def test_the_position_is_known_from_the_last_wait() -> None:
    patient = caller()
    world = world_with(Events(opened(8), opened(9)), PENDING, settled("open"), PENDING, settled("open"))
    for _ in range(2):
        assert world.run(patient._wait(pending_order(), 30.0)).status == "open"
    assert [query.partition("&")[0] for query in queries(world)] == [
        "after=9007199254740991", "after=7", "after=8"
    ]  # fmt: skip


def test_a_position_from_long_ago_is_asked_for_again() -> None:
    """There may have been thousands of events since."""
    patient = caller()
    world = world_with(Events(opened(8), opened(9)), PENDING, settled("open"), PENDING, settled("open"))
    for _ in range(2):
        assert world.run(patient._wait(pending_order(), 30.0)).status == "open"
        world.seconds += 3600
    assert [query.partition("&")[0] for query in queries(world)] == [
        "after=9007199254740991", "after=7", "after=9007199254740991", "after=8"
    ]  # fmt: skip


def test_events_that_are_gone_are_not_waited_for() -> None:
    """As after a restore from a backup: the position lies beyond the newest event."""
    patient = caller()
    patient._event_support.note_position(20, 1000.0)
    world = world_with(Events(opened(8)), PENDING, PENDING, settled("open"))
    assert world.run(patient._wait(pending_order(), 30.0)).status == "open"
    assert [query.partition("&")[0] for query in queries(world)] == ["after=20", "after=7"]


@pytest.mark.parametrize(
    "broken",
    [
        NO_EVENTS,
        refusal(403, "insufficient_scope"),
        refusal(429, "rate_limited", retry_after=9),
        refusal(503, "service_unavailable"),
        answer(502, b"<html>"),
        answer(200, {"items": [], "next_after": 9007199254740991, "has_more": False}),
        answer(200, {"items": []}),
        refusal(410, "events_gone"),
        LOST,
    ],
    ids=["404", "403", "429", "503", "502", "no refusal", "no page", "no number", "lost"],
)
def test_where_events_cannot_be_read_the_order_is_polled(broken: Outcome) -> None:
    world = world_with(lambda _: broken, PENDING, settled("open"))
    assert world.run(waiting(pending_order())).status == "open"
    assert (len(world.asked), world.pauses) == (1, [1.5, 1.5])


def test_a_service_without_events_is_not_asked_for_them_at_each_wait() -> None:
    patient = caller()
    world = World(settled("open"))
    for _ in range(3):
        world.run(patient._wait(pending_order(), 30.0))
    assert len(world.asked) == 1


def test_a_service_that_does_not_hold_the_call_is_polled_as_ever() -> None:
    def at_once(request: httpx.Request) -> Outcome:
        if "wait" not in request.url.params:
            return refusal(410, "events_gone", oldest=1, newest=7)
        return answer(200, {"items": [], "next_after": 7, "has_more": False})

    world = world_with(at_once, PENDING, PENDING, settled("open"))
    assert world.run(waiting(pending_order())).status == "open"
    assert (len(world.asked), world.pauses) == (2, [1.5, 1.5])


def test_a_long_poll_that_breaks_off_is_followed_by_polls() -> None:
    def breaks(request: httpx.Request) -> Outcome:
        first = "wait" not in request.url.params
        return refusal(410, "events_gone", oldest=1, newest=7) if first else LOST

    world = world_with(breaks, PENDING, PENDING, settled("open"))
    assert world.run(waiting(pending_order())).status == "open"
    assert len(world.asked) == 2


def test_a_long_poll_has_no_more_time_than_is_left() -> None:
    world = world_with(Events(), PENDING)
    world.run(waiting(pending_order(), timeout=8))
    held = world.asked[1]
    assert held.url.params["wait"] == "6"
    assert held.extensions["timeout"]["read"] <= 8


def test_a_wait_without_end() -> None:
    world = world_with(Events(None, None, opened()), PENDING, PENDING, PENDING, settled("open"))
    assert world.run(waiting(pending_order(), timeout=float("inf"))).status == "open"
    assert [query.rpartition("=")[2] for query in queries(world)[1:]] == ["25"] * 3


def test_retry_after_is_obeyed_although_there_are_events() -> None:
    limited = refusal(429, "rate_limited", retry_after=9)
    world = world_with(Events(), limited, settled("open"))
    assert world.run(waiting(pending_order())).status == "open"
    assert (world.pauses, len(world.asked)) == ([9], 1)


def test_a_short_wait_polls() -> None:
    world = world_with(Events(), PENDING)
    assert world.run(waiting("7", timeout=1.9)).status == "pending"
    assert world.asked == []
