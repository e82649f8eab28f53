"""One account: its allocation, switches, keys, test book, and why its orders were refused."""

import asyncio

from bullion.console import pages
from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.console.widgets.charts import meter
from bullion.console.widgets.components import BAD, GOOD, OFF, WARN, card, state
from bullion.console.widgets.dialog import action_button
from bullion.console.widgets.formatting import grouped, weight
from bullion.console.widgets.times import age, moment
from bullion.desk.actions import account_summaries, keys, traces
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.records.page import Page
from bullion.records.token import Actor

from .account_actions import ALLOCATE, EDIT, RESET, SWITCHES, TURN, Switch
from .addresses import PAGE_NAME, list_path
from .allocation_bars import ENVIRONMENTS, percent_words, side_words
from .key_table import KEYS_SHOWN, keys_card
from .recent_refusals import DECISIONS_READ, refusals_card

_REFUSALS_EVERY_S = 5.0
"""The newest decisions may have to be looked for far back."""


async def render(visit: Visit) -> Html:
    login_id = visit.rest[0]
    account, held_keys, decisions = await asyncio.gather(
        _account(visit, login_id), _keys(visit, login_id), _decisions(visit, login_id)
    )
    now = account.required()
    return el(
        "div",
        _heading(visit, now, account),
        el("div", _allocation(visit, now), _switches(visit, now), class_="halves"),
        keys_card(visit, login_id, held_keys),
        refusals_card(visit, decisions),
        class_="account",
    )


async def _account(visit: Visit, login_id: str) -> Reading[View]:
    async def read(desk: Desk, actor: Actor) -> View:
        return await account_summaries.get_account_summary(desk, actor, login_id)

    return await visit.watch.shared(f"account {login_id}", read).get(visit.actor)


async def _keys(visit: Visit, login_id: str) -> Reading[tuple[list[View], int]]:
    async def read(desk: Desk, actor: Actor) -> tuple[list[View], int]:
        return await keys.list_keys(desk, actor, login_id, Page(KEYS_SHOWN, 0))

    return await visit.watch.shared(f"keys {login_id}", read).get(visit.actor)


async def _decisions(visit: Visit, login_id: str) -> Reading[list[View]]:
    async def read(desk: Desk, actor: Actor) -> list[View]:
        return await traces.list_traces(desk, actor, login_id, None, DECISIONS_READ)

    return await visit.watch.shared(f"decisions {login_id}", read, _REFUSALS_EVERY_S).get(visit.actor)


def _heading(visit: Visit, now: View, reading: Reading[View]) -> Html:
    login_id = now["login_id"]
    links: list[Child] = []
    if any(each.name == "orders" for each in pages.PAGES):
        links.append(el("a", "Its orders", href=f"/orders?login_id={login_id}"))
    if any(each.name == "audit" for each in pages.PAGES):
        links.append(el("a", "Who changed what", href=f"/audit?about={login_id}"))
    old = state(WARN, f"{age(reading.age_s)} old", reading.trouble) if reading.trouble else None
    return el(
        "div",
        el("a", "← Accounts", href=list_path(), class_="back"),
        el("h1", login_id),
        el("span", now["firm_name"], class_="firm") if now["firm_name"] else None,
        state(GOOD, "active") if now["active"] else state(BAD, "inactive"),
        old,
        el("span", "group ", el("b", now["group"]), class_="group"),
        el("span", "since ", moment(now["created_at"], visit.zone, visit.now), class_="hint"),
        el("span", links, class_="links"),
        action_button(visit, PAGE_NAME, EDIT, "Change firm or group", about={"login": login_id}),
        class_="heading",
    )


def _allocation(visit: Visit, now: View) -> Html:
    about = {"login": now["login_id"]}
    button = action_button(visit, PAGE_NAME, ALLOCATE, "Change the allocation", about=about, kind="small")
    parts = [
        el("div", el("h3", environment.capitalize()), [_metal(now, environment, metal) for metal in Metal])
        for environment in ENVIRONMENTS
    ]
    shown = el("div", parts, class_="allocation")
    return card("Allocation", shown, _test_book(visit, now), aside=button, name="allocation")


def _metal(now: View, environment: Environment, metal: Metal) -> Html:
    from_book = now["books"][environment.value][metal.value]
    unit = from_book["unit"]
    label = f"{metal.capitalize()} in {environment}: {percent_words(from_book['percent'])} used"
    return el(
        "div",
        el("b", metal.capitalize()),
        el("span", side_words(from_book), class_="hint"),
        meter(from_book["percent"], label=label),
        el("span", el("b", weight(from_book["used"], unit)), " used", class_="amount"),
        el("span", el("b", weight(from_book["free"], unit)), " free", class_="amount"),
        el("span", "of ", weight(from_book["limit"], unit), class_="amount"),
        class_="held",
        data_held=f"{environment} {metal}",
    )


def _switches(visit: Visit, now: View) -> Html:
    rows = [_switch(visit, now, each) for each in SWITCHES]
    return card("Switches", el("div", rows, class_="turns"), name="switches")


def _switch(visit: Visit, now: View, switch: Switch) -> Html:
    on = now[switch.field]
    kind = {"active": BAD}.get(switch.field, OFF)
    shown = state(WARN if switch.field == "scenarios" else GOOD, "on") if on else state(kind, "off")
    about = {"login": now["login_id"], "switch": switch.field, "to": "off" if on else "on"}
    words = switch.turn_off if on else switch.turn_on
    return el(
        "div",
        el("span", el("b", switch.name), el("small", switch.means)),
        shown,
        action_button(visit, PAGE_NAME, TURN, words, about=about, kind="small"),
        class_="turn",
        id=f"switch-{switch.field}",
    )


def _test_book(visit: Visit, now: View) -> Html:
    book = now["books"][Environment.TEST.value]
    button = action_button(
        visit, PAGE_NAME, RESET, "Reset the test book", about={"login": now["login_id"]}, kind="small risky"
    )
    return el(
        "div",
        el("b", "Test book"),
        el(
            "span",
            el("b", grouped(str(book["orders"]))),
            " orders in its list, ",
            el("b", grouped(str(book["archived_orders"]))),
            " set aside by resets",
        ),
        button,
        class_="test-book",
        id="test-book",
    )
