"""Waiting for a pending order, without time passing."""

from typing import Any

import httpx
import pytest

from bullion_client import BudgetRefused, CredentialRefused, NoAnswer, NotFound, Order
from bullion_client.flow import Flow
from tests.client.scripted_network import LIVE_ORDER, World, answer, caller, refusal

PENDING = answer(200, LIVE_ORDER | {"status": "pending", "price": None})
LOST = httpx.ReadTimeout("")


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
