"""The list of accounts: found by login or firm, with their bars, switches and keys."""

from collections.abc import Sequence

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.widgets.components import BAD, GOOD, OFF, WARN, Column, Line, card, empty, state, table
from bullion.console.widgets.dialog import action_button
from bullion.console.widgets.times import age
from bullion.console.widgets.unreadable import unreadable_card
from bullion.desk.actions.account_summaries import SOON_S, list_account_summaries
from bullion.desk.desk import Desk, View
from bullion.desk.unreadable import is_unreadable
from bullion.records.token import Actor

from .account_actions import CREATE
from .addresses import PAGE_NAME, account_path, list_path
from .allocation_bars import ENVIRONMENTS, used_bars

AT_ONCE = 50
_SEARCH_MAX = 100
_COLUMNS = (
    Column("Account"),
    Column("Group"),
    Column("Active"),
    Column("API"),
    Column("Production"),
    Column("Scenarios"),
    Column("Used in production"),
    Column("Used in test"),
    Column("Keys"),
)


async def render(visit: Visit) -> Html:
    search = visit.query.get("q", "").strip()[:_SEARCH_MAX]
    after = visit.query.get("after", "")[:_SEARCH_MAX].replace("\0", "")

    async def read(desk: Desk, actor: Actor) -> tuple[list[View], bool]:
        return await list_account_summaries(desk, actor, search, after, AT_ONCE)

    reading = await visit.watch.shared(f"accounts {(after, search)}", read).get(visit.actor)
    if reading.value is None:
        shown: Child = empty(reading.trouble or "Not read yet.", "It is tried again by itself.")
    elif reading.value[0]:
        found, more = reading.value
        lines = [Line(each["login_id"], _cells(each)) for each in found if not is_unreadable(each)]
        lost = [(f"account {each['login_id']}", each) for each in found if is_unreadable(each)]
        shown = [
            unreadable_card(lost),
            table(_COLUMNS, lines, name="accounts-table"),
            _paging(search, after, found[-1]["login_id"] if more else None),
        ]
    else:
        shown = _nothing(search, after)
    old = None
    if reading.trouble is not None and reading.read_at is not None:
        old = state(WARN, f"{age(reading.age_s)} old", reading.trouble)
    aside = [old, _search(search), action_button(visit, PAGE_NAME, CREATE, "New account", kind="primary")]
    return el(
        "div",
        el("h1", "Accounts", class_="unseen"),
        card("Accounts", shown, aside=aside, name="accounts"),
        class_="accounts",
    )


def _search(search: str) -> Html:
    return el(
        "form",
        el(
            "input",
            type="search",
            name="q",
            value=search,
            placeholder="Login or firm",
            aria_label="Search by login or firm",
            maxlength=_SEARCH_MAX,
            autocomplete="off",
            spellcheck="false",
        ),
        el("button", "Search"),
        el("a", "Show all", href=list_path()) if search else None,
        method="get",
        action=list_path(),
        role="search",
        class_="search",
    )


def _nothing(search: str, after: str) -> Html:
    if search:
        return empty(
            f"No account has “{search}” in its login or firm.",
            ["Type less of it, or ", el("a", "show all accounts", href=list_path()), "."],
        )
    if after:
        return empty("There are no further accounts.", el("a", "From the start", href=list_path()))
    return empty(
        "There is no account yet.",
        "Make one with New account: its group says at which premiums it trades, its allocation how much. "
        "Then issue a key for its program.",
    )


def _paging(search: str, after: str, last: str | None) -> Html | None:
    if not after and last is None:
        return None
    return el(
        "p",
        el("a", "← From the start", href=list_path(q=search)) if after else None,
        el("a", f"Next {AT_ONCE} →", href=list_path(q=search, after=last)) if last else None,
        class_="paging",
    )


def on_off(*, on: bool, kind: str = GOOD) -> Html:
    return state(kind, "on") if on else state(OFF, "off")


def _cells(each: View) -> Sequence[Child]:
    return (
        [
            el("a", each["login_id"], href=account_path(each["login_id"]), class_="name"),
            el("small", each["firm_name"]) if each["firm_name"] else None,
        ],
        each["group"],
        state(GOOD, "active") if each["active"] else state(BAD, "inactive"),
        on_off(on=each["api_access"]),
        on_off(on=each["production_trading"]),
        on_off(on=each["scenarios"], kind=WARN),
        *(used_bars(each["books"][environment], environment) for environment in ENVIRONMENTS),
        _keys(each),
    )


def _keys(each: View) -> list[Child]:
    if not each["keys"]:
        return [el("span", "no key", class_="hint")]
    words = f"{each['keys_expiring']} within {SOON_S // 86_400} days"
    soon = state(WARN, words, "expires soon: rotate it") if each["keys_expiring"] else None
    return [el("b", each["keys"]), el("small", soon) if soon else None]
