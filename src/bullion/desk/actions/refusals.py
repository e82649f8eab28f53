"""Refused orders: a list by code, account, symbol and time, and how many there were of each code."""

import re
from collections.abc import Mapping

from bullion.desk import texts
from bullion.desk.bodies import Option
from bullion.desk.desk import Desk, View
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.environment import Environment
from bullion.orders.instant import instant_text
from bullion.records.refusals import RefusalFilter, TracePlace
from bullion.records.token import Actor
from bullion.refusals.desk import ORDER_REFUSALS
from bullion.refusals.refusal import RefusalError

from . import traces

_PLACE = re.compile(r"(\d{1,15})-(\d{1,6})")


@action(
    "GET /refusals",
    command="refusals list",
    columns="at environment login_id outcome asked.symbol_code asked.trade_type asked.quantity message "
    "request_id",
    query={
        "code": Option("Only refusals with this code, such as limit_exceeded.", metavar="CODE"),
        "login_id": Option("Only for this account.", "--login", "LOGIN_ID"),
        "symbol_code": Option("Only for this symbol.", "--symbol", "CODE"),
        "environment": Option("Only in this environment.", choices=tuple(Environment)),
        "since": Option("Only from this time on, in ISO 8601.", metavar="TIME"),
        "until": Option("Only before this time, in ISO 8601.", metavar="TIME"),
        "before": Option("Continue a list: the `older` of the last response.", metavar="PLACE"),
    },
)
async def list_refusals(desk: Desk, actor: Actor, filters: Mapping[str, str | None], limit: int = 50) -> View:
    """List refused orders, newest first.

    Only decisions that are still stored are listed: the newest 64 MB of all brokers' decisions.

    \b
    Examples:
      bullion desk refusals list --code limit_exceeded --login aurum
      bullion desk refusals list --symbol GOLD --since 2026-11-16T09:00:00+05:30
    """
    wanted, before = _wanted(filters), _place(filters.get("before"))
    page = await desk.report(
        actor, "refusals", lambda records: records.refusals(actor.broker, wanted, before, limit)
    )
    return {
        "items": [traces.view(each) for each in page.found],
        "older": None if page.older is None else f"{page.older.ordinal}-{page.older.position}",
        "kept_since": None if page.kept_since_us is None else instant_text(page.kept_since_us),
    }


@action("GET /refusals/counts", command="refusals count", columns="code environment last_hour last_day")
async def count_refusals(desk: Desk, actor: Actor) -> View:
    """Count the refusals of the last hour and of the last day, by code."""
    counted = await desk.read(actor, "refusal_counts", lambda records: records.refusal_counts(actor.broker))
    return {
        "items": [
            {
                "code": each.code,
                "environment": each.environment,
                "last_hour": each.last_hour,
                "last_day": each.last_day,
            }
            for each in counted.counts
        ],
        "since": instant_text(counted.since_us),
        "complete": counted.complete,
    }


def _wanted(filters: Mapping[str, str | None]) -> RefusalFilter:
    code, environment, symbol_code, login_id = (
        filters.get(name) for name in ("code", "environment", "symbol_code", "login_id")
    )
    if code is not None and code not in ORDER_REFUSALS:
        raise _refused("code", "is the code of a refusal, such as limit_exceeded")
    if environment is not None and environment not in tuple(Environment):
        raise _refused("environment", f"is one of {', '.join(Environment)}")
    return RefusalFilter(
        codes=ORDER_REFUSALS if code is None else frozenset([code]),
        login_id=login_id,
        symbol_code=symbol_code,
        environment=None if environment is None else Environment(environment),
        since_us=_instant_us(filters, "since"),
        until_us=_instant_us(filters, "until"),
    )


def _instant_us(filters: Mapping[str, str | None], name: str) -> int | None:
    text = filters.get(name)
    try:
        return None if text is None else texts.query_instant_us(text)
    except ValueError as error:
        raise _refused(name, str(error)) from None


def _place(text: str | None) -> TracePlace | None:
    if text is None:
        return None
    place = _PLACE.fullmatch(text)
    if place is None:
        raise _refused("before", "is the `older` of a response to the same call")
    return TracePlace(int(place[1]), int(place[2]))


def _refused(name: str, message: str) -> RefusalError:
    return invalid_field((name,), message, within="query")
