"""The rate limits that a call is counted against."""

from functools import lru_cache

from bullion.budgets.limiter import BudgetState, Charge

STREAMS_PER_MINUTE = 30
"""How many streams a key may open. Clients that connect again and again must not use up their reads."""
_MINUTE_S = 60
_TEN_S = 10
_RATE_LIMIT_NAMES = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")
_RATE_LIMIT_LINES = "".join(f"{name}: %d\r\n" for name in _RATE_LIMIT_NAMES).encode("ascii")

# Cached: the same few callers come again and again.


@lru_cache(maxsize=4096)
def failure(address: str, per_minute: int) -> Charge:
    return Charge(f"failures {address}", per_minute, _MINUTE_S)


@lru_cache(maxsize=4096)
def read(key_id: str, per_minute: int) -> tuple[Charge, ...]:
    return (Charge(f"reads {key_id}", per_minute, _MINUTE_S),)


@lru_cache(maxsize=4096)
def stream(key_id: str) -> tuple[Charge, ...]:
    return (Charge(f"streams {key_id}", STREAMS_PER_MINUTE, _MINUTE_S),)


@lru_cache(maxsize=4096)
def order(key_id: str, per_minute: int, per_10_seconds: int) -> tuple[Charge, ...]:
    return (
        Charge(f"orders {key_id}", per_minute, _MINUTE_S),
        Charge(f"orders10 {key_id}", per_10_seconds, _TEN_S),
    )


@lru_cache(maxsize=4096)
def production_order(
    key_id: str, account: tuple[str, str], per_minute: int, per_10_seconds: int, account_per_minute: int
) -> tuple[Charge, ...]:
    """All keys of an account share one more budget.

    Named by broker and login, not by account id: other deployments in the same Redis may use the same ids.
    """
    of_account = Charge(f"orders of {' '.join(account)}", account_per_minute, _MINUTE_S)
    return (*order(key_id, per_minute, per_10_seconds), of_account)


def limit_lines(budget_state: BudgetState) -> bytes:
    """The `RateLimit-*` header lines of a response."""
    return _RATE_LIMIT_LINES % (budget_state.limit, budget_state.remaining, budget_state.reset_s)


def limit_headers(budget_state: BudgetState) -> dict[str, str]:
    """The same headers for a refusal."""
    values = (budget_state.limit, budget_state.remaining, budget_state.reset_s)
    return dict(zip(_RATE_LIMIT_NAMES, map(str, values), strict=True))
