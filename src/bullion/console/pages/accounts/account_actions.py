"""What the desk does to an account: create it, change it, turn its switches, reset its test book."""

from dataclasses import dataclass
from typing import Any

from bullion.console.forms import Checkbox, Choice, Dialog, FormErrors, Group, Options, field_of
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import ACCOUNTS, account_path
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import hint
from bullion.console.widgets.formatting import count, is_zero, weight
from bullion.desk.actions.account_summaries import get_account_summary
from bullion.desk.actions.accounts import create_account, get_account, patch_account
from bullion.desk.actions.book_reset import reset_test_book
from bullion.desk.actions.groups import list_groups
from bullion.desk.bodies import AccountBody, AllocationBody, NewAccountBody
from bullion.desk.body_fields import BodyField, body_fields, defaults_of
from bullion.desk.conversion import Changes, convert
from bullion.desk.desk import OnlyIf, View
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.records.page import Page
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError

_GROUPS_MAX = 200
_KEPT = "Recorded orders stay: pending orders are still answered, and open orders can be closed."
_LOGIN = field_of(
    NewAccountBody,
    "login_id",
    "Login",
    "Cannot be changed later.",
    rule="Use up to 64 letters, digits and . _ @ -, beginning with a letter or digit.",
)
_SPECIAL_FIELDS = {
    "firm_name": field_of(AccountBody, "firm_name", rule="Use up to 200 visible characters."),
    "group": Choice("group", "Group", body_fields(AccountBody)["group"].description, required=True),
}
"""Settings that need more than their type says."""
_SETTINGS = [
    _SPECIAL_FIELDS.get(name) or field_of(AccountBody, name)
    for name, field in body_fields(AccountBody).items()
    if bool not in field.kinds and field.body is None
]
"""Those that are typed."""
OTHER_SETTINGS = [each for each in _SETTINGS if each.name not in _SPECIAL_FIELDS]
"""Those that the heading of an account's page does not show."""
_ALLOCATION = Group(
    "pair",
    [
        field_of(AllocationBody, "gold", "Gold, g", "The largest net position."),
        field_of(AllocationBody, "silver", "Silver, kg", "The largest net position."),
    ],
)


async def _group_options(visit: Visit, current: str = "") -> dict[str, Options]:
    found, _ = await list_groups(visit.desk, visit.actor, Page(_GROUPS_MAX, 0))
    if not found:
        raise RefusalError(
            NOT_FOUND, "There are no groups yet. Create one first: it sets an account's premiums."
        )
    codes = sorted({each["code"] for each in found} | ({current} - {""}))
    return {"group": [(code, code) for code in codes]}


async def _ask_create(visit: Visit) -> Dialog:
    return Dialog(
        title="New account",
        text=["It starts with two empty books, test and production. Issue a key for it on its page."],
        confirm="Create",
        values=defaults_of(NewAccountBody),
        options=await _group_options(visit),
    )


async def _login_taken(visit: Visit) -> dict[str, str]:
    login_id = visit.form.get(_LOGIN.name, "").strip()
    try:
        await get_account(visit.desk, visit.actor, login_id)
    except RefusalError:
        return {}
    return {_LOGIN.name: f"There is an account {login_id} already."}


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


# --- Settings and allocation ----------------------------------------------------------------------------


async def _patch(visit: Visit, fields: View, only_if: OnlyIf | None = None) -> View:
    changes = Changes(AccountBody, fields)
    return await patch_account(visit.desk, visit.actor, visit.param("login"), changes, only_if=only_if)


def _settings(account: View) -> View:
    return {each.name: account[each.name] for each in _SETTINGS}


def _allocation(account: View) -> View:
    return {"allocation": account["allocation"]}


async def _ask_edit(visit: Visit) -> Dialog:
    now = await get_account(visit.desk, visit.actor, visit.param("login"))
    shown = _settings(now)
    return Dialog(
        title=f"Firm and group of {now['login_id']}",
        text=["A new group's premiums and sizes apply from the next order on."],
        values={**shown, **seen(shown)},
        options=await _group_options(visit, now["group"]),
    )


async def _edit(visit: Visit) -> Result:
    fields = _settings(dict(visit.values))
    now = await _patch(visit, fields, unchanged(visit, visit.param("login"), _settings))
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
    """The buttons that turn a switch of an account, and what that does."""

    turn_on: str
    on: tuple[str, ...]
    turn_off: str
    off: tuple[str, ...]
    danger: bool | None = None
    """Which of the two is dangerous; None: neither."""


_SWITCH_TEXTS = {
    "active": Switch(
        "Activate",
        ("Its requests are accepted again, as far as its other switches allow.",),
        "Deactivate",
        ("Its requests, and orders that the desk places for it, are refused with account_inactive.", _KEPT),
        danger=False,
    ),
    "api_access": Switch(
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
    "production_trading": Switch(
        "Allow production trading",
        ("Its production keys may place real orders: each that is confirmed becomes a deal.",),
        "Stop production trading",
        (
            "Its real orders are refused with production_trading_disabled.",
            "Reading, and trading in test, stay allowed.",
            _KEPT,
        ),
        danger=True,
    ),
    "scenarios": Switch(
        "Allow scenarios",
        ("In the test environment only, its program may ask for any refusal, to test how it handles it.",),
        "Stop scenarios",
        ("Requests with a scenario are refused with scenario_not_allowed.",),
    ),
}


def _plain_switch(field: BodyField) -> Switch:
    text = (field.description,) if field.description else ()
    return Switch(f"Turn on {field.title}", text, f"Turn off {field.title}", text)


_FLAGS = {name: field for name, field in body_fields(AccountBody).items() if bool in field.kinds}
SWITCHES = {name: (field, _SWITCH_TEXTS.get(name) or _plain_switch(field)) for name, field in _FLAGS.items()}


def _switch(visit: Visit) -> tuple[BodyField, Switch, bool]:
    if (name := visit.param("switch")) not in SWITCHES:
        raise RefusalError(NOT_FOUND, "An account has no such switch.")
    return *SWITCHES[name], visit.param("to") == "on"


async def _ask_switch(visit: Visit) -> Dialog:
    _, switch, on = _switch(visit)
    now = await get_account(visit.desk, visit.actor, visit.param("login"))
    label = switch.turn_on if on else switch.turn_off
    return Dialog(
        title=f"{label} for {now['login_id']}?" if " " in label else f"{label} {now['login_id']}?",
        text=[*(switch.on if on else switch.off), "It takes effect within a second on every node."],
        confirm=label,
        danger=switch.danger is on,
    )


async def _turn(visit: Visit) -> Result:
    field, _, on = _switch(visit)
    now = await _patch(visit, {field.name: on})
    return Result(f"{field.title} of {now['login_id']} is {'on' if now[field.name] else 'off'}.")


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
    create_account,
    _ask_create,
    _create,
    (
        Group("trio", [_LOGIN, *_SETTINGS]),
        _ALLOCATION,
        Group("pair", [Checkbox(name, field.title, field.description) for name, field in _FLAGS.items()]),
    ),
    check=_login_taken,
)
EDIT = Action(ACCOUNTS, "edit", "Change firm or group", patch_account, _ask_edit, _edit, (SEEN, *_SETTINGS))
ALLOCATE = Action(
    ACCOUNTS,
    "allocate",
    "Change the allocation",
    patch_account,
    _ask_allocate,
    _allocate,
    (SEEN, _ALLOCATION),
)
SWITCH = Action(ACCOUNTS, "switch", "Switch", patch_account, _ask_switch, _turn)
RESET = Action(ACCOUNTS, "reset", "Reset the test book", reset_test_book, _ask_reset, _reset)
ACTIONS = (CREATE, EDIT, ALLOCATE, SWITCH, RESET)
