"""Reads `X-Bullion-Scenario`: the simulated response that a client requests in the test environment.

    stale_rate
    rate_limited; retry_after=5
    booking_outcome_unknown; order=booked

A name (the code of a refusal, or `answer_lost`) and its parameters, each at most once.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bullion.orders.instant import read_instant_us
from bullion.refusals.catalogue import (
    BOOKING_OUTCOME_UNKNOWN,
    HEADERS_TOO_LARGE,
    INTERNAL_ERROR,
    MALFORMED_HTTP,
    METHOD_NOT_ALLOWED,
    PRODUCTION_TRADING_DISABLED,
    SERVICE_UNAVAILABLE,
    UNKNOWN_SCENARIO,
)
from bullion.refusals.refusal import Env, RefusalCode, RefusalError, Retry

from .problems import excerpt
from .wire.refusals import CLOSED_BY

HEADER = "X-Bullion-Scenario"
ANSWER_LOST = "answer_lost"
RETRY_AFTER_S, RETRY_AFTER_S_MAX = 2, 3600

LENGTH_MAX = 200
# These refusals come before the header is read. A client can provoke them itself.
_BEFORE_THE_HEADER = frozenset((HEADERS_TOO_LARGE, MALFORMED_HTTP, METHOD_NOT_ALLOWED))
_OUTCOME_OPEN = frozenset((BOOKING_OUTCOME_UNKNOWN, SERVICE_UNAVAILABLE, INTERNAL_ERROR))
"""Refusals after which the order may have been booked. Any other contradicts a booked order."""


class Scenario(msgspec.Struct, frozen=True):
    text: str
    """As it was sent, for log and trace."""
    name: str
    row: RefusalCode | None
    """The refusal to respond with; None to abort the connection."""
    retry_after_s: int | None = None
    reason: str | None = None
    booked: bool = False
    """Whether the order is booked before the simulated response."""
    until_us: int | None = None
    """The time from which the header has no effect."""


def requestable(rows: Iterable[RefusalCode]) -> dict[str, RefusalCode]:
    """The refusals of a call that can be requested, by code.

    Without the two about scenarios: they always mean that no scenario ran.
    """
    return {row.code: row for row in rows if row not in _BEFORE_THE_HEADER and row.env is not Env.TEST}


@dataclass(frozen=True, slots=True)
class CallScenarios:
    """The scenarios of one call."""

    call: str
    """Method and path below the base."""
    rows: Mapping[str, RefusalCode]
    other_call: Mapping[str, str]
    """For every refusal that can be requested, a call that has it."""
    places_order: bool

    def read(self, sent: Sequence[bytes]) -> Scenario:
        """The requested scenario. May raise RefusalError."""
        if len(sent) > 1:
            raise _unknown(f"{HEADER} was sent more than once. Send one.")
        text = sent[0].decode("latin-1").strip(" \t")
        if len(text) > LENGTH_MAX:
            raise _unknown(f"{HEADER} has {len(text)} characters; no scenario needs more than {LENGTH_MAX}.")
        name, *parts = [part.strip(" \t") for part in text.split(";")]
        row = self.rows.get(name)
        if row is None and name != ANSWER_LOST:
            raise self._not_found(name)
        taken = self._parameters(row)
        found: dict[str, Any] = {"retry_after_s": RETRY_AFTER_S} if "retry_after" in taken else {}
        if "reason" in taken:
            found["reason"] = CLOSED_BY[-1]
        seen: set[str] = set()
        for part in parts:
            parameter, _, value = part.partition("=")
            if parameter not in taken:
                allowed = f"It takes {', '.join(taken)}."
                raise _unknown(
                    f'The scenario {name} of {self.call} takes no "{excerpt(parameter)}". {allowed}'
                )
            if parameter in seen:
                raise _unknown(f"{parameter} was given more than once.")
            seen.add(parameter)
            field, read, may_be = PARAMETERS[parameter]
            found[field] = read(value)
            if found[field] is None:
                raise _unknown(f'{parameter} has to be {may_be}; this is "{excerpt(value)}".')
        return Scenario(text, name, row, **found)

    def _parameters(self, row: RefusalCode | None) -> list[str]:
        """The parameters of a scenario."""
        taken = ["until"]
        if row is not None and row.retry is Retry.SAME_KEY_AFTER:
            taken.append("retry_after")
        if row is PRODUCTION_TRADING_DISABLED:
            taken.append("reason")
        if self.places_order and (row is None or row in _OUTCOME_OPEN):
            taken.append("order")
        return taken

    def _not_found(self, name: str) -> RefusalError:
        other_call = self.other_call.get(name)
        if other_call is not None:
            return _unknown(f"{self.call} cannot meet {name}, so it is no scenario of it. Try {other_call}.")
        return _unknown(f'{self.call} has no scenario "{excerpt(name)}".')


def _unknown(problem: str) -> RefusalError:
    how = f"/openapi.json lists the scenarios of each call with its {HEADER} header. Nothing was done."
    return RefusalError(UNKNOWN_SCENARIO, f"{problem} {how}")


def _read_retry_after(value: str) -> int | None:
    """Only ASCII digits are digits."""
    seconds = int(value) if re.fullmatch("[0-9]{1,4}", value) else 0
    return seconds if 1 <= seconds <= RETRY_AFTER_S_MAX else None


PARAMETERS: Mapping[str, tuple[str, Callable[[str], object | None], str]] = {
    "until": ("until_us", read_instant_us, "an ISO 8601 time such as 2026-01-31T12:00:00Z"),
    "retry_after": ("retry_after_s", _read_retry_after, f"whole seconds from 1 to {RETRY_AFTER_S_MAX}"),
    "reason": ("reason", {each: each for each in CLOSED_BY}.get, "deploy, global or account"),
    "order": ("booked", {"booked": True}.get, "booked"),
}
"""For each parameter: its field, its reader (None for a wrong value), and the allowed values."""
