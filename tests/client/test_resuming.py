"""Going on with an order later, without time passing: its doubt comes along, and ends when it may."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bullion_client import CredentialRefused, Environment, MarketRefused, OutcomeUnknown, PriceMoved
from bullion_client.placing import LINGER_S
from tests.client.calls import INTENT
from tests.client.scripted_network import LIVE_ORDER, START, World, answer, caller, refusal

TAKEN = answer(201, LIVE_ORDER)
REPLAYED = answer(200, LIVE_ORDER, Idempotent_Replayed="true")


def resumed(world: World, **changes: Any) -> Any:
    intent = replace(INTENT, environment=Environment.PRODUCTION, **changes)
    return world.run(caller()._resume(intent, None))


def test_a_resumed_order_has_its_own_key_and_body() -> None:
    world = World(REPLAYED)
    assert resumed(world).id == LIVE_ORDER["id"]
    assert (world.keys, world.bodies) == ({INTENT.idempotency_key}, {INTENT.body()})


def test_resumed_too_early_a_refusal_is_not_the_outcome() -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        resumed(World(refusal(403, "trading_halted")), unanswered_until=START - timedelta(seconds=100))
    assert caught.value.intent.unanswered_until == START - timedelta(seconds=100)


@pytest.mark.parametrize("until", [START + timedelta(hours=1), START])
def test_tries_that_may_still_run_are_no_older_than_now(until: Any) -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        resumed(World(refusal(403, "trading_halted")), unanswered_until=until)
    assert caught.value.intent.unanswered_until == START


def test_resumed_late_enough_a_refusal_is_the_outcome() -> None:
    long_ago = START - timedelta(seconds=LINGER_S)
    with pytest.raises(MarketRefused):
        resumed(World(refusal(403, "trading_halted")), unanswered_until=long_ago)


def test_resumed_at_any_time_a_shut_gate_says_nothing() -> None:
    with pytest.raises(OutcomeUnknown):
        resumed(World(refusal(401, "credential_expired")), unanswered_until=START - timedelta(days=9))


def test_resumed_without_doubt_a_refusal_is_the_outcome() -> None:
    with pytest.raises(MarketRefused):
        resumed(World(refusal(403, "trading_halted")), in_doubt=False)
    with pytest.raises(CredentialRefused):
        resumed(World(refusal(401, "credential_revoked")), in_doubt=False)


def test_an_intent_that_says_nothing_of_its_tries_is_in_doubt() -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        resumed(World(refusal(403, "trading_halted")))
    assert caught.value.intent.unanswered_until == START
    with pytest.raises(PriceMoved):
        resumed(World(refusal(409, "price_moved")))


def test_an_intent_that_was_put_together_by_hand_is_checked() -> None:
    world = World(TAKEN)
    with pytest.raises(TypeError, match="must not be a float"):
        resumed(world, quantity=0.1)
    assert world.sent == []


def test_an_order_of_the_other_environment_is_not_resumed() -> None:
    world = World(TAKEN)
    with pytest.raises(ValueError, match="for test, and this client is for production"):
        world.run(caller()._resume(INTENT, None))
    assert world.sent == []
