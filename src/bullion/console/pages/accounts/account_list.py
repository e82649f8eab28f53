"""The list of accounts: searched by login or firm, with their allocation, switches and keys."""

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import ACCOUNTS, account_path, page_path
from bullion.console.widgets.charts import meter
from bullion.console.widgets.components import (
    BAD,
    GOOD,
    WARN,
    Column,
    card,
    empty,
    freshness,
    hint,
    not_read,
    on_off,
    paging,
    search_form,
    small,
    state,
    table,
    unreadable_card,
)
from bullion.console.widgets.formatting import weight
from bullion.desk.actions.account_summaries import SOON_S, list_account_summaries
from bullion.desk.desk import Desk, View
from bullion.desk.unreadable import is_unreadable
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.records.token import Actor

from .account_actions import CREATE

PAGE_SIZE = 50
_SEARCH_MAX = 100


async def render(visit: Visit) -> Html:
    search = visit.param("q").strip()[:_SEARCH_MAX]
    after = visit.param("after")[:_SEARCH_MAX].replace("\0", "")

    async def read(desk: Desk, actor: Actor) -> tuple[list[View], bool]:
        return await list_account_summaries(desk, actor, search, after, PAGE_SIZE)

    reading = await visit.read((ACCOUNTS, after, search), read)
    if reading.value is None:
        shown: Child = not_read(reading, "It is tried again every few seconds.")
    elif reading.value[0]:
        shown = _found(visit, search, after, *reading.value)
    else:
        shown = _nothing(search, after)
    box = search_form(
        f"/{ACCOUNTS}",
        "q",
        value=search,
        placeholder="Login or firm",
        label="Search by login or firm",
        button=el("button", "Search"),
    )
    aside = [freshness(reading), box, CREATE.button(visit, kind="primary")]
    title = el("h1", "Accounts", class_="unseen")
    return el("div", title, card("Accounts", shown, aside=aside, name="accounts"), class_="accounts")


def _found(visit: Visit, search: str, after: str, found: list[View], more: bool) -> Child:
    start = ("← From the start", page_path(ACCOUNTS, {"q": search}))
    next_page = page_path(ACCOUNTS, {"q": search, "after": found[-1]["login_id"]})
    return [
        unreadable_card(
            visit, [(f"account {each['login_id']}", each) for each in found if is_unreadable(each)]
        ),
        table(
            visit,
            "accounts-table",
            _COLUMNS,
            [each for each in found if not is_unreadable(each)],
            key="login_id",
        ),
        paging(start if after else None, (f"Next {PAGE_SIZE} →", next_page) if more else None),
    ]


def _nothing(search: str, after: str) -> Html:
    everything = f"/{ACCOUNTS}"
    if search:
        return empty(
            f"No account has “{search}” in its login or firm.",
            ["Type fewer letters, or ", el("a", "show all accounts", href=everything), "."],
        )
    if after:
        return empty("There are no more accounts.", el("a", "From the start", href=everything))
    return empty(
        "There are no accounts yet.",
        "Create one with New account. Its group sets the premiums it pays, its allocation how much it may "
        "hold. Then issue a key for its program.",
    )


def _used(environment: Environment, each: View) -> list[Html]:
    """A bar for each metal: 120 of 5,000 g."""
    bars = []
    for metal in Metal:
        position = each["books"][environment.value][metal.value]
        limit = weight(position["limit"], position["unit"])
        used = weight(position["used"], "").strip()
        label = f"{metal.capitalize()} in {environment}: {used} of {limit} used"
        bars.append(
            el(
                "span",
                el("span", metal.capitalize(), class_="metal"),
                meter(position["percent"], label=label),
                el("span", f"{used} of {limit}", class_="amount"),
                class_="used",
                data_used=f"{environment} {metal}",
            )
        )
    return bars


def _keys(_visit: Visit, each: View) -> Child:
    if not each["keys"]:
        return hint("no key")
    soon = None
    if each["keys_expiring"]:
        text = f"{each['keys_expiring']} within {SOON_S // 86_400} days"
        soon = state(WARN, text, "expires soon: rotate it")
    return [el("b", each["keys"]), small(soon)]


def _account(_visit: Visit, each: View) -> Child:
    link = el("a", each["login_id"], href=account_path(each["login_id"]), class_="name")
    return [link, small(each["firm_name"])]


_COLUMNS = (
    Column("Account", _account),
    Column("Group", lambda _, each: each["group"]),
    Column("Active", lambda _, each: state(GOOD, "active") if each["active"] else state(BAD, "inactive")),
    Column("API", lambda _, each: on_off(on=each["api_access"])),
    Column("Production", lambda _, each: on_off(on=each["production_trading"])),
    Column("Scenarios", lambda _, each: on_off(on=each["scenarios"], kind=WARN)),
    Column("Used in production", lambda _, each: _used(Environment.PRODUCTION, each)),
    Column("Used in test", lambda _, each: _used(Environment.TEST, each)),
    Column("Keys", _keys),
)
