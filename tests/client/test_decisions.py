"""Every decision about an order, without time passing: what is sent again, when, and what is said at last."""

from typing import Any

import httpx
import pytest

from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Family, Retry
from bullion.refusals.refusal import RefusalCode as Row
from bullion_client import (
    BullionError,
    CredentialRefused,
    KeyReused,
    LimitExceeded,
    MarketRefused,
    NoAnswer,
    NotPlaced,
    OrderRejected,
    OutcomeUnknown,
    PriceMoved,
    ProductionOrder,
    Refusal,
    UnexpectedAnswer,
    responses,
)
from bullion_client.placing import LINGER_S
from bullion_client.retry_table import RETRY_TABLE
from tests.client.scripted_network import LIVE_ORDER, World, answer, caller, placed, refusal

TAKEN = answer(201, LIVE_ORDER)
REPLAYED = answer(200, LIVE_ORDER, Idempotent_Replayed="true")
PENDING = answer(202, LIVE_ORDER | {"status": "pending", "price": None, "total": None, "deal_no": None})
LOST = httpx.ReadTimeout("")
BROKE = httpx.RemoteProtocolError("Server disconnected without sending a response.")
REFUSED_CONNECTION = httpx.ConnectError("Connection refused")

EVERY = pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.code)
AGAIN = [row for row in CATALOGUE if row.retry in (Retry.SAME_KEY, Retry.SAME_KEY_AFTER)]
FINAL = [row for row in CATALOGUE if row.retry in (Retry.NEVER, Retry.NEW_KEY)]
UNSURE = {"booking_outcome_unknown", "service_unavailable", "internal_error"}
SETTLING = {"price_moved", "order_rejected", "idempotency_key_reused"}


def told(row: Row, **options: Any) -> httpx.Response:
    return refusal(row.status, row.code, **options)


def ended(world: World, deadline: float = 60.0) -> BullionError:
    """What placing raises. Whatever it is, one order was meant: one key, one body."""
    with pytest.raises(BullionError) as caught:
        placed(world, deadline=deadline)
    assert len(world.keys) == len(world.bodies) == 1
    error = caught.value
    if isinstance(error, Refusal | NotPlaced | OutcomeUnknown):
        assert error.intent is not None
        assert error.intent.in_doubt == isinstance(error, OutcomeUnknown)
        assert {error.intent.idempotency_key} == world.keys
        assert {error.intent.body()} == world.bodies
    return error


# --- One answer, of every kind ----------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [TAKEN, REPLAYED, PENDING], ids=["new", "replayed", "pending"])
def test_an_order_is_returned_as_it_is(taken: httpx.Response) -> None:
    world = World(taken)
    order = placed(world)
    assert isinstance(order, ProductionOrder)
    assert (order.id, order.status) == (LIVE_ORDER["id"], taken.json()["status"])
    assert (len(world.sent), world.pauses) == (1, [])


def test_the_table_has_the_advice_of_the_catalogue() -> None:
    assert {code: (advice.retry.value, advice.family.value) for code, advice in RETRY_TABLE.items()} == {
        row.code: (row.retry.value, row.family.value) for row in CATALOGUE
    }


def test_every_family_of_the_catalogue_has_a_class_of_its_own() -> None:
    assert {family.value for family in responses._CLASSES} == {family.value for family in Family}
    assert len(set(responses._CLASSES.values())) == len(Family)


@pytest.mark.parametrize("row", FINAL, ids=lambda row: row.code)
def test_a_refusal_that_stays_is_raised_at_once(row: Row) -> None:
    world = World(told(row))
    error = ended(world)
    assert isinstance(error, Refusal)
    assert (error.code, error.status, error.request_id) == (row.code, row.status, "r-1")
    assert error.intent is not None
    assert error.intent.unanswered_until is None
    assert error.__cause__ is None
    assert (len(world.sent), world.pauses) == (1, [])


@pytest.mark.parametrize("row", AGAIN, ids=lambda row: row.code)
def test_a_refusal_that_passes_is_waited_out_with_the_same_key(row: Row) -> None:
    world = World(told(row), told(row), TAKEN)
    assert placed(world).id == LIVE_ORDER["id"]
    assert len(world.sent) == 3
    assert len(world.keys) == len(world.bodies) == 1
    assert world.pauses == [0.5, 1.0]


@pytest.mark.parametrize("row", AGAIN, ids=lambda row: row.code)
def test_at_the_deadline_it_is_said_whether_something_may_be_booked(row: Row) -> None:
    world = World(told(row))
    error = ended(world)
    assert type(error) is (OutcomeUnknown if row.code in UNSURE else NotPlaced)
    assert error.code == row.code
    assert error.tries == len(world.sent) > 5
    assert world.sent_at[-1] <= 60


@EVERY
def test_after_a_lost_answer_only_a_settled_key_is_an_outcome(row: Row) -> None:
    """[lost, refused]: the lost try may have booked, or may yet, whatever this one was refused for."""
    error = ended(World(LOST, told(row)))
    if row.code in SETTLING:
        assert isinstance(error, Refusal)
        assert error.code == row.code
    else:
        assert isinstance(error, OutcomeUnknown)
        assert error.code == row.code
        assert error.intent.unanswered_until is not None


@EVERY
def test_a_lost_answer_is_found_again_behind_every_refusal_that_passes(row: Row) -> None:
    """[lost, refused, replayed]: unless the gate is shut, the order that was booked is found."""
    world = World(LOST, told(row), REPLAYED)
    if row.code in SETTLING or (row.retry is Retry.NEVER and not RETRY_TABLE[row.code].looked_up):
        assert isinstance(ended(world), Refusal | OutcomeUnknown)
        assert len(world.sent) == 2
    else:
        assert placed(world).id == LIVE_ORDER["id"]
        assert len(world.sent) == 3


# --- Codes that nobody knows ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_an_unknown_code_of_these_statuses_is_tried_again(status: int) -> None:
    world = World(refusal(status, "from_next_year"), TAKEN)
    assert placed(world).id == LIVE_ORDER["id"]
    assert len(world.keys) == 1


@pytest.mark.parametrize(("status", "kind"), [(429, NotPlaced), (503, OutcomeUnknown), (500, OutcomeUnknown)])
def test_an_unknown_5xx_proves_nothing(status: int, kind: type[BullionError]) -> None:
    assert type(ended(World(refusal(status, "from_next_year")))) is kind


@pytest.mark.parametrize("status", [400, 403, 404, 409, 418, 422])
def test_an_unknown_code_of_another_4xx_is_a_refusal(status: int) -> None:
    world = World(refusal(status, "from_next_year"))
    error = ended(world)
    assert isinstance(error, Refusal)
    assert (error.code, len(world.sent)) == ("from_next_year", 1)


# --- When ---------------------------------------------------------------------------------------------------


def test_retry_after_is_obeyed() -> None:
    world = World(
        refusal(429, "rate_limited", retry_after=7), refusal(503, "booking_busy", retry_after=2), TAKEN
    )
    placed(world)
    assert world.pauses == [7.25, 2.25]


def test_retry_after_that_goes_past_the_deadline_is_not_waited_for() -> None:
    world = World(refusal(429, "rate_limited", retry_after=61))
    error = ended(world)
    assert isinstance(error, NotPlaced)
    assert (error.retry_after, error.tries, world.pauses) == (61, 1, [])


def test_retry_after_of_a_proxy_is_obeyed_too() -> None:
    world = World(answer(503, b"<html>", Retry_After="9"), TAKEN)
    placed(world)
    assert world.pauses == [9.25]


def test_a_retry_after_of_nothing_is_no_reason_to_hurry() -> None:
    world = World(refusal(503, "booking_busy", retry_after=0), TAKEN)
    placed(world)
    assert world.pauses == [0.5]


def test_pauses_grow_and_have_a_bound() -> None:
    world = World(refusal(503, "stale_rate"))
    ended(world, deadline=120)
    assert world.pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0, 15.0, 15.0, 15.0]


def test_pauses_are_spread_by_half() -> None:
    world, hurried = World(refusal(503, "stale_rate"), TAKEN), caller()
    hurried._chance = lambda: 0.0
    world.run(hurried._place("GOLD", "buy", 5, None, None, None, None))
    assert world.pauses == [0.25]


@pytest.mark.parametrize("deadline", [0, 0.1, 5, 30, 600])
def test_nothing_begins_after_the_deadline(deadline: float) -> None:
    world = World(LOST)
    world.try_s = 3.0
    error = ended(world, deadline)
    assert isinstance(error, OutcomeUnknown)
    assert world.sent_at[-1] <= deadline
    assert (len(world.sent) == 1) == (deadline < 1)


def test_later_tries_have_the_time_that_is_left() -> None:
    world = World(LOST)
    world.try_s = 10.0
    ended(world, deadline=25)
    assert [request.extensions["timeout"]["read"] for request in world.sent] == [10.0, 10.0, 3.5]


def test_a_connection_that_breaks_is_replaced_at_once_and_once() -> None:
    world = World(BROKE, BROKE, TAKEN)
    placed(world)
    assert world.pauses == [0.0, 0.5]
    impatient = World(BROKE, TAKEN)
    assert placed(impatient, deadline=0).id == LIVE_ORDER["id"]
    reading = World(BROKE, answer(200, LIVE_ORDER))
    assert reading.run(caller(deadline=0)._order("7")).id == LIVE_ORDER["id"]


# --- What has no code, or is no answer at all -------------------------------------------------------------

NO_ANSWERS: dict[str, httpx.Response | httpx.RequestError] = {
    "timed out": LOST,
    "broke": BROKE,
    "reset": httpx.ReadError("reset"),
    "half sent": httpx.WriteError("reset"),
    "undecodable": httpx.DecodingError("not gzip"),
    "502": answer(502, b"<html>Bad Gateway</html>"),
    "504 with other JSON": answer(504, {"error": "upstream"}),
    "429 of a proxy": answer(429, b"slow down"),
    "403 of a proxy": answer(403, b"<html>blocked</html>"),
    "302 to a page": answer(302, b"", Location="https://elsewhere.example/sorry"),
    "cut off": answer(201, b'{"id": "01a1'),
    "a page": answer(200, b"<html>Welcome</html>"),
    "no order": answer(200, {"login": "please"}),
    "an order without a field": answer(201, {**LIVE_ORDER, "status_detail": None}),
    "a float": answer(201, {**LIVE_ORDER, "quantity": 5.0}),
    "another order": answer(201, {**LIVE_ORDER, "quantity": "6.0000"}),
}


@pytest.mark.parametrize("lost", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_is_sent_again_and_leaves_the_outcome_open(
    lost: httpx.Response | httpx.RequestError,
) -> None:
    assert placed(World(lost, REPLAYED)).id == LIVE_ORDER["id"]
    error = ended(World(lost))
    assert isinstance(error, OutcomeUnknown)
    assert isinstance(error.last, NoAnswer | UnexpectedAnswer)
    assert error.intent.unanswered_until is not None


@pytest.mark.parametrize(
    "never_sent",
    [REFUSED_CONNECTION, httpx.ConnectTimeout(""), httpx.PoolTimeout(""), httpx.ProxyError("407")],
    ids=lambda error: type(error).__name__,
)
def test_where_no_connection_was_made_nothing_is_booked(never_sent: httpx.RequestError) -> None:
    assert placed(World(never_sent, TAKEN)).id == LIVE_ORDER["id"]
    error = ended(World(never_sent))
    assert isinstance(error, NotPlaced)
    assert isinstance(error.last, NoAnswer)
    assert not error.last.sent
    assert error.intent.unanswered_until is None


@pytest.mark.parametrize("status", [301, 307, 308, 404, 405])
def test_a_wrong_address_is_told_at_once_and_nothing_is_booked(status: int) -> None:
    location = {"Location": "https://elsewhere.example/"} if status < 400 else {}
    world = World(answer(status, {"detail": "Not Found"}, **location))
    error = ended(world)
    assert isinstance(error, NotPlaced)
    assert isinstance(error.last, UnexpectedAnswer)
    assert len(world.sent) == 1


def test_a_wrong_address_in_between_does_not_end_the_search_for_a_lost_order() -> None:
    assert placed(World(LOST, answer(404, b"default backend"), REPLAYED)).id == LIVE_ORDER["id"]
    assert isinstance(ended(World(LOST, answer(404, b"default backend"))), OutcomeUnknown)


# --- Sequences ---------------------------------------------------------------------------------------------


def test_lost_and_then_the_key_is_revoked() -> None:
    world = World(LOST, refusal(401, "credential_revoked"))
    error = ended(world)
    assert isinstance(error, OutcomeUnknown)
    assert isinstance(error.last, CredentialRefused)
    assert error.__cause__ is error.last
    assert len(world.sent) == 2


def test_lost_and_then_the_price_moved() -> None:
    world = World(LOST, refusal(409, "price_moved"))
    assert isinstance(ended(world), PriceMoved)
    assert len(world.sent) == 2


def test_lost_and_then_rejected_with_the_order() -> None:
    order = LIVE_ORDER | {"status": "rejected", "price": None, "deal_no": None}
    error = ended(World(LOST, refusal(409, "order_rejected", order_id=order["id"], order=order)))
    assert isinstance(error, OrderRejected)
    assert error.order is not None
    assert (error.order_id, error.order.id, error.order.status) == (order["id"], order["id"], "rejected")


def test_a_rejection_whose_order_cannot_be_read_is_a_rejection() -> None:
    error = ended(World(refusal(409, "order_rejected", order_id="7", order={"id": 7})))
    assert isinstance(error, OrderRejected)
    assert (error.order_id, error.order) == ("7", None)


def test_lost_and_then_the_key_belongs_to_another_body() -> None:
    assert isinstance(ended(World(LOST, refusal(422, "idempotency_key_reused"))), KeyReused)


def test_an_answered_refusal_before_another_leaves_nothing_open() -> None:
    world = World(
        refusal(429, "rate_limited", retry_after=1),
        refusal(409, "booking_conflict"),
        refusal(503, "booking_not_completed"),
        refusal(400, "limit_exceeded"),
    )
    assert isinstance(ended(world), LimitExceeded)


@pytest.mark.parametrize("code", sorted(UNSURE))
def test_a_failed_booking_leaves_it_open_for_a_refusal_that_follows(code: str) -> None:
    world = World(refusal(503, code, retry_after=2), refusal(400, "limit_exceeded"))
    error = ended(world)
    assert isinstance(error, OutcomeUnknown)
    assert error.code == "limit_exceeded"


def test_doubt_ends_when_nothing_can_be_on_its_way_any_more() -> None:
    world = World(LOST, refusal(403, "trading_halted"))
    error = ended(world, deadline=600)
    assert isinstance(error, MarketRefused)
    assert LINGER_S <= world.sent_at[-1] < LINGER_S + 30
    assert error.intent is not None
    assert error.intent.unanswered_until is None


def test_doubt_does_not_end_by_a_refusal_from_before_the_look() -> None:
    world = World(LOST, refusal(429, "rate_limited", retry_after=100))
    assert isinstance(ended(world, deadline=600), OutcomeUnknown)
    assert world.sent_at[-1] > LINGER_S


def test_doubt_begins_anew_with_every_lost_answer() -> None:
    halted = refusal(403, "trading_halted")
    world = World(LOST, *[halted] * 8, LOST, halted)
    assert isinstance(ended(world, deadline=LINGER_S + 30), OutcomeUnknown)
