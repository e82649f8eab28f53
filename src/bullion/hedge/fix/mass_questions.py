"""Questions for all orders at once (35=AF), for venues whose answers about one order leave out finished ones.

The venue answers with a report for each of its orders. That an order is not among them says something only
when all reports are there: as many as the venue itself announced in 911.
"""

import msgspec

from .codec import Message, Pair
from .order_messages import number_of

_SHARED_S = 1.0
"""A question that is younger than this is asked for further orders, too."""
_OPEN_MAX = 16


class MassQuestion(msgspec.Struct):
    question_id: str
    asked_at: float
    asked_for: dict[str, None] = msgspec.field(default_factory=dict)
    """ClOrdIDs, in the order in which they were asked for."""
    named: set[str] = msgspec.field(default_factory=set)
    """ClOrdIDs of the reports that arrived."""
    reports: set[tuple[str, str]] = msgspec.field(default_factory=set)
    """OrderID and ClOrdID of each: a report that is doubled on its way counts once."""

    total: int | None = None
    """How many reports the venue announced."""

    @property
    def pairs(self) -> list[Pair]:
        return [(35, "AF"), (584, self.question_id), (585, 7)]


class MassQuestions:
    """Those that are open on this line."""

    def __init__(self) -> None:
        self._open: dict[str, MassQuestion] = {}

    def __contains__(self, question_id: str) -> bool:
        return question_id in self._open

    def clear(self) -> None:
        """A new line: nothing that was asked on another one counts."""
        self._open.clear()

    def shared(self, client_order_id: str, sent_at: float, now: float) -> MassQuestion | None:
        """A recent question whose answer will tell of this order."""
        for question in reversed(self._open.values()):
            recent = now - question.asked_at < _SHARED_S and question.asked_at >= sent_at
            if recent and client_order_id not in question.named:
                return question
        return None

    def begin(self, question_id: str, now: float) -> MassQuestion:
        question = self._open[question_id] = MassQuestion(question_id, now)
        if len(self._open) > _OPEN_MAX:
            del self._open[next(iter(self._open))]
        return question

    def end(self, question_id: str) -> MassQuestion | None:
        return self._open.pop(question_id, None)

    def note(self, message: Message) -> MassQuestion | None:
        """The question, if this report is the last one of its answer. Replayed reports do not count."""
        question = self._open.get(message.get(584) or "")
        if question is None or message.get(43) == "Y" or message.get(97) == "Y":
            return None
        total = number_of(message.get(911))
        if question.total not in (None, total):
            self.end(question.question_id)  # The venue contradicts itself.
            return None
        question.total = total
        if total:
            named = message.get(11) or ""
            question.named.add(named)
            question.reports.add((message.get(37) or "", named))
        return self.end(question.question_id) if len(question.reports) == total else None
