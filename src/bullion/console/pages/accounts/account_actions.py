"""What the desk does to an account: makes it, changes it, turns its switches, and resets its test book."""

from dataclasses import dataclass

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.stale_form import if_still, seen
from bullion.console.widgets.dialog import choice, dialog, field, hidden, tick
from bullion.console.widgets.formatting import grouped, weight
from bullion.desk.actions import account_summaries, accounts, book_reset, groups
from bullion.desk.bodies import AccountBody, NewAccountBody
from bullion.desk.conversion import Changes, convert
from bullion.desk.desk import OnlyIf, View
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.records.page import Page
from bullion.records.token import Role
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .addresses import account_path
from .forms import beside_fields, weights

_GROUPS_MAX = 200
_AT_ONCE = "It holds on every node within a second."


def _login(visit: Visit) -> str:
    return visit.query.get("login", "")


async def _group_choice(visit: Visit, value: str = "") -> Html:
    found, _ = await groups.list_groups(visit.desk, visit.actor, Page(_GROUPS_MAX, 0))
    if not found:
        raise RefusalError(
            NOT_FOUND, "There is no group yet. Make one first: an account trades at its premiums."
        )
    codes = sorted({each["code"] for each in found} | ({value} - {""}))
    hint = "At whose premiums it trades, and in which sizes."
    return choice("Group", "group", [(code, code) for code in codes], value=value, hint=hint)


def _allocation_fields(gold: str = "0", silver: str = "0") -> list[Html]:
    return [
        field("Gold, in grams", "gold", value=gold, required=True, hint="The largest net position."),
        field(
            "Silver, in kilograms", "silver", value=silver, required=True, hint="The largest net position."
        ),
    ]


# --- Make one -------------------------------------------------------------------------------------------


async def _ask_create(visit: Visit) -> Html:
    return dialog(
        "New account",
        ["It is made with two empty books, test and production. Issue a key for it on its page."],
        confirm="Make the account",
        fields=[
            el(
                "div",
                field("Login", "login_id", required=True, hint="Stays as it is for good."),
                field("Firm", "firm_name", hint="As people know it; may be empty."),
                await _group_choice(visit),
                class_="trio",
            ),
            el("div", _allocation_fields(), class_="pair"),
            el(
                "div",
                tick("Active", "active", on=True, hint="Otherwise every call is refused."),
                tick("API access", "api_access", on=True, hint="Its keys work."),
                tick("Production trading", "production_trading", hint="It may place real orders."),
                tick("Scenarios", "scenarios", hint="It may ask the test environment for refusals."),
                class_="pair",
            ),
        ],
    )


async def _create(visit: Visit) -> Result:
    form = visit.form
    with beside_fields("login_id", "firm_name", "group", "gold", "silver", conflict="login_id"):
        body = {
            "login_id": form.get("login_id", "").strip(),
            "firm_name": form.get("firm_name", "").strip() or None,
            "group": form.get("group", ""),
            "allocation": weights(form),
            **{each.field: form.get(each.field) == "yes" for each in SWITCHES},
        }
        made = await accounts.create_account(visit.desk, visit.actor, convert(body, NewAccountBody))
    return Result(f"The account {made['login_id']} is made.", go_to=account_path(made["login_id"]))


# --- Name, group, allocation ----------------------------------------------------------------------------


async def _patch(visit: Visit, fields: View, only_if: OnlyIf | None = None) -> View:
    changes = Changes(AccountBody, fields)
    return await accounts.patch_account(visit.desk, visit.actor, _login(visit), changes, only_if=only_if)


def _firm_and_group(account: View) -> View:
    return {"firm_name": account["firm_name"], "group": account["group"]}


def _allocation(account: View) -> View:
    return {"allocation": account["allocation"]}


async def _ask_edit(visit: Visit) -> Html:
    now = await accounts.get_account(visit.desk, visit.actor, _login(visit))
    return dialog(
        f"Firm and group of {now['login_id']}",
        ["In another group it trades at that group's premiums and sizes from its next order on."],
        confirm="Change",
        fields=[
            hidden("seen", seen(_firm_and_group(now))),
            field("Firm", "firm_name", value=now["firm_name"] or "", hint="May be empty."),
            await _group_choice(visit, now["group"]),
        ],
    )


async def _edit(visit: Visit) -> Result:
    form = visit.form
    with beside_fields("firm_name", "group"):
        now = await _patch(
            visit,
            {"firm_name": form.get("firm_name", "").strip() or None, "group": form.get("group", "")},
            if_still(visit, _login(visit), _firm_and_group),
        )
    return Result(f"{now['login_id']} is in the group {now['group']}.")


async def _ask_allocate(visit: Visit) -> Html:
    now = await account_summaries.get_account_summary(visit.desk, visit.actor, _login(visit))
    held = [
        f"{metal.capitalize()}: {weight(position['used'], position['unit'])} used in {environment} now."
        for environment in (Environment.PRODUCTION, Environment.TEST)
        for metal in Metal
        if (position := now["books"][environment.value][metal.value])["used"].strip("0.")
    ]
    explanation: list[Child] = [
        "The allocation holds in production and in test, each by itself, from the next order on.",
        "Below what is used now, orders are taken only that bring the position closer to nothing.",
        el("span", " ".join(held) or "Nothing is used now.", class_="hint"),
    ]
    shown = [_short(now["allocation"][metal]) for metal in Metal]
    return dialog(
        f"Allocation of {now['login_id']}",
        explanation,
        confirm="Change the allocation",
        fields=[
            hidden("seen", seen(_allocation(now))),
            el("div", _allocation_fields(*shown), class_="pair"),
        ],
    )


def _short(plain: str) -> str:
    return plain.rstrip("0").rstrip(".") or "0"


async def _allocate(visit: Visit) -> Result:
    with beside_fields("gold", "silver"):
        only_if = if_still(visit, f"The allocation of {_login(visit)}", _allocation)
        now = await _patch(visit, {"allocation": weights(visit.form)}, only_if)
    told = [weight(now["allocation"][metal], metal.unit) + f" of {metal}" for metal in Metal]
    return Result(f"{now['login_id']} may hold {' and '.join(told)}.")


# --- Switches -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Switch:
    """One switch of an account: what it is called, and what turning it does."""

    field: str
    name: str
    turn_on: str
    turn_off: str
    means: str
    on: tuple[str, ...]
    off: tuple[str, ...]


_STAYS = "What is recorded stays: pending orders go on to their hedge, and open ones can be closed."
SWITCHES = (
    Switch(
        "active",
        "Active",
        "Activate",
        "Deactivate",
        "Whether the account may do anything.",
        ("Its calls are answered again, as far as its other switches let them.",),
        ("Its calls, and orders that the desk would place for it, are refused: account_inactive.", _STAYS),
    ),
    Switch(
        "api_access",
        "API access",
        "Open the API",
        "Close the API",
        "Whether its keys work.",
        ("Its keys work again.",),
        (
            "Every call of its keys is refused with api_access_disabled, in production and in test.",
            "Orders that the desk places for it go on.",
            _STAYS,
        ),
    ),
    Switch(
        "production_trading",
        "Production trading",
        "Allow production trading",
        "Stop production trading",
        "Whether it may place real orders over the API.",
        ("Its production keys may place real orders: each is covered at the venue and becomes a deal.",),
        (
            "Its real orders are refused: production_trading_disabled. It still reads, and trades in test.",
            _STAYS,
        ),
    ),
    Switch(
        "scenarios",
        "Scenarios",
        "Allow scenarios",
        "End scenarios",
        "Whether its program may ask the test environment to refuse.",
        ("In test alone, its program may ask for any refusal, to see what it makes of it.",),
        ("What its program asks for in that way is refused with scenario_not_allowed.",),
    ),
)


def _switch(visit: Visit) -> tuple[Switch, bool]:
    for each in SWITCHES:
        if each.field == visit.query.get("switch"):
            return each, visit.query.get("to") == "on"
    raise RefusalError(NOT_FOUND, "An account has no such switch.")


async def _ask_turn(visit: Visit) -> Html:
    switch, on = _switch(visit)
    now = await accounts.get_account(visit.desk, visit.actor, _login(visit))
    words = switch.turn_on if on else switch.turn_off
    dangerous = on == (switch.field == "production_trading")
    return dialog(
        f"{words} for {now['login_id']}?" if " " in words else f"{words} {now['login_id']}?",
        [*(switch.on if on else switch.off), _AT_ONCE],
        confirm=words,
        danger=dangerous and switch.field != "scenarios",
    )


async def _turn(visit: Visit) -> Result:
    switch, on = _switch(visit)
    now = await _patch(visit, {switch.field: on})
    return Result(f"{switch.name} of {now['login_id']} is {'on' if now[switch.field] else 'off'}.")


# --- The test book --------------------------------------------------------------------------------------


async def _ask_reset(visit: Visit) -> Html:
    now = await account_summaries.get_account_summary(visit.desk, visit.actor, _login(visit))
    book = now["books"][Environment.TEST.value]
    held = [f"{weight(book[metal]['used'], book[metal]['unit'])} of {metal}" for metal in Metal]
    return dialog(
        f"Reset the test book of {now['login_id']}?",
        [
            f"Archived, out of its list and positions: {_orders(book['orders'])} in test.",
            f"Free again: {' and '.join(held)}.",
            "Each can still be read by its id, and a repeated call is answered with the order that it made.",
            "Keys, allocation and everything in production stay as they are. It cannot be undone.",
        ],
        confirm="Reset the test book",
        danger=True,
    )


def _orders(count: int) -> str:
    return "one order" if count == 1 else f"{grouped(str(count))} orders"


async def _reset(visit: Visit) -> Result:
    now = await book_reset.reset_test_book(visit.desk, visit.actor, _login(visit))
    return Result(
        f"The test book of {now['login_id']} is empty; {_orders(now['archived_orders'])} set aside."
    )


CREATE = Action("create", Role.ADMIN, _ask_create, _create)
EDIT = Action("edit", Role.ADMIN, _ask_edit, _edit)
ALLOCATE = Action("allocate", Role.ADMIN, _ask_allocate, _allocate)
TURN = Action("turn", Role.ADMIN, _ask_turn, _turn)
RESET = Action("reset", Role.DEALER, _ask_reset, _reset)
ACTIONS = (CREATE, EDIT, ALLOCATE, TURN, RESET)
