"""One account: its allocation, switches, keys, webhooks, test book, and its refused orders."""

import asyncio

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.pages.orders.comparison import comparison_facts, comparison_sentences
from bullion.console.pages.orders.order_format import order_text
from bullion.console.paths import ACCOUNTS, AUDIT, ORDERS, decision_path, page_path
from bullion.console.shared_read import Reading
from bullion.console.widgets.charts import meter
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    OFF,
    WARN,
    Column,
    card,
    facts,
    freshness,
    hint,
    on_off,
    small,
    state,
    table_card,
)
from bullion.console.widgets.formatting import count, is_zero, moment, moment_in_column, weight
from bullion.desk.actions import account_summaries, keys, traces, webhooks
from bullion.desk.body_fields import BodyField
from bullion.desk.desk import View
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.records.page import Page
from bullion.refusals.desk import ORDER_REFUSALS

from .account_actions import ALLOCATE, EDIT, OTHER_SETTINGS, RESET, SWITCH, SWITCHES, Switch
from .key_actions import KEYS_SHOWN, keys_card
from .webhook_page import EVERY_S as WEBHOOKS_EVERY_S
from .webhook_page import webhooks_card

_REFUSALS_EVERY_S = 5.0
"""Reading the newest decisions may take a long search."""


async def render(visit: Visit) -> Html:
    login_id = visit.params["login_id"]
    account, held_keys, decisions, hooks = await asyncio.gather(
        visit.read(
            ("account", login_id),
            lambda desk, actor: account_summaries.get_account_summary(desk, actor, login_id),
        ),
        visit.read(
            ("keys", login_id), lambda desk, actor: keys.list_keys(desk, actor, login_id, Page(KEYS_SHOWN, 0))
        ),
        visit.read(
            ("decisions", login_id),
            lambda desk, actor: traces.list_traces(desk, actor, login_id, None, DECISIONS_READ),
            _REFUSALS_EVERY_S,
        ),
        visit.read(
            ("webhooks", login_id),
            lambda desk, actor: webhooks.list_webhooks(desk, actor, login_id),
            WEBHOOKS_EVERY_S,
        ),
    )
    now = account.require()
    return el(
        "div",
        _heading(visit, now, account),
        el("div", _allocation(visit, now), _switches(visit, now), class_="halves"),
        keys_card(visit, login_id, held_keys),
        webhooks_card(visit, login_id, hooks),
        refusals_card(visit, decisions),
        class_="account",
    )


def _heading(visit: Visit, now: View, reading: Reading[View]) -> Html:
    login_id = now["login_id"]
    links = [
        el("a", "Orders", href=page_path(ORDERS, {"login_id": login_id})),
        el("a", "Audit trail", href=page_path(AUDIT, {"about": login_id})),
    ]
    return el(
        "div",
        el("a", "← Accounts", href=f"/{ACCOUNTS}", class_="back"),
        el("h1", login_id),
        el("span", now["firm_name"], class_="firm") if now["firm_name"] else None,
        state(GOOD, "active") if now["active"] else state(BAD, "inactive"),
        freshness(reading),
        el("span", "group ", el("b", now["group"]), class_="group"),
        hint("since ", moment(now["created_at"], visit.zone, visit.now)),
        el("span", links, class_="links"),
        EDIT.button(visit, {"login": login_id}),
        class_="heading",
    )


def _allocation(visit: Visit, now: View) -> Html:
    parts = [
        el("div", el("h3", environment.capitalize()), [_metal(now, environment, metal) for metal in Metal])
        for environment in (Environment.PRODUCTION, Environment.TEST)
    ]
    shown = el("div", parts, class_="allocation")
    button = ALLOCATE.button(visit, {"login": now["login_id"]}, kind="small")
    return card("Allocation", shown, _test_book(visit, now), aside=button, name="allocation")


def _metal(now: View, environment: Environment, metal: Metal) -> Html:
    position = now["books"][environment.value][metal.value]
    unit, percent = position["unit"], position["percent"]
    used = "over the limit" if percent > 100 else f"{count(percent)} %"
    return el(
        "div",
        el("b", metal.capitalize()),
        hint(_side_text(position)),
        meter(percent, label=f"{metal.capitalize()} in {environment}: {used} used"),
        el("span", el("b", weight(position["used"], unit)), " used", class_="amount"),
        el("span", el("b", weight(position["free"], unit)), " free", class_="amount"),
        el("span", "of ", weight(position["limit"], unit), class_="amount"),
        class_="held",
        data_held=f"{environment} {metal}",
    )


def _side_text(position: View) -> str:
    if is_zero(position["net"]):
        return "nothing open"
    return "client short" if position["net"].startswith("-") else "client long"


def _switches(visit: Visit, now: View) -> Html:
    rows = [_switch(visit, now, *each) for each in SWITCHES.values()]
    others = facts([(str(each.label), now[each.name]) for each in OTHER_SETTINGS]) if OTHER_SETTINGS else None
    return card("Switches", el("div", rows, class_="turns"), others, name="switches")


def _switch(visit: Visit, now: View, field: BodyField, switch: Switch) -> Html:
    on = now[field.name]
    kind = WARN if field.name == "scenarios" else GOOD
    off = BAD if field.name == "active" else OFF
    about = {"login": now["login_id"], "switch": field.name, "to": "off" if on else "on"}
    return el(
        "div",
        el("span", el("b", field.title), el("small", field.description)),
        on_off(on=on, kind=kind, off=off),
        SWITCH.button(visit, about, text=switch.turn_off if on else switch.turn_on, kind="small"),
        class_="turn",
        id=f"switch-{field.name}",
    )


def _test_book(visit: Visit, now: View) -> Html:
    book = now["books"][Environment.TEST.value]
    counts = el(
        "span",
        el("b", count(book["orders"])),
        " orders, ",
        el("b", count(book["archived_orders"])),
        " archived by resets",
    )
    button = RESET.button(visit, {"login": now["login_id"]}, kind="small risky")
    return el("div", el("b", "Test book"), counts, button, class_="test-book", id="test-book")


DECISIONS_READ = 100
_SHOWN = 20


def refusals_card(visit: Visit, reading: Reading[list[View]]) -> Html:
    decisions = reading.value or []
    refused = [each for each in decisions if each["outcome"] in ORDER_REFUSALS]
    return table_card(
        visit,
        "Recent refusals",
        "refusals",
        _COLUMNS,
        refused[:_SHOWN],
        key="request_id",
        nothing=(
            "No recent refusals.",
            "Refused orders are listed here. Requests refused for their key or a rate limit are in the log.",
        ),
        aside=hint(f"{len(refused)} of its last {len(decisions)} decisions") if refused else None,
        reading=reading,
    )


def _order(_visit: Visit, each: View) -> Child:
    asked = each["asked"]
    return hint("could not be read") if asked is None else el("span", order_text(asked), class_="order")


def _compared(visit: Visit, each: View) -> Child:
    """A sentence where there is one, else number by number."""
    compared = each["compared"]
    unit = compared.get("unit")
    shown = comparison_sentences(each, unit) or [
        el("span", f"{label}: ", el("b", value), class_="compared")
        for label, value in comparison_facts(visit, each, unit)
    ]
    return [shown, small(el("a", "Full decision", href=decision_path(each["request_id"])))]


_COLUMNS = (
    Column("When", lambda visit, each: moment_in_column(each["at"], visit.zone, visit.now), time=True),
    Column("Environment", lambda _, each: each["environment"]),
    Column("Order", _order),
    Column("Refused with", lambda _, each: [el("code", each["outcome"]), small(each["message"])]),
    Column("What was compared", _compared),
)
