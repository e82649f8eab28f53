"""The text of `src/bullion_client/retry_table.py`: the catalogue's advice, for a client that imports none of
it.

The catalogue says what a caller may do next. What a refusal proves about an *earlier* try of the same order
follows from its place in the order of the checks, and from the exceptions that are named here.
"""

from collections.abc import Sequence

from bullion.refusals.catalogue import (
    BOOKING_BUSY,
    BOOKING_CONFLICT,
    BOOKING_OUTCOME_UNKNOWN,
    BOOKING_UNAVAILABLE,
    IDEMPOTENCY_KEY_REUSED,
    INTERNAL_ERROR,
    PRODUCTION_PREREQUISITES_UNMET,
    PRODUCTION_TRADING_DISABLED,
    SERVICE_UNAVAILABLE,
    UNKNOWN_SYMBOL,
)
from bullion.refusals.refusal import Refusal

_HEAD = '''\
"""What each refusal advises.

Written by `make generate` from src/bullion/refusals/catalogue.py. Change that, not this.
"""

from bullion_client.advice import Advice, Retry

RETRY_TABLE: dict[str, Advice] = {
'''

_FIRST_AFTER_LOOK_UP = UNKNOWN_SYMBOL
"""Every check of the market, and all that follows, comes after the key was looked for."""
_NOT_LOOKED_UP = {BOOKING_CONFLICT.code, BOOKING_UNAVAILABLE.code, BOOKING_BUSY.code}
"""They stand lower, but say that the store was not reached, or that the key is still in another's hands."""
_DO_NOT_OUTRANK_A_REPLAY = {PRODUCTION_TRADING_DISABLED.code, PRODUCTION_PREREQUISITES_UNMET.code}
"""They stand higher, but an order that is recorded is told in spite of them."""
_UNSURE = {BOOKING_OUTCOME_UNKNOWN.code, SERVICE_UNAVAILABLE.code, INTERNAL_ERROR.code}
"""The store may have recorded the order in the last moment before it failed, or before the service did."""
_SETTLED_ELSEWHERE = {IDEMPOTENCY_KEY_REUSED.code}
"""The key is settled with another body, so this one never was booked under it and never will be."""


def retry_table(rows: Sequence[Refusal]) -> str:
    first = next(number for number, row in enumerate(rows) if row.code == _FIRST_AFTER_LOOK_UP.code)
    lines = [f'    "{row.code}": {_advice(row, after_look_up=n >= first)},\n' for n, row in enumerate(rows)]
    return _HEAD + "".join(lines) + "}\n"


def _advice(row: Refusal, *, after_look_up: bool) -> str:
    after_look_up = after_look_up and row.code not in _NOT_LOOKED_UP | _UNSURE
    flags = {
        "settles": row.settles_key or row.code in _SETTLED_ELSEWHERE,
        "looked_up": after_look_up or row.code in _DO_NOT_OUTRANK_A_REPLAY,
        "unsure": row.code in _UNSURE,
    }
    words = [f"Retry.{row.retry.name}", *(f"{name}=True" for name, holds in flags.items() if holds)]
    return f"Advice({', '.join(words)})"
