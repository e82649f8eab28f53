"""Refused answers: the rows of the catalogue that a call can meet, by status, each with an example."""

from collections.abc import Iterable, Mapping

from bullion.api.scenario import HEADER, askable
from bullion.refusals.catalogue import (
    AUTH_THROTTLED,
    CATALOGUE,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LIMIT_EXCEEDED,
    METHOD_NOT_ALLOWED,
    ORDER_REJECTED,
    PRODUCTION_TRADING_DISABLED,
    RATE_LIMITED,
    SCENARIO_NOT_ALLOWED,
    SERVICE_UNAVAILABLE,
    UNKNOWN_SCENARIO,
)
from bullion.refusals.refusal import RefusalCode, RefusalError, Retry

from .headers import ALLOW, BUDGET, IDEMPOTENT_REPLAYED, REQUEST_ID, RETRY_AFTER
from .pieces import Json, header_refs, schema_ref

RETRY_ADVICE = {
    Retry.NEVER: "Do not send it again until the cause is gone.",
    Retry.SAME_KEY: "Send it again after a short wait. An order keeps its `Idempotency-Key`.",
    Retry.SAME_KEY_AFTER: "Send it again after `Retry-After` seconds. An order keeps its `Idempotency-Key`.",
    Retry.NEW_KEY: "Decide anew. A new order needs a new `Idempotency-Key`.",
}
"""What each kind of retry asks of the caller, in words."""

# The catalogue is in the order of the checks, so what every call can meet is where it begins: the connection
# and the route, then the gate up to and with the budgets. A row added there is described everywhere at once.
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
_MAY_TELL_BUDGET = frozenset((AUTH_THROTTLED, RATE_LIMITED, *CATALOGUE[_AFTER_GATE:]))

Further = Mapping[RefusalCode, Json]
"""What refusals have beside code and message, for the examples of a call."""

_OWN_BODY = {
    PRODUCTION_TRADING_DISABLED: "ProductionTradingDisabled",
    INVALID_REQUEST: "InvalidRequest",
    ORDER_REJECTED: "OrderRejected",
}
"""Refusals that bring further fields, and the schema that has them."""

_SAID = {
    LIMIT_EXCEEDED: (
        "The order would take the gold position past the weight allocation: "
        "900.0000 g of 1000.0000 g are free."
    )
}
"""Messages that say more than the catalogue does, as they may read."""


def refused_answers(rows: Iterable[RefusalCode], further: Further | None = None) -> Json:
    """The rows by status, each status with its codes in the order in which the checks are made."""
    ordered = sorted(rows, key=CATALOGUE.index)
    counted, plays = RATE_LIMITED in ordered, SCENARIO_NOT_ALLOWED in ordered
    by_status: dict[int, list[RefusalCode]] = {}
    for row in ordered:
        by_status.setdefault(row.status, []).append(row)
    return {
        str(status): _refused_answer(by_status[status], counted, plays, further or {})
        for status in sorted(by_status)
    }


def _refused_answer(rows: list[RefusalCode], counted: bool, plays: bool, further: Further) -> Json:
    return {
        "description": "\n".join(f"- `{row.code}`: {row.when}{_wait(row)}" for row in rows),
        "headers": header_refs(_refused_headers(rows, counted, plays)),
        "content": {
            "application/json": {
                "schema": _refused_schema(rows),
                "examples": {row.code: _shown(row, further) for row in rows},
            }
        },
    }


def _refused_schema(rows: list[RefusalCode]) -> Json:
    codes = [row.code for row in rows if row not in _OWN_BODY]
    narrowed = {"detail": {"properties": {"code": {"enum": codes}}}}
    plain = [{**schema_ref("Refusal"), "properties": narrowed}] if codes else []
    bodies = [schema_ref(_OWN_BODY[row]) for row in rows if row in _OWN_BODY] + plain
    return bodies[0] if len(bodies) == 1 else {"oneOf": bodies}


def _wait(row: RefusalCode) -> str:
    """A status names the headers of all its codes together, so whose this one is has to be told."""
    return f" With `{RETRY_AFTER}`." if row.retry is Retry.SAME_KEY_AFTER else ""


def _shown(row: RefusalCode, further: Further) -> Json:
    """What has further fields is shown with those of the call; the other examples are shared."""
    if row in _OWN_BODY:
        return {"summary": row.when, "value": RefusalError(row, fields=further[row]).body()}
    return {"$ref": f"#/components/examples/{row.code}"}


def _refused_headers(rows: list[RefusalCode], counted: bool, plays: bool) -> Iterable[str]:
    yield REQUEST_ID
    if METHOD_NOT_ALLOWED in rows:
        yield ALLOW
    if any(_wait(row) for row in rows):
        yield RETRY_AFTER
    if any(row.settles_key for row in rows):
        yield IDEMPOTENT_REPLAYED
    if counted and not _MAY_TELL_BUDGET.isdisjoint(rows):
        yield from BUDGET
    if plays and askable(rows):
        yield HEADER


def shared_examples(rows: Iterable[RefusalCode]) -> Json:
    met = frozenset(rows) - _OWN_BODY.keys()
    return {
        row.code: {"summary": row.when, "value": RefusalError(row, _SAID.get(row)).body()}
        for row in CATALOGUE
        if row in met
    }


def whole_row(row: RefusalCode) -> Json:
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
