"""Questions about orders that are open on this line, and the numbers of what was sent on it.

The numbers are kept because a Reject names the message that it is about by nothing else.
"""

import msgspec

from .codec import Pair
from .known_order import KnownOrder, Question
from .mass_questions import MassQuestions
from .order_messages import Report, number_of, security
from .profile import Profile, StatusQuestion

_NUMBERS_KEPT = 20_000
_OPEN_MAX = 16
"""Questions for one order."""


class Sent(msgspec.Struct, frozen=True):
    client_order_id: str
    question: str
    """Empty for the order itself."""


class OrderQuestions:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._asked: dict[str, str] = {}
        """The ClOrdID by the id of each question."""
        self._sent: dict[int, Sent] = {}
        self._line = 0
        self._count = 0
        self.mass = MassQuestions()

    def begin_line(self, line: int) -> None:
        """A new line: nothing that was asked on another one counts."""
        self._line = line
        self._asked.clear()
        self._sent.clear()
        self.mass.clear()

    # --- Asking ---------------------------------------------------------------------------------------

    def ask(self, known: KnownOrder, now: float) -> tuple[str, list[Pair]]:
        """The id of a question, and its fields; none if one was asked just now that will do."""
        if self._profile.status_question is StatusQuestion.MASS:
            return self._ask_for_all(known, now)
        order = known.order
        question = Question(self._new_id(), now)
        known.questions.append(question)
        self._asked[question.question_id] = order.client_order_id
        for old in known.questions[:-_OPEN_MAX]:
            self._asked.pop(old.question_id, None)
        if self._profile.echoes_question:
            del known.questions[:-_OPEN_MAX]
        pairs: list[Pair] = [(35, "H"), (11, order.client_order_id), (790, question.question_id)]
        if known.seen.venue_order_id:
            pairs.append((37, known.seen.venue_order_id))
        return question.question_id, [*pairs, (54, order.side), *security(order.contract, self._profile)]

    def _ask_for_all(self, known: KnownOrder, now: float) -> tuple[str, list[Pair]]:
        named = known.order.client_order_id
        mass, pairs = self.mass.shared(named, known.sent_at, now), []
        if mass is None:
            mass = self.mass.begin(self._new_id(), now)
            pairs = mass.pairs
        if named not in mass.asked_for:
            mass.asked_for[named] = None
            known.questions.append(Question(mass.question_id, mass.asked_at))
            del known.questions[:-_OPEN_MAX]
        return mass.question_id, pairs

    def _new_id(self) -> str:
        self._count += 1
        return f"{self._line}-{self._count}"

    # --- Answers --------------------------------------------------------------------------------------

    def order_asked_for(self, question_id: str | None) -> str | None:
        return None if question_id is None else self._asked.get(question_id)

    def find(self, known: KnownOrder, question_id: str) -> Question | None:
        """The open question that an answer belongs to.

        A venue that does not echo the id answers the oldest one, as far as anybody can tell. Taking a later
        question for it would make the answer look more recent than it may be.
        """
        if not self._profile.echoes_question and not question_id:
            return known.questions[0] if known.questions else None
        return next((each for each in known.questions if each.question_id == question_id), None)

    def close(self, known: KnownOrder, report: Report) -> bool:
        """Whether the report answers a question of this line."""
        if report.replayed or not (report.question or report.kind == "I"):
            return False
        question = self.find(known, report.question)
        if question is None:
            return False
        self.forget(known, question)
        return True

    def forget(self, known: KnownOrder, question: Question) -> None:
        known.questions.remove(question)
        self._asked.pop(question.question_id, None)

    # --- Numbers --------------------------------------------------------------------------------------

    def note_number(self, number: int, client_order_id: str, question: str) -> None:
        self._sent[number] = Sent(client_order_id, question)
        if len(self._sent) > _NUMBERS_KEPT:
            del self._sent[next(iter(self._sent))]

    def sent_as(self, number: str | None) -> Sent | None:
        """What was sent with this MsgSeqNum."""
        return self._sent.get(number_of(number))
