"""What the desk does to an account: create it, change it, turn its switches, reset its test book."""

from dataclasses import dataclass
from typing import Any

from bullion.console.forms import Amount, Choice, Dialog, Field, FormErrors, Group, Options, Tick
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import ACCOUNTS, account_path
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import hint
from bullion.console.widgets.formatting import count, is_zero, weight
from bullion.desk.actions.account_summaries import get_account_summary
from bullion.desk.actions.accounts import create_account, get_account, patch_account
from bullion.desk.actions.book_reset import reset_test_book
from bullion.desk.actions.groups import list_groups
from bullion.desk.bodies import AccountBody, NewAccountBody
from bullion.desk.conversion import Changes, convert
from bullion.desk.desk import OnlyIf, View
from bullion.desk.registry import role_of
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.metals.weight import PLACES
from bullion.records.page import Page
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError

_GROUPS_MAX = 200
_KEPT = "Recorded orders stay: pending orders continue to their hedge, and open orders can be closed."
_LOGIN = Field(
    "login_id",
    "Login",
    "Cannot be changed later.",
    required=True,
    rule="Use up to 64 letters, digits and . _ @ -, beginning with a letter or digit.",
)
_FIRM = Field("firm_name", "Firm", "Optional.", rule="Use up to 200 visible characters.")
_GROUP = Choice("group", "Group", "Sets its premiums and order sizes.", required=True)
_ALLOCATION = Group(
    "pair",
    [
        Amount("gold", "Gold, in grams", "The largest net position.", required=True, places=PLACES),
        Amount("silver", "Silver, in kilograms", "The largest net position.", required=True, places=PLACES),
    ],
)


async def _group_options(visit: Visit, current: str = "") -> dict[str, Options]:
    found, _ = await list_groups(visit.desk, visit.actor, Page(_GROUPS_MAX, 0))
    if not found:
        raise RefusalError(
            NOT_FOUND, "There are no groups yet. Create one first: it sets an account's premiums."
        )
    codes = sorted({each["code"] for each in found} | ({current} - {""}))
    return {_GROUP.name: [(code, code) for code in codes]}


async def _ask_create(visit: Visit) -> Dialog:
    return Dialog(
        title="New account",
        text=["It starts with two empty books, test and production. Issue a key for it on its page."],
        confirm="Create",
        values={"gold": "0", "silver": "0", "active": True, "api_access": True},
        options=await _group_options(visit),
    )


async def _create(visit: Visit) -> Result:
    body = convert(_with_allocation(visit.values), NewAccountBody)
    try:
        await create_account(visit.desk, visit.actor, body)
    except RefusalError as refused:
        if refused.refusal is CONFLICT:
            raise FormErrors({"login_id": refused.message}) from refused
        raise
    login_id = body.login_id
    return Result(f"Account {login_id} is created.", go_to=account_path(login_id))


def _with_allocation(values: Any) -> dict[str, Any]:
    rest = {name: value for name, value in values.items() if name not in ("gold", "silver")}
    return {**rest, "allocation": {metal.value: values[metal.value] for metal in Metal}}


# --- Firm, group, allocation ----------------------------------------------------------------------------


async def _patch(visit: Visit, fields: View, only_if: OnlyIf | None = None) -> View:
    changes = Changes(AccountBody, fields)
    return await patch_account(visit.desk, visit.actor, visit.param("login"), changes, only_if=only_if)


def _firm_and_group(account: View) -> View:
    return {"firm_name": account["firm_name"], "group": account["group"]}


def _allocation(account: View) -> View:
    return {"allocation": account["allocation"]}


async def _ask_edit(visit: Visit) -> Dialog:
    now = await get_account(visit.desk, visit.actor, visit.param("login"))
    shown = _firm_and_group(now)
    return Dialog(
        title=f"Firm and group of {now['login_id']}",
        text=["A new group's premiums and sizes apply from the next order on."],
        confirm="Save",
        values={**shown, **seen(shown)},
        options=await _group_options(visit, now["group"]),
    )


async def _edit(visit: Visit) -> Result:
    fields = _firm_and_group(dict(visit.values))
    now = await _patch(visit, fields, unchanged(visit, visit.param("login"), _firm_and_group))
    return Result(f"{now['login_id']} is in the group {now['group']}.")


async def _ask_allocate(visit: Visit) -> Dialog:
    now = await get_account_summary(visit.desk, visit.actor, visit.param("login"))
    used = [
        f"{metal.capitalize()}: {weight(position['used'], position['unit'])} used in {environment} now."
        for environment in (Environment.PRODUCTION, Environment.TEST)
        for metal in Metal
        if not is_zero((position := now["books"][environment.value][metal.value])["used"])
    ]
    return Dialog(
        title=f"Allocation of {now['login_id']}",
        text=[
            "It applies to production and to test separately, from the next order on.",
            "Where it is below what is used now, only orders that reduce the position are accepted.",
            hint(" ".join(used) or "Nothing is used now."),
        ],
        confirm="Save",
        values={**now["allocation"], **seen(_allocation(now))},
    )


async def _allocate(visit: Visit) -> Result:
    fields = {"allocation": _with_allocation(visit.values)["allocation"]}
    subject = f"The allocation of {visit.param('login')}"
    now = await _patch(visit, fields, unchanged(visit, subject, _allocation))
    limits = [weight(now["allocation"][metal], metal.unit) + f" of {metal}" for metal in Metal]
    return Result(f"{now['login_id']} may hold {' and '.join(limits)}.")


# --- Switches -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of an account, with the buttons that turn it and what that does."""

    field: str
    name: str
    meaning: str
    turn_on: str
    on: tuple[str, ...]
    turn_off: str
    off: tuple[str, ...]
    danger: bool | None = None
    """Which of the two is dangerous; None: neither."""


SWITCHES = (
    Switch(
        "active",
        "Active",
        "Whether the account may do anything.",
        "Activate",
        ("Its requests are accepted again, as far as its other switches allow.",),
        "Deactivate",
        ("Its requests, and orders that the desk places for it, are refused with account_inactive.", _KEPT),
        danger=False,
    ),
    Switch(
        "api_access",
        "API access",
        "Whether its keys work.",
        "Open the API",
        ("Its keys work again.",),
        "Close the API",
        (
            "Every request with its keys is refused with api_access_disabled, in production and in test.",
            "Orders that the desk places for it are still accepted.",
            _KEPT,
        ),
        danger=False,
    ),
    Switch(
        "production_trading",
        "Production trading",
        "Whether it may place real orders over the API.",
        "Allow production trading",
        ("Its production keys may place real orders: each is hedged at the venue and becomes a deal.",),
        "Stop production trading",
        (
            "Its real orders are refused with production_trading_disabled.",
            "Reading, and trading in test, stay allowed.",
            _KEPT,
        ),
        danger=True,
    ),
    Switch(
        "scenarios",
        "Scenarios",
        "Whether its program may ask the test environment for refusals.",
        "Allow scenarios",
        ("In the test environment only, its program may ask for any refusal, to test how it handles it.",),
        "Stop scenarios",
        ("Requests with a scenario are refused with scenario_not_allowed.",),
    ),
)


def _switch(visit: Visit) -> tuple[Switch, bool]:
    for each in SWITCHES:
        if each.field == visit.param("switch"):
            return each, visit.param("to") == "on"
    raise RefusalError(NOT_FOUND, "An account has no such switch.")


async def _ask_switch(visit: Visit) -> Dialog:
    switch, on = _switch(visit)
    now = await get_account(visit.desk, visit.actor, visit.param("login"))
    label = switch.turn_on if on else switch.turn_off
    return Dialog(
        title=f"{label} for {now['login_id']}?" if " " in label else f"{label} {now['login_id']}?",
        text=[*(switch.on if on else switch.off), "It takes effect within a second on every node."],
        confirm=label,
        danger=switch.danger is on,
    )


async def _turn(visit: Visit) -> Result:
    switch, on = _switch(visit)
    now = await _patch(visit, {switch.field: on})
    return Result(f"{switch.name} of {now['login_id']} is {'on' if now[switch.field] else 'off'}.")


# --- The test book --------------------------------------------------------------------------------------


async def _ask_reset(visit: Visit) -> Dialog:
    now = await get_account_summary(visit.desk, visit.actor, visit.param("login"))
    book = now["books"][Environment.TEST.value]
    freed = [f"{weight(book[metal]['used'], book[metal]['unit'])} of {metal}" for metal in Metal]
    return Dialog(
        title=f"Reset the test book of {now['login_id']}?",
        text=[
            f"{_orders(book['orders'])} in test leave its list and positions, and are archived.",
            f"This frees {' and '.join(freed)}.",
            "Each can still be read by its id, and a retry returns the order that it placed.",
            "Keys, allocation and production do not change. This cannot be undone.",
        ],
        confirm="Reset the test book",
        danger=True,
    )


def _orders(number: int) -> str:
    return "1 order" if number == 1 else f"{count(number)} orders"


async def _reset(visit: Visit) -> Result:
    now = await reset_test_book(visit.desk, visit.actor, visit.param("login"))
    return Result(f"The test book of {now['login_id']} is empty; {_orders(now['archived_orders'])} archived.")


CREATE = Action(
    ACCOUNTS,
    "create",
    "New account",
    role_of(create_account),
    _ask_create,
    _create,
    (
        Group("trio", [_LOGIN, _FIRM, _GROUP]),
        _ALLOCATION,
        Group(
            "pair",
            [
                Tick("active", "Active", "Otherwise every request is refused."),
                Tick("api_access", "API access", "Its keys work."),
                Tick("production_trading", "Production trading", "It may place real orders."),
                Tick("scenarios", "Scenarios", "It may ask the test environment for refusals."),
            ],
        ),
    ),
)
_ADMIN = role_of(patch_account)
EDIT = Action(ACCOUNTS, "edit", "Change firm or group", _ADMIN, _ask_edit, _edit, (SEEN, _FIRM, _GROUP))
ALLOCATE = Action(
    ACCOUNTS, "allocate", "Change the allocation", _ADMIN, _ask_allocate, _allocate, (SEEN, _ALLOCATION)
)
SWITCH = Action(ACCOUNTS, "switch", "Switch", _ADMIN, _ask_switch, _turn)
RESET = Action(ACCOUNTS, "reset", "Reset the test book", role_of(reset_test_book), _ask_reset, _reset)
ACTIONS = (CREATE, EDIT, ALLOCATE, SWITCH, RESET)
