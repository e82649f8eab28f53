"""The ticket itself: what is typed on the left, what the client pays and what the order would meet beside it.

What is typed is in the address, so that the page refreshes like every other. The script adds the list of
clients, the lock and the booking.
"""

from collections.abc import Sequence
from fractions import Fraction

from bullion.console.html import Child, Html, el
from bullion.console.page import Visit
from bullion.console.pages.market.pins import pins_of
from bullion.console.paths import TICKET
from bullion.console.shared_read import Reading
from bullion.console.widgets.components import BAD, GOOD, OFF, WARN, mark, state
from bullion.console.widgets.cover import simulated_note
from bullion.console.widgets.formatting import age, weight
from bullion.desk.actions.preview_order import preview_order
from bullion.desk.bodies import PreviewOrderBody
from bullion.desk.conversion import convert
from bullion.desk.desk import Desk, View
from bullion.desk.order_checks import PASSED, REFUSED
from bullion.desk.problems import find_problems
from bullion.records.token import Actor
from bullion.refusals.refusal import RefusalError

from .ticket_actions import BOOK, FIND_CLIENTS, LOCK
from .ticket_format import (
    FIELDS,
    client_name,
    order_of,
)
from .ticket_price import last_deals, quote

_SIDES = (("buy", "Client buys"), ("sell", "Client sells"))
_SYMBOLS_AS_BUTTONS = 8
_WEIGHTS = {"g": ("10", "50", "100", "500", "1000"), "kg": ("1", "5", "10", "30")}
_BAR_WIDTH = 400
_NEARLY_USED = Fraction(8, 10)
_MARKS = {PASSED: GOOD, REFUSED: BAD}


async def ticket_page(visit: Visit) -> Html:
    quotes = await visit.watch.quotes.get(visit.actor)
    symbols = [each["symbol_code"] for each in quotes.value[0]] if quotes.value else []
    typed = {name: visit.param(name).strip() for name in FIELDS}
    typed["symbol"] = typed["symbol"] or (symbols[0] if symbols else "")
    if typed["side"] not in dict(_SIDES):
        typed["side"] = ""
    reading = await _preview(visit, typed)
    preview = None if reading is None else reading.value
    why_not = _why_not(typed, reading)
    heading = el(
        "header",
        el("div", el("h1", "Order by telephone"), el("p", _by(visit), class_="hint")),
        simulated_note(visit),
    )
    form = el(
        "form",
        _client(typed["login"], preview, reading),
        _symbols(symbols, typed["symbol"]),
        _seg("side", "Side, seen from the client", _SIDES, typed["side"], "side-pick"),
        _weight(typed["quantity"], preview),
        id="ticket-form",
        action=f"/{TICKET}",
        method="get",
        data_clients=FIND_CLIENTS.path("previews"),
        data_lock=LOCK.path("actions"),
        data_book=BOOK.path("actions"),
    )
    beside = el(
        "aside",
        el("div", id="locked", data_keep=True, aria_live="polite"),
        quote(preview, reading),
        el("p", pins) if (pins := await pins_of(visit, typed["symbol"])) else None,
        await last_deals(visit, preview),
        aria_label="Price",
    )
    # The buttons follow the form, so that Tab leads from the weight to them. Style sheets place them below.
    standing = el("div", _allocation(preview), _checks(preview), class_="standing", id="standing")
    ticket = el("div", form, _foot(why_not), beside, standing, class_="ticket")
    return el("div", heading, ticket, class_="card ticket-page")


def _by(visit: Visit) -> str:
    name = visit.actor.name.partition(" (")[0]
    return f"Booked like an order of the API, in production, with the source desk, by {name}."


async def _preview(visit: Visit, typed: dict[str, str]) -> Reading[View] | None:
    """None until there is a client and a symbol. What is half typed counts as not typed."""
    order = order_of(typed)
    if not typed["login"] or not typed["symbol"]:
        return None
    order["trade_type"] = order["trade_type"] or "buy"
    if _weight_problems(order):
        order["quantity"] = None
    try:
        body = convert(order, PreviewOrderBody)
    except RefusalError as refused:
        return Reading(error=refused.message, refused=refused)

    async def read(desk: Desk, actor: Actor) -> View:
        return await preview_order(desk, actor, body)

    return await visit.read((TICKET, *order.values()), read)


def _weight_problems(order: View) -> list[str]:
    return [each.msg for each in find_problems(order, PreviewOrderBody) if "quantity" in each.loc]


def _why_not(typed: dict[str, str], reading: Reading[View] | None) -> str | None:
    """Why the price cannot be locked now; None if it can be."""
    if not typed["login"]:
        return "Choose a client."
    if not typed["symbol"]:
        return "Choose a symbol."
    if reading is None or reading.value is None:
        return (reading.error if reading else None) or "Loading."
    if reading.error is not None:
        return f"These figures are {age(reading.age_s)} old. {reading.error}"
    if not typed["side"]:
        return "Choose whether the client buys or sells."
    if not typed["quantity"]:
        return "Type a weight."
    if reading.value["quantity"] is None:
        wrong = _weight_problems(order_of(typed))
        return f"This weight cannot be ordered. {wrong[0]}" if wrong else "Loading."
    refused = [each for each in reading.value["checks"] if each["state"] == REFUSED]
    if not refused:
        return None
    return f"It would be refused. {refused[0]['message']} {refused[0]['remedy']}"


def _client(login: str, preview: View | None, reading: Reading[View] | None) -> Html:
    box = el(
        "input",
        id="client",
        name="login",
        value=login,
        role="combobox",
        aria_autocomplete="list",
        aria_expanded="false",
        aria_controls="clients",
        aria_describedby="client-is",
        placeholder="Login or firm",
        maxlength=64,
        autofocus=not login,
        autocomplete="off",
        data_keep=True,
        spellcheck="false",
    )
    if preview is not None:
        about: Child = [el("b", client_name(preview)), f" · {preview['login_id']} · group {preview['group']}"]
    else:
        about = reading.error if reading is not None and reading.error else "Type a part of its name."
    return el(
        "div",
        el("label", el("span", "Client"), box, class_="field"),
        el("ul", id="clients", role="listbox", aria_label="Clients", hidden=True, data_keep=True),
        el("p", about, class_="hint", id="client-is"),
        class_="client",
    )


def _symbols(symbols: Sequence[str], chosen: str) -> Html:
    known = [*symbols, *([chosen] if chosen and chosen not in symbols else [])]
    if len(known) <= _SYMBOLS_AS_BUTTONS:
        return _seg("symbol", "Symbol", [(each, each) for each in known], chosen)
    options = [el("option", each, value=each, selected=each == chosen) for each in known]
    return el("label", el("span", "Symbol"), el("select", options, name="symbol"), class_="field")


def _seg(name: str, label: str, options: Sequence[tuple[str, str]], chosen: str, css: str = "") -> Html:
    buttons = [
        el(
            "label",
            el("input", type="radio", name=name, value=value, checked=value == chosen),
            el("span", text),
            class_=value if name == "side" else None,
            data_key=value,
        )
        for value, text in options
    ]
    return el("div", buttons, class_=f"seg {css}".strip(), role="radiogroup", aria_label=label, id=f"{name}s")


def _weight(typed: str, preview: View | None) -> Html:
    unit = "" if preview is None else preview["unit"] or ""
    sizes = None if preview is None else preview["sizes"]
    hint = "Weight"
    if sizes:
        least, most, step = (weight(sizes[each], unit) for each in ("minimum", "maximum", "step"))
        hint = f"Weight, {least} to {most} in steps of {step}"
    chips = [
        el("button", weight(each, unit), type="button", data_weight=each, tabindex="-1")
        for each in _WEIGHTS.get(unit, ())
        if sizes and Fraction(sizes["minimum"]) <= Fraction(each) <= Fraction(sizes["maximum"])
    ]
    box = el(
        "input",
        id="weight",
        name="quantity",
        value=typed,
        inputmode="decimal",
        maxlength=20,
        autocomplete="off",
        spellcheck="false",
    )
    return el(
        "div",
        el("label", el("span", hint), box, el("span", unit, class_="unit"), class_="weight"),
        el("div", chips, class_="chipline", id="chips") if chips else None,
    )


def _allocation(preview: View | None) -> Child:
    held = None if preview is None else preview["allocation"]
    if preview is None or held is None:
        return None
    unit = preview["unit"]
    text = (
        f"Free to trade in {preview['metal']}: {weight(held['free'], unit)} of {weight(held['limit'], unit)}"
    )
    limit, free = Fraction(held["limit"]), Fraction(held["free"])
    after = free if held["free_after"] is None else Fraction(held["free_after"])
    if held["free_after"] is not None:
        text += f", {weight(held['free_after'], unit)} after this"
    used_px, after_px = ((_BAR_WIDTH - _share(each, limit)) for each in (max(free, after), min(free, after)))
    nearly = limit > 0 and limit - after > limit * _NEARLY_USED and preview["refused_for"] is None
    return el(
        "div",
        el("div", text, class_="label", id="free"),
        el(
            "svg",
            el("rect", class_="rail", width=_BAR_WIDTH, height=8, rx=2),
            el("rect", class_="used", width=used_px, height=8),
            el("rect", class_="this", x=used_px, width=after_px - used_px, height=8),
            viewBox=f"0 0 {_BAR_WIDTH} 8",
            preserveAspectRatio="none",
            class_="fill",
            role="img",
            aria_label=text,
        ),
        el("p", state(WARN, "The allocation is nearly used.")) if nearly else None,
    )


def _share(free: Fraction, limit: Fraction) -> int:
    return 0 if limit <= 0 else int(min(max(free, Fraction(0)), limit) * _BAR_WIDTH / limit)


def _checks(preview: View | None) -> Child:
    if preview is None:
        return None
    checks = sorted(preview["checks"], key=lambda each: each["state"] != REFUSED)
    failed = sum(each["state"] == REFUSED for each in checks)
    waiting = any(each["state"] not in _MARKS for each in checks)
    passes = "Would it be refused? Not for what is known." if waiting else "Would it be refused? No."
    title = f"It would be refused, for {failed} of these:" if failed else passes
    return el(
        "div",
        el("span", title, class_="label", id="checks-title"),
        el("ul", [_check(each) for each in checks], class_="checks", aria_labelledby="checks-title"),
    )


def _check(each: View) -> Html:
    refused = each["state"] == REFUSED
    told = [el("b", each["message"]), " ", each["remedy"]] if refused else each["question"]
    said = {PASSED: "passed", REFUSED: "refused"}.get(each["state"], "not known yet")
    return el(
        "li",
        mark(_MARKS.get(each["state"], OFF)),
        el("span", el("span", f"{said}: ", class_="unseen"), told),
        class_="refused-check" if refused else None,
        data_key=each["check"],
        data_state=each["state"],
    )


def _foot(why_not: str | None) -> Html:
    """Lock and Book stand apart, so that a double click on one never hits the other."""
    return el(
        "div",
        el("p", why_not or "Ready to lock.", class_="why", id="why", role="status"),
        el("p", id="told", class_="told", data_keep=True, role="status"),
        el(
            "button",
            "Lock the price ",
            el("kbd", "L", aria_hidden="true"),
            type="submit",
            form="ticket-form",
            id="lock",
            class_="big",
            aria_disabled="true" if why_not else None,
            aria_describedby="why",
        ),
        el(
            "div",
            el(
                "button",
                el("span", "Book"),
                type="button",
                id="book",
                class_="primary big",
                aria_disabled="true",
                aria_describedby="why-book",
            ),
            el("small", "Lock the price first.", id="why-book"),
            id="booking",
            data_keep=True,
        ),
        class_="foot",
    )
