"""Questions for all orders: an order is unknown only if a complete answer leaves it out."""

from uuid import UUID

import msgspec
import pytest

from bullion.hedge.fix.codec import Message, message_of
from bullion.hedge.fix.order_effects import (
    Ask,
    Effect,
    LineBreak,
    LineOrder,
    OrderFinal,
    OrderUnknown,
    StatusAnswered,
)
from bullion.hedge.fix.profile import RESETTING, StatusQuestion, UnknownForm
from bullion.hedge.venue import Confirmed

from .test_orders import ORDER, Trial

MASS = msgspec.structs.replace(
    RESETTING, status_question=StatusQuestion.MASS, unknown=UnknownForm.REJECT, unknown_after_s=5
)
OTHER = msgspec.structs.replace(ORDER, order_id=str(UUID(int=8)), client_order_id="OTHER")


class MassTrial(Trial):
    """One order was sent at 100, another one a second later."""

    def __init__(self) -> None:
        super().__init__(MASS)
        self.tracker.sent(OTHER, 3, 101.0)

    def ask_for(self, order: LineOrder, at: float) -> tuple[str, int]:
        """The id of the question, and how many messages it takes."""
        question, pairs = self.tracker.ask(order, at)
        if pairs:
            assert pairs == [(35, "AF"), (584, question), (585, 7)]
            self.tracker.numbered(9, ORDER.client_order_id, question)
        return question, bool(pairs)

    def told(
        self, question: str, total: int, named: str = ORDER.client_order_id, **changes: object
    ) -> Message:
        fields = {"t11": named, "t37": f"V-{named}", "t584": question, "t911": total, **changes}
        return self.report("I", "2", 100, **fields)

    def nothing(self, question: str, **changes: object) -> Message:
        fields = {"t584": question, "t911": 0, "t11": None, "t37": "NONE", "t103": 99, **changes}
        return self.report("I", "8", 0, **fields)


@pytest.fixture
def trial() -> MassTrial:
    return MassTrial()


def unknown(effects: list[Effect]) -> list[str]:
    return [each.order.client_order_id for each in effects if isinstance(each, OrderUnknown)]


def test_one_question_is_for_all_that_are_asked_for_at_once(trial: MassTrial) -> None:
    assert trial.ask_for(ORDER, 107) == ("1-1", 1)
    assert trial.ask_for(OTHER, 107.5) == ("1-1", 0)
    assert trial.ask_for(ORDER, 107.9) == ("1-1", 0)
    assert trial.ask_for(ORDER, 108.1) == ("1-2", 1), "the first one is too old by then"


def test_an_order_that_the_whole_answer_leaves_out_is_unknown(trial: MassTrial) -> None:
    question, _ = trial.ask_for(ORDER, 107)
    trial.ask_for(OTHER, 107)
    effects = trial.take(trial.told(question, 2))
    assert unknown(effects) == []
    effects += trial.take(trial.told(question, 2, "of somebody else"))
    assert unknown(effects) == ["OTHER"]
    final = [each for each in (*effects, *trial.wait(1)) if isinstance(each, OrderFinal)]
    (only,) = final
    assert (only.order.client_order_id, type(only.answer)) == (ORDER.client_order_id, Confirmed)


def test_a_venue_without_orders_knows_none(trial: MassTrial) -> None:
    question, _ = trial.ask_for(ORDER, 107)
    assert unknown(trial.take(trial.nothing(question))) == [ORDER.client_order_id]
    assert trial.take(trial.nothing(question)) == []


@pytest.mark.parametrize(
    "fields",
    [{"t43": "Y"}, {"t97": "Y"}, {"t911": None}, {"t584": "0-1"}],
    ids=["repeated", "resent", "no total", "another question"],
)
def test_what_proves_nothing(trial: MassTrial, fields: dict[str, object]) -> None:
    question, _ = trial.ask_for(ORDER, 107)
    assert unknown(trial.take(trial.nothing(question, **fields))) == []


def test_a_doubled_report_counts_once_and_totals_that_differ_prove_nothing(trial: MassTrial) -> None:
    question, _ = trial.ask_for(ORDER, 107)
    other = trial.told(question, 2, "x")
    assert unknown(trial.take(other, other)) == []
    assert unknown(trial.take(trial.told(question, 1, "x"), trial.told(question, 2, "y"))) == []


def test_an_answer_is_no_proof_too_soon_or_on_another_line(trial: MassTrial) -> None:
    question, _ = trial.ask_for(ORDER, 104.9)
    (effect,) = trial.take(trial.nothing(question))
    assert isinstance(effect, StatusAnswered)
    assert "too soon" in effect.message
    question, _ = trial.ask_for(ORDER, 107)
    trial.tracker.logged_on(2, 108)
    assert trial.take(trial.nothing(question)) == []


def test_a_question_that_is_rejected_proves_nothing(trial: MassTrial) -> None:
    """Also where a reject is how the venue says that it does not know an order."""
    question, _ = trial.ask_for(ORDER, 107)
    trial.ask_for(OTHER, 107)
    effects = trial.take(message_of([(35, "3"), (45, "9"), (373, "99"), (58, "Too busy")]))
    assert effects == [StatusAnswered(each, question, "Too busy") for each in (ORDER, OTHER)]
    assert unknown(trial.take(trial.nothing(question))) == []


def test_two_orders_with_one_id_are_no_reason_to_ask_again(trial: MassTrial) -> None:
    """The next answer would name both again, and so on without end."""
    question, _ = trial.ask_for(ORDER, 107)
    effects = trial.take(trial.told(question, 2), trial.told(question, 2, t37="V-second"))
    assert [type(each) for each in effects if isinstance(each, LineBreak | Ask)] == [LineBreak]
