"""The blotter: the live list of orders. Filters, columns and sort are in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from bullion.console.forms import Choice, Field, Options, fields_html
from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import ORDERS, page_path
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import card, empty, freshness, hint, not_read
from bullion.console.widgets.formatting import count, is_zero, rupees, weight, zone_name
from bullion.desk.actions import orders, symbols
from bullion.desk.actions.order_sorting import NEWEST
from bullion.desk.desk import Desk, View
from bullion.environment import Environment
from bullion.hedge.venues import abilities_of
from bullion.metals.rupees import paise, rupees_text
from bullion.orders.status import Status
from bullion.records.orders import OrderTotal
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.refusals.refusal import RefusalError

from .batch_actions import batch_bar
from .blotter_columns import COLUMNS, Blotter, Shown, row_html

PAGE_SIZE = 50
_OFFSET_MAX = 10_000_000
_SYMBOLS_MAX = 200
_TOTALS_EVERY_S = 5.0
"""Sums read up to 1,000 orders."""
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
    Choice("environment", "Environment", options=[("", "all environments"), *_same(Environment)]),
    Choice("status", "State", options=[("", "all states"), *_same(orders.STATUSES)]),
    Choice("symbol_code", "Symbol"),
    Field("login_id", "Account", placeholder="all logins"),
    Field("source", "Channel", placeholder="all channels"),
    Choice(
        "since",
        "Since",
        options=[("", "any time"), *((key, text) for key, (text, _) in _PERIODS.items())],
    ),
    Field("client_order_id", "Client order id", placeholder="client order id"),
)
_DESK_FILTERS = ("environment", "status", "symbol_code", "source", "login_id", "client_order_id")
"""Those that the desk's list of orders has under the same names."""


@dataclass(frozen=True, slots=True)
class _Listed:
    orders: list[View]
    total: OrderTotal
    unsorted: str | None = None
    """Why the list is not sorted as the address wants."""


async def list_page(visit: Visit) -> Html:
    chosen = {name: visit.param(name).strip() for name in (*_DESK_FILTERS, "since", _FROM)}
    number = _page_number(visit.param("page"))
    shown = Shown.of(visit)
    filters: dict[str, str | None] = {name: chosen[name] or None for name in _DESK_FILTERS}
    filters["since"] = _since(chosen, visit.now, visit.zone)
    page = Page(PAGE_SIZE, (number - 1) * PAGE_SIZE)
    reading = await _read_list(visit, {**filters, "sort": shown.sort}, page)
    codes = await visit.read((ORDERS, "symbols"), _symbol_codes)
    return el(
        "div",
        el("h1", "Orders", class_="unseen"),
        el(
            "div",
            _views(chosen, visit.waiting),
            _SHOW_FILTERS,
            _filters(visit, chosen, codes.value or [], shown),
            el("span", shown.column_links(), _SWITCHES, _aside(reading), class_="tools"),
            class_="toolbar",
        ),
        _found(visit, reading, chosen, number, shown),
        el(
            "div",
            batch_bar(visit),
            await _totals(visit, filters, reading),
            _pager(visit, reading, number),
            class_="foot",
        ),
        class_="orders-page blotter",
        data_density="compact",
        id="orders",
        data_card="orders",
    )


async def recent_orders_card(visit: Visit, rows: int = 16) -> Html:
    """The newest production orders, for another page: rows of the blotter, without their actions."""

    async def read(desk: Desk, actor: Actor) -> list[View]:
        return await orders.newest_production_orders(desk, actor, rows)

    reading = await visit.read((ORDERS, "newest", rows), read)
    path = page_path(ORDERS, {"environment": Environment.PRODUCTION.value, "since": "today"})
    aside = [freshness(reading), el("a", "all orders", href=path)]
    content: Child
    if reading.value is None:
        content = not_read(reading)
    elif not reading.value:
        content = empty("There are no orders yet.", "Production orders appear here as they arrive.")
    else:
        columns = [each for each in COLUMNS if each.name in _RECENT]
        shown = Shown(columns, NEWEST, {"environment": Environment.PRODUCTION.value})
        content = _table(visit, shown, reading.value, name="blotter-table", acts=False)
    return card(
        "Blotter", el("div", content, class_="blotter", data_density="compact"), aside=aside, name="blotter"
    )


_RECENT = frozenset({"time", "deal", "client", "side", "weight", "symbol", "price", "total", "state"})


async def _read_list(visit: Visit, filters: Mapping[str, str | None], page: Page) -> Reading[_Listed]:
    async def read(desk: Desk, actor: Actor) -> _Listed:
        try:
            return _Listed(*await orders.list_at_once(desk, actor, filters, page))
        except RefusalError as refused:
            if not any("sort" in each.loc for each in refused.errors):
                raise
            newest = {**filters, "sort": NEWEST}
            return _Listed(*await orders.list_at_once(desk, actor, newest, page), refused.message)

    return await visit.read((ORDERS, "list", *filters.values(), page.offset, page.limit), read)


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


_VIEWS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Today", {"environment": "production", "since": "today"}),
    ("Waiting", {"environment": "production", "status": Status.PENDING.value}),
    ("Open", {"environment": "production", "status": Status.OPEN.value}),
    ("Closing", {"environment": "production", "status": Status.CLOSING.value}),
    ("Test", {"environment": "test"}),
    ("All", {}),
)


def _views(chosen: Mapping[str, str], waiting: int) -> Html:
    """Links to lists that are often wanted, and to those that were saved in this browser."""
    now = {name: value for name, value in chosen.items() if value}
    links = []
    for name, query in _VIEWS:
        number = el("span", str(waiting), class_="count") if name == "Waiting" and waiting else None
        current = "true" if query == now else None
        links.append(
            el("a", name, number, href=page_path(ORDERS, query), aria_current=current, data_key=name)
        )
    save = el(
        "details",
        el("summary", "+ Save view"),
        el(
            "div",
            el("label", el("span", "Name"), el("input", id="view-name", maxlength=30, autocomplete="off")),
            el("button", "Save in this browser", type="button", class_="small", data_save_view=True),
            el(
                "p",
                "The address of this page holds the whole view: send it to share the view.",
                class_="hint",
            ),
        ),
        class_="menu",
        id="save-view",
        data_keep=True,
    )
    own = el("span", id="own-views", data_keep=True)
    return el("nav", links, own, save, class_="views", aria_label="Views")


_SWITCHES = (
    el(
        "button",
        "Sound",
        type="button",
        class_="small quiet",
        data_sound_button=True,
        aria_pressed="false",
        id="sound",
        data_keep=True,
    ),
    el(
        "button",
        "Keys ",
        el("kbd", "?", aria_hidden="true"),
        type="button",
        class_="small quiet",
        data_keys_button=True,
    ),
)


_SHOW_FILTERS = el(
    "label",
    el("input", type="checkbox", id="show-filters"),
    " Filters",
    class_="show-filters",
    data_keep=True,
)
"""For telephones: elsewhere the filters are always shown."""


def _filters(visit: Visit, chosen: Mapping[str, str], codes: list[str], shown: Shown) -> Html:
    code = chosen["symbol_code"]
    known = [*codes, *([code] if code and code not in codes else [])]
    zone = zone_name(visit.now.astimezone(visit.zone))
    since = Field(_FROM, f"From ({zone})", kind="datetime-local")
    fields = [*_FILTERS[:-1], since, _FILTERS[-1]]
    kept = [
        el("input", type="hidden", name=name, value=shown.query[name])
        for name in ("columns", "sort")
        if shown.query.get(name)
    ]
    return el(
        "form",
        fields_html(fields, chosen, {"symbol_code": [("", "all symbols"), *_same(known)]}),
        kept,
        # A link, not a button: it reloads the page, and so clears the fields.
        el("a", "Show all", href=f"/{ORDERS}", class_="all") if any(chosen.values()) else None,
        el("button", "Show", class_="unseen", tabindex="-1"),
        method="get",
        action=f"/{ORDERS}",
        class_="filters",
        data_narrow=True,
        id="filters",
    )


def _aside(reading: Reading[_Listed]) -> Child:
    if reading.value is None:
        return None
    total = reading.value.total
    return [freshness(reading), hint(f"{_number(total)} order" + ("" if total == OrderTotal(1) else "s"))]


def _number(total: OrderTotal) -> str:
    return f"{'' if total.exact else 'at least '}{count(total.number)}"


def _found(
    visit: Visit,
    reading: Reading[_Listed],
    chosen: Mapping[str, str],
    number: int,
    shown: Shown,
) -> Child:
    if reading.value is None:
        clear = ["Correct the filters, or: ", _SHOW_ALL, "."] if any(chosen.values()) else []
        return not_read(reading, ["It is tried again every second. ", *clear])
    found = reading.value
    if not found.orders:
        return _nothing(chosen, found.total)
    notes = []
    if found.unsorted:
        notes.append(el("p", f"Newest first, not sorted: {found.unsorted}", class_="note", id="unsorted"))
    if not found.total.exact and len(found.orders) < PAGE_SIZE:
        notes.append(el("p", _NOT_COUNTED, class_="note", id="not-counted"))
    # While somebody has scrolled down, the script lets new rows wait behind this button.
    more = el("button", type="button", class_="small primary", data_show_new=True, id="new-rows", hidden=True)
    first = number == 1 and (shown.sort == NEWEST or bool(found.unsorted))
    return [notes, more if first else None, _table(visit, shown, found.orders, newest_first=first)]


def _table(
    visit: Visit,
    shown: Shown,
    found: Sequence[View],
    *,
    newest_first: bool = False,
    name: str = "orders-table",
    acts: bool = True,
) -> Html:
    queue, _ = visit.frame.queue.value or ([], 0)
    by_hand = frozenset(each["order_id"] for each in queue if abilities_of(each["venue"]).by_hand)
    back = urlencode(visit.request.query) if visit.request.first_part in (ORDERS, "live") else ""
    blotter = Blotter(visit, by_hand, back, acts)
    rows = [row_html(blotter, shown.columns, each) for each in found]
    content = el(
        "table",
        el("thead", shown.heading(visit, acts=acts)),
        el("tbody", rows, data_rows=True, data_newest_first=newest_first),
        id=name,
        class_="chosen" if visit.param("columns") else None,
    )
    return el("div", content, class_="scroll", tabindex="0", role="region", aria_label="Orders")


_SHOW_ALL = el("a", "Show all orders", href=f"/{ORDERS}")


_NOT_COUNTED = "Only the newest are shown until all orders are counted. That takes some seconds."


def _nothing(chosen: Mapping[str, str], total: OrderTotal) -> Html:
    if not total.exact:
        return empty("No matching orders among the newest.", _NOT_COUNTED)
    if total.number:
        return empty("There are not that many pages.", [_SHOW_ALL, "."])
    if named := chosen["client_order_id"]:
        what = f"No matching order has the client order id {named}."
        advice = "Type the whole id here. Find takes other ids, and the beginnings of ids. "
        return empty(what, [advice, _SHOW_ALL, "."])
    if any(chosen.values()):
        return empty("No matching orders.", ["Change the filters, or: ", _SHOW_ALL, "."])
    return empty(
        "There are no orders yet.",
        "Orders of clients' programs appear here as they arrive, in production and in test. Find a refused "
        "order by its request id.",
    )


def _pager(visit: Visit, reading: Reading[_Listed], number: int) -> Html | None:
    if reading.value is None or not reading.value.orders:
        return None
    shown, total = len(reading.value.orders), reading.value.total
    first = (number - 1) * PAGE_SIZE + 1

    def turn(text: str, page: int, *, there: bool) -> Html:
        if not there:
            return el("span", text, class_="off")
        path = page_path(ORDERS, {**visit.request.query, "page": "" if page == 1 else str(page)})
        return el("a", text, href=path)

    return el(
        "nav",
        turn("‹ Newer", number - 1, there=number > 1),
        el("span", f"{count(first)} to {count(first + shown - 1)} of {_number(total)}"),
        turn("Older ›", number + 1, there=first + shown <= total.number),
        class_="pager",
        aria_label="Pages of orders",
        id="pager",
    )


async def _totals(visit: Visit, filters: Mapping[str, str | None], listed: Reading[_Listed]) -> Html | None:
    """What the filtered orders come to. Of very many, the newest; the text says so."""
    if listed.value is None or not listed.value.total.number:
        return None

    async def read(desk: Desk, actor: Actor) -> tuple[list[View], int, OrderTotal]:
        return await orders.sum_at_once(desk, actor, filters)

    reading = await visit.read((ORDERS, "totals", *filters.values()), read, _TOTALS_EVERY_S)
    if reading.value is None or not reading.value[0]:
        return None
    items, summed, total = reading.value
    all_of = total == OrderTotal(summed)
    heading = "All together" if all_of else f"The newest {count(summed)} of {_number(total)}"
    parts: list[Child] = [el("span", f"{heading}:")]
    for environment in dict.fromkeys(each["environment"] for each in items):
        of = [each for each in items if each["environment"] == environment]
        label = "test orders" if environment == Environment.TEST else "production"
        parts.append(
            el("span", label, class_="of") if len({each["environment"] for each in items}) > 1 else None
        )
        for trade_type, verb in (("buy", "bought"), ("sell", "sold")):
            weights = [
                f"{weight(each['quantity'], each['unit'])} {each['metal']}"
                for each in of
                if each["trade_type"] == trade_type
            ]
            parts.append(el("span", f"{verb} ", el("b", ", ".join(weights))) if weights else None)
        value = rupees(rupees_text(sum(paise(each["total"]) for each in of)))
        parts.append(el("span", "value ", el("b", value)))
        result = rupees_text(sum(_signed_paise(each["realized_pnl"]) for each in of))
        if not is_zero(result):
            kind = "loss" if result.startswith("-") else "gain"
            parts.append(el("span", "clients' result ", el("b", rupees(result), class_=kind)))
    return el("div", parts, class_="totals", id="totals")


def _signed_paise(plain: str) -> int:
    return -paise(plain[1:]) if plain.startswith("-") else paise(plain)


_ONE = Page(1, 0)
