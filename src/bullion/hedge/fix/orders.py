"""What a venue's reports say about the orders of a line. No input or output: messages and times come in,
messages and effects go out.

A fill counts once by its ExecID, in whichever order reports arrive. An order that the venue says it does not
know was never received only under the three conditions of `OrderTracker._unknown`; otherwise the answer
proves nothing. A report that cannot belong to the order it names changes nothing, and is a break.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from math import inf

import msgspec

from bullion.hedge.contract import Contract
from bullion.hedge.venue import Confirmed, Declined, Fill, FinalAnswer, PartiallyFilled
from bullion.metals.scaled import NotAnAmount, plain, scaled

from .codec import Message, Pair, time_text, time_us
from .order_ids import client_order_id
from .profile import OrderIdForm, Profile, SymbolForm, TimeInForce, UnknownForm

FILLS_WAIT_S = 0.3
"""How long an order that is filled by its total waits for the reports of its fills."""
_NUMBERS_KEPT = 20_000
"""Sent messages whose numbers are remembered: a Reject names a message by its number."""
_QUESTIONS_OPEN_MAX = 16
_NO_ORDER_ID = ("", "0", "NONE", "UNKNOWN", "[N/A]")
"""What venues write into OrderID, which may not be empty, when they have none."""
_PRICE_PLACES, _QUANTITY_PLACES = 6, 8
_DUPLICATE, _UNKNOWN = "6", "5"
_CLOSED_STATES = {"4": "canceled", "C": "expired", "3": "done for the day", "8": "rejected"}
_FILL_TYPES = ("F", "1", "2")
_NOT_TAKEN = ("2", "3", "5")
"""Business reject reasons that prove the order was not taken: unknown security, message not supported, field
missing. Others, such as an application that is not available, do not say what became of it."""


class LineOrder(msgspec.Struct, frozen=True):
    """An order as it is sent on a line."""

    order_id: str
    client_order_id: str
    broker: str
    instrument: str
    trade_type: str
    quantity_e4: int
    fine_mg: int
    quantity_e8: int
    contract: Contract
    limit_e6: int | None = None
    """None: at the market."""
    sends: int = 1
    """How often it was sent; again only after the venue proved that it does not know it."""

    @property
    def side(self) -> str:
        return "1" if self.trade_type == "buy" else "2"


class BreakReason(StrEnum):
    FOREIGN_ID = "foreign_id"
    """It names an order that this line did not send."""
    OTHER_TERMS = "other_terms"
    """Its symbol, side or quantity is not the order's."""
    OVERFILL = "overfill"
    """More was executed than was ordered, or than the final answer said."""
    TRADE_CANCELLED = "trade_cancelled"
    TRADE_CORRECTED = "trade_corrected"
    UNREADABLE = "unreadable"
    """A field is missing or cannot be read, so the report proves nothing."""


class LineBreak(msgspec.Struct, frozen=True):
    """A report that contradicts what the line sent or saw. A person has to look at it."""

    reason: BreakReason
    execution_id: str
    client_order_id: str
    order: LineOrder | None
    symbol: str
    side: str
    quantity_e8: int
    price_e6: int
    at_us: int
    message: str


class FillSeen(msgspec.Struct, frozen=True):
    order: LineOrder
    fill: Fill


class OrderFinal(msgspec.Struct, frozen=True):
    order: LineOrder
    answer: FinalAnswer
    filled_e8: int


class OrderUnknown(msgspec.Struct, frozen=True):
    """It is proven that the venue never received the order."""

    order: LineOrder


class DuplicateSeen(msgspec.Struct, frozen=True):
    """The venue refused the order because it has one with this id. Ask for that one."""

    order: LineOrder


class StatusAnswered(msgspec.Struct, frozen=True):
    """The venue answered a question, or a report says where the order stands."""

    order: LineOrder
    question: str
    message: str


class Ask(msgspec.Struct, frozen=True):
    """A report leaves open what became of the order."""

    order: LineOrder


Effect = FillSeen | OrderFinal | OrderUnknown | DuplicateSeen | StatusAnswered | LineBreak | Ask


class Question(msgspec.Struct, frozen=True):
    question_id: str
    asked_at: float


class _Closed(msgspec.Struct, frozen=True):
    """The venue said that nothing more will be executed."""

    filled_e8: int
    message: str


class _Known(msgspec.Struct):
    """What is known about one order."""

    order: LineOrder
    sent_at: float
    line: int
    """On which line it was sent last; 0: on one that was closed before this process began."""
    fills: dict[str, Fill]
    answer: FinalAnswer | None = None
    filled_e8: int = 0
    """The largest total that the venue named; with an answer, the total of that answer."""
    average_e6: int = 0
    venue_order_id: str = ""
    closed: _Closed | None = None
    settle_at: float | None = None
    questions: list[Question] = msgspec.field(default_factory=list)
    breaks: set[str] = msgspec.field(default_factory=set)

    @property
    def listed_e8(self) -> int:
        return sum(each.quantity_e8 for each in self.fills.values())


class _Sent(msgspec.Struct, frozen=True):
    client_order_id: str
    question: str
    """Empty for the order itself."""


class _Report(msgspec.Struct, frozen=True):
    """An ExecutionReport, read."""

    client_order_id: str
    venue_order_id: str
    execution_id: str
    kind: str
    state: str
    symbol: str | None
    security_id: str | None
    side: str | None
    ordered_e8: int | None
    filled_e8: int
    average_e6: int
    last_e8: int
    last_price_e6: int
    at_us: int
    reason: str
    text: str
    question: str
    execution_ref: str
    replayed: bool

    @property
    def is_fill(self) -> bool:
        return self.kind in _FILL_TYPES and self.last_e8 > 0 and self.execution_id not in _NO_ORDER_ID


class OrderTracker:
    """The orders of one line. `logged_on` comes first, and again for each new connection."""

    def __init__(self, profile: Profile, account: str = "") -> None:
        self._profile = profile
        self._account = account
        self._known: dict[str, _Known] = {}
        self._numbers: dict[int, _Sent] = {}
        self._asked: dict[str, str] = {}
        """The ClOrdID by the id of each question that is open on this line."""
        self._settling: set[str] = set()
        """Orders that wait for the reports of their fills."""
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
            self._known[order.client_order_id] = _Known(order, 0.0, 0, found, answer, filled_e8)

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
        for known in self._known.values():
            known.questions.clear()
        if self._first_logon_at is None:
            self._first_logon_at = now

    def prepare(self, order: LineOrder) -> None:
        """It is about to be sent. Until `send`, no answer proves that the venue does not know it."""
        known = self._known.get(order.client_order_id)
        if known is None:
            known = self._known[order.client_order_id] = _Known(order, inf, self._line, {})
        known.order, known.sent_at = order, inf

    def give_up(self, client_order_id: str, now: float) -> None:
        """It was prepared, and may or may not have been written: count it as sent now."""
        known = self._known.get(client_order_id)
        if known is not None and known.sent_at == inf:
            known.sent_at, known.line = now, self._line

    def new_order(self, order: LineOrder, now_us: int) -> list[Pair]:
        """The NewOrderSingle."""
        return _new_order(order, self._profile, self._account, now_us)

    def sent(self, order: LineOrder, number: int, now: float) -> None:
        """It was written just now, with this MsgSeqNum."""
        self.prepare(order)
        known = self._known[order.client_order_id]
        known.sent_at, known.line = now, self._line
        self.numbered(number, order.client_order_id)

    def ask(self, order: LineOrder, now: float) -> tuple[str, list[Pair]]:
        """An OrderStatusRequest, and its id, which is never used again.

        Call it before the message is written: the question counts as older than it is, never as younger.
        """
        self.restore(order)
        known = self._known[order.client_order_id]
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
        return question.question_id, [*pairs, (54, order.side), *_security(order.contract, self._profile)]

    def numbered(self, number: int, client_order_id: str, question: str = "") -> None:
        """Remember the MsgSeqNum of an order or question, because a Reject names nothing else."""
        self._numbers[number] = _Sent(client_order_id, question)
        if len(self._numbers) > _NUMBERS_KEPT:
            del self._numbers[next(iter(self._numbers))]

    # --- Messages received ----------------------------------------------------------------------------

    def client_order_id(self, message: Message) -> str | None:
        """The order that a message is about, as far as it names one; restore it before `received`."""
        if message.type == "8":
            return message.get(11) or self._asked.get(message.get(790) or "")
        if message.type == "j":
            return message.get(379) or self._by_number(message)
        return self._by_number(message) if message.type == "3" else None

    def received(self, message: Message, now: float) -> list[Effect]:
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

    def _execution_report(self, message: Message, now: float) -> Iterator[Effect]:
        known = self._known.get(self.client_order_id(message) or "")
        try:
            report = _read(message)
        except ValueError as error:
            yield from self._unreadable(message, known, str(error))
            return
        if known is None:
            if report.filled_e8 or report.last_e8:
                yield _break(
                    BreakReason.FOREIGN_ID, report, None, "The report names an order that was not sent."
                )
            return
        if wrong := _other_terms(known.order, report):
            yield from self._once(known, _break(BreakReason.OTHER_TERMS, report, known.order, wrong))
            return
        if report.kind in ("H", "G"):
            yield from self._changed_trade(known, report)
            return
        if report.reason == _UNKNOWN and report.state == "8":
            yield from self._unknown(known, report.question, replayed=report.replayed, text=report.text)
            return
        if report.reason == _DUPLICATE and report.state == "8":
            yield DuplicateSeen(known.order)
            return
        yield from self._believe(known, report, now)

    def _believe(self, known: _Known, report: _Report, now: float) -> Iterator[Effect]:
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
                yield from self._once(known, _excess(known, report))
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
                    known.closed = known.closed or _Closed(report.filled_e8, text)
            yield from self._settle(known, now)
        if known.settle_at is None:
            yield StatusAnswered(known.order, report.question if is_answer else "", _standing(report))

    def _other_order(self, known: _Known, report: _Report, *, is_answer: bool) -> Iterator[Effect]:
        """The venue has two orders with one ClOrdID. What it says of the second is not about the first."""
        if report.filled_e8 or report.last_e8:
            text = f"The venue has two orders with this id: {known.venue_order_id}, {report.venue_order_id}."
            yield from self._once(known, _break(BreakReason.OVERFILL, report, known.order, text))
        if is_answer:
            yield StatusAnswered(known.order, report.question, "The venue has two orders with this id.")
        else:
            yield Ask(known.order)

    def _fill(self, known: _Known, report: _Report) -> Iterator[Effect]:
        """A fill that was not seen before."""
        allowed_e8 = known.order.quantity_e8 if known.answer is None else known.filled_e8
        if known.listed_e8 + report.last_e8 > allowed_e8:
            yield from self._once(
                known, _break(BreakReason.OVERFILL, report, known.order, "Filled beyond it.")
            )
            return
        fill = Fill(report.execution_id, report.last_e8, report.last_price_e6, report.at_us)
        known.fills[fill.execution_id] = fill
        yield FillSeen(known.order, fill)

    def _settle(self, known: _Known, now: float) -> Iterator[Effect]:
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
            yield from self._once(known, _excess_of_total(known, filled_e8))
            filled_e8 = order.quantity_e8
        fills = [*known.fills.values()]
        if filled_e8 > listed_e8:
            fills.append(_rest(known, filled_e8))
        known.filled_e8 = filled_e8
        known.answer = _final_answer(known, tuple(fills))
        yield OrderFinal(order, known.answer, filled_e8)

    def _unknown(self, known: _Known, question_id: str, *, replayed: bool, text: str) -> Iterator[Effect]:
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
        sent = self._numbers.get(_number(message.get(45)))
        client_order_id = sent.client_order_id if sent else message.get(379) or ""
        known = self._known.get(client_order_id)
        if known is None or (sent is None and message.get(372) != "D"):
            return
        text = message.get(58) or "The venue rejected the message."
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
        known.closed = _Closed(0, text)
        yield from self._settle(known, now)

    def _changed_trade(self, known: _Known, report: _Report) -> Iterator[Effect]:
        """The venue cancelled or corrected a trade. Nothing is undone here: the desk has to see it."""
        cancelled = report.kind == "H"
        reason = BreakReason.TRADE_CANCELLED if cancelled else BreakReason.TRADE_CORRECTED
        fill = known.fills.get(report.execution_ref)
        quantity_e8 = report.last_e8 or (fill.quantity_e8 if fill else 0)
        made = _break(reason, report, known.order, f"Trade {report.execution_ref}. {report.text}".strip())
        # What is listed is what the venue did last: a cancelled purchase is a sale.
        side = made.side if not cancelled else {"1": "2", "2": "1"}.get(made.side, made.side)
        price_e6 = report.last_price_e6 or (fill.price_e6 if fill else 0)
        made = msgspec.structs.replace(made, quantity_e8=quantity_e8, side=side, price_e6=price_e6)
        yield from self._once(known, made)

    def _unreadable(self, message: Message, known: _Known | None, error: str) -> Iterator[Effect]:
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

    def _once(self, known: _Known, made: LineBreak) -> Iterator[LineBreak]:
        if made.execution_id not in known.breaks:
            known.breaks.add(made.execution_id)
            yield made

    # --- Questions ------------------------------------------------------------------------------------

    def _question(self, known: _Known, question_id: str) -> Question | None:
        """The open question that an answer belongs to.

        A venue that does not echo the id answers the oldest one, as far as anybody can tell. Taking a later
        question for it would make the answer look more recent than it may be.
        """
        if not self._profile.echoes_question and not question_id:
            return known.questions[0] if known.questions else None
        return next((each for each in known.questions if each.question_id == question_id), None)

    def _close_question(self, known: _Known, report: _Report) -> bool:
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
        sent = self._numbers.get(_number(message.get(45)))
        return sent.client_order_id if sent else None


# --- Reading and writing ------------------------------------------------------------------------------


def new_client_order_id(order_id: str, form: OrderIdForm) -> str:
    """Empty where the store gives the order a number."""
    if form is OrderIdForm.NUMBER:
        return ""
    return order_id if form is OrderIdForm.UUID else client_order_id(order_id)


def _new_order(order: LineOrder, profile: Profile, account: str, now_us: int) -> list[Pair]:
    pairs: list[Pair] = [(35, "D"), (11, order.client_order_id)]
    if account:
        pairs.append((1, account))
    pairs += [*_security(order.contract, profile), (54, order.side), (60, time_text(now_us))]
    pairs += [(38, quantity_text(order.quantity_e8))]
    if order.limit_e6 is None:
        pairs.append((40, "1"))
    else:
        pairs += [(40, "2"), (44, price_text(order.limit_e6))]
    return [*pairs, (59, "4" if profile.time_in_force is TimeInForce.FOK else "3")]


def _security(contract: Contract, profile: Profile) -> list[Pair]:
    if profile.symbol is SymbolForm.SECURITY_ID:
        symbol = contract.venue_symbol or "[N/A]"
        return [(55, symbol), (48, contract.security_id), (22, profile.security_id_source)]
    return [(55, contract.venue_symbol)]


def quantity_text(quantity_e8: int) -> str:
    text = plain(quantity_e8, _QUANTITY_PLACES).rstrip("0")
    return text.rstrip(".")


def price_text(price_e6: int) -> str:
    text = plain(price_e6, _PRICE_PLACES).rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def _read(message: Message) -> _Report:
    """A ValueError names a field that is missing or wrong."""
    if message.problem is not None:
        raise ValueError(message.problem.text)
    kind, state = message.get(150) or "", message.get(39) or ""
    if not kind or not state:
        raise ValueError("150 (ExecType) or 39 (OrdStatus) is missing.")
    is_fill = kind in _FILL_TYPES
    ordered = message.get(38)
    venue_order_id = message.get(37) or ""
    return _Report(
        client_order_id=message.get(11) or "",
        venue_order_id="" if venue_order_id in _NO_ORDER_ID else venue_order_id,
        execution_id=message.get(17) or "",
        kind=kind,
        state=state,
        symbol=message.get(55),
        security_id=message.get(48),
        side=message.get(54),
        ordered_e8=None if ordered is None else _amount(message, 38, _QUANTITY_PLACES),
        filled_e8=_amount(
            message, 14, _QUANTITY_PLACES, required=message.get(103) not in (_UNKNOWN, _DUPLICATE)
        ),
        average_e6=_amount(message, 6, _PRICE_PLACES, required=False, cut=True),
        last_e8=_amount(message, 32, _QUANTITY_PLACES, required=is_fill),
        last_price_e6=_amount(message, 31, _PRICE_PLACES, required=is_fill),
        at_us=time_us(message.get(60) or message.get(52) or ""),
        reason=message.get(103) or "",
        text=(message.get(58) or "")[:200],
        question=message.get(790) or "",
        execution_ref=message.get(19) or "",
        replayed=message.get(43) == "Y" or message.get(97) == "Y",
    )


def _amount(message: Message, tag: int, places: int, *, required: bool = True, cut: bool = False) -> int:
    text = message.get(tag)
    if text is None:
        if required:
            raise ValueError(f"{tag} is missing.")
        return 0
    if cut:  # An average may have any number of decimals.
        whole, point, part = text.partition(".")
        text = f"{whole}{point}{part[:places]}".rstrip(".")
    try:
        amount = scaled(text, places)
    except NotAnAmount as error:
        raise ValueError(f"{tag}: {error}") from error
    if amount < 0:
        raise ValueError(f"{tag} is below zero.")
    return amount


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 20 else -1


def _other_terms(order: LineOrder, report: _Report) -> str:
    contract = order.contract
    if report.side not in (None, order.side):
        return f"The order's side is {order.side}, the report's {report.side}."
    if report.security_id not in (None, contract.security_id):
        return f"The order's security is {contract.security_id}, the report's {report.security_id}."
    if report.symbol not in (None, "[N/A]", contract.venue_symbol):
        return f"The order's symbol is {contract.venue_symbol}, the report's {report.symbol}."
    if report.ordered_e8 not in (None, 0, order.quantity_e8):
        return "The report names another ordered quantity."
    return ""


def _break(reason: BreakReason, report: _Report, order: LineOrder | None, message: str) -> LineBreak:
    return LineBreak(
        reason=reason,
        execution_id=report.execution_id or f"{reason.value}:{report.client_order_id}",
        client_order_id=report.client_order_id,
        order=order,
        symbol=report.symbol or (order.contract.venue_symbol if order else ""),
        side=report.side or (order.side if order else ""),
        quantity_e8=report.last_e8 or report.filled_e8,
        price_e6=report.last_price_e6 or report.average_e6,
        at_us=report.at_us,
        message=message,
    )


def _excess(known: _Known, report: _Report) -> LineBreak:
    """A report of an order with a final answer names a larger total."""
    order = known.order
    total_e8 = report.filled_e8
    made = _break(BreakReason.OVERFILL, report, order, "The total is larger than the final answer said.")
    beyond_e8 = total_e8 - max(known.filled_e8, known.listed_e8)
    return msgspec.structs.replace(
        made, execution_id=f"total:{order.client_order_id}:{total_e8}", quantity_e8=beyond_e8
    )


def _excess_of_total(known: _Known, filled_e8: int) -> LineBreak:
    order = known.order
    return LineBreak(
        reason=BreakReason.OVERFILL,
        execution_id=f"total:{order.client_order_id}:{filled_e8}",
        client_order_id=order.client_order_id,
        order=order,
        symbol=order.contract.venue_symbol,
        side=order.side,
        quantity_e8=filled_e8 - order.quantity_e8,
        price_e6=known.average_e6,
        at_us=0,
        message="The venue filled more than was ordered.",
    )


def _rest(known: _Known, filled_e8: int) -> Fill:
    """What the venue filled by its total, but reported no fill for: at the price that the average implies."""
    fills = known.fills.values()
    rest_e8 = filled_e8 - known.listed_e8
    cost = filled_e8 * known.average_e6 - sum(each.quantity_e8 * each.price_e6 for each in fills)
    price_e6 = max((2 * cost + rest_e8) // (2 * rest_e8), 0)
    at_us = max((each.at_us for each in fills), default=0)
    return Fill(f"total:{known.order.client_order_id}", rest_e8, price_e6, at_us)


def _final_answer(known: _Known, fills: tuple[Fill, ...]) -> FinalAnswer:
    order = known.order
    execution_id = known.venue_order_id or order.client_order_id
    message = known.closed.message if known.closed else ""
    left_mg = max(order.fine_mg - order.contract.fine_mg(known.filled_e8), 0)
    whole = known.filled_e8 >= order.quantity_e8
    if whole and not left_mg:
        return Confirmed(execution_id, fills)
    if not known.filled_e8:
        return Declined(execution_id, message)
    if whole:  # The order was cut to whole steps when it was sent.
        words = f"execution {execution_id}, all but a rest below the smallest quantity"
        return PartiallyFilled(execution_id, fills, left_mg, words, below_step=True)
    below_step = order.contract.quantity_e8(left_mg) == 0
    return PartiallyFilled(execution_id, fills, left_mg, message, below_step)


def _standing(report: _Report) -> str:
    return f"The venue has it: order state {report.state}. {report.text}".strip()
