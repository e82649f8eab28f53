"""The desk's users, which are its tokens: who they are, what they may do, and their sessions."""

from bullion.console.forms import Choice, Dialog, field_of, saved
from bullion.console.html import Child, Html, el
from bullion.console.page import Action, Page, Result, Visit
from bullion.console.paths import USERS
from bullion.console.stale_form import SEEN, seen, unchanged
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    OFF,
    Column,
    hint,
    on_off,
    shown_once,
    small,
    state,
    table_card,
)
from bullion.console.widgets.formatting import count, moment_in_column
from bullion.desk.actions.second_factors import get_factor_rule, put_factor_rule, reset_second_factor
from bullion.desk.actions.tokens import (
    create_token,
    delete_token,
    end_token_sessions,
    get_token,
    list_tokens,
    patch_token,
)
from bullion.desk.bodies import FactorRuleBody, TokenBody, TokenChangesBody
from bullion.desk.conversion import Changes, convert
from bullion.desk.desk import View
from bullion.desk.unreadable import is_unreadable
from bullion.records.page import Page as ListPage
from bullion.records.second_factor import FactorRule
from bullion.records.token import Role
from bullion.refusals.desk import UNREADABLE
from bullion.refusals.refusal import RefusalError

_SHOWN = 200
_ROLES = {
    Role.VIEWER: "viewer: sees everything, changes nothing",
    Role.DEALER: "dealer: also sets prices and stock, acts on orders, stops trading",
    Role.ADMIN: "admin: everything, also users",
}
_TOKEN_ID_SHOWN = 32
_RULES = {
    FactorRule.OFF: "nobody has to use one",
    FactorRule.ADMINS: "required for admins",
    FactorRule.ALL: "required for everybody",
}


async def render(visit: Visit) -> Html:
    reading = await visit.read(
        USERS, lambda desk, actor: list_tokens(desk, actor, ListPage(_SHOWN, 0)), every_s=2
    )
    found, total = reading.value or ([], 0)
    shown = table_card(
        visit,
        "Users",
        "users",
        _COLUMNS,
        sorted(found, key=_is_deleted),
        key="token_id",
        nothing=("There are no users yet.", "Create one for each person and each program."),
        css=lambda each: "gone" if _is_deleted(each) else None,
        aside=[
            None if total == len(found) else hint(f"the newest {len(found)} of {total}"),
            RULE.button(visit),
            CREATE.button(visit, kind="primary"),
        ],
        reading=reading,
    )
    text = "Each user logs in with a desk token. The first token of the deployment is not listed here."
    return el("div", el("h1", "Users", class_="unseen"), shown, el("p", text, class_="hint"), class_="stack")


def _is_deleted(each: View) -> bool:
    return bool(each.get("deleted_at"))


def _name(visit: Visit, each: View) -> Child:
    token_id = el("code", each["token_id"])
    if is_unreadable(each):
        return [token_id, small(f"{each['unreadable']} {each['remedy']}")]
    you = " (you)" if each["token_id"] == visit.actor.token_id else ""
    return [el("b", each["name"], you), small(token_id)]


def _time(visit: Visit, at: str | None) -> Child:
    return hint("never") if at is None else moment_in_column(at, visit.zone, visit.now)


def _state(_visit: Visit, each: View) -> Html:
    if is_unreadable(each):
        return state(BAD, "cannot be read")
    return state(OFF, "revoked") if _is_deleted(each) else state(GOOD, "valid")


def _buttons(visit: Visit, each: View) -> Child:
    about, name = {"token": each["token_id"]}, each.get("name", each["token_id"])
    if _is_deleted(each):
        return None
    revoke = REVOKE.button(visit, about, kind="small risky", label=f"Revoke {name}")
    if is_unreadable(each):
        return revoke
    end = END_SESSIONS.button(visit, about, kind="small", label=f"End the sessions of {name}")
    reset = RESET.button(visit, about, kind="small", label=f"Reset the second factor of {name}")
    return el(
        "span",
        EDIT.button(visit, about, kind="small", label=f"Change {name}"),
        end if each["sessions"] else None,
        reset if each["second_factor"] else None,
        revoke,
        class_="acts",
    )


_COLUMNS = (
    Column("User", _name),
    Column("Role", lambda _, each: each.get("role")),
    Column(
        "Created",
        lambda visit, each: (
            None if is_unreadable(each) else moment_in_column(each["created_at"], visit.zone, visit.now)
        ),
        time=True,
    ),
    Column(
        "Last used",
        lambda visit, each: None if is_unreadable(each) else _time(visit, each["last_used_at"]),
        time=True,
    ),
    Column(
        "Second factor",
        lambda _, each: (
            None if is_unreadable(each) or _is_deleted(each) else on_off(on=each["second_factor"])
        ),
    ),
    Column("Open sessions", lambda _, each: count(each.get("sessions", 0)), number=True),
    Column("State", _state),
    Column("", _buttons),
)


async def _ask_create(_visit: Visit) -> Dialog:
    return Dialog(
        title="New user",
        text=["The token is shown once, right after it is created. Have a safe way to hand it over ready."],
        confirm="Create",
        values={"role": Role.VIEWER.value},
    )


async def _create(visit: Visit) -> Result:
    body = convert({"name": visit.values["name"], "role": visit.values["role"]}, TokenBody)
    made = await create_token(visit.desk, visit.actor, body)
    reveal = shown_once(
        f"Created: {made['name']}, {made['role']}",
        [
            el("b", "The token is shown only now. Copy it: nobody can see it again."),
            "Hand it over in a way that nobody else can read. A lost token has to be replaced.",
        ],
        made["token"],
        label="the token",
    )
    return Result(f"{made['name']} is created.", reveal=reveal)


def _settings(token: View) -> View:
    return {"name": token["name"], "role": token["role"]}


def _named(token: View) -> str:
    return f"{token['name']} ({token['token_id']})"


async def _ask_edit(visit: Visit) -> Dialog:
    now = await get_token(visit.desk, visit.actor, visit.param("token"))
    return Dialog(
        title=f"Change {_named(now)}",
        text=["Another role takes effect at once, and ends the user's sessions: they log in again."],
        values={**_settings(now), **seen(_settings(now))},
    )


async def _edit(visit: Visit) -> Result:
    before = await get_token(visit.desk, visit.actor, visit.param("token"))
    changes = Changes(TokenChangesBody, _settings(dict(visit.values)))
    only_if = unchanged(visit, _named(before), _settings)
    after = await patch_token(visit.desk, visit.actor, before["token_id"], changes, only_if=only_if)
    return Result(saved(_named(before), _settings(before), _settings(after)))


async def _ask_end_sessions(visit: Visit) -> Dialog:
    now = await get_token(visit.desk, visit.actor, visit.param("token"))
    return Dialog(
        title=f"End the sessions of {_named(now)}?",
        text=[
            f"Open sessions: {count(now['sessions'])}. The user has to log in again. The token stays valid.",
            "It takes effect within a second on every console.",
        ],
        confirm="End the sessions",
        danger=True,
    )


async def _end_sessions(visit: Visit) -> Result:
    now = await end_token_sessions(visit.desk, visit.actor, visit.param("token"))
    return Result(f"The sessions of {_named(now)} are ended.")


async def _ask_reset(visit: Visit) -> Dialog:
    now = await get_token(visit.desk, visit.actor, visit.param("token"))
    return Dialog(
        title=f"Reset the second factor of {_named(now)}?",
        text=[
            "For a user who lost the telephone and the recovery codes. Make sure that it is really them.",
            "The user's sessions end. Until they set it up again, the token alone opens the console.",
        ],
        confirm="Reset the second factor",
        danger=True,
    )


async def _reset(visit: Visit) -> Result:
    token_id = visit.param("token")
    await reset_second_factor(visit.desk, visit.actor, token_id)
    return Result(f"The second factor of {token_id[:_TOKEN_ID_SHOWN]} is reset.")


async def _ask_rule(visit: Visit) -> Dialog:
    now = await get_factor_rule(visit.desk, visit.actor)
    return Dialog(
        title="Who needs a second factor?",
        text=[
            "It holds for this broker's console at once: users who need one and have none set it up first.",
            "Calls over HTTP and commands need the token alone.",
        ],
        values={**now, **seen(now)},
    )


async def _set_rule(visit: Visit) -> Result:
    body = convert({"required": visit.values["required"]}, FactorRuleBody)
    only_if = unchanged(visit, "Who needs a second factor")
    now = await put_factor_rule(visit.desk, visit.actor, body, only_if=only_if)
    return Result(f"Second factor: {_RULES[FactorRule(now['required'])]}.")


async def _ask_revoke(visit: Visit) -> Dialog:
    try:
        now = await get_token(visit.desk, visit.actor, visit.param("token"))
    except RefusalError as refused:
        if refused.refusal is not UNREADABLE:
            raise
        title, text = f"Revoke {visit.param('token')[:_TOKEN_ID_SHOWN]}?", [refused.message]
    else:
        yours = "This is the user that you are logged in as: you are logged out."
        title = f"Revoke {_named(now)}?"
        text = [
            f"This {now['role']} is locked out within a second: in the console, over HTTP and in commands.",
            *([yours] if now["token_id"] == visit.actor.token_id else []),
        ]
    return Dialog(title=title, text=[*text, "This cannot be undone."], confirm="Revoke the user", danger=True)


async def _revoke(visit: Visit) -> Result:
    now = await delete_token(visit.desk, visit.actor, visit.param("token"))
    return Result(f"{_named(now)} is revoked.")


_NAME = field_of(
    TokenBody, "name", "Name", "Who it is, such as: Asha, dealing.", rule="Use up to 120 visible characters."
)
_ROLE = Choice("role", "Role", options=[*_ROLES.items()])
CREATE = Action(USERS, "create", "New user", create_token, _ask_create, _create, (_NAME, _ROLE))
EDIT = Action(USERS, "edit", "Change", patch_token, _ask_edit, _edit, (SEEN, _NAME, _ROLE))
END_SESSIONS = Action(
    USERS, "end-sessions", "End sessions", end_token_sessions, _ask_end_sessions, _end_sessions
)
RESET = Action(USERS, "reset-factor", "Reset second factor", reset_second_factor, _ask_reset, _reset)
RULE = Action(
    USERS,
    "factor-rule",
    "Second factor",
    put_factor_rule,
    _ask_rule,
    _set_rule,
    (SEEN, Choice("required", "Required", options=[*_RULES.items()])),
)
REVOKE = Action(USERS, "revoke", "Revoke", delete_token, _ask_revoke, _revoke)
PAGE = Page(
    USERS,
    "Users",
    {"": render},
    live_s=3,
    actions=(CREATE, EDIT, END_SESSIONS, RESET, RULE, REVOKE),
    role=Role.ADMIN,
)
