"""Which idempotency keys PostgreSQL has to look up before it records a batch.

Most keys are new. The unique index of `orders` finds those that are not: the statement fails as a whole, and
is sent again with all keys looked up. The index does not find every settled key. These are looked up at once:

- keys of refusals, which insert no order;
- keys in books that were reset: their orders may be in the archive;
- keys in books that may have price moves. A price move moves its book's version, so a book that had none at a
  version has none as long as that is its version.
"""

from collections.abc import Callable, Collection, Sequence
from time import monotonic

from bullion.booking.attempt import KeyName
from bullion.booking.decide import Plan

LOOK_UP_S = 5.0
"""How long all keys are looked up after the index found one: replays seldom come alone."""
_BOOKS_MAX = 50_000


class KeyLookups:
    def __init__(self, failovers: Callable[[], int] = lambda: 0) -> None:
        """`failovers`: how often another server has taken over, which may lack the last commits."""
        self._failovers = failovers
        self._known_failovers = failovers()
        self._all_until_s = 0.0
        self._without_moves: dict[int, int] = {}
        """The books without price moves, each with the version at which it had none."""

    def needed(self, plans: Sequence[Plan], names: Sequence[KeyName]) -> Sequence[KeyName]:
        if monotonic() < self._all_until_s:
            return names
        apart = {plan.before.id for plan in plans if not self._found_by_index(plan)}
        return [name for name in names if name[0] in apart] if apart else ()

    def _found_by_index(self, plan: Plan) -> bool:
        return (
            len(plan.orders) == len(plan.outcomes)
            and not plan.before.archived_count
            and not self.may_have_moves(plan)
        )

    def may_have_moves(self, plan: Plan) -> bool:
        if self._failovers() != self._known_failovers:
            self._known_failovers = self._failovers()
            self._without_moves.clear()
        return self._without_moves.get(plan.before.id) != plan.before.version

    def index_found_one(self) -> None:
        self._all_until_s = monotonic() + LOOK_UP_S

    def read(self, book_id: int, version: int, *, has_price_moves: bool) -> None:
        """Learn from a book that was read."""
        if not has_price_moves:
            self._keep(book_id, version)

    def recorded(self, plan: Plan, with_moves: Collection[int]) -> None:
        """Learn from a plan that was recorded.

        `with_moves` are the books that the statement saw price moves of. It saw everything up to the version
        that the plan was made for, because this node had read that before.
        """
        if not plan.price_moves and plan.before.id not in with_moves:
            self._keep(plan.before.id, plan.after.version)

    def _keep(self, book_id: int, version: int) -> None:
        if len(self._without_moves) >= _BOOKS_MAX and book_id not in self._without_moves:
            self._without_moves.clear()
        self._without_moves[book_id] = version
