"""What a venue's reports say about the orders of a line. No input or output: messages and times come in,
messages and effects go out.

A fill counts once by its ExecID, in whichever order reports arrive. An order that the venue says it does not
know was never received only under the three conditions of `OrderTracker._unknown`; otherwise the answer
proves nothing. A report that cannot belong to the order it names changes nothing, and is a break.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

import msgspec

from bullion.hedge.venue import Fill, FinalAnswer

from .codec import Message, Pair
from .known_order import (
    Closed,
    KnownOrder,
    Question,
    break_of,
    excess,
    excess_of_total,
    final_answer,
    other_terms,
    rest_of,
    standing,
)
from .mass_questions import MassQuestions
from .order_effects import (
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
from .order_messages import DUPLICATE, UNKNOWN, Report, new_order, number_of, read_report, security
from .profile import Profile, StatusQuestion, UnknownForm

FILLS_WAIT_S = 0.3
"""How long an order that is filled by its total waits for the reports of its fills."""
_NUMBERS_KEPT = 20_000
"""Sent messages whose numbers are remembered: a Reject names a message by its number."""
_QUESTIONS_OPEN_MAX = 16
_CLOSED_STATES = {"4": "canceled", "C": "expired", "3": "done for the day", "8": "rejected"}
_NOT_TAKEN = ("2", "3", "5")
"""Business reject reasons that prove the order was not taken: unknown security, message not supported, field
missing. Others, such as an application that is not available, do not say what became of it."""


class _Sent(msgspec.Struct, frozen=True):
    client_order_id: str
    question: str
    """Empty for the order itself."""


class OrderTracker:
    """The orders of one line. `logged_on` comes first, and again for each new connection."""

    def __init__(self, profile: Profile, account: str = "") -> None:
        self._profile = profile
        self._account = account
        self._known: dict[str, KnownOrder] = {}
        self._numbers: dict[int, _Sent] = {}
        self._asked: dict[str, str] = {}
        """The ClOrdID by the id of each question that is open on this line."""
        self._settling: set[str] = set()
        """Orders that wait for the reports of their fills."""
        self._mass = MassQuestions()
        self._line = 0
        self._questions = 0
        self._first_logon_at: float | None = None

    # --- Orders ---------------------------------------------------------------------------------------

    def __contains__(self, client_order_id: str) -> bool:
        return client_order_id in self._known

    def answer(self, client_order_id: str) -> FinalAnswer | None:
        known = self._known.get(client_order_id)
        return None if known is None else known.answer

    @property
    def settling(self) -> bool:
        """Whether `tick` has something to wait for."""
        return bool(self._settling)

    def restore(
        self,
        order: LineOrder,
        fills: Iterable[Fill] = (),
        answer: FinalAnswer | None = None,
        filled_e8: int = 0,
    ) -> None:
        """Add an order that was sent by an earlier process, or that this one no longer remembered.

        When it was sent exactly is not known, but it was before the first logon of this process.
        """
        if order.client_order_id not in self._known:
            found = {each.execution_id: each for each in fills}
            self._known[order.client_order_id] = KnownOrder(order, 0.0, 0, found, answer, filled_e8)

    def forget(self, client_order_id: str) -> None:
        """Drop an order from memory. If a report names it later, restore it from the store first."""
        self._known.pop(client_order_id, None)

    def unsettled(self) -> Sequence[LineOrder]:
        """Orders without a final answer, the oldest first: to ask for after a logon."""
        waiting = [each for each in self._known.values() if each.answer is None]
        return [each.order for each in sorted(waiting, key=lambda each: each.sent_at)]

    # --- Messages to send -----------------------------------------------------------------------------

    def logged_on(self, line: int, now: float) -> None:
        """`line` is a number that no earlier line of this tracker had. All earlier lines are closed."""
        self._line = line
        self._numbers.clear()
        self._asked.clear()
        self._mass.clear()
        for known in self._known.values():
            known.questions.clear()
        if self._first_logon_at is None:
            self._first_logon_at = now

    def prepare(self, order: LineOrder) -> None:
        """It is about to be sent. Until `send`, no answer proves that the venue does not know it."""
        known = self._known.get(order.client_order_id)
        if known is None:
            known = self._known[order.client_order_id] = KnownOrder(order, inf, self._line, {})
        known.order, known.sent_at = order, inf

    def give_up(self, client_order_id: str, now: float) -> None:
        """It was prepared, and may or may not have been written: count it as sent now."""
        known = self._known.get(client_order_id)
        if known is not None and known.sent_at == inf:
            known.sent_at, known.line = now, self._line

    def new_order(self, order: LineOrder, now_us: int) -> list[Pair]:
        """The NewOrderSingle."""
        return new_order(order, self._profile, self._account, now_us)

    def sent(self, order: LineOrder, number: int, now: float) -> None:
        """It was written just now, with this MsgSeqNum."""
        self.prepare(order)
        known = self._known[order.client_order_id]
        known.sent_at, known.line = now, self._line
        self.numbered(number, order.client_order_id)

    def ask(self, order: LineOrder, now: float) -> tuple[str, list[Pair]]:
        """A question, and its id, which is never used again. No fields: one was asked just now that will do.

        Call it before the message is written: the question counts as older than it is, never as younger.
        """
        self.restore(order)
        known = self._known[order.client_order_id]
        if self._profile.status_question is StatusQuestion.MASS:
            return self._ask_for_all(known, now)
        self._questions += 1
        question = Question(f"{self._line}-{self._questions}", now)
        known.questions.append(question)
        self._asked[question.question_id] = order.client_order_id
        for old in known.questions[:-_QUESTIONS_OPEN_MAX]:
            self._asked.pop(old.question_id, None)
        if self._profile.echoes_question:
            del known.questions[:-_QUESTIONS_OPEN_MAX]
        pairs: list[Pair] = [(35, "H"), (11, order.client_order_id), (790, question.question_id)]
        if known.venue_order_id:
            pairs.append((37, known.venue_order_id))
        return question.question_id, [*pairs, (54, order.side), *security(order.contract, self._profile)]

    def _ask_for_all(self, known: KnownOrder, now: float) -> tuple[str, list[Pair]]:
        named = known.order.client_order_id
        mass, pairs = self._mass.shared(named, known.sent_at, now), []
        if mass is None:
            self._questions += 1
            mass = self._mass.begin(f"{self._line}-{self._questions}", now)
            pairs = mass.pairs
        if named not in mass.asked_for:
            mass.asked_for[named] = None
            known.questions.append(Question(mass.question_id, mass.asked_at))
            del known.questions[:-_QUESTIONS_OPEN_MAX]
        return mass.question_id, pairs

    def numbered(self, number: int, client_order_id: str, question: str = "") -> None:
        """Remember the MsgSeqNum of an order or question, because a Reject names nothing else."""
        self._numbers[number] = _Sent(client_order_id, question)
        if len(self._numbers) > _NUMBERS_KEPT:
            del self._numbers[next(iter(self._numbers))]

    # --- Messages received ----------------------------------------------------------------------------

    def client_order_id(self, message: Message) -> str | None:
        """The order that a message is about, as far as it names one; restore it before `received`."""
        if message.type == "8" and message.get(584):
            # The venue tells of all its orders. Those that wait for an outcome are known here.
            named = message.get(11) or ""
            return named if named in self._known else None
        if message.type == "8":
            return message.get(11) or self._asked.get(message.get(790) or "")
        if message.type == "j":
            return message.get(379) or self._by_number(message)
        return self._by_number(message) if message.type == "3" else None

    def received(self, message: Message, now: float) -> list[Effect]:
        if message.type == "8" and message.get(584):
            return list(self._mass_report(message, now))
        if message.type == "8":
            return list(self._execution_report(message, now))
        if message.type in ("3", "j"):
            return list(self._reject(message, now))
        return []

    def tick(self, now: float) -> list[Effect]:
        """Settle orders that waited long enough for the reports of their fills."""
        waiting = [self._known[each] for each in self._settling if each in self._known]
        due = [each for each in waiting if each.settle_at is not None and each.settle_at <= now]
        return [effect for known in due for effect in self._settle(known, now)]

    def _mass_report(self, message: Message, now: float) -> Iterator[Effect]:
        """One of the reports that answer a question for all orders. After the last one, who is missing."""
        if self.client_order_id(message) is not None:
            yield from self._execution_report(message, now)
        complete = self._mass.note(message)
        for named in () if complete is None else complete.asked_for:
            known = self._known.get(named)
            if complete is not None and known is not None and named not in complete.named:
                text = "It is not among the venue's orders."
                yield from self._unknown(known, complete.question_id, replayed=False, text=text)

    def _execution_report(self, message: Message, now: float) -> Iterator[Effect]:
        known = self._known.get(self.client_order_id(message) or "")
        try:
            report = read_report(message)
        except ValueError as error:
            yield from self._unreadable(message, known, str(error))
            return
        if known is None:
            if report.filled_e8 or report.last_e8:
                yield break_of(
                    BreakReason.FOREIGN_ID, report, None, "The report names an order that was not sent."
                )
            return
        if wrong := other_terms(known.order, report):
            yield from self._once(known, break_of(BreakReason.OTHER_TERMS, report, known.order, wrong))
            return
        if report.kind in ("H", "G"):
            yield from self._changed_trade(known, report)
            return
        if report.reason == UNKNOWN and report.state == "8":
            yield from self._unknown(known, report.question, replayed=report.replayed, text=report.text)
            return
        if report.reason == DUPLICATE and report.state == "8":
            yield DuplicateSeen(known.order)
            return
        yield from self._believe(known, report, now)

    def _believe(self, known: KnownOrder, report: Report, now: float) -> Iterator[Effect]:
        is_answer = self._close_question(known, report)
        if known.venue_order_id and report.venue_order_id not in ("", known.venue_order_id):
            yield from self._other_order(known, report, is_answer=is_answer)
            return
        if report.venue_order_id:
            known.venue_order_id = report.venue_order_id
        if report.is_fill and report.execution_id not in known.fills:
            yield from self._fill(known, report)
        if known.answer is not None:
            if report.filled_e8 > max(known.filled_e8, known.listed_e8):
                yield from self._once(known, excess(known, report))
        else:
            if report.filled_e8 >= known.filled_e8 and report.average_e6:
                known.average_e6 = report.average_e6
            known.filled_e8 = max(known.filled_e8, report.filled_e8)
            if report.state in _CLOSED_STATES:
                if known.order.sends > 1 and report.state == "8" and not report.filled_e8 and not is_answer:
                    # It may be the refusal of a second sending, while the first was executed.
                    yield Ask(known.order)
                else:
                    text = report.text or f"The venue's order state is {_CLOSED_STATES[report.state]}."
                    known.closed = known.closed or Closed(report.filled_e8, text)
            yield from self._settle(known, now)
        if known.settle_at is None:
            yield StatusAnswered(known.order, report.question if is_answer else "", standing(report))

    def _other_order(self, known: KnownOrder, report: Report, *, is_answer: bool) -> Iterator[Effect]:
        """The venue has two orders with one ClOrdID. What it says of the second is not about the first."""
        if report.filled_e8 or report.last_e8:
            text = f"The venue has two orders with this id: {known.venue_order_id}, {report.venue_order_id}."
            yield from self._once(known, break_of(BreakReason.OVERFILL, report, known.order, text))
        if is_answer:
            yield StatusAnswered(known.order, report.question, "The venue has two orders with this id.")
        elif not report.question and report.kind != "I" and known.answer is None:
            # The answer to another question would name both orders again.
            yield Ask(known.order)

    def _fill(self, known: KnownOrder, report: Report) -> Iterator[Effect]:
        """A fill that was not seen before."""
        allowed_e8 = known.order.quantity_e8 if known.answer is None else known.filled_e8
        if known.listed_e8 + report.last_e8 > allowed_e8:
            yield from self._once(
                known, break_of(BreakReason.OVERFILL, report, known.order, "Filled beyond it.")
            )
            return
        fill = Fill(report.execution_id, report.last_e8, report.last_price_e6, report.at_us)
        known.fills[fill.execution_id] = fill
        yield FillSeen(known.order, fill)

    def _settle(self, known: KnownOrder, now: float) -> Iterator[Effect]:
        """The final answer, if there is one by now."""
        order, listed_e8 = known.order, known.listed_e8
        filled_e8 = max(known.filled_e8, listed_e8)
        if known.answer is not None or (filled_e8 < order.quantity_e8 and known.closed is None):
            return
        if filled_e8 > listed_e8:
            known.settle_at = known.settle_at or now + FILLS_WAIT_S
            self._settling.add(order.client_order_id)
            if now < known.settle_at:
                return
        known.settle_at = None
        self._settling.discard(order.client_order_id)
        if filled_e8 > order.quantity_e8:
            yield from self._once(known, excess_of_total(known, filled_e8))
            filled_e8 = order.quantity_e8
        fills = [*known.fills.values()]
        if filled_e8 > listed_e8:
            fills.append(rest_of(known, filled_e8))
        known.filled_e8 = filled_e8
        known.answer = final_answer(known, tuple(fills))
        yield OrderFinal(order, known.answer, filled_e8)

    def _unknown(self, known: KnownOrder, question_id: str, *, replayed: bool, text: str) -> Iterator[Effect]:
        """The venue says that it does not know the order. That is proven only if

        - it answers a question that was asked on this line, and is no replay of an earlier answer;
        - the question was sent long enough after the order, so that a slow engine has it by then;
        - the line that the order was sent on is closed, or is this one: nothing is on its way any more.

        And never for an order of which anything was heard.
        """
        question = self._question(known, question_id)
        if question is None or replayed:
            yield StatusAnswered(known.order, "", "An answer to no question of this line.")
            return
        known.questions.remove(question)
        self._asked.pop(question.question_id, None)
        heard_of = known.venue_order_id or known.fills or known.filled_e8 or known.answer or known.closed
        begin = known.sent_at if known.line else self._first_logon_at
        early = begin is None or question.asked_at - begin < self._profile.unknown_after_s
        if heard_of or early or known.line > self._line:
            why = "before it" if heard_of else "too soon after the order"
            yield StatusAnswered(
                known.order, question.question_id, f"Not known to the venue, asked {why}. {text}"
            )
            return
        yield OrderUnknown(known.order)
        del self._known[known.order.client_order_id]

    def _reject(self, message: Message, now: float) -> Iterator[Effect]:
        """A Reject or Business Message Reject of an order or a question of this line."""
        if message.get(43) == "Y" or message.get(97) == "Y":
            return
        sent = self._numbers.get(number_of(message.get(45)))
        client_order_id = sent.client_order_id if sent else message.get(379) or ""
        known = self._known.get(client_order_id)
        if known is None or (sent is None and message.get(372) != "D"):
            return
        text = message.get(58) or "The venue rejected the message."
        if sent is not None and sent.question in self._mass:
            yield from self._mass_rejected(sent.question, text)
            return
        if sent is not None and sent.question:
            reason = message.get(380)
            if self._profile.unknown is UnknownForm.REJECT and reason in (None, "1"):
                yield from self._unknown(known, sent.question, replayed=False, text=text)
            else:
                yield StatusAnswered(known.order, sent.question, text)
            return
        is_proof = (
            message.get(373) not in (None, "99") if message.type == "3" else message.get(380) in _NOT_TAKEN
        )
        heard_of = known.venue_order_id or known.fills or known.filled_e8
        if known.answer is not None or not is_proof or heard_of or known.order.sends > 1:
            yield Ask(known.order)
            return
        known.closed = Closed(0, text)
        yield from self._settle(known, now)

    def _mass_rejected(self, question_id: str, text: str) -> Iterator[Effect]:
        """It proves nothing about any order."""
        ended = self._mass.end(question_id)
        for named in () if ended is None else ended.asked_for:
            if named in self._known:
                yield StatusAnswered(self._known[named].order, question_id, text)

    def _changed_trade(self, known: KnownOrder, report: Report) -> Iterator[Effect]:
        """The venue cancelled or corrected a trade. Nothing is undone here: the desk has to see it."""
        cancelled = report.kind == "H"
        reason = BreakReason.TRADE_CANCELLED if cancelled else BreakReason.TRADE_CORRECTED
        fill = known.fills.get(report.execution_ref)
        quantity_e8 = report.last_e8 or (fill.quantity_e8 if fill else 0)
        made = break_of(reason, report, known.order, f"Trade {report.execution_ref}. {report.text}".strip())
        # What is listed is what the venue did last: a cancelled purchase is a sale.
        side = made.side if not cancelled else {"1": "2", "2": "1"}.get(made.side, made.side)
        price_e6 = report.last_price_e6 or (fill.price_e6 if fill else 0)
        made = msgspec.structs.replace(made, quantity_e8=quantity_e8, side=side, price_e6=price_e6)
        yield from self._once(known, made)

    def _unreadable(self, message: Message, known: KnownOrder | None, error: str) -> Iterator[Effect]:
        execution_id = message.get(17) or f"unreadable:{message.get(11)}"
        client_order_id = message.get(11) or ""
        order = None if known is None else known.order
        reason = BreakReason.UNREADABLE
        made = LineBreak(reason, execution_id, client_order_id, order, "", "", 0, 0, 0, error)
        if known is None:
            yield made
        else:
            yield from self._once(known, made)
            # An answer that cannot be read is not asked for again at once: the next one would be the same.
            if message.get(150) != "I" and message.get(790) is None:
                yield Ask(known.order)

    def _once(self, known: KnownOrder, made: LineBreak) -> Iterator[LineBreak]:
        if made.execution_id not in known.breaks:
            known.breaks.add(made.execution_id)
            yield made

    # --- Questions ------------------------------------------------------------------------------------

    def _question(self, known: KnownOrder, question_id: str) -> Question | None:
        """The open question that an answer belongs to.

        A venue that does not echo the id answers the oldest one, as far as anybody can tell. Taking a later
        question for it would make the answer look more recent than it may be.
        """
        if not self._profile.echoes_question and not question_id:
            return known.questions[0] if known.questions else None
        return next((each for each in known.questions if each.question_id == question_id), None)

    def _close_question(self, known: KnownOrder, report: Report) -> bool:
        """Whether the report answers a question of this line."""
        if report.replayed or not (report.question or report.kind == "I"):
            return False
        question = self._question(known, report.question)
        if question is None:
            return False
        known.questions.remove(question)
        self._asked.pop(question.question_id, None)
        return True

    def _by_number(self, message: Message) -> str | None:
        sent = self._numbers.get(number_of(message.get(45)))
        return sent.client_order_id if sent else None
