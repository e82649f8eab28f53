"""Price tolerance and rate limits: how far a price may move, and how many requests are accepted."""

from bullion.console.forms import Dialog, field_of, saved
from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import Column, card, hint, table
from bullion.console.widgets.formatting import count, trim_zeros
from bullion.desk.actions.switches import get_switches, patch_switches
from bullion.desk.bodies import BudgetsBody, SwitchesBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import View

from . import price_streams
from .market_data import switches_of

_RATE_LIMITS = {
    "reads_per_minute": (
        "Reads per minute, per key",
        "every read with a key: account, symbols, quotes, orders and positions",
    ),
    "orders_per_minute": (
        "Orders per minute, per key",
        "every order that is sent with a key, also refused and repeated ones",
    ),
    "orders_per_10_seconds": (
        "Orders per 10 seconds, per key",
        "the same orders over a shorter time, to stop a runaway program early",
    ),
    "account_orders_per_minute": (
        "Orders per minute, per account",
        "production orders with all keys of an account",
    ),
    "failed_auth_per_minute": (
        "Wrong keys per minute, per address",
        "requests from one address with a wrong key; then the address has to wait",
    ),
}
_MOVE = field_of(
    SwitchesBody,
    "price_move_percent_max",
    "Largest price move without a question, %",
    "from 0 to 100; a change of the desk that moves a client's price further has to be confirmed",
)
_CROSSED = field_of(
    SwitchesBody,
    "refuse_crossed",
    "Refuse orders at crossed prices",
    "where a client could sell for more than it buys for",
)
_TOLERANCE = field_of(
    SwitchesBody,
    "price_tolerance_percent",
    "Price tolerance, %",
    "from 0 to 100, of the price that the client expected",
)


async def render(visit: Visit) -> Html:
    held = await switches_of(visit)
    tolerance = el("b", f"{trim_zeros(held[_TOLERANCE.name])} %", class_="focal")
    meaning = (
        "How far the price may have moved from the one that the client expected. Beyond it, in either "
        "direction, the order is refused with price_moved. Orders without an expected price are not checked."
    )
    shown = el("div", el("p", tolerance), el("p", meaning, class_="hint"), class_="inside")
    rows = [(name, *texts, held["budgets"][name]) for name, texts in _RATE_LIMITS.items()]
    limits = table(visit, "budgets-table", _COLUMNS, rows, key=0)
    note = hint("above a limit clients get rate_limited, and when to retry")
    aside = [note, BUDGETS.button(visit, kind="small")]
    return el(
        "div",
        card("Price tolerance", shown, aside=TOLERANCE.button(visit, kind="small"), name="tolerance"),
        card("Price guard", _guard(held), aside=GUARD.button(visit, kind="small"), name="price-guard"),
        card("Rate limits", limits, aside=aside, name="budgets"),
        await price_streams.render(visit),
        class_="stack",
    )


_COLUMNS = (
    Column("Limit", lambda _, row: el("b", row[1])),
    Column("Requests", lambda _, row: el("span", count(row[3]), class_="price"), number=True),
    Column("What it counts", lambda _, row: row[2]),
)


def _guard(held: View) -> Html:
    crossed = "are refused" if held[_CROSSED.name] else "are accepted"
    texts = [
        "A change of the desk that moves a client's price further has to be confirmed.",
        "A change that makes a price crossed or losing always has to be, and so does a wider limit.",
        f"Orders at crossed prices, where a client could sell for more than it buys for, {crossed}.",
    ]
    percent = el("b", f"{trim_zeros(held[_MOVE.name])} %", class_="focal")
    return el("div", el("p", percent), [el("p", each, class_="hint") for each in texts], class_="inside")


def _guard_settings(held: View) -> View:
    return {name: held[name] for name in (_MOVE.name, _CROSSED.name)}


async def _ask_guard(visit: Visit) -> Dialog:
    shown = _guard_settings(await get_switches(visit.desk, visit.actor))
    return Dialog(
        title="Price guard",
        text=["It applies to every change of the desk and every order from now on."],
        values={**shown, **seen(shown)},
    )


async def _set_guard(visit: Visit) -> Result:
    before = await get_switches(visit.desk, visit.actor)
    only_if = unchanged(visit, "The price guard", _guard_settings)
    only_if(before)
    changes = Changes(SwitchesBody, {each.name: visit.values[each.name] for each in (_MOVE, _CROSSED)})
    after = await patch_switches(visit.desk, visit.actor, changes, only_if=only_if)
    was, now = (
        {
            "limit": f"{trim_zeros(each[_MOVE.name])} %",
            "crossed prices": "refused" if each[_CROSSED.name] else "accepted",
        }
        for each in (before, after)
    )
    return Result(saved("Price guard", was, now))


def _tolerance(held: View) -> View:
    return {_TOLERANCE.name: held[_TOLERANCE.name]}


async def _ask_tolerance(visit: Visit) -> Dialog:
    shown = _tolerance(await get_switches(visit.desk, visit.actor))
    return Dialog(
        title="Price tolerance",
        text=["It applies to every order from now on, in production and in test."],
        values={**shown, **seen(shown)},
    )


async def _set_tolerance(visit: Visit) -> Result:
    before = await get_switches(visit.desk, visit.actor)
    only_if = unchanged(visit, "The tolerance", _tolerance)
    only_if(before)
    changes = Changes(SwitchesBody, {_TOLERANCE.name: visit.values[_TOLERANCE.name]})
    after = await patch_switches(visit.desk, visit.actor, changes, only_if=only_if)
    was, now = ({"": f"{trim_zeros(each[_TOLERANCE.name])} %"} for each in (before, after))
    return Result(saved("Price tolerance", was, now))


def _budgets(held: View) -> View:
    budgets: View = held["budgets"]
    return budgets


async def _ask_budgets(visit: Visit) -> Dialog:
    shown = _budgets(await get_switches(visit.desk, visit.actor))
    return Dialog(
        title="Rate limits",
        text=["They apply to every key and account of this broker. 0 refuses every request."],
        values={**shown, **seen(shown)},
    )


async def _set_budgets(visit: Visit) -> Result:
    before = await get_switches(visit.desk, visit.actor)
    only_if = unchanged(visit, "The rate limits", _budgets)
    only_if(before)
    changed = {
        name: visit.values[name] for name in _RATE_LIMITS if visit.values[name] != before["budgets"][name]
    }
    if not changed:
        return Result(saved("Rate limits", {}, {}))
    changes = Changes(SwitchesBody, {"budgets": changed})
    after = await patch_switches(visit.desk, visit.actor, changes, only_if=only_if)
    return Result(saved("Rate limits", _text(before), _text(after)))


def _text(held: View) -> dict[str, str]:
    return {
        title[:1].lower() + title[1:]: count(held["budgets"][name])
        for name, (title, _) in _RATE_LIMITS.items()
    }


_BUDGET_FIELDS = [
    field_of(BudgetsBody, name, title, f"counts {meaning}") for name, (title, meaning) in _RATE_LIMITS.items()
]
TOLERANCE = Action(
    MARKET,
    "tolerance",
    "Change the tolerance",
    patch_switches,
    _ask_tolerance,
    _set_tolerance,
    (SEEN, _TOLERANCE),
    changes=_TOLERANCE.name,
)
GUARD = Action(
    MARKET,
    "price-guard",
    "Change the guard",
    patch_switches,
    _ask_guard,
    _set_guard,
    (SEEN, _MOVE, _CROSSED),
    changes=_MOVE.name,
)
BUDGETS = Action(
    MARKET,
    "budgets",
    "Change the limits",
    patch_switches,
    _ask_budgets,
    _set_budgets,
    (SEEN, *_BUDGET_FIELDS),
    changes="budgets",
)
ACTIONS = (TOLERANCE, GUARD, BUDGETS, *price_streams.ACTIONS)
