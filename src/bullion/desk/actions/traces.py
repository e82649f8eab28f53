"""Decision traces: why an order was accepted, replayed or refused, with the compared values."""

import re
from collections.abc import Callable
from typing import Any

from bullion.desk.bodies import Option
from bullion.desk.desk import Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.metals.rupees import rupees_text
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.orders.trace import Trace
from bullion.records.orders import AccountTrace, DecisionCount
from bullion.records.token import Actor
from bullion.refusals.desk import NOT_FOUND, ORDER_REFUSALS
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

REQUEST_ID = re.compile(r"[0-9a-f]{24}")
MINUTES_MAX = 60
MINUTES_USUAL = 15
_US_PER_MINUTE = 60_000_000
_OUTCOMES = {"replayed", "scenario", *Status, *ORDER_REFUSALS}
_UNITS: dict[str, Callable[[int], str]] = {"_e4": weight_text, "_paise": rupees_text, "_us": instant_text}
"""The format of a number, by the suffix of its name."""


@action(
    "GET /traces",
    command="traces list",
    columns="at environment login_id outcome asked.symbol_code asked.trade_type asked.quantity message "
    "request_id",
    query={
        "login_id": Option("Only for this account.", "--login", "LOGIN_ID"),
        "outcome": Option(
            "Only this: filled, replayed, or a refusal such as limit_exceeded.", metavar="CODE"
        ),
    },
)
async def list_traces(
    desk: Desk, actor: Actor, login_id: str | None = None, outcome: str | None = None, limit: int = 50
) -> list[View]:
    """List the newest decisions on orders, newest first.

    \b
    Examples:
      bullion desk traces list --login aurum --limit 10
      bullion desk traces list --outcome stale_rate
    """
    # Without a total: the search is bounded.
    if outcome is not None and outcome not in _OUTCOMES:
        message = (
            "is replayed, scenario, what an order came to such as filled, "
            "or the code of a refusal such as limit_exceeded"
        )
        raise invalid_field(("outcome",), message, "not_a_choice", within="query")
    found = await desk.report(
        actor, "traces", lambda records: records.traces(actor.broker, login_id, outcome, limit)
    )
    return [view(each) for each in found]


@action("GET /traces/{request_id}", command="traces show")
async def get_trace(desk: Desk, actor: Actor, request_id: str) -> View:
    """Show the decision on one request, by the X-Request-Id of its response."""

    async def work(records: Records) -> AccountTrace | None:
        known = REQUEST_ID.fullmatch(request_id)
        return await records.trace(actor.broker, request_id) if known else None

    found = await desk.read(actor, "trace", work)
    if found is None:
        raise RefusalError(
            NOT_FOUND,
            "There is no decision on such a call: it was refused before its body was read (by its key, "
            "account, scope or budget; see the log), belongs to another broker, or was deleted with age.",
        )
    return view(found)


@action(
    "GET /traces/counts",
    command="traces count",
    columns="minute environment outcome count",
    query={
        "minutes": Option("How far to look back.", bounds=(1, MINUTES_MAX), default=MINUTES_USUAL),
        "after": Option(),
    },
)
async def count_traces(
    desk: Desk, actor: Actor, minutes: int = MINUTES_USUAL, after: int | None = None
) -> View:
    """Count the decisions of the last minutes, by minute, environment and outcome."""
    # `after` is the `through` of an earlier answer: then only what was written since is counted.
    if not 1 <= minutes <= MINUTES_MAX:
        message = f"must be a whole number from 1 to {MINUTES_MAX}"
        raise invalid_field(("minutes",), message, within="query")

    async def work(records: Records) -> tuple[list[DecisionCount], int]:
        this_minute_us = await records.now_us() // _US_PER_MINUTE * _US_PER_MINUTE
        return await records.decision_counts(
            actor.broker, after, this_minute_us - (minutes - 1) * _US_PER_MINUTE
        )

    found, through = await desk.read(actor, "decision_counts", work)
    return {"items": [_count_view(each) for each in found], "through": through}


def _count_view(counted: DecisionCount) -> View:
    return {
        "minute": instant_text(counted.minute_us),
        "environment": counted.environment,
        "outcome": counted.outcome,
        "count": counted.count,
    }


def view(found: AccountTrace) -> View:
    trace: Trace = found.trace
    return {
        "request_id": trace.request_id,
        "at": instant_text(trace.at_us),
        "login_id": found.login_id,
        "environment": trace.environment,
        "key_id": trace.key_id,
        "outcome": trace.outcome,
        "message": trace.message,
        "order_id": trace.order_id,
        "idempotency_key": trace.idempotency_key,
        "asked": None if trace.asked is None else _asked(trace.asked),
        "compared": dict(_readable(name, value) for name, value in trace.compared.items()),
    }


def _asked(asked: PlaceOrder) -> View:
    return {
        "symbol_code": asked.symbol_code,
        "trade_type": asked.trade_type,
        "quantity": weight_text(asked.quantity_e4),
        "expected_price": asked.expected_price,
        "client_order_id": asked.client_order_id,
    }


def _readable(name: str, value: Any) -> tuple[str, Any]:
    for ending, write in _UNITS.items():
        if name.endswith(ending):
            return name.removesuffix(ending), write(value) if isinstance(value, int) else value
    return name, value
