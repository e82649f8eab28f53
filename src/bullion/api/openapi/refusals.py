"""Error responses: the rows of the catalogue that a call can get, by status, each with an example."""

from collections.abc import Iterable, Mapping

from bullion.api.scenario import HEADER, requestable
from bullion.refusals.catalogue import (
    AUTH_THROTTLED,
    CATALOGUE,
    INTERNAL_ERROR,
    LIMIT_EXCEEDED,
    METHOD_NOT_ALLOWED,
    RATE_LIMITED,
    SCENARIO_NOT_ALLOWED,
    SERVICE_UNAVAILABLE,
    UNKNOWN_SCENARIO,
)
from bullion.refusals.refusal import RefusalCode, RefusalError, Retry

from .responses import ALLOW, BUDGET, IDEMPOTENT_REPLAYED, REQUEST_ID, RETRY_AFTER, header_refs
from .schemas import OWN_BODIES, Json, schema_ref

RETRY_ADVICE = {
    Retry.NEVER: "Do not send it again until the cause is gone.",
    Retry.SAME_KEY: "Send it again after a short wait. An order keeps its `Idempotency-Key`.",
    Retry.SAME_KEY_AFTER: "Send it again after `Retry-After` seconds. An order keeps its `Idempotency-Key`.",
    Retry.NEW_KEY: "Decide anew. A new order needs a new `Idempotency-Key`.",
}
"""What each kind of retry asks of the caller, in words."""

# The catalogue is in the order of the checks. Its first rows are the ones that every call can get: of the
# connection and the route, then of the gate up to the budgets. A row added there is described for every call.
_AFTER_ROUTE = CATALOGUE.index(METHOD_NOT_ALLOWED) + 1
_AFTER_GATE = CATALOGUE.index(RATE_LIMITED) + 1
WITHOUT_KEY = (*CATALOGUE[:_AFTER_ROUTE], INTERNAL_ERROR)
WITH_KEY = (
    *CATALOGUE[:_AFTER_GATE],
    SCENARIO_NOT_ALLOWED,
    UNKNOWN_SCENARIO,
    SERVICE_UNAVAILABLE,
    INTERNAL_ERROR,
)

# What is refused after the gate may already have been counted against a budget.
_MAY_HAVE_BUDGET = frozenset((AUTH_THROTTLED, RATE_LIMITED, *CATALOGUE[_AFTER_GATE:]))

Further = Mapping[RefusalCode, Json]
"""What refusals have beside code and message, for the examples of a call."""

_MESSAGES = {
    LIMIT_EXCEEDED: (
        "The order would take the gold position past the weight allocation: "
        "900.0000 g of 1000.0000 g are free."
    )
}
"""Examples of messages that say more than the catalogue does."""


def refusal_responses(rows: Iterable[RefusalCode], further: Further | None = None) -> Json:
    """The rows by status, each status with its codes in the order of the checks."""
    ordered = sorted(rows, key=CATALOGUE.index)
    counted, plays = RATE_LIMITED in ordered, SCENARIO_NOT_ALLOWED in ordered
    by_status: dict[int, list[RefusalCode]] = {}
    for row in ordered:
        by_status.setdefault(row.status, []).append(row)
    return {
        str(status): {
            "description": "\n".join(f"- `{row.code}`: {row.when}{_wait(row)}" for row in of_status),
            "headers": header_refs(_headers(of_status, counted=counted, plays=plays)),
            "content": {
                "application/json": {
                    "schema": _schema(of_status),
                    "examples": {row.code: _example(row, further or {}) for row in of_status},
                }
            },
        }
        for status, of_status in sorted(by_status.items())
    }


def _schema(rows: list[RefusalCode]) -> Json:
    """References alone: many generators drop whatever stands beside a reference."""
    names = dict.fromkeys(OWN_BODIES[row].__name__ if row in OWN_BODIES else "Refusal" for row in rows)
    bodies = [schema_ref(name) for name in names]
    return bodies[0] if len(bodies) == 1 else {"oneOf": bodies}


def _wait(row: RefusalCode) -> str:
    """A status lists the headers of all its codes together, so each code names its own."""
    return f" With `{RETRY_AFTER}`." if row.retry is Retry.SAME_KEY_AFTER else ""


def _example(row: RefusalCode, further: Further) -> Json:
    """With further fields the example is the call's own; the others are shared."""
    if row in OWN_BODIES:
        return {"summary": row.when, "value": RefusalError(row, fields=further[row]).body()}
    return {"$ref": f"#/components/examples/{row.code}"}


def _headers(rows: list[RefusalCode], *, counted: bool, plays: bool) -> Iterable[str]:
    yield REQUEST_ID
    if METHOD_NOT_ALLOWED in rows:
        yield ALLOW
    if any(_wait(row) for row in rows):
        yield RETRY_AFTER
    if any(row.settles_key for row in rows):
        yield IDEMPOTENT_REPLAYED
    if counted and not _MAY_HAVE_BUDGET.isdisjoint(rows):
        yield from BUDGET
    if plays and requestable(rows):
        yield HEADER


def shared_examples() -> Json:
    return {
        row.code: {"summary": row.when, "value": RefusalError(row, _MESSAGES.get(row)).body()}
        for row in CATALOGUE
        if row not in OWN_BODIES
    }


def catalogue_row(row: RefusalCode) -> Json:
    """Everything the catalogue says of it, for programs."""
    return {
        "code": row.code,
        "status": row.status,
        "environment": row.env.value,
        "when": row.when,
        "message": row.message,
        "retry": row.retry.value,
        "settles_key": row.settles_key,
        "specified": row.specified,
    }
