"""The list of accounts: those that traded last come first, each with what is unusual about it."""

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import ACCOUNTS, account_path, page_path
from bullion.console.widgets.charts import meter
from bullion.console.widgets.components import (
    BAD,
    OFF,
    WARN,
    Column,
    card,
    empty,
    freshness,
    hint,
    not_read,
    paging,
    search_form,
    small,
    state,
    table,
    unreadable_card,
)
from bullion.console.widgets.formatting import count, moment_in_column, weight
from bullion.desk.actions.account_summaries import SOON_S, list_account_summaries, list_accounts_by_use
from bullion.desk.desk import Desk, View
from bullion.desk.unreadable import is_unreadable
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.records.token import Actor

from .account_actions import CREATE

PAGE_SIZE = 50
_SEARCH_MAX = 100
_DIGITS_MAX = 9
_BY_LOGIN = "login"
_NEARLY_PERCENT = 90
"""From this part of its allocation on, an account can hardly trade."""
_KEY_SOON = f"key ends within {SOON_S // 86_400} days"


async def render(visit: Visit) -> Html:
    search = visit.param("q").strip()[:_SEARCH_MAX]
    after = visit.param("after")[:_SEARCH_MAX].replace("\0", "")
    by_login = bool(search) or visit.param("sort") == _BY_LOGIN
    skipped = visit.param("from")
    offset = int(skipped) if skipped.isascii() and skipped.isdigit() and len(skipped) < _DIGITS_MAX else 0

    async def read(desk: Desk, actor: Actor) -> tuple[list[View], bool]:
        if by_login:
            return await list_account_summaries(desk, actor, search, after, PAGE_SIZE)
        return await list_accounts_by_use(desk, actor, PAGE_SIZE, offset)

    key = (ACCOUNTS, after, search) if by_login else (ACCOUNTS, offset)
    reading = await visit.read(key, read)
    if reading.value is None:
        shown: Child = not_read(reading, "It is tried again every few seconds.")
    elif reading.value[0]:
        found, more = reading.value
        if by_login:
            sort = {} if search else {"sort": _BY_LOGIN}
            first = page_path(ACCOUNTS, {"q": search, **sort}) if after else None
            following = page_path(ACCOUNTS, {"q": search, **sort, "after": found[-1]["login_id"]})
        else:
            first = f"/{ACCOUNTS}" if offset else None
            following = page_path(ACCOUNTS, {"from": str(offset + PAGE_SIZE)})
        shown = [_table(visit, found), _paging(first, following if more else None)]
    else:
        shown = _nothing(search, bool(after or offset))
    box = search_form(
        f"/{ACCOUNTS}",
        "q",
        value=search,
        placeholder="Login or firm",
        label="Search by login or firm",
        button=el("button", "Search"),
    )
    aside = [freshness(reading), _sorting(search, by_login), box, CREATE.button(visit, kind="primary")]
    title = el("h1", "Accounts", class_="unseen")
    return el("div", title, card("Accounts", shown, aside=aside, name="accounts"), class_="accounts")


def _sorting(search: str, by_login: bool) -> Html | None:
    """How the list is sorted, with a link to the other way."""
    if search:
        return None
    if by_login:
        return hint("by login · ", el("a", "sort by last order", href=f"/{ACCOUNTS}"))
    other = page_path(ACCOUNTS, {"sort": _BY_LOGIN})
    return hint("last order first · ", el("a", "sort by login", href=other))


def _table(visit: Visit, found: list[View]) -> Child:
    unreadable = [(f"account {each['login_id']}", each) for each in found if is_unreadable(each)]
    rows = [each for each in found if not is_unreadable(each)]
    return [
        unreadable_card(visit, unreadable),
        table(visit, "accounts-table", _COLUMNS, rows, key="login_id"),
    ]


def _paging(first: str | None, following: str | None) -> Html | None:
    return paging(
        ("← From the start", first) if first else None,
        (f"Next {PAGE_SIZE} →", following) if following else None,
    )


def _nothing(search: str, later: bool) -> Html:
    everything = f"/{ACCOUNTS}"
    if search:
        return empty(
            f"No account has “{search}” in its login or firm.",
            ["Type fewer letters, or ", el("a", "show all accounts", href=everything), "."],
        )
    if later:
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


def _exceptions(_visit: Visit, each: View) -> Child:
    """What is unlike an account that trades: nothing stands where all is well."""
    found = [
        None if each["active"] else state(BAD, "inactive"),
        None if each["api_access"] else state(WARN, "API closed"),
        state(WARN, "scenarios on") if each["scenarios"] else None,
        *(_nearly_used(each, metal) for metal in Metal),
        state(WARN, f"{count(each['keys_expiring'])} {_KEY_SOON}") if each["keys_expiring"] else None,
        None if each["keys"] else state(OFF, "no key"),
        None if each["production_trading"] else state(OFF, "test only"),
    ]
    return el("span", [one for one in found if one], class_="exceptions")


def _nearly_used(each: View, metal: Metal) -> Html | None:
    percent = each["books"][Environment.PRODUCTION.value][metal.value]["percent"]
    if percent > 100:
        return state(BAD, f"{metal} over its limit")
    return state(WARN, f"{metal} {percent} % used") if percent >= _NEARLY_PERCENT else None


def _last_order(visit: Visit, each: View) -> Child:
    times = {name: book["last_order_at"] for name, book in each["books"].items() if book["last_order_at"]}
    if not times:
        return hint("none")
    last = max(times, key=lambda name: times[name])
    return [moment_in_column(times[last], visit.zone, visit.now), small(f"in {last}")]


def _account(_visit: Visit, each: View) -> Child:
    link = el("a", each["login_id"], href=account_path(each["login_id"]), class_="name")
    return [link, small(each["firm_name"])]


_COLUMNS = (
    Column("Account", _account),
    Column("Group", lambda _, each: each["group"]),
    Column("Exceptions", _exceptions),
    Column("Last order", _last_order, time=True),
    Column("Used in production", lambda _, each: _used(Environment.PRODUCTION, each)),
    Column("Used in test", lambda _, each: _used(Environment.TEST, each)),
    Column("Keys", lambda _, each: count(each["keys"]), number=True),
)
