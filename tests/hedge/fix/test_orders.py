"""From reports to outcomes: each row of the table, in any order, twice, late, or about another order."""

from itertools import permutations
from uuid import UUID

import msgspec
import pytest

from bullion.hedge.contract import ONE_E8, Contract
from bullion.hedge.fix.codec import Message, Pair, message_of
from bullion.hedge.fix.order_effects import (
    Ask,
    BreakReason,
    DuplicateSeen,
    Effect,
    FillSeen,
    LineBreak,
    LineOrder,
    OrderFinal,
    OrderUnknown,
    StatusAnswered,
)
from bullion.hedge.fix.order_ids import client_order_id
from bullion.hedge.fix.orders import FILLS_WAIT_S, OrderTracker
from bullion.hedge.fix.profile import KEEPING, RESETTING, Profile
from bullion.hedge.venue import Confirmed, Declined, FinalAnswer, PartiallyFilled

SPOT = Contract(
    code="XAU", venue="spot", venue_symbol="XAU/USD", security_id="4001", metal="gold", instrument="GOLD",
    lot_ng=31_103_476_800, fineness_e4=10_000, step_e8=ONE_E8, price_ng=31_103_476_800, currency="USD",
    tick_e6=10_000,
)  # fmt: skip
ID = str(UUID(int=7))
ORDER = LineOrder(
    order_id=ID, client_order_id=client_order_id(ID), broker="main", instrument="GOLD", trade_type="buy",
    quantity_e4=3_110_3480, fine_mg=3_110_348, quantity_e8=100 * ONE_E8, contract=SPOT,
)  # fmt: skip
AT = "20261117-09:00:00.000"


class Trial:
    """A tracker with one order that was sent at time 100."""

    def __init__(self, profile: Profile = RESETTING, *, sends: int = 1) -> None:
        self.tracker = OrderTracker(profile, "ACC")
        self.order = msgspec.structs.replace(ORDER, sends=sends)
        self.now = 100.0
        self.tracker.logged_on(1, self.now)
        self.tracker.sent(self.order, 2, self.now)

    def report(self, kind: str, state: str, filled: object, **fields: object) -> Message:
        tags = {
            37: "V1", 11: ORDER.client_order_id, 17: "0", 150: kind, 39: state, 55: "XAU/USD", 54: "1",
            38: 100, 14: filled, 151: 0, 6: "2000.5", 60: AT,
        }  # fmt: skip
        tags |= {int(tag[1:]): value for tag, value in fields.items()}
        pairs: list[Pair] = [
            (35, "8"),
            *((tag, str(value)) for tag, value in tags.items() if value is not None),
        ]
        return message_of(pairs)

    def fill(
        self, execution_id: str, quantity: int, total: int, price: str = "2000.5", **fields: object
    ) -> Message:
        state = "2" if total >= 100 else "1"
        return self.report("F", state, total, t17=execution_id, t32=quantity, t31=price, **fields)

    def take(self, *messages: Message) -> list[Effect]:
        return [effect for each in messages for effect in self.tracker.received(each, self.now)]

    def wait(self, seconds: float) -> list[Effect]:
        self.now += seconds
        return self.tracker.tick(self.now)

    def ask(self, at: float) -> str:
        self.now = at
        return self.tracker.ask(self.order, at)[0]

    def unknown(self, question: str | None, **fields: object) -> Message:
        return self.report("I", "8", 0, t37="NONE", t103="5", t790=question, t38=None, t54=None, **fields)


def final(effects: list[Effect]) -> FinalAnswer | None:
    found = [each.answer for each in effects if isinstance(each, OrderFinal)]
    assert len(found) <= 1
    return found[0] if found else None


def test_what_was_cut_to_whole_steps_is_a_rest_below_the_step() -> None:
    trial = Trial()
    tracker, order = OrderTracker(RESETTING, "ACC"), msgspec.structs.replace(ORDER, fine_mg=3_110_406)
    tracker.logged_on(1, 100.0)
    tracker.sent(order, 2, 100.0)
    answer = final(tracker.received(trial.fill("E1", 100, 100), 100.0))
    assert isinstance(answer, PartiallyFilled)
    assert (answer.fine_mg_left, answer.below_step) == (58, True)


def listed(effects: list[Effect]) -> list[tuple[str, int]]:
    """The breaks, each with its quantity: what the venue sold to us beyond what counts is negative."""
    return [
        (each.execution_id, each.quantity_e8 * (1 if each.side == "1" else -1) // ONE_E8)
        for each in effects
        if isinstance(each, LineBreak)
    ]


def breaks(effects: list[Effect]) -> list[BreakReason]:
    return [each.reason for each in effects if isinstance(each, LineBreak)]


@pytest.mark.parametrize(
    ("kind", "state"), [("0", "0"), ("A", "A"), ("E", "E"), ("6", "6"), ("I", "0"), ("I", "A")]
)
def test_an_order_that_works_has_no_outcome_yet(kind: str, state: str) -> None:
    trial = Trial()
    assert trial.take(trial.report(kind, state, 0)) == []
    assert trial.tracker.answer(ORDER.client_order_id) is None


@pytest.mark.parametrize(("state", "leaves"), [("2", "0"), ("1", "0"), ("1", "5")])
def test_a_total_that_is_the_quantity_confirms(state: str, leaves: str) -> None:
    trial = Trial()
    answer = final(trial.take(trial.report("F", state, 100, t17="E1", t32=100, t31="1999.99", t151=leaves)))
    assert isinstance(answer, Confirmed)
    assert answer.execution_id == "V1"
    (fill,) = answer.fills
    assert (fill.execution_id, fill.quantity_e8, fill.price_e6) == ("E1", 100 * ONE_E8, 1_999_990_000)
    assert fill.at_us == 1_794_906_000_000_000


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_fills_in_any_order_and_twice_make_one_answer(order: tuple[int, ...]) -> None:
    trial = Trial()
    parts = [(10, 10), (20, 30), (30, 60), (40, 100)]
    messages = [trial.fill(f"E{place}", *part) for place, part in enumerate(parts)]
    effects = [effect for place in order for effect in trial.take(messages[place], messages[place])]
    answer = final(effects)
    assert isinstance(answer, Confirmed)
    assert {each.execution_id for each in answer.fills} == {"E0", "E1", "E2", "E3"}
    assert sum(each.quantity_e8 for each in answer.fills) == 100 * ONE_E8
    assert len([each for each in effects if isinstance(each, FillSeen)]) == 4
    assert breaks(effects) == []


def test_a_total_without_its_fills_waits_a_little_and_then_counts_at_the_implied_price() -> None:
    trial = Trial()
    assert final(trial.take(trial.fill("E1", 40, 40, "2000"))) is None
    assert final(trial.take(trial.report("I", "2", 100, t6="2003"))) is None
    answer = final(trial.wait(FILLS_WAIT_S))
    assert isinstance(answer, Confirmed)
    assert [(each.quantity_e8, each.price_e6) for each in answer.fills] == [
        (40 * ONE_E8, 2_000_000_000),
        (60 * ONE_E8, 2_005_000_000),
    ]
    # Its own report comes after all: it was counted, so it is no break.
    late = trial.take(trial.fill("E2", 60, 100, "2005"))
    assert breaks(late) == []
    assert any(isinstance(each, FillSeen) for each in late)
    assert listed(trial.take(trial.fill("E3", 1, 101))) == [("E3", 1)], "once: its total tells of the same"


@pytest.mark.parametrize("state", ["4", "C", "3", "8"])
def test_an_order_that_is_closed_unfilled_is_declined(state: str) -> None:
    trial = Trial()
    assert final(trial.take(trial.report(state, state, 0, t58="no credit"))) == Declined("V1", "no credit")


@pytest.mark.parametrize("state", ["4", "C", "3", "8"])
@pytest.mark.parametrize("fill_first", [True, False])
def test_an_order_that_is_closed_partly_filled(state: str, fill_first: bool) -> None:
    trial = Trial()
    closed, fill = trial.report(state, state, 60, t58="no more"), trial.fill("E1", 60, 60)
    answer = final(trial.take(*((fill, closed) if fill_first else (closed, fill))))
    assert isinstance(answer, PartiallyFilled)
    assert answer.fine_mg_left == ORDER.fine_mg - SPOT.fine_mg(60 * ONE_E8)
    assert (answer.message, answer.below_step) == ("no more", False)
    assert [each.execution_id for each in answer.fills] == ["E1"]


def test_a_rest_below_the_venues_step_says_so() -> None:
    trial = Trial()
    trial.take(trial.report("F", "1", "99.5", t17="E1", t32="99.5", t31="2000"))
    answer = final(trial.take(trial.report("4", "4", "99.5")))
    assert isinstance(answer, PartiallyFilled)
    assert answer.below_step


def test_a_doubled_id_is_asked_for_and_never_a_refusal() -> None:
    trial = Trial()
    effects = trial.take(trial.report("8", "8", 0, t103="6", t58="duplicate"))
    assert effects == [DuplicateSeen(trial.order)]
    assert trial.tracker.answer(ORDER.client_order_id) is None


@pytest.mark.parametrize("profile", [RESETTING, KEEPING], ids=["reset", "kept"])
def test_a_refusal_of_an_order_that_was_sent_twice_is_asked_for(profile: Profile) -> None:
    trial = Trial(profile, sends=2)
    effects = trial.take(trial.report("8", "8", 0, t58="too late"))
    assert final(effects) is None
    assert Ask(trial.order) in effects
    question = trial.ask(101)
    echoed = {"t790": question} if profile.echoes_question else {}
    assert final(trial.take(trial.report("I", "8", 0, t58="too late", **echoed))) == Declined(
        "V1", "too late"
    )


# --- Unknown ------------------------------------------------------------------------------------------


def test_unknown_is_believed_under_all_three_conditions() -> None:
    trial = Trial()
    assert trial.take(trial.unknown(trial.ask(105))) == [OrderUnknown(trial.order)]
    assert ORDER.client_order_id not in trial.tracker


def test_unknown_asked_too_soon_proves_nothing() -> None:
    trial = Trial()
    (effect,) = trial.take(trial.unknown(trial.ask(104.9)))
    assert isinstance(effect, StatusAnswered)
    assert ORDER.client_order_id in trial.tracker


@pytest.mark.parametrize("fields", [{"t43": "Y"}, {"t97": "Y"}])
def test_a_replayed_unknown_proves_nothing(fields: dict[str, str]) -> None:
    trial = Trial()
    (effect,) = trial.take(trial.unknown(trial.ask(110), **fields))
    assert isinstance(effect, StatusAnswered)


def test_an_unknown_that_answers_no_question_of_this_line_proves_nothing() -> None:
    trial = Trial()
    question = trial.ask(110)
    for stale in ("1-77", None):
        (effect,) = trial.take(trial.unknown(stale))
        assert isinstance(effect, StatusAnswered)
    trial.tracker.logged_on(2, 111)
    (effect,) = trial.take(trial.unknown(question))
    assert isinstance(effect, StatusAnswered)
    assert trial.take(trial.unknown(trial.ask(112))) == [OrderUnknown(trial.order)]


def test_an_order_of_an_earlier_process_counts_from_the_first_logon() -> None:
    tracker = OrderTracker(RESETTING)
    tracker.logged_on(1, 100)
    tracker.restore(ORDER)
    trial = Trial()
    trial.tracker, trial.order = tracker, ORDER
    (effect,) = trial.take(trial.unknown(trial.ask(104)))
    assert isinstance(effect, StatusAnswered)
    tracker.logged_on(2, 104.5)
    assert trial.take(trial.unknown(trial.ask(105))) == [OrderUnknown(ORDER)]


def test_an_order_of_another_process_counts_from_the_logon_after_it_had_the_line() -> None:
    trial = Trial()
    other = msgspec.structs.replace(ORDER, client_order_id="other")
    trial.tracker.sent(other, 3, 101)
    trial.tracker.forget_all()
    assert "other" not in trial.tracker
    trial.tracker.logged_on(3, 1_000)
    trial.tracker.restore(ORDER)
    (effect,) = trial.take(trial.unknown(trial.ask(1_004)))
    assert isinstance(effect, StatusAnswered)
    assert trial.take(trial.unknown(trial.ask(1_005))) == [OrderUnknown(ORDER)]


def test_an_order_of_another_process_that_is_about_to_be_sent_again_is_never_unknown() -> None:
    tracker = OrderTracker(RESETTING)
    tracker.logged_on(1, 100)
    tracker.restore(ORDER)
    tracker.prepare(ORDER)
    trial = Trial()
    trial.tracker, trial.order = tracker, ORDER
    (effect,) = trial.take(trial.unknown(trial.ask(200)))
    assert isinstance(effect, StatusAnswered)


def test_an_order_that_is_about_to_be_sent_is_never_unknown() -> None:
    trial = Trial()
    trial.tracker.prepare(trial.order)
    (effect,) = trial.take(trial.unknown(trial.ask(200)))
    assert isinstance(effect, StatusAnswered)


def test_an_order_that_was_heard_of_is_never_unknown() -> None:
    trial = Trial()
    trial.take(trial.report("0", "0", 0))
    (effect,) = trial.take(trial.unknown(trial.ask(200)))
    assert isinstance(effect, StatusAnswered)


def test_without_an_echo_an_answer_belongs_to_the_oldest_question() -> None:
    trial = Trial(KEEPING)
    trial.ask(101)
    trial.ask(110)
    reject = message_of([(35, "8"), (11, ORDER.client_order_id), (150, "I"), (39, "8"), (103, "5"), (60, AT)])
    (first,) = trial.take(reject)
    assert isinstance(first, StatusAnswered)
    assert trial.take(reject) == [OrderUnknown(trial.order)]


def test_a_reject_of_the_question_is_the_other_form_of_unknown() -> None:
    for profile, believed in ((KEEPING, True), (RESETTING, False)):
        trial = Trial(profile)
        question = trial.ask(110)
        trial.tracker.numbered(9, ORDER.client_order_id, question)
        reject = message_of([(35, "3"), (45, 9), (58, "unknown order")])
        assert (trial.take(reject) == [OrderUnknown(trial.order)]) is believed
        replay = message_of([(35, "3"), (45, 9), (43, "Y"), (58, "unknown order")])
        assert trial.take(replay) == []


# --- Rejects of the order -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "declined"),
    [
        ([(35, "3"), (45, 2), (373, 5)], True),
        ([(35, "3"), (45, 2), (373, 99)], False),
        ([(35, "3"), (45, 2)], False),
        ([(35, "j"), (45, 2), (372, "D"), (380, 2)], True),
        ([(35, "j"), (372, "D"), (379, ORDER.client_order_id), (380, 3)], True),
        ([(35, "j"), (372, "D"), (379, ORDER.client_order_id), (380, 5)], True),
        ([(35, "j"), (372, "D"), (379, ORDER.client_order_id), (380, 4)], False),
        ([(35, "j"), (372, "D"), (379, ORDER.client_order_id), (380, 0)], False),
    ],
)
def test_a_reject_declines_only_if_it_proves_that_the_order_was_not_taken(
    fields: list[Pair], declined: bool
) -> None:
    trial = Trial()
    effects = trial.take(message_of([*fields, (58, "bad")]))
    if declined:
        assert final(effects) == Declined(ORDER.client_order_id, "bad")
    else:
        assert effects == [Ask(trial.order)]


def test_a_replayed_reject_or_one_of_another_message_says_nothing() -> None:
    trial = Trial()
    assert trial.take(message_of([(35, "3"), (45, 2), (373, 5), (43, "Y")])) == []
    assert trial.take(message_of([(35, "3"), (45, 77), (373, 5)])) == []
    trial.tracker.logged_on(2, 101)
    assert trial.take(message_of([(35, "3"), (45, 2), (373, 5)])) == []


# --- Breaks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"t11": "somebody", "t37": "V9"}, BreakReason.FOREIGN_ID),
        ({"t54": "2"}, BreakReason.OTHER_TERMS),
        ({"t55": "XAG/USD"}, BreakReason.OTHER_TERMS),
        ({"t48": "4002"}, BreakReason.OTHER_TERMS),
        ({"t38": "99"}, BreakReason.OTHER_TERMS),
        ({"t31": None}, BreakReason.UNREADABLE),
        ({"t14": None}, BreakReason.UNREADABLE),
        ({"t14": "1e2"}, BreakReason.UNREADABLE),
        ({"t32": "-100"}, BreakReason.UNREADABLE),
        ({"t31": "NaN"}, BreakReason.UNREADABLE),
        ({"t31": "99999999999"}, BreakReason.UNREADABLE),
        ({"t32": "999999999999"}, BreakReason.UNREADABLE),
        ({"t14": "999999999999"}, BreakReason.UNREADABLE),
        ({"t60": "yesterday"}, BreakReason.UNREADABLE),
    ],
)
def test_a_report_that_cannot_be_about_the_order_is_a_break_and_changes_nothing(
    fields: dict[str, object], reason: BreakReason
) -> None:
    trial = Trial()
    terms: dict[str, object] = {"t17": "E1", "t32": 100, "t31": "2000", **fields}
    effects = trial.take(trial.report("F", "2", 100, **terms))
    assert breaks(effects) == [reason]
    assert final(effects) is None
    assert trial.tracker.answer(ORDER.client_order_id) is None


@pytest.mark.parametrize("known", ["venue_symbol", "security_id"])
def test_a_report_may_name_the_contract_in_a_way_that_the_contract_does_not_know(known: str) -> None:
    unknown = {"venue_symbol": "", "security_id": ""} | {known: getattr(SPOT, known)}
    trial = Trial()
    trial.order = msgspec.structs.replace(ORDER, contract=msgspec.structs.replace(SPOT, **unknown))
    trial.tracker.sent(trial.order, 3, trial.now)
    effects = trial.take(trial.fill("E1", 100, 100, t48="4001"))
    assert isinstance(final(effects), Confirmed)
    assert breaks(effects) == []


def test_more_than_was_ordered_confirms_and_is_a_break() -> None:
    trial = Trial()
    effects = trial.take(trial.fill("E1", 60, 60), trial.fill("E2", 50, 110))
    effects += trial.wait(FILLS_WAIT_S)
    assert listed(effects) == [("E2", 10)]
    answer = final(effects)
    assert isinstance(answer, Confirmed)
    assert sum(each.quantity_e8 for each in answer.fills) == 100 * ONE_E8
    assert listed(trial.take(trial.report("I", "2", 110), trial.fill("E3", 50, 160))) == [("E3", 50)]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_what_the_venue_executed_beyond_the_order_is_listed_once_in_any_order(order: tuple[int, ...]) -> None:
    trial = Trial()
    messages = [
        trial.fill("E1", 60, 60),
        trial.fill("E2", 50, 110),
        trial.fill("E3", 50, 160),
        trial.report("I", "2", 160),
    ]
    effects = [effect for place in order for effect in trial.take(messages[place], messages[place])]
    effects += trial.wait(FILLS_WAIT_S)
    answer = final(effects)
    assert isinstance(answer, Confirmed)
    assert sum(each.quantity_e8 for each in answer.fills) == 100 * ONE_E8
    assert sum(quantity for _, quantity in listed(effects)) == 60


def test_what_a_closed_order_does_not_count_of_a_fill_is_listed() -> None:
    trial = Trial()
    effects = trial.take(trial.fill("E1", 60, 60), trial.fill("E2", 50, 60))
    assert listed(effects) == [("E2", 10)]
    effects = trial.take(trial.report("4", "4", 60))
    assert isinstance(final(effects), PartiallyFilled)
    assert listed(effects) == [(f"total:{ORDER.client_order_id}:{110 * ONE_E8}", 40)]


def test_a_fill_after_a_refusal_is_a_break() -> None:
    trial = Trial()
    trial.take(trial.report("8", "8", 0, t58="no"))
    effects = trial.take(trial.fill("E1", 100, 100))
    assert breaks(effects) == [BreakReason.OVERFILL]
    assert listed(effects) == [("E1", 100)]
    assert final(effects) is None
    assert breaks(trial.take(trial.fill("E1", 100, 100))) == []


def test_a_total_after_a_refusal_is_not_listed_again_with_its_fill() -> None:
    trial = Trial()
    trial.take(trial.report("8", "8", 0, t58="no"))
    effects = trial.take(trial.report("I", "2", 100))
    assert listed(effects) == [(f"total:{ORDER.client_order_id}:{100 * ONE_E8}", 100)]
    assert listed(trial.take(trial.fill("E1", 100, 100))) == []


def test_a_second_order_with_our_id_is_a_break_and_not_believed() -> None:
    trial = Trial()
    trial.take(trial.report("0", "0", 0))
    effects = trial.take(trial.fill("E1", 100, 100, t37="V2"))
    assert breaks(effects) == [BreakReason.OVERFILL]
    assert listed(effects) == [("E1", 100)]
    assert Ask(trial.order) in effects
    assert listed(trial.take(trial.report("I", "2", 100, t37="V2"))) == []
    assert listed(trial.take(trial.report("I", "2", 120, t37="V2"))) == [(f"total:V2:{120 * ONE_E8}", 20)]
    assert final(trial.take(trial.report("8", "8", 0, t37="V3"))) is None
    assert isinstance(final(trial.take(trial.fill("E2", 100, 100))), Confirmed)


@pytest.mark.parametrize(
    ("kind", "reason", "side", "quantity"),
    [("H", BreakReason.TRADE_CANCELLED, "2", 100), ("G", BreakReason.TRADE_CORRECTED, "1", 0)],
)
def test_a_trade_that_is_changed_afterwards_is_a_break(
    kind: str, reason: BreakReason, side: str, quantity: int
) -> None:
    trial = Trial()
    answer = final(trial.take(trial.fill("E1", 100, 100)))
    message = trial.report(kind, "0", 0, t17="E2", t19="E1")
    (found,) = trial.take(message, message)
    assert isinstance(found, LineBreak)
    assert (found.reason, found.side, found.quantity_e8) == (reason, side, quantity * ONE_E8)
    assert trial.tracker.answer(ORDER.client_order_id) == answer


@pytest.mark.parametrize(("corrected", "change"), [(100, 0), (150, 50), (70, -30)])
def test_a_correction_is_listed_as_the_difference(corrected: int, change: int) -> None:
    trial = Trial()
    trial.take(trial.fill("E1", 100, 100))
    correction = trial.report("G", "2", corrected, t17="E2", t19="E1", t32=corrected, t31="2001")
    effects = trial.take(correction, correction)
    assert listed(effects) == [("E2", change)]
    (found,) = (each for each in effects if isinstance(each, LineBreak))
    assert found.message == f"Trade E1 is now {corrected} at 2001.0."
    assert listed(trial.take(trial.report("I", "2", corrected))) == [], "it is in the total, too"
    again = trial.report("G", "2", 160, t17="E3", t19="E2", t32=160, t31="2001")
    assert listed(trial.take(again)) == [("E3", 160 - corrected)]
    cancelled = trial.report("H", "2", 0, t17="E4", t19="E3", t32=160, t31="2001")
    assert listed(trial.take(cancelled)) == [("E4", -160)]


def test_a_correction_of_a_fill_that_counts_by_the_total_alone_is_listed_as_the_difference() -> None:
    trial = Trial()
    trial.take(trial.fill("E1", 40, 40), trial.report("I", "2", 100))
    assert isinstance(final(trial.wait(FILLS_WAIT_S)), Confirmed)
    correction = trial.report("G", "2", 110, t17="E3", t19="E2", t32=70, t31="2001")
    assert listed(trial.take(correction)) == [("E3", 10)]


# --- Messages that are sent ---------------------------------------------------------------------------


def test_an_order_and_a_question_as_they_are_sent() -> None:
    trial = Trial()
    order = message_of(trial.tracker.new_order(trial.order, 1_794_906_000_000_000))
    assert [order.get(tag) for tag in (35, 11, 1, 55, 54, 60, 38, 40, 44, 59)] == [
        "D", ORDER.client_order_id, "ACC", "XAU/USD", "1", AT, "100", "1", None, "4",
    ]  # fmt: skip
    question, pairs = trial.tracker.ask(trial.order, 101)
    assert message_of(pairs).get(790) == question
    other, _ = trial.tracker.ask(trial.order, 102)
    assert other != question


def test_orders_without_an_answer_are_asked_for_the_oldest_first() -> None:
    trial = Trial()
    younger, older = (str(UUID(int=number)) for number in (8, 9))
    for order_id, at in ((younger, 101.0), (older, 99.0)):
        short = client_order_id(order_id)
        one = msgspec.structs.replace(ORDER, order_id=order_id, client_order_id=short)
        trial.tracker.sent(one, 3, at)
    assert [each.order_id for each in trial.tracker.unsettled()] == [older, ID, younger]
    trial.take(trial.fill("E1", 100, 100))
    assert [each.order_id for each in trial.tracker.unsettled()] == [older, younger]
