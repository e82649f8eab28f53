"""Asking what became of an intent, without time passing: nothing that is sent for it can be placed."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import RefusalCode as Row
from bullion_client import (
    CredentialRefused,
    Environment,
    Intent,
    Journal,
    KeyReused,
    NotPlaced,
    OrderRejected,
    OutcomeUnknown,
    PriceMoved,
    Unavailable,
    UnexpectedAnswer,
)
from bullion_client.placing import LINGER_S
from bullion_client.retry_table import RETRY_TABLE
from tests.client.calls import INTENT
from tests.client.scripted_network import LIVE_ORDER, START, World, answer, caller, refusal

REPLAYED = answer(200, LIVE_ORDER, Idempotent_Replayed="true")
SETTLED = refusal(422, "idempotency_key_reused")
FREE = refusal(400, "invalid_side")
LOST = httpx.ReadTimeout("")
LIVE = replace(INTENT, environment=Environment.PRODUCTION)
ANSWERED = replace(LIVE, in_doubt=False)
LONG_AGO = replace(LIVE, unanswered_until=START - timedelta(seconds=LINGER_S))
GATES = {"production_trading_disabled", "production_prerequisites_unmet"}


def found(world: World, intent: Intent = LONG_AGO, journal: Journal | None = None) -> Any:
    return world.run(caller(journal=journal)._find(intent, None))


def sides(world: World) -> list[str]:
    """The sides of all that was sent, each with the intent's key."""
    assert world.keys == {LIVE.idempotency_key}
    return [json.loads(request.content)["trade_type"] for request in world.sent]


def test_an_order_that_is_there_is_returned_as_it_is() -> None:
    world = World(SETTLED, REPLAYED)
    assert found(world).id == LIVE_ORDER["id"]
    assert sides(world) == ["hold", "buy"]
    assert world.sent[1].content == LIVE.body()


@pytest.mark.parametrize("intent", [ANSWERED, LONG_AGO], ids=["answered", "long ago"])
def test_nothing_is_there_and_nothing_was_sent_that_could_be_placed(intent: Intent) -> None:
    world = World(FREE)
    assert found(world, intent) is None
    assert sides(world) == ["hold"]


@pytest.mark.parametrize("intent", [LIVE, replace(LIVE, unanswered_until=START)])
def test_nothing_is_there_yet_and_a_lost_try_may_still_come(intent: Intent) -> None:
    world = World(FREE)
    with pytest.raises(OutcomeUnknown) as caught:
        found(world, intent)
    assert (sides(world), caught.value.last, caught.value.intent.unanswered_until) == (["hold"], None, START)
    assert "invalid_side" not in str(caught.value)
    later = World(FREE)
    later.seconds += LINGER_S + 1
    assert found(later, caught.value.intent) is None


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (refusal(409, "price_moved"), PriceMoved),
        (refusal(409, "order_rejected"), OrderRejected),
        (refusal(422, "idempotency_key_reused"), KeyReused),
    ],
)
def test_another_outcome_is_raised(outcome: httpx.Response, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        found(World(SETTLED, outcome))


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.code)
def test_only_a_refusal_from_after_the_look_up_says_that_nothing_is_there(row: Row) -> None:
    if row.code == "idempotency_key_reused":
        return
    world = World(refusal(row.status, row.code))
    if RETRY_TABLE[row.code].looked_up and row.code not in GATES:
        assert found(world) is None
    else:
        with pytest.raises(OutcomeUnknown) as caught:
            found(world)
        assert caught.value.code == row.code
    assert set(sides(world)) == {"hold"}


def test_it_asks_again_while_there_is_no_answer() -> None:
    world = World(LOST, refusal(503, "booking_busy", retry_after=2), SETTLED, LOST, REPLAYED)
    assert found(world).id == LIVE_ORDER["id"]
    assert sides(world) == ["hold", "hold", "hold", "buy", "buy"]


def test_the_question_itself_leaves_no_doubt() -> None:
    assert found(World(LOST, LOST, FREE), ANSWERED) is None
    with pytest.raises(Unavailable):
        found(World(refusal(503, "service_unavailable")), ANSWERED)
    with pytest.raises(CredentialRefused):
        found(World(refusal(401, "credential_revoked")), ANSWERED)


@pytest.mark.parametrize("last", [LOST, refusal(429, "rate_limited"), refusal(401, "credential_revoked")])
def test_a_settled_key_is_never_called_not_placed(last: Any) -> None:
    """Its order may be there, although it could not be read."""
    world = World(SETTLED, last)
    with pytest.raises(OutcomeUnknown):
        found(world, ANSWERED)


def test_an_order_without_a_side_that_is_accepted_is_no_answer_of_the_service() -> None:
    with pytest.raises(UnexpectedAnswer, match="accepted an order without a side"):
        found(World(REPLAYED), ANSWERED)


def test_an_intent_of_the_other_environment_is_refused() -> None:
    world = World(FREE)
    with pytest.raises(ValueError, match="for test, and this client is for production"):
        found(world, INTENT)
    assert world.sent == []


def test_the_journal_learns_an_outcome_and_keeps_what_is_not_placed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "orders.journal", account="aurum")
    journal.bind(Environment.PRODUCTION, "aurum")
    journal.note(replace(LONG_AGO, account="aurum"))
    (intent,) = journal.unsettled()
    assert found(World(FREE), intent, journal) is None
    assert journal.unsettled() == (intent,)
    assert found(World(SETTLED, REPLAYED), intent, journal).id == LIVE_ORDER["id"]
    assert journal.unsettled() == ()


def test_an_intent_of_another_account_is_not_asked_about(tmp_path: Path) -> None:
    world = World(FREE)
    with pytest.raises(ValueError, match="of the account 'argent', and this client's is 'aurum'"):
        found(world, replace(LIVE, account="argent"), Journal(tmp_path / "j", account="aurum"))
    assert world.sent == []


def test_an_account_that_cannot_be_read_leaves_the_outcome_unknown(tmp_path: Path) -> None:
    revoked = World(refusal(401, "credential_revoked"))
    with pytest.raises(OutcomeUnknown):
        found(revoked, LIVE, Journal(tmp_path / "j"))
    with pytest.raises((NotPlaced, CredentialRefused)):
        found(revoked, ANSWERED, Journal(tmp_path / "j"))
