"""The port to the rate limiter, and its results."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

# Structs, not dataclasses: every call creates several, and a frozen dataclass takes six times as long.


class Charge(msgspec.Struct, frozen=True):
    """One call counted against one budget: at most `limit` calls of `subject` in any `window_s` seconds."""

    subject: str
    limit: int
    window_s: int


class BudgetState(msgspec.Struct, frozen=True, gc=False):
    """The state of a budget after a call was counted or refused."""

    limit: int
    remaining: int
    reset_s: int
    """Whole seconds until the oldest counted call leaves the window."""


class Allowed(msgspec.Struct, frozen=True, gc=False):
    """The call is allowed. `tightest` is the budget with the fewest calls left; None if none was charged."""

    tightest: BudgetState | None


class Throttled(msgspec.Struct, frozen=True):
    """The address has failed too often; nothing was counted."""

    budget_state: BudgetState
    retry_after_s: int


class Exceeded(msgspec.Struct, frozen=True):
    """A budget has no calls left; nothing was counted."""

    budget_state: BudgetState
    retry_after_s: int


class LimiterUnavailable(Exception):
    """Calls cannot be counted now."""


class Limiter(Protocol):
    def throttled(self, failures: Charge) -> Throttled | None:
        """Whether this node knows that the address is throttled. A shortcut: `take` decides."""

    async def take(
        self, failures: Charge, *, failed: bool, charges: Sequence[Charge] = ()
    ) -> Allowed | Throttled | Exceeded:
        """Count one call in one step: the address's failures first, then all its budgets or none.

        `failed` says that the call is refused with a 401 and counts as a failure of its address.
        May raise LimiterUnavailable.
        """
