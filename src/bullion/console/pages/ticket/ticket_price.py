"""The price beside the ticket's form: what the client pays now, how that is made, and its last orders."""

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.paths import ORDERS, TICKET, account_path, order_path, page_path
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
from bullion.console.widgets.components import GOOD, OFF, freshness, mark, not_read
from bullion.console.widgets.formatting import age, grouped, moment, trim_zeros, weight
from bullion.desk.actions import orders
from bullion.desk.desk import Desk, View
from bullion.records.page import Page
from bullion.records.token import Actor

from .ticket_format import client_name, pays, price_text, quoted_for, sentence, total_text, verb

_LAST_DEALS = 3


def quote(preview: View | None, reading: Reading[View] | None) -> Html:
    if preview is None:
        told = el("p", "The client’s price appears here.", class_="hint")
        shown: Child = not_read(reading) if reading is not None and reading.refused is None else told
        return el("div", shown, id="quote")
    side = preview["trade_type"]
    other = "sell" if side == "buy" else "buy"
    name = client_name(preview)
    age_s = preview["age_s"]
    fresh = "fixed by the desk" if age_s is None else f"rate {age(age_s)} old"
    return el(
        "div",
        el("span", f"{name} {verb(side)} at", class_="label"),
        el("div", el("span", price_text(preview["price"]), class_=f"hero price {side}", id="live-price")),
        el("p", f"{quoted_for(preview) if preview['unit'] else ''} · {fresh}", class_="hint"),
        el(
            "p",
            f"{name} {verb(other)} at ",
            el("b", price_text(preview[f"{other}_price"]), class_=f"side {other}"),
            id="other-price",
        ),
        _sum(preview) if preview["total"] is not None else None,
        sentence(preview) if preview["total"] is not None and preview["refused_for"] is None else None,
        freshness(reading) if reading is not None else None,
        id="quote",
    )


def _sum(preview: View) -> Html:
    side = preview["trade_type"]
    ask_or_bid = "ask" if side == "buy" else "bid"
    pairs: list[tuple[str, Child]] = [
        (f"Reference {ask_or_bid}", grouped(preview["reference"])),
        (f"Premium of {preview['group']}", grouped(preview["premium"])),
        ("Weight", weight(preview["quantity"], preview["unit"])),
    ]
    return el(
        "dl",
        [[el("dt", name), el("dd", value)] for name, value in pairs],
        el("dt", f"Client {pays(side)}", class_="all"),
        el("dd", total_text(preview["total"]), class_="all", id="total"),
        el("dt", "We earn"),
        el("dd", total_text(preview["earned"]).replace("₹\N{MINUS SIGN}", "\N{MINUS SIGN}₹")),
        class_="sum",
    )


async def last_deals(visit: Visit, preview: View | None) -> Child:
    if preview is None:
        return None
    login = preview["login_id"]
    filters: dict[str, str | None] = {"login_id": login, "environment": "production"}

    async def read(desk: Desk, actor: Actor) -> Listed:
        return await orders.list_orders(desk, actor, filters, Page(_LAST_DEALS, 0))

    reading = await visit.read((TICKET, "deals", login), read, every_s=5)
    found = reading.value[0] if reading.value else []
    links = [
        el("a", "Account", href=account_path(login)),
        " · ",
        el("a", "All its orders", href=page_path(ORDERS, {"login_id": login})),
    ]
    return el(
        "div",
        el("p", links, class_="label"),
        el("ul", [_deal(visit, each) for each in found], class_="checks") if found else None,
        id="last-deals",
    )


def _deal(visit: Visit, each: View) -> Html:
    side = each["trade_type"]
    size = f"{weight(each['quantity'], each['unit'])} {each['symbol_code']}"
    what = [el("span", side, class_=f"side {side}"), f" {size} at {grouped(trim_zeros(each['price']))}"]
    return el(
        "li",
        mark(GOOD if each["status"] == "open" else OFF),
        el("a", what, href=order_path(each["id"])),
        el("span", moment(each["created_at"], visit.zone, visit.now), class_="hint"),
        data_key=each["id"],
    )
