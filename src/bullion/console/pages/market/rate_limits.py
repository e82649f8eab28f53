"""Price tolerance and budgets: how far a price may move, and how many calls are taken."""

from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.stale_form import seen, still
from bullion.console.widgets.components import Column, Line, card, table
from bullion.console.widgets.dialog import action_button, dialog, field, hidden
from bullion.console.widgets.formatting import grouped
from bullion.desk.actions import switches
from bullion.desk.bodies import SwitchesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View
from bullion.records.token import Role

from .forms import Form, beside_fields, saved, short
from .market_data import switches_of
from .names import PAGE_NAME

_BUDGETS = {
    "reads_per_minute": (
        "Reads of one key",
        "a minute",
        "each read that a key asks for: its account, symbols, quotes, orders and positions",
    ),
    "orders_per_minute": (
        "Orders of one key",
        "a minute",
        "each order that a key sends, also one that is refused or repeated",
    ),
    "orders_per_10_seconds": (
        "Orders of one key, at once",
        "in 10 seconds",
        "the same orders over a shorter time: a program that runs wild is stopped early",
    ),
    "account_orders_per_minute": (
        "Orders of one account",
        "a minute",
        "the production orders of all keys of an account together",
    ),
    "failed_auth_per_minute": (
        "Wrong keys from one address",
        "a minute",
        "calls from one address with a wrong key; afterwards the address has to wait",
    ),
}
_CALLS_MAX = 1_000_000
_LEAST = {"failed_auth_per_minute": 1}
_PERCENT_PLACES = 4


async def render(visit: Visit) -> Html:
    held = await switches_of(visit)
    tolerance = short(held["price_tolerance_percent"])
    change = action_button(visit, PAGE_NAME, TOLERANCE, "Change the tolerance", kind="small")
    told = el(
        "div",
        el("p", el("b", f"{tolerance} %", class_="price")),
        el(
            "p",
            "So far may the price have moved from the one that a client expected. Beyond it, in either "
            "direction, the order is refused with price_moved. Orders without an expected price are not "
            "compared.",
            class_="hint",
        ),
        class_="inside",
    )
    columns = (Column("Budget"), Column("Calls", number=True), Column("In"), Column("What it counts"))
    lines = [
        Line(
            name,
            (el("b", title), el("span", grouped(str(held["budgets"][name])), class_="price"), time, words),
        )
        for name, (title, time, words) in _BUDGETS.items()
    ]
    edit = action_button(visit, PAGE_NAME, BUDGETS, "Change the budgets", kind="small")
    note = el("span", "beyond a budget clients are told rate_limited, and when to try again", class_="hint")
    return el(
        "div",
        card("Price tolerance", told, aside=change, name="tolerance"),
        card("Budgets", table(columns, lines, name="budgets-table"), aside=[note, edit], name="budgets"),
        class_="stack",
    )


async def _ask_tolerance(visit: Visit) -> Html:
    held = await switches.get_switches(visit.desk, visit.actor)
    now = short(held["price_tolerance_percent"])
    hint = f"from 0 to 100; just now {now}"
    fields = [
        hidden("seen", seen({"tolerance": held["price_tolerance_percent"]})),
        field("Tolerance, %", "price_tolerance_percent", value=now, hint=hint, required=True),
    ]
    words = ["It holds for every order from then on, in production and in test."]
    return dialog("Price tolerance", words, confirm="Save", fields=fields)


async def _set_tolerance(visit: Visit) -> Result:
    form = Form(visit.form)
    percent = form.amount("price_tolerance_percent", _PERCENT_PLACES)
    form.check()
    before = await switches.get_switches(visit.desk, visit.actor)
    only_if = still(
        visit, "The tolerance", before, lambda held: {"tolerance": held["price_tolerance_percent"]}
    )
    with beside_fields(visit.form):
        changes = Changes(SwitchesBody, {"price_tolerance_percent": percent})
        after = await switches.patch_switches(visit.desk, visit.actor, changes, only_if=only_if)
    was, now = ({"": f"{short(each['price_tolerance_percent'])} %"} for each in (before, after))
    return Result(saved("Price tolerance", was, now))


async def _ask_budgets(visit: Visit) -> Html:
    held = (await switches.get_switches(visit.desk, visit.actor))["budgets"]
    fields = [
        hidden("seen", seen(held)),
        *(
            field(f"{title}, {time}", name, value=str(held[name]), hint=f"counts {words}")
            for name, (title, time, words) in _BUDGETS.items()
        ),
    ]
    words = ["They hold for every key and account of this broker. 0 closes a budget."]
    return dialog("Budgets", words, confirm="Save", fields=fields)


async def _set_budgets(visit: Visit) -> Result:
    form = Form(visit.form)
    wanted = {name: form.count(name, _LEAST.get(name, 0), _CALLS_MAX) for name in _BUDGETS}
    form.check()
    before = await switches.get_switches(visit.desk, visit.actor)
    only_if = still(visit, "The budgets", before, lambda held: held["budgets"])
    changed = {name: value for name, value in wanted.items() if value != before["budgets"][name]}
    if not changed:
        return Result("The budgets are as they were: nothing was changed.")
    changes = Changes(SwitchesBody, {"budgets": changed})
    after = await switches.patch_switches(visit.desk, visit.actor, changes, only_if=only_if)
    return Result(saved("Budgets", _spoken(before), _spoken(after)))


def _spoken(held: View) -> dict[str, str]:
    return {
        f"{title.lower()} {time}": grouped(str(held["budgets"][name]))
        for name, (title, time, _) in _BUDGETS.items()
    }


TOLERANCE = Action("tolerance", Role.ADMIN, _ask_tolerance, _set_tolerance)
BUDGETS = Action("budgets", Role.ADMIN, _ask_budgets, _set_budgets)
ACTIONS = (TOLERANCE, BUDGETS)
