"""Which budgets a call is counted against."""

from bullion.accounts.switches import BudgetLimits
from bullion.budgets.limiter import Charge, Standing
from bullion.keys.key import Key
from bullion.web.answer import Headers

_MINUTE_S = 60


def failure(address: str, limits: BudgetLimits) -> Charge:
    return Charge(f"failures {address}", limits.failed_auth_per_minute, _MINUTE_S)


def read(key: Key, limits: BudgetLimits) -> tuple[Charge, ...]:
    return (Charge(f"reads {key.key_id}", limits.reads_per_minute, _MINUTE_S),)


def rate_limit_headers(standing: Standing) -> Headers:
    return (
        (b"ratelimit-limit", b"%d" % standing.limit),
        (b"ratelimit-remaining", b"%d" % standing.remaining),
        (b"ratelimit-reset", b"%d" % standing.reset_s),
    )
