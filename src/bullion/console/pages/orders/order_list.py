"""The list of all orders, newest first, filtered by the parameters of the address, and live."""

from collections.abc import Awaitable, Mapping
from datetime import datetime, timedelta
from typing import NoReturn
from zoneinfo import ZoneInfo

from bullion.console.forms import Choice, Field, Options, fields_html
from bullion.console.html import Child, Html, el
from bullion.console.page import Redirect, Visit
from bullion.console.paths import ORDERS, decision_path, order_path, page_path
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import (
    NOTHING,
    Column,
    card,
    empty,
    freshness,
    hint,
    not_read,
    search_form,
    table,
)
from bullion.console.widgets.formatting import count, grouped, moment, zone_name
from bullion.desk.actions import accounts, orders, symbols, traces
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import RefusalError

from .order_format import deal_number, environment, order_text, status

PAGE_SIZE = 50
_OFFSET_MAX = 10_000_000
_SYMBOLS_MAX = 200
_PERIODS = {
    "15m": ("last 15 minutes", timedelta(minutes=15)),
    "1h": ("last hour", timedelta(hours=1)),
    "today": ("today", None),
    "7d": ("last 7 days", timedelta(days=7)),
    "30d": ("last 30 days", timedelta(days=30)),
}


def _same(names: list[str] | tuple[str, ...] | type[Environment]) -> Options:
    return [(str(each), str(each)) for each in names]


_FROM = "from"
_FILTERS = (
    Choice("environment", "Environment", options=[("", "all"), *_same(Environment)]),
    Choice("status", "State", options=[("", "all"), *_same(orders.STATUSES)]),
    Choice("symbol_code", "Symbol"),
    Field("login_id", "Account", placeholder="all logins"),
    Field("source", "Channel", placeholder="all channels"),
    Choice(
        "since",
        "Since",
        options=[("", "the beginning"), *((key, text) for key, (text, _) in _PERIODS.items())],
    ),
    Field("client_order_id", "Client order id", placeholder="all"),
)
_DESK_FILTERS = ("environment", "status", "symbol_code", "source", "login_id", "client_order_id")
"""Those that the desk's list of orders has under the same names."""


async def list_page(visit: Visit) -> Html:
    if typed := visit.param("find").strip():
        await find(visit, typed)
    chosen = {name: visit.param(name).strip() for name in (*_DESK_FILTERS, "since", _FROM)}
    number = _page_number(visit.param("page"))
    filters: dict[str, str | None] = {name: chosen[name] or None for name in _DESK_FILTERS}
    filters["since"] = _since(chosen, visit.now, visit.zone)
    page = Page(PAGE_SIZE, (number - 1) * PAGE_SIZE)

    async def read(desk: Desk, actor: Actor) -> Listed:
        return await orders.list_orders(desk, actor, filters, page)

    reading = await visit.read((ORDERS, "list", *filters.values(), page.offset), read)
    codes = await visit.read((ORDERS, "symbols"), _symbol_codes)
    shown = card(
        "Orders",
        _filters(visit, chosen, codes.value or []),
        _also_account(visit, chosen),
        _found(visit, reading, chosen, number),
        aside=[_SEARCH, _aside(reading)],
        name="orders",
    )
    return el("div", el("h1", "Orders", class_="unseen"), shown, class_="orders-page")


async def _symbol_codes(desk: Desk, actor: Actor) -> list[str]:
    found, _ = await symbols.list_symbols(desk, actor, Page(_SYMBOLS_MAX, 0))
    return [each["code"] for each in found]


def _page_number(text: str) -> int:
    plain = text.isascii() and text.isdigit() and len(text) < len(str(_OFFSET_MAX))
    return max(1, int(text)) if plain else 1


def _since(chosen: Mapping[str, str], now: datetime, zone: ZoneInfo) -> str | None:
    """Rounded to the minute, so that pages share a read. A time that was typed is in the broker's zone."""
    if chosen[_FROM]:
        try:
            typed = datetime.fromisoformat(chosen[_FROM])
        except ValueError:
            return chosen[_FROM]  # The action says what is wrong with it.
        return (typed if typed.tzinfo else typed.replace(tzinfo=zone)).isoformat()
    if chosen["since"] not in _PERIODS:
        return None
    minute = now.astimezone(zone).replace(second=0, microsecond=0)
    back = _PERIODS[chosen["since"]][1]
    return (minute.replace(hour=0, minute=0) if back is None else minute - back).isoformat()


_SEARCH = search_form(
    f"/{ORDERS}",
    "find",
    placeholder="Order id, request id, client order id or login",
    label="Find an order",
    button=el("button", "Find", class_="primary"),
)


def _filters(visit: Visit, chosen: Mapping[str, str], codes: list[str]) -> Html:
    code = chosen["symbol_code"]
    known = [*codes, *([code] if code and code not in codes else [])]
    zone = zone_name(visit.now.astimezone(visit.zone))
    since = Field(_FROM, f"or from ({zone})", kind="datetime-local")
    fields = [*_FILTERS[:-1], since, _FILTERS[-1]]
    return el(
        "form",
        fields_html(fields, chosen, {"symbol_code": [("", "all"), *_same(known)]}),
        # A link, not a button: it reloads the page, and so clears the fields.
        el("a", "Show all", href=f"/{ORDERS}", class_="all") if any(chosen.values()) else None,
        el("button", "Show", class_="unseen", tabindex="-1"),
        method="get",
        action=f"/{ORDERS}",
        class_="filters",
        data_narrow=True,
        id="filters",
    )


def _also_account(visit: Visit, chosen: Mapping[str, str]) -> Child:
    if visit.param("also") != "account":
        return None
    login_id = chosen["client_order_id"]
    path = page_path(ORDERS, {"login_id": login_id})
    link = el("a", f"the orders of the account {login_id}", href=path)
    return el("p", "An account has this name too: see ", link, ".", class_="note", id="also")


def _aside(reading: Reading[Listed]) -> Child:
    if reading.value is None:
        return None
    total = reading.value[1]
    orders_text = f"{count(total)} order" + ("" if total == 1 else "s")
    return [freshness(reading), hint(f"{orders_text}, newest first, in rupees")]


def _found(visit: Visit, reading: Reading[Listed], chosen: Mapping[str, str], number: int) -> Child:
    if reading.value is None:
        clear = ["Correct the filters, or: ", _SHOW_ALL, "."] if any(chosen.values()) else []
        return not_read(reading, ["It is tried again every second. ", *clear])
    found, total = reading.value
    if not found:
        return _nothing(chosen, total)
    shown = table(
        visit,
        "orders-table",
        _COLUMNS,
        found,
        key="id",
        css=lambda each: "test" if each["deal_label"] else None,
    )
    return [shown, _pager(visit, len(found), total, number)]


def _short(text: str) -> Html:
    """Cut to the width of its column; whole in its title."""
    return el("span", text, class_="short", title=text)


def _reference(_visit: Visit, each: View) -> Child:
    text = each["client_order_id"]
    return NOTHING if text is None else el("code", text, class_="short", title=text)


_COLUMNS = (
    Column("Placed", lambda visit, each: moment(each["created_at"], visit.zone, visit.now)),
    Column("Order", lambda _, each: el("a", order_text(each), href=order_path(each["id"]), class_="order")),
    Column("Account", lambda _, each: _short(each["login_id"])),
    Column("Price", lambda _, each: grouped(each["price"]), number=True),
    Column("Total", lambda _, each: grouped(each["total"]), number=True),
    Column("State", lambda _, each: status(each["status"])),
    Column("Environment", lambda _, each: environment(each["environment"])),
    Column("Deal", lambda _, each: deal_number(each), number=True),
    Column("Channel", lambda _, each: _short(each["source"])),
    Column("Client order id", _reference),
)
_SHOW_ALL = el("a", "Show all orders", href=f"/{ORDERS}")


def _nothing(chosen: Mapping[str, str], total: int) -> Html:
    if total:
        return empty("There are not that many pages.", [_SHOW_ALL, "."])
    if named := chosen["client_order_id"]:
        what = f"No order has the client order id {named}, and no decision or account has this name."
        advice = "Search for a whole id or login. An Idempotency-Key cannot be searched for. "
        return empty(what, [advice, _SHOW_ALL, "."])
    if any(chosen.values()):
        return empty("No matching orders.", ["Change the filters, or: ", _SHOW_ALL, "."])
    return empty(
        "There are no orders yet.",
        "Orders of clients' programs appear here as they arrive, in production and in test. Find a refused "
        "order by its request id.",
    )


def _pager(visit: Visit, shown: int, total: int, number: int) -> Html:
    first = (number - 1) * PAGE_SIZE + 1

    def turn(text: str, page: int, *, there: bool) -> Html:
        if not there:
            return el("span", text, class_="off")
        path = page_path(ORDERS, {**visit.request.query, "page": "" if page == 1 else str(page)})
        return el("a", text, href=path)

    return el(
        "nav",
        turn("‹ Newer", number - 1, there=number > 1),
        el("span", f"{count(first)} to {count(first + shown - 1)} of {count(total)}"),
        turn("Older ›", number + 1, there=first + shown <= total),
        class_="pager",
        aria_label="Pages of orders",
        id="pager",
    )


_ONE = Page(1, 0)


async def find(visit: Visit, typed: str) -> NoReturn:
    """Sends the browser to the order, the decision or the list that was meant.

    A client order id may look like an order id. So what does not exist as an id is searched for as a client
    order id.
    """
    lower = typed.lower()
    if orders.ORDER_ID.fullmatch(lower) and await _exists(orders.get_order(visit.desk, visit.actor, lower)):
        raise Redirect(order_path(lower))
    if traces.REQUEST_ID.fullmatch(lower):
        await _find_request(visit, lower)
    named = await _count(visit, typed)
    account = await _exists(accounts.get_account(visit.desk, visit.actor, typed))
    if account and not named:
        raise Redirect(page_path(ORDERS, {"login_id": typed}))
    also = "account" if account else ""
    raise Redirect(page_path(ORDERS, {"client_order_id": typed, "also": also}))


async def _find_request(visit: Visit, request_id: str) -> None:
    found, _ = await orders.list_orders(visit.desk, visit.actor, {"request_id": request_id}, _ONE)
    if found:
        raise Redirect(order_path(found[0]["id"]))
    try:
        await traces.get_trace(visit.desk, visit.actor, request_id)
    except RefusalError as refused:
        if refused.refusal is not NOT_FOUND or await _count(visit, request_id):
            return
    raise Redirect(decision_path(request_id))


async def _count(visit: Visit, client_order_id: str) -> int:
    filters: dict[str, str | None] = {"client_order_id": client_order_id}
    _, total = await orders.list_orders(visit.desk, visit.actor, filters, _ONE)
    return total


async def _exists(read: Awaitable[View]) -> bool:
    try:
        await read
    except RefusalError as refused:
        if refused.refusal is NOT_FOUND:
            return False
        raise
    return True
