"""The columns of the blotter: which there are, which are shown, and the cells of a row."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import ORDERS, order_path, page_path
from bullion.console.widgets.components import NOTHING
from bullion.console.widgets.formatting import age, grouped, is_zero, weight, zone_name
from bullion.desk.actions.order_sorting import NEWEST
from bullion.desk.desk import View
from bullion.orders.status import Status

from .order_actions import cover_input, row_actions
from .order_format import deal_number, environment, is_test, row_name, row_time, side, status

_NEW_S = 5
"""For so long a new row has a coloured edge."""


@dataclass(frozen=True, slots=True)
class Blotter:
    """What the cells of all rows need to know."""

    visit: Visit
    by_hand: frozenset[str] = frozenset()
    """The ids of orders that wait for the desk itself."""
    back: str = ""
    """The query of the list, to which an order's page leads back."""
    acts: bool = True
    """Whether orders can be chosen and acted on in their rows."""

    def waits_for_desk(self, order: View) -> bool:
        return order["status"] == Status.PENDING and (
            self.visit.desk.venue.by_hand or order["id"] in self.by_hand
        )

    def age_s(self, order: View) -> int:
        made = datetime.fromisoformat(order["created_at"])
        return max(0, int((self.visit.now - made).total_seconds()))


@dataclass(frozen=True, slots=True)
class BlotterColumn:
    name: str
    """In the address."""
    title: str
    cell: Callable[[Blotter, View], Child]
    number: bool = False
    sort: str | None = None
    """By what the desk sorts; None: it does not."""
    usual: bool = True
    """Whether it is shown unless somebody chose columns."""

    @property
    def css(self) -> str:
        return f"c-{self.name} number" if self.number else f"c-{self.name}"


def _time(blotter: Blotter, order: View) -> Html:
    visit = blotter.visit
    query = {"back": blotter.back} if blotter.back else None
    path = page_path(order_path(order["id"]).removeprefix("/"), query)
    return el("a", row_time(order["created_at"], visit.zone, visit.now), href=path, class_="order")


def _client(_blotter: Blotter, order: View) -> Child:
    return _short(order["firm_name"] or order["login_id"])


def _short(text: str) -> Html:
    """Cut to the width of its column; whole in its title."""
    return el("span", text, class_="short", title=text)


def _state(blotter: Blotter, order: View) -> Child:
    shown: list[Child] = [status(order["status"])]
    if order["status"] == Status.PENDING:
        waited_s = blotter.age_s(order)
        late = waited_s >= blotter.visit.settings.late_s
        shown.append(el("b" if late else "span", age(waited_s), ", late" if late else None, class_="waited"))
    if is_test(order):
        shown.append(environment(order["environment"]))
    return shown


def _cover(name: str) -> Callable[[Blotter, View], Child]:
    def cell(blotter: Blotter, order: View) -> Child:
        if blotter.waits_for_desk(order):
            return cover_input(blotter.visit, order, name)
        value = order[name]
        if value is None:
            return NOTHING
        return grouped(value) if name == "cover_price" else el("code", value, class_="short", title=value)

    return cell


def _closed(_blotter: Blotter, order: View) -> str:
    return NOTHING if order["close_price"] is None else grouped(order["close_price"])


def _result(_blotter: Blotter, order: View) -> Child:
    """The client's: what it gains is green."""
    plain = order["realized_pnl"]
    if plain is None:
        return NOTHING
    if is_zero(plain):
        return grouped(plain)
    gain = not plain.startswith("-")
    return el("span", f"+{grouped(plain)}" if gain else grouped(plain), class_="gain" if gain else "loss")


def _reference(_blotter: Blotter, order: View) -> Child:
    text = order["client_order_id"]
    return NOTHING if text is None else el("code", text, class_="short", title=text)


COLUMNS = (
    BlotterColumn("time", "Time", _time, sort="time"),
    BlotterColumn("deal", "Deal", lambda _, each: deal_number(each), number=True, sort="deal"),
    BlotterColumn("client", "Client", _client, sort="client"),
    BlotterColumn("login", "Login", lambda _, each: _short(each["login_id"]), sort="client"),
    BlotterColumn("side", "Side", lambda _, each: side(each["trade_type"])),
    BlotterColumn(
        "weight", "Weight", lambda _, each: weight(each["quantity"], each["unit"]), number=True, sort="weight"
    ),
    BlotterColumn("symbol", "Symbol", lambda _, each: _short(each["symbol_code"]), sort="symbol"),
    BlotterColumn("price", "Price ₹", lambda _, each: grouped(each["price"]), number=True, sort="price"),
    BlotterColumn("total", "Total ₹", lambda _, each: grouped(each["total"]), number=True, sort="total"),
    BlotterColumn("state", "State", _state, sort="state"),
    BlotterColumn("cover", "Cover ₹", _cover("cover_price"), number=True),
    BlotterColumn("reference", "Reference", _cover("cover_reference")),
    BlotterColumn("closed", "Closed at ₹", _closed, number=True),
    BlotterColumn("result", "Result ₹", _result, number=True, sort="result"),
    BlotterColumn("channel", "By", lambda _, each: _short(each["source"])),
    BlotterColumn("client-id", "Client order id", _reference, usual=False),
    BlotterColumn(
        "environment", "Environment", lambda _, each: environment(each["environment"]), usual=False
    ),
)
_BY_NAME = {each.name: each for each in COLUMNS}


@dataclass(frozen=True, slots=True)
class Shown:
    """The columns and the sort that the address chooses."""

    columns: Sequence[BlotterColumn]
    sort: str
    query: dict[str, str] = field(default_factory=dict)
    """Of the address, without the page."""

    @classmethod
    def of(cls, visit: Visit) -> "Shown":
        names = [name for name in visit.param("columns").split(",") if name in _BY_NAME]
        columns = [each for each in COLUMNS if (each.name in names if names else each.usual)]
        query = {name: value for name, value in visit.request.query.items() if name != "page"}
        return cls(columns, visit.param("sort") or NEWEST, query)

    def path(self, **changes: str) -> str:
        return page_path(ORDERS, {**self.query, **changes})

    def column_links(self) -> Html:
        """A menu that shows and hides columns. One column always stays."""
        names = [each.name for each in self.columns]
        items = []
        for each in COLUMNS:
            on = each.name in names
            chosen = [name for name in names if name != each.name] if on else [*names, each.name]
            link = el(
                "a",
                el("i", "✓" if on else "", aria_hidden="true"),
                each.title,
                el("span", ", shown" if on else ", hidden", class_="unseen"),
                href=self.path(columns=",".join(chosen or names)),
                data_turn=True,
            )
            items.append(el("li", link, data_key=each.name))
        usual = el("a", "Usual columns", href=self.path(columns=""), data_turn=True)
        return el(
            "details",
            el("summary", "Columns"),
            el("ul", items, el("li", usual, data_key="usual")),
            class_="menu",
            id="columns",
        )

    def heading(self, visit: Visit, *, acts: bool) -> Html:
        zone = zone_name(visit.now.astimezone(visit.zone))
        cells = []
        for each in self.columns:
            title = f"{each.title} {zone}" if each.name == "time" else each.title
            cells.append(self._head(each, title) if acts else el("th", title, scope="col", class_=each.css))
        if not acts:
            return el("tr", cells)
        choose = el("th", el("span", "Choose", class_="unseen"), scope="col", class_="choose")
        actions = el("th", "Actions", scope="col", class_="act")
        return el("tr", choose, cells, actions)

    def _head(self, column: BlotterColumn, title: str) -> Html:
        if column.sort is None:
            return el("th", title, scope="col", class_=column.css)
        down = self.sort == f"-{column.sort}"
        up = self.sort == column.sort
        mark = el("i", "↓" if down else "↑", aria_hidden="true") if down or up else None
        wanted = column.sort if down else f"-{column.sort}"
        link = el("a", title, mark, href=self.path(sort="" if wanted == NEWEST else wanted), data_turn=True)
        sorted_ = "descending" if down else "ascending" if up else None
        return el("th", link, scope="col", class_=column.css, aria_sort=sorted_)


def row_html(blotter: Blotter, columns: Sequence[BlotterColumn], order: View) -> Html:
    """From memory where it is the same as at the last refresh: making fifty rows takes 15 ms."""
    if order["status"] == Status.PENDING or blotter.age_s(order) < _NEW_S:
        return _make_row(blotter, columns, order)  # It shows an age.
    visit = blotter.visit
    key = (
        *(order[name] for name in ("id", "status", "firm_name", "source")),
        visit.now.astimezone(visit.zone).date(),
        visit.zone.key,
        visit.actor.role,
        blotter.back,
        blotter.acts,
        *(each.name for each in columns),
    )
    row = _ROWS.get(key)
    if row is None:
        row = _ROWS[key] = _make_row(blotter, columns, order)
        while len(_ROWS) > _ROWS_MAX:
            _ROWS.popitem(last=False)
    else:
        _ROWS.move_to_end(key)
    return row


_ROWS: OrderedDict[Hashable, Html] = OrderedDict()
"""Rows of orders that do not wait. An order's other fields change only with its status."""
_ROWS_MAX = 3_000


def _make_row(blotter: Blotter, columns: Sequence[BlotterColumn], order: View) -> Html:
    waits = blotter.waits_for_desk(order)
    name = row_name(order)
    acts = row_actions(blotter.visit, order, by_hand=waits) if blotter.acts else None
    choose = None
    if waits and acts:
        choose = el("input", type="checkbox", data_choose=order["id"], aria_label=f"Choose {name}")
    css = [
        "test" if is_test(order) else "",
        "waits" if waits else "",
        "late" if waits and blotter.age_s(order) >= blotter.visit.settings.late_s else "",
        "new" if blotter.age_s(order) < _NEW_S else "",
    ]
    return el(
        "tr",
        el("td", choose, class_="choose") if blotter.acts else None,
        [el("td", each.cell(blotter, order), class_=each.css) for each in columns],
        el("td", acts, class_="act") if blotter.acts else None,
        data_key=order["id"],
        data_row=name,
        class_=" ".join(filter(None, css)) or None,
    )
