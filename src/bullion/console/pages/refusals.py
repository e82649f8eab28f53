"""Refused orders by code, account, symbol and time, and how many there were of each code."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from bullion.console.forms import Choice, Field, fields_html
from bullion.console.html import Child, Html, el
from bullion.console.page import Page, Visit
from bullion.console.paths import ORDERS, REFUSALS, account_path, decision_path, page_path
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import (
    NOTHING,
    Column,
    card,
    empty,
    freshness,
    hint,
    not_read,
    paging,
    small,
    table,
)
from bullion.console.widgets.formatting import count, moment, moment_in_column
from bullion.desk.actions.refusals import count_refusals, list_refusals
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.records.token import Actor
from bullion.refusals.desk import ORDER_REFUSALS

from .orders.order_format import environment, order_text

_SHOWN = 50
_TEXT_MAX = 100
_COUNTED_EVERY_S = 5.0
_PERIODS = {
    "15m": ("last 15 minutes", timedelta(minutes=15)),
    "1h": ("last hour", timedelta(hours=1)),
    "today": ("today", None),
    "24h": ("last 24 hours", timedelta(hours=24)),
    "7d": ("last 7 days", timedelta(days=7)),
}
_FILTERS = (
    Choice(
        "code",
        "Reason",
        options=[("", "all"), *((each, each.replace("_", " ")) for each in sorted(ORDER_REFUSALS))],
    ),
    Field("login", "Account", placeholder="all logins"),
    Field("symbol", "Symbol", placeholder="all symbols"),
    Choice(
        "environment", "Environment", options=[("", "all"), *((str(each), str(each)) for each in Environment)]
    ),
    Choice(
        "since",
        "Since",
        options=[("", "the beginning"), *((key, text) for key, (text, _) in _PERIODS.items())],
    ),
)
_UNTIL = "until"


async def refusals_page(visit: Visit) -> Html:
    names = [each.name for each in _FILTERS] + [_UNTIL]
    chosen = {name: visit.param(name).replace("\0", "").strip()[:_TEXT_MAX] for name in names}
    before = visit.param("before") or None
    filters = {
        "code": chosen["code"] or None,
        "login_id": chosen["login"] or None,
        "symbol_code": chosen["symbol"] or None,
        "environment": chosen["environment"] or None,
        "since": _instant(visit, chosen["since"]),
        "until": _instant(visit, chosen[_UNTIL]),
        "before": before,
    }

    async def read(desk: Desk, actor: Actor) -> View:
        return await list_refusals(desk, actor, filters, _SHOWN)

    listed, counted = await asyncio.gather(
        visit.read((REFUSALS, *filters.values()), read),
        visit.read((REFUSALS, "counts"), count_refusals, _COUNTED_EVERY_S),
    )
    found = card(
        "Refused orders",
        _filters(chosen),
        _found(visit, listed, chosen, before),
        _kept(visit, listed),
        aside=[freshness(listed), hint("newest first")],
        name="refused",
    )
    heading = el("h1", "Refusals", class_="unseen")
    return el("div", heading, _counts(visit, counted), found, class_="refusals-page")


def _instant(visit: Visit, text: str) -> str | None:
    """A period, or a time; without a zone it is in the broker's. Rounded, so that pages share a read."""
    if not text:
        return None
    if text in _PERIODS:
        minute = visit.now.astimezone(visit.zone).replace(second=0, microsecond=0)
        back = _PERIODS[text][1]
        return (minute.replace(hour=0, minute=0) if back is None else minute - back).isoformat()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text  # The action says what is wrong with it.
    return (at if at.tzinfo else at.replace(tzinfo=visit.zone)).isoformat()


# --- How many ---------------------------------------------------------------------------------------------


def _counts(visit: Visit, reading: Reading[View]) -> Html:
    if reading.value is None:
        return card("How many", not_read(reading), name="counts")
    counted = reading.value
    since: Child = None
    if not counted["complete"]:
        since = hint("counted since ", moment(counted["since"], visit.zone, visit.now), "; older ones follow")
    if not counted["items"]:
        nothing = empty("No order was refused in the last 24 hours.", "Refusals appear here as they happen.")
        return card("How many", nothing, aside=since, name="counts")
    shown = table(
        visit,
        "refusal-counts",
        _COUNTS,
        counted["items"],
        key=lambda each: f"{each['code']} {each['environment']}",
    )
    return card("How many", shown, aside=[freshness(reading), since], name="counts")


def _link(field: str, since: str) -> Column:
    def cell(_visit: Visit, each: View) -> Child:
        path = page_path(REFUSALS, {"code": each["code"], "environment": each["environment"], "since": since})
        return el("a", count(each[field]), href=path) if each[field] else "0"

    return Column(_PERIODS[since][0].capitalize(), cell, number=True)


_COUNTS = (
    Column("Reason", lambda _, each: each["code"].replace("_", " ")),
    Column("Environment", lambda _, each: environment(each["environment"])),
    _link("last_hour", "1h"),
    _link("last_day", "24h"),
)


# --- The list ---------------------------------------------------------------------------------------------


def _filters(chosen: Mapping[str, str]) -> Html:
    since, until = chosen["since"], chosen[_UNTIL]
    fields = list(_FILTERS)
    values = dict(chosen)
    if since and since not in _PERIODS:  # A link named a time: it stays until another is chosen.
        fields[-1] = Field("since", "Since")
    if until:
        fields.append(Field(_UNTIL, "Until"))
    return el(
        "form",
        fields_html(fields, values, {}),
        el("button", "Show"),
        el("a", "Show all", href=f"/{REFUSALS}", class_="all") if any(chosen.values()) else None,
        method="get",
        action=f"/{REFUSALS}",
        class_="filters",
        data_narrow=True,
        id="filters",
    )


def _found(visit: Visit, reading: Reading[View], chosen: Mapping[str, str], before: str | None) -> Child:
    if reading.value is None:
        return not_read(reading, "Correct the filters, or show all.")
    found = reading.value
    older = found["older"]
    links = paging(
        ("← Newest", page_path(REFUSALS, chosen)) if before else None,
        ("Older →", page_path(REFUSALS, {**chosen, "before": older})) if older else None,
    )
    if found["items"]:
        return [table(visit, "refusals-table", _COLUMNS, found["items"], key="request_id"), links]
    if older is not None:
        text = "No matching refusals among the newest decisions."
        return [empty(text, "Many decisions are searched in parts: continue with Older."), links]
    if any(chosen.values()) or before:
        return [empty("No more matching refusals.", "Change the filters, or show all."), links]
    return empty("No refused orders are stored.", "Refusals appear here as they happen.")


def _order(_visit: Visit, each: View) -> Child:
    asked = each["asked"]
    if asked is None:
        return NOTHING
    named = asked["client_order_id"]
    return [order_text(asked, each["compared"].get("unit")), small(el("code", named)) if named else None]


def _reason(_visit: Visit, each: View) -> Child:
    link = el("a", each["outcome"].replace("_", " "), href=decision_path(each["request_id"]), class_="order")
    return [link, small(each["message"])]


_COLUMNS = (
    Column("Time", lambda visit, each: moment_in_column(each["at"], visit.zone, visit.now), time=True),
    Column("Reason", _reason),
    Column("Order", _order),
    Column("Account", lambda _, each: el("a", each["login_id"], href=account_path(each["login_id"]))),
    Column("Environment", lambda _, each: environment(each["environment"])),
)


def _kept(visit: Visit, reading: Reading[View]) -> Child:
    since = None if reading.value is None else reading.value["kept_since"]
    kept = ["The oldest one stored is from ", moment(since, visit.zone, visit.now), ". "] if since else []
    rejected = el("a", "rejected orders", href=page_path(ORDERS, {"status": "rejected"}))
    return el(
        "p",
        "The newest 64 MB of decisions on all orders are kept. ",
        kept,
        "Calls that were refused by their key, account or rate limit are in the log. "
        "Orders that the venue refused are ",
        rejected,
        ".",
        class_="note",
    )


PAGE = Page(REFUSALS, "Refusals", {"": refusals_page}, live_s=3)
