"""The list of all orders, newest first: narrowed down by what is in the address, and live."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import Column, Line, card, empty, table
from bullion.console.widgets.dialog import choice
from bullion.console.widgets.formatting import grouped
from bullion.console.widgets.times import moment, zone_name
from bullion.desk.actions import orders, symbols
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.records.page import Page
from bullion.records.token import Actor

from .addresses import PAGE_NAME, list_path, order_path
from .order_format import NOTHING, deal, environment, freshness, status, what

PAGE_SIZE = 50
_OFFSET_MAX = 10_000_000
_SYMBOLS_MAX = 200
_ASKED = ("environment", "status", "symbol_code", "source", "login_id", "client_order_id")
"""Filters whose names in the address are those of the desk's list."""
_SINCE = {
    "15m": ("last 15 minutes", timedelta(minutes=15)),
    "1h": ("last hour", timedelta(hours=1)),
    "today": ("today", None),
    "7d": ("last 7 days", timedelta(days=7)),
    "30d": ("last 30 days", timedelta(days=30)),
}
_COLUMNS = (
    Column("Placed"),
    Column("Order"),
    Column("Account"),
    Column("Price", number=True),
    Column("Total", number=True),
    Column("State"),
    Column("Where"),
    Column("Deal", number=True),
    Column("Channel"),
    Column("Client order id"),
)


async def list_page(visit: Visit) -> Html:
    chosen = {name: visit.query.get(name, "").strip() for name in (*_ASKED, "since", "from")}
    number = _page_number(visit.query.get("page", ""))
    filters: dict[str, str | None] = {name: chosen[name] or None for name in _ASKED}
    filters["since"] = _since(chosen, visit.now, visit.zone)
    page = Page(PAGE_SIZE, (number - 1) * PAGE_SIZE)
    about = (PAGE_NAME, "list", *filters.values(), page.offset)

    async def read(desk: Desk, actor: Actor) -> Listed:
        return await orders.list_orders(desk, actor, filters, page)

    reading = await visit.watch.shared(about, read).get(visit.actor)
    codes = await visit.watch.shared((PAGE_NAME, "symbols"), _codes).get(visit.actor)
    return el(
        "div",
        el("h1", "Orders", class_="unseen"),
        card(
            "Orders",
            _filters(visit, chosen, codes.value or []),
            _also(visit, chosen),
            _found(visit, reading, chosen, number),
            aside=[_search(), _aside(reading)],
            name="orders",
        ),
        class_="orders-page",
    )


async def _codes(desk: Desk, actor: Actor) -> list[str]:
    found, _ = await symbols.list_symbols(desk, actor, Page(_SYMBOLS_MAX, 0))
    return [each["code"] for each in found]


def _page_number(text: str) -> int:
    plain = text.isascii() and text.isdigit() and len(text) < len(str(_OFFSET_MAX))
    return max(1, int(text)) if plain else 1


def _since(chosen: Mapping[str, str], now: datetime, zone: ZoneInfo) -> str | None:
    """By the minute, so that many share a read. What was typed is in the broker's zone."""
    if chosen["from"]:
        try:
            typed = datetime.fromisoformat(chosen["from"])
        except ValueError:
            return chosen["from"]  # The action says what is wrong with it.
        return (typed if typed.tzinfo else typed.replace(tzinfo=zone)).isoformat()
    if chosen["since"] not in _SINCE:
        return None
    minute = now.astimezone(zone).replace(second=0, microsecond=0)
    back = _SINCE[chosen["since"]][1]
    return (minute.replace(hour=0, minute=0) if back is None else minute - back).isoformat()


def _search() -> Html:
    return el(
        "form",
        el(
            "input",
            type="search",
            name="find",
            placeholder="Order id, request id, client order id or login",
            aria_label="Find an order",
            autocomplete="off",
            spellcheck="false",
        ),
        el("button", "Find", class_="primary"),
        method="get",
        action=f"/{PAGE_NAME}",
        class_="search",
        role="search",
        id="search",
    )


def _filters(visit: Visit, chosen: Mapping[str, str], codes: list[str]) -> Html:
    code = chosen["symbol_code"]
    known = [*codes, *([code] if code and code not in codes else [])]
    zone = zone_name(visit.now.astimezone(visit.zone))
    fields = [
        choice(
            "Where", "environment", [("", "everywhere"), *_same(Environment)], value=chosen["environment"]
        ),
        choice("State", "status", [("", "every state"), *_same(orders.STATUSES)], value=chosen["status"]),
        choice("Symbol", "symbol_code", [("", "every symbol"), *_same(known)], value=code),
        _typed("Account", "login_id", chosen, "every login"),
        _typed("Channel", "source", chosen, "every channel"),
        choice(
            "Since",
            "since",
            [("", "the beginning"), *((name, words) for name, (words, _) in _SINCE.items())],
            value=chosen["since"],
        ),
        _typed(f"or from ({zone})", "from", chosen, "", kind="datetime-local"),
        _typed("Client order id", "client_order_id", chosen, "every one"),
    ]
    # A link, not a button: it loads the page anew, and with it what stands in the fields.
    everything = el("a", "Show all", href=f"/{PAGE_NAME}", class_="all") if any(chosen.values()) else None
    return el(
        "form",
        fields,
        everything,
        el("button", "Show", class_="unseen", tabindex="-1"),
        method="get",
        action=f"/{PAGE_NAME}",
        class_="filters",
        data_narrow=True,
        id="filters",
    )


def _same(names: list[str] | tuple[str, ...] | type[Environment]) -> list[tuple[str, str]]:
    return [(str(each), str(each)) for each in names]


def _typed(label: str, name: str, chosen: Mapping[str, str], hint: str, *, kind: str = "text") -> Html:
    return el(
        "label",
        el("span", label),
        el(
            "input",
            type=kind,
            name=name,
            value=chosen[name],
            placeholder=hint or None,
            autocomplete="off",
            spellcheck="false",
        ),
        class_="field",
    )


def _also(visit: Visit, chosen: Mapping[str, str]) -> Child:
    if visit.query.get("also") != "account":
        return None
    login_id = chosen["client_order_id"]
    link = el("a", f"the orders of the account {login_id}", href=list_path({"login_id": login_id}))
    return el("p", "An account has this name too: see ", link, ".", class_="note", id="also")


def _aside(reading: Reading[Listed]) -> Child:
    if reading.value is None:
        return None
    total = reading.value[1]
    count = f"{grouped(str(total))} order" + ("" if total == 1 else "s")
    return [freshness(reading), el("span", f"{count}, newest first, in rupees", class_="hint")]


def _found(visit: Visit, reading: Reading[Listed], chosen: Mapping[str, str], number: int) -> Child:
    if reading.value is None:
        everything = ["Mend it above, or: ", el("a", "Show all orders", href=f"/{PAGE_NAME}"), "."]
        again = "It is tried again every second. "
        return empty(
            reading.trouble or "Not read yet.", [again, *(everything if any(chosen.values()) else ())]
        )
    found, total = reading.value
    if not found:
        return _nothing(chosen, total)
    lines = [Line(each["id"], _cells(visit, each), "test" if each["deal_label"] else None) for each in found]
    return [table(_COLUMNS, lines, name="orders-table"), _pager(visit, len(found), total, number)]


def _cells(visit: Visit, each: View) -> list[Child]:
    return [
        moment(each["created_at"], visit.zone, visit.now),
        el("a", what(each), href=order_path(each["id"]), class_="order"),
        el("span", each["login_id"], class_="short", title=each["login_id"]),
        grouped(each["price"]),
        grouped(each["total"]),
        status(each["status"]),
        environment(each["environment"]),
        deal(each),
        el("span", each["source"], class_="short", title=each["source"]),
        _reference(each["client_order_id"]),
    ]


def _reference(text: str | None) -> Child:
    return NOTHING if text is None else el("code", text, class_="short", title=text)


def _nothing(chosen: Mapping[str, str], total: int) -> Html:
    everything = el("a", "Show all orders", href=f"/{PAGE_NAME}")
    if total:
        return empty("There are not so many pages.", [everything, "."])
    if named := chosen["client_order_id"]:
        return empty(
            f"No order has the client order id {named}, and no decision or account is called so.",
            [
                (
                    "The search takes a whole order id, request id, client order id or login. "
                    "An Idempotency-Key cannot be searched for. "
                ),
                everything,
                ".",
            ],
        )
    if any(chosen.values()):
        return empty("No order is like that.", ["Choose less above, or: ", everything, "."])
    return empty(
        "There is no order yet.",
        "Orders of clients' programs appear here by themselves as soon as they come, in production and in "
        "test. One that was refused is found by its request id.",
    )


def _pager(visit: Visit, shown: int, total: int, number: int) -> Html:
    first = (number - 1) * PAGE_SIZE + 1
    kept = {name: value for name, value in visit.query.items() if name != "page"}
    newer = list_path({**kept, "page": "" if number == 2 else str(number - 1)}) if number > 1 else None
    older = list_path({**kept, "page": str(number + 1)}) if first + shown <= total else None
    told = f"{grouped(str(first))} to {grouped(str(first + shown - 1))} of {grouped(str(total))}"
    return el(
        "nav", _turn("‹ Newer", newer), el("span", told), _turn("Older ›", older), class_="pager",
        aria_label="Pages of orders", id="pager",
    )  # fmt: skip


def _turn(words: str, path: str | None) -> Html:
    return el("span", words, class_="off") if path is None else el("a", words, href=path)
