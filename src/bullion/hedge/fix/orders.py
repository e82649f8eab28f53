"""What a venue's reports say about the orders of a line. No input or output: messages and times come in,
messages and effects go out.

A fill counts once by its ExecID, in whichever order reports arrive. An order that the venue says it does not
know was never received only under the three conditions of `OrderTracker._unknown`; otherwise the answer
proves nothing. A report that cannot belong to the order it names changes nothing, and is a break.
"""

from collections.abc import Iterable, Sequence
from math import inf

import msgspec

from bullion.hedge.venue import Fill, FinalAnswer

from .codec import Message, Pair
from .foreign_orders import ForeignOrders, foreign_name
from .known_order import Closed, KnownOrder, final_answer, rest_of, standing
from .line_breaks import (
    break_of,
    changed_trade,
    excess,
    excess_of_total,
    other_terms,
    total_break,
    unreadable,
)
from .order_effects import (
    Ask,
    BreakReason,
    DuplicateSeen,
    Effect,
    FillSeen,
    LineBreak,
    LineOrder,
    OrderFinal,
    OrderSeen,
    OrderUnknown,
    Seen,
    StatusAnswered,
)
from .order_messages import (
    CANCELLED_TRADE,
    CHANGED_TRADES,
    DUPLICATE,
    UNKNOWN,
    Report,
    new_order,
    read_report,
)
from .order_questions import OrderQuestions
from .profile import Profile, UnknownForm

FILLS_WAIT_S = 0.3
"""How long an order that is filled by its total waits for the reports of its fills."""
_TAKEN_WAIT_S = 0.2
"""How long an order has to be without a final answer until it is stored that the venue took it. Most have one
sooner, so they cost no further write."""
_CLOSED_STATES = {"4": "canceled", "C": "expired", "3": "done for the day", "8": "rejected"}
_NOT_TAKEN = ("2", "3", "5")
"""Business reject reasons that prove the order was not taken: unknown security, message not supported, field
missing. Others, such as an application that is not available, do not say what became of it."""


class OrderTracker:
    """The orders of one line. `logged_on` comes first, and again for each new connection."""

    def __init__(self, profile: Profile, account: str = "") -> None:
        self._profile = profile
        self._account = account
        self._known: dict[str, KnownOrder] = {}
        self.foreign = ForeignOrders()
        self._questions = OrderQuestions(profile)
        self._told: dict[tuple[str | None, str | None], str | None] = {}
        """By ClOrdID and OrderID, the total in the last answer to a question for all orders."""
        self._settling: set[str] = set()
        """Orders that wait for the reports of their fills."""
        self._taken_by_venue: dict[str, float] = {}
        """When to store that the venue took an order."""
        self._line = 0
        self._first_logon_at: float | None = None
        self._effects: list[Effect] = []

    # --- Orders ---------------------------------------------------------------------------------------

    def __contains__(self, client_order_id: str) -> bool:
        return client_order_id in self._known

    def answer(self, client_order_id: str) -> FinalAnswer | None:
        known = self._known.get(client_order_id)
        return None if known is None else known.answer

    @property
    def settling(self) -> bool:
        """Whether `tick` has something to wait for."""
        return bool(self._settling or self._taken_by_venue)

    def restore(
        self,
        order: LineOrder,
        fills: Iterable[Fill] = (),
        answer: FinalAnswer | None = None,
        filled_e8: int = 0,
        seen: Seen | None = None,
    ) -> None:
        """Add an order that was sent by another process, or that this one no longer remembered.

        When it was sent exactly is not known, but it was before the first logon since `forget_all`, or since
        this process began: if another process had the line in between, `forget_all` comes before the logon.
        """
        if order.client_order_id not in self._known:
            seen = seen or Seen(order.client_order_id)
            known = KnownOrder(order, 0.0, 0, seen, answer=answer, filled_e8=filled_e8)
            if answer is not None and answer.execution_id != order.client_order_id:
                seen.venue_order_id = answer.execution_id
            for each in {each.execution_id: each for each in fills}.values():
                known.add_fill(each)
            self._known[order.client_order_id] = known

    def forget(self, client_order_id: str) -> None:
        """Drop an order from memory. If a report names it later, restore it from the store first."""
        self._known.pop(client_order_id, None)

    def forget_all(self) -> None:
        """Another process had the line: what is known here is old, and orders to restore may be new."""
        self._known.clear()
        self.foreign.clear()
        self._settling.clear()
        self._taken_by_venue.clear()
        self._first_logon_at = None

    def unsettled(self) -> Sequence[LineOrder]:
        """Orders without a final answer, the oldest first: to ask for after a logon.

        Not those that wait for their turn: they are sent on the line that they were prepared for, or never.
        """
        waiting = [each for each in self._known.values() if each.answer is None and each.sent_at != inf]
        return [each.order for each in sorted(waiting, key=lambda each: each.sent_at)]

    # --- Messages to send -----------------------------------------------------------------------------

    def logged_on(self, line: int, now: float) -> None:
        """`line` is a number that no earlier line of this tracker had. All earlier lines are closed."""
        self._line = line
        self._questions.begin_line(line)
        self._told.clear()
        for known in self._known.values():
            known.questions.clear()
        if self._first_logon_at is None:
            self._first_logon_at = now

    def prepare(self, order: LineOrder) -> None:
        """It is about to be sent. Until `send`, no answer proves that the venue does not know it."""
        known = self._known.get(order.client_order_id)
        if known is None:
            known = KnownOrder(order, inf, self._line, Seen(order.client_order_id))
            self._known[order.client_order_id] = known
        known.order, known.sent_at, known.line = order, inf, self._line

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
        return self._questions.ask(self._known[order.client_order_id], now)

    def numbered(self, number: int, client_order_id: str, question: str = "") -> None:
        """Remember the MsgSeqNum of an order or question, because a Reject names nothing else."""
        self._questions.note_number(number, client_order_id, question)

    # --- Messages received ----------------------------------------------------------------------------

    def client_order_id(self, message: Message) -> str | None:
        """The order that a message is about, as far as it names one; restore it before `received`."""
        kind = message.type
        if kind == "8":
            fields = message.first()
            named = fields.get(11)
            if 584 in fields:
                # The venue tells of all its orders, again and again. Those without news need no reading.
                is_news = self._told.get(_told_of(message)) != fields.get(14)
                return named if named in self._known or is_news else None
            return named or self._questions.order_asked_for(fields.get(790))
        if kind in ("3", "j"):
            sent = self._questions.sent_as(message.get(45))
            named = message.get(379) if kind == "j" else None
            return named or (sent.client_order_id if sent else None)
        return None

    def foreign_order(self, message: Message) -> str:
        """The name of an order that is not ours, of which a report tells; empty if there is none, or if it is
        remembered. `foreign.restore` what was stored of it before `received`."""
        if message.type != "8" or message.get(584):
            return ""
        name = foreign_name(message)
        return "" if name in self.foreign else name

    def received(self, message: Message, now: float) -> list[Effect]:
        kind = message.type
        if kind == "8":
            if message.get(584):
                self._mass_report(message, now)
            else:
                self._execution_report(message, now)
        elif kind in ("3", "j"):
            self._reject(message, now)
        return self._taken()

    def tick(self, now: float) -> list[Effect]:
        """Settle orders that waited long enough for the reports of their fills. Of those that the venue took
        and has not ended, have it stored: no other process may take them for unknown to it."""
        waiting = [self._known[each] for each in self._settling if each in self._known]
        for known in waiting:
            if known.settle_at is not None and known.settle_at <= now:
                self._settle(known, now)
        for named in [each for each, at in self._taken_by_venue.items() if at <= now]:
            del self._taken_by_venue[named]
            if named in self._known:
                self._add(OrderSeen(self._known[named].seen))
        return self._taken()

    def _taken(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    def _add(self, effect: Effect) -> None:
        self._effects.append(effect)

    def _add_break(self, known: KnownOrder, made: LineBreak) -> None:
        """Each execution of an order breaks once."""
        if made.execution_id not in known.seen.breaks:
            known.seen.breaks.add(made.execution_id)
            self._effects.append(msgspec.structs.replace(made, seen=known.seen))

    def _mass_report(self, message: Message, now: float) -> None:
        """One of the reports that answer a question for all orders. After the last one, who is missing."""
        if self.client_order_id(message) in self._known:
            self._execution_report(message, now)
        self._told[_told_of(message)] = message.get(14)
        complete = self._questions.mass.note(message)
        for named in () if complete is None else complete.asked_for:
            known = self._known.get(named)
            if complete is not None and known is not None and named not in complete.named:
                text = "It is not among the venue's orders."
                self._unknown(known, complete.question_id, replayed=False, text=text)

    def _execution_report(self, message: Message, now: float) -> None:
        known = self._known.get(self.client_order_id(message) or "")
        try:
            report = read_report(message)
        except ValueError as error:
            self._unreadable(message, known, str(error))
            return
        if known is None:
            made = self.foreign.report(foreign_name(message), report)
            if made is not None:
                self._add(made)
        elif report.kind in CHANGED_TRADES:
            self._change_trade(known, report)
        elif wrong := other_terms(known.order, report):
            self._other_terms(known, report, wrong)
        elif report.reason == UNKNOWN and report.state == "8":
            self._unknown(known, report.question, replayed=report.replayed, text=report.text)
        elif report.reason == DUPLICATE and report.state == "8":
            self._add(DuplicateSeen(known.order))
        else:
            self._believe(known, report, now)

    def _believe(self, known: KnownOrder, report: Report, now: float) -> None:
        is_answer = self._questions.close(known, report)
        seen = known.seen
        if seen.venue_order_id and report.venue_order_id not in ("", seen.venue_order_id):
            self._other_order(known, report, is_answer=is_answer)
            return
        if report.venue_order_id and not seen.venue_order_id:
            seen.venue_order_id = report.venue_order_id
            self._taken_by_venue[seen.name] = now + _TAKEN_WAIT_S
        if report.is_fill and report.execution_id not in seen.trades:
            self._fill(known, report)
        if known.answer is not None:
            if report.filled_e8 > known.filled_e8:
                self._list_excess(known, report.filled_e8 - known.filled_e8, excess(known, report))
        else:
            if report.filled_e8 >= known.filled_e8 and report.average_e6:
                known.average_e6 = report.average_e6
            known.filled_e8 = max(known.filled_e8, report.filled_e8)
            if report.state in _CLOSED_STATES:
                if known.order.sends > 1 and report.state == "8" and not report.filled_e8 and not is_answer:
                    # It may be the refusal of a second sending, while the first was executed.
                    self._add(Ask(known.order))
                else:
                    text = report.text or f"The venue's order state is {_CLOSED_STATES[report.state]}."
                    known.closed = known.closed or Closed(report.filled_e8, text)
            self._settle(known, now)
        if is_answer and known.settle_at is None:
            self._add(StatusAnswered(known.order, report.question, standing(report)))

    def _other_terms(self, known: KnownOrder, report: Report, wrong: str) -> None:
        made = break_of(BreakReason.OTHER_TERMS, report, known.order, wrong)
        seen, other = known.seen, report.venue_order_id
        if report.is_fill:
            if made.execution_id not in seen.breaks:
                seen.others[other] = seen.others.get(other, 0) + report.last_e8
        else:  # A total, in which its trades and what counts for the order are.
            counted_e8 = known.filled_e8 if other in ("", seen.venue_order_id) else 0
            total_e8 = report.filled_e8 - counted_e8
            new_e8 = max(total_e8 - seen.others.get(other, 0), 0)
            made = msgspec.structs.replace(made, quantity_e8=new_e8)
            if new_e8:
                seen.others[other] = total_e8
                made = total_break(made, other or seen.name, total_e8, new_e8)
        self._add_break(known, made)

    def _other_order(self, known: KnownOrder, report: Report, *, is_answer: bool) -> None:
        """The venue has two orders with one ClOrdID. What it says of the second is not about the first."""
        other, total_e8 = report.venue_order_id, max(report.filled_e8, report.last_e8)
        new_e8 = total_e8 - known.seen.others.get(other, 0)
        if new_e8 > 0:  # Its fills are listed once, whatever later reports say of them.
            known.seen.others[other] = total_e8
            text = f"The venue has two orders with this id: {known.seen.venue_order_id}, {other}."
            made = break_of(BreakReason.OVERFILL, report, known.order, text)
            named = made.execution_id if report.is_fill else f"total:{other}:{total_e8}"
            self._add_break(known, msgspec.structs.replace(made, execution_id=named, quantity_e8=new_e8))
        if is_answer:
            self._add(StatusAnswered(known.order, report.question, "The venue has two orders with this id."))
        elif not report.question and report.kind != "I" and known.answer is None:
            # The answer to another question would name both orders again.
            self._add(Ask(known.order))

    def _fill(self, known: KnownOrder, report: Report) -> None:
        """A fill that was not seen before."""
        allowed_e8 = known.order.quantity_e8 if known.answer is None else known.filled_e8
        if known.listed_e8 + report.last_e8 > allowed_e8:
            known.seen.trades[report.execution_id] = report.last_e8
            known.seen.beyond_e8 += report.last_e8
            self._add(OrderSeen(known.seen))
            made = break_of(BreakReason.OVERFILL, report, known.order, "Filled beyond it.")
            self._list_excess(known, known.traded_e8 - allowed_e8, made)
            return
        fill = Fill(report.execution_id, report.last_e8, report.last_price_e6, report.at_us)
        known.add_fill(fill)
        self._add(FillSeen(known.order, fill))

    def _list_excess(self, known: KnownOrder, excess_e8: int, made: LineBreak) -> None:
        """The venue executed so much more than counts. Fills and totals tell of the same: each part is listed
        once, by whatever tells of it first."""
        new_e8 = excess_e8 - known.seen.excess_e8
        if new_e8 > 0:
            known.seen.excess_e8 = excess_e8
            self._add_break(known, msgspec.structs.replace(made, quantity_e8=new_e8))

    def _change_trade(self, known: KnownOrder, report: Report) -> None:
        """A trade was cancelled or corrected. Nothing is undone here: the desk has to see it."""
        seen = known.seen
        before_e8 = seen.trades.get(report.execution_ref)
        is_known = before_e8 is not None
        if before_e8 is None:  # It counts as far as the venue's total says more than the fills.
            counted_e8 = max(known.filled_e8 - known.listed_e8, 0)
            is_gone = report.kind == CANCELLED_TRADE
            before_e8 = report.last_e8 if is_gone else min(report.last_e8, counted_e8)
        after_e8 = 0 if report.kind == CANCELLED_TRADE else report.last_e8 or before_e8
        fill = known.fills.get(report.execution_ref)
        price_e6 = report.last_price_e6 or (fill.price_e6 if fill else 0)
        made = changed_trade(known.order, report, price_e6, before_e8, after_e8)
        if made.execution_id in seen.breaks:
            return
        self._add_break(known, made)
        seen.trades[made.execution_id] = after_e8  # A further correction may name it by this one.
        if is_known:
            seen.trades[report.execution_ref] = after_e8
        if after_e8 > before_e8:  # The venue's total will say so, too.
            seen.beyond_e8 += after_e8 - before_e8
            seen.excess_e8 += after_e8 - before_e8

    def _settle(self, known: KnownOrder, now: float) -> None:
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
        total_e8, filled_e8 = max(filled_e8, known.traded_e8), min(filled_e8, order.quantity_e8)
        if total_e8 > filled_e8:
            self._list_excess(known, total_e8 - filled_e8, excess_of_total(known, total_e8))
        fills = [*known.fills.values()]
        if filled_e8 > listed_e8:
            fills.append(rest_of(known, filled_e8))
        known.filled_e8 = filled_e8
        known.answer = final_answer(known, tuple(fills))
        self._taken_by_venue.pop(order.client_order_id, None)
        self._add(OrderFinal(order, known.answer, filled_e8))

    def _unknown(self, known: KnownOrder, question_id: str, *, replayed: bool, text: str) -> None:
        """The venue says that it does not know the order. That is proven only if

        - it answers a question that was asked on this line, and is no replay of an earlier answer;
        - the question was sent long enough after the order, so that a slow engine has it by then;
        - the line that the order was sent on is closed, or is this one: nothing is on its way any more.

        And never for an order of which anything was heard.
        """
        question = self._questions.find(known, question_id)
        if question is None or replayed:
            self._add(StatusAnswered(known.order, "", "An answer to no question of this line."))
            return
        self._questions.forget(known, question)
        heard_of = known.seen.venue_order_id or known.fills or known.filled_e8 or known.answer or known.closed
        begin = known.sent_at if known.line else self._first_logon_at
        early = begin is None or question.asked_at - begin < self._profile.unknown_after_s
        if heard_of or early or known.line > self._line:
            why = "before it" if heard_of else "too soon after the order"
            message = f"Not known to the venue, asked {why}. {text}"
            self._add(StatusAnswered(known.order, question.question_id, message))
            return
        self._add(OrderUnknown(known.order))
        del self._known[known.order.client_order_id]

    def _reject(self, message: Message, now: float) -> None:
        """A Reject or Business Message Reject of an order or a question of this line."""
        if message.get(43) == "Y" or message.get(97) == "Y":
            return
        sent = self._questions.sent_as(message.get(45))
        client_order_id = sent.client_order_id if sent else message.get(379) or ""
        known = self._known.get(client_order_id)
        if known is None or (sent is None and message.get(372) != "D"):
            return
        text = message.get(58) or "The venue rejected the message."
        if sent is not None and sent.question in self._questions.mass:
            self._mass_rejected(sent.question, text)
            return
        if sent is not None and sent.question:
            reason = message.get(380)
            if self._profile.unknown is UnknownForm.REJECT and reason in (None, "1"):
                self._unknown(known, sent.question, replayed=False, text=text)
            else:
                self._add(StatusAnswered(known.order, sent.question, text))
            return
        is_proof = (
            message.get(373) not in (None, "99") if message.type == "3" else message.get(380) in _NOT_TAKEN
        )
        heard_of = known.seen.venue_order_id or known.fills or known.filled_e8
        if known.answer is not None or not is_proof or heard_of or known.order.sends > 1:
            self._add(Ask(known.order))
            return
        known.closed = Closed(0, text)
        self._settle(known, now)

    def _mass_rejected(self, question_id: str, text: str) -> None:
        """It proves nothing about any order."""
        ended = self._questions.mass.end(question_id)
        for named in () if ended is None else ended.asked_for:
            if named in self._known:
                self._add(StatusAnswered(self._known[named].order, question_id, text))

    def _unreadable(self, message: Message, known: KnownOrder | None, error: str) -> None:
        if known is None:
            self._add(unreadable(message, None, error))
            return
        self._add_break(known, unreadable(message, known.order, error))
        # An answer that cannot be read is not asked for again at once: the next one would be the same.
        if message.get(150) != "I" and message.get(790) is None:
            self._add(Ask(known.order))


def _told_of(message: Message) -> tuple[str | None, str | None]:
    return message.get(11), message.get(37)
