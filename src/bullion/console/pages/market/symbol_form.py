"""The form of a symbol, with a preview of its price."""

from datetime import datetime
from functools import partial
from typing import Any

from bullion.console.forms import (
    Choice,
    Code,
    Dialog,
    Fields,
    FormErrors,
    Group,
    Hidden,
    Options,
    field_of,
    flat,
    read_fields,
    saved,
)
from bullion.console.html import Html, el
from bullion.console.page import Action, Result, Visit
from bullion.console.paths import MARKET
from bullion.console.stale_form import SEEN, only_new, seen, stale_form, unchanged
from bullion.console.widgets.components import BAD, state
from bullion.console.widgets.formatting import clock, rupees, weight
from bullion.desk.actions.quotes import preview_quote
from bullion.desk.actions.symbols import get_symbol, patch_symbol, put_symbol, symbol_with_stock, view
from bullion.desk.bodies import DirectBody, FixedBody, LandedBody, SymbolBody
from bullion.desk.body_fields import body_fields, defaults_of
from bullion.desk.conversion import Changes, convert
from bullion.desk.desk import View
from bullion.refusals.refusal import RefusalError

from .market_data import duties_of, rates_of
from .symbol_text import KINDS, PART_NAMES, part_text, settings_text

_SIDES = {"both": ["buy", "sell"], "buy": ["buy"], "sell": ["sell"]}
_SEEN_STOCK = Hidden("seen_stock", "")
_DEFAULTS: View = {**defaults_of(SymbolBody), "quoted_weight": "10", "sides": "both", "kind": "direct"}


def _fields(unit: str) -> Fields:
    """The form in three parts: how the price is made, which sizes, and what stops trading."""
    symbol, fixed, landed = (partial(field_of, shape) for shape in (SymbolBody, FixedBody, LandedBody))
    return (
        Group(
            "whole part",
            [
                Choice("kind", "Priced by", options=[*KINDS.items()]),
                symbol("quoted_weight", f"The price is for, {unit}", "such as 10: ₹ per 10 g"),
                Group(
                    "kind direct",
                    [field_of(DirectBody, "instrument", "Instrument", "whose bid and ask it takes")],
                    only_if=("kind", "direct"),
                ),
                Group(
                    "kind fixed",
                    [
                        fixed("buy", "Clients buy at, ₹", "empty: they cannot buy"),
                        fixed("sell", "Clients sell at, ₹", "empty: they cannot sell"),
                    ],
                    only_if=("kind", "fixed"),
                ),
                Group(
                    "kind landed",
                    [
                        landed("spot", "Spot, $ per oz", "instrument"),
                        landed("premium_usd", "Premium on spot, $ per oz"),
                        landed("currency", "Currency, ₹ per $", "instrument"),
                        landed("interbank", "Interbank, ₹ per $"),
                        landed("conversion", "Conversion, oz", "in that weight: about 0.3215 for 10 g"),
                        landed("duty", "Duty table", "₹ for that weight"),
                        landed("margin", "Margin, ₹", "for that weight"),
                    ],
                    only_if=("kind", "landed"),
                ),
            ],
            legend="Price",
        ),
        Group(
            "whole part",
            [
                symbol("minimum", f"Smallest order, {unit}"),
                symbol("maximum", f"Largest order, {unit}"),
                symbol("step", f"Step, {unit}", "orders are multiples of it"),
                symbol("stock", f"Stock, {unit}", "empty: not counted"),
                symbol("fineness", "Fineness", "in thousandths, such as 995; the venue covers fine weight"),
            ],
            legend="Sizes",
        ),
        Group(
            "whole part",
            [
                symbol("trading", "Trading", options=[("yes", "on"), ("no", "off")]),
                Choice(
                    "sides",
                    "Clients can",
                    options=[("both", "buy and sell"), ("buy", "only buy"), ("sell", "only sell")],
                ),
                symbol("frozen", "Frozen", options=[("no", "no"), ("yes", "yes")]),
                symbol("rate_age_s_max", "Oldest rate, s", "empty: no limit"),
                symbol("freeze_after_s", "Freeze if unchanged for, s", "empty: never"),
            ],
            legend="Safety",
        ),
    )


_FIELDS = _fields("g or kg")
_NEW_FIELDS = (
    Code("code", "Code", "what clients write in an order; cannot be changed later"),
    Choice(
        "metal",
        "Metal",
        "cannot be changed later",
        options=[("gold", "gold, in grams"), ("silver", "silver, in kilograms")],
    ),
    *_FIELDS,
)
_EDIT_FIELDS = (SEEN, _SEEN_STOCK, Hidden("metal", ""), *_FIELDS)
_LABELS = {each.name: str(each.label).partition(",")[0] for each in flat(_NEW_FIELDS)}


def _values(symbol: View) -> dict[str, Any]:
    sides = symbol["sides"][0] if len(symbol["sides"]) == 1 else "both"
    return {**symbol, **symbol["pricing"], "sides": sides, _SEEN_STOCK.name: symbol["stock"]}


def _body(values: Any) -> SymbolBody:
    """The symbol that the form describes."""
    pricing = {"kind": values["kind"] or "direct"}
    pricing |= {name: values[name] for name in _PRICING if name in values}
    if pricing["kind"] == "fixed" and values["buy"] is None and values["sell"] is None:
        raise FormErrors({"buy": "Enter a price for at least one of the two sides."})
    names = (each.name for each in flat(_FIELDS) if each.name not in {*_PRICING, "kind", "sides"})
    whole = {name: values[name] for name in names if name in values}
    whole |= {"trading": bool(values["trading"]), "frozen": bool(values["frozen"])}
    metal, sides = values["metal"] or "gold", _SIDES.get(values["sides"] or "", [])
    return convert({**whole, "metal": metal, "sides": sides, "pricing": pricing}, SymbolBody)


_PRICING = tuple(
    name for shape in (DirectBody, FixedBody, LandedBody) for name in body_fields(shape) if name != "kind"
)


async def _options(visit: Visit) -> dict[str, Options]:
    """Suggestions."""
    rates = [(each["instrument"], "") for each in await rates_of(visit)]
    duties = [(each["name"], "") for each in await duties_of(visit)]
    return {"instrument": rates, "spot": rates, "currency": rates, "duty": duties}


async def _ask_edit(visit: Visit) -> Dialog:
    code = visit.param("code")
    found = await get_symbol(visit.desk, visit.actor, code)
    return Dialog(
        title=f"Symbol {code}",
        text=["Changes apply to every order from now on. Recorded orders keep their price and size."],
        wide=True,
        fields=(*_EDIT_FIELDS[:3], *_fields(found["unit"])),
        values={**_values(found), **seen(_without_stock(found))},
        options=await _options(visit),
    )


async def _ask_new(visit: Visit) -> Dialog:
    return Dialog(
        title="New symbol", confirm="Create", wide=True, values=_DEFAULTS, options=await _options(visit)
    )


def _without_stock(symbol: View) -> View:
    """Bookings change the stock while the form is open."""
    return {name: value for name, value in symbol.items() if name != "stock"}


async def _edit(visit: Visit) -> Result:
    code, shown_stock = visit.param("code"), visit.form.get(_SEEN_STOCK.name)
    only_if = unchanged(visit, code, _without_stock)
    before = await get_symbol(visit.desk, visit.actor, code)
    only_if(before)
    wanted = view(symbol_with_stock(visit.actor.broker, code, _body(visit.values)))
    patch = {name: value for name, value in _without_stock(wanted).items() if value != before[name]}
    if (wanted["stock"] or "") != shown_stock:
        patch["stock"] = wanted["stock"]

    def check(found: View | None) -> None:
        only_if(found)
        # The new stock was counted from what the form showed: what was booked since would be lost.
        if "stock" in patch and (found is None or (found["stock"] or "") != shown_stock):
            raise stale_form(f"The stock of {code}")

    if not patch:
        return Result(saved(code, {}, {}))
    after = await patch_symbol(visit.desk, visit.actor, code, Changes(SymbolBody, patch), only_if=check)
    was, now = settings_text(before), settings_text(after)
    return Result(saved(code, was if "stock" in patch else {**was, "stock": now["stock"]}, now))


async def _code_taken(visit: Visit) -> dict[str, str]:
    code = visit.form.get("code", "").strip()
    try:
        await get_symbol(visit.desk, visit.actor, code)
    except RefusalError:
        return {}
    return {"code": f"There is a symbol {code} already."}


async def _create(visit: Visit) -> Result:
    code, body = visit.values["code"], _body(visit.values)
    only_if = only_new("code", f"There is a symbol {code} already.")
    made = await put_symbol(visit.desk, visit.actor, code, body, only_if=only_if)
    text = settings_text(made)
    return Result(
        f"{code} is created: {made['metal']} per {text['price for']}, {text['minimum']} to "
        f"{text['maximum']} in steps of {text['step']}, {text['pricing']}; trading {text['trading']}."
    )


async def _preview(visit: Visit) -> Html:
    """The price that the form would give now, with its parts. Nothing of it is kept."""
    code = visit.param("code") or visit.form.get("code", "").strip() or "NEW"
    try:
        body = _body(read_fields([Hidden("metal", ""), *_FIELDS], visit.form))
        found = await preview_quote(visit.desk, visit.actor, code, body)
    except FormErrors as errors:
        (name, message), *_ = errors.by_field.items()
        return _no_price(f"No price yet. {_LABELS.get(name, name)}: {message}")
    except RefusalError as refused:
        return _no_price(f"No price yet. {refused.message}")
    if found["missing"]:
        return _no_price(f"No price now. Missing: {' and '.join(found['missing'])}.")
    if found["bid"] is None and found["ask"] is None:
        return _no_price(found["words"] or "No price now: the formula's result is not above 0.")
    at = clock(datetime.fromisoformat(found["previewed_at"]), visit.zone)
    per = weight(found["quoted_weight"], found["unit"])
    title = el("b", f"Price with these values, at {at}, per {per} before any premium:")
    sides = el("div", [_side(found, side) for side in ("buy", "sell")], class_="sides")
    return el("div", el("p", title, class_="hint"), sides)


def _no_price(message: str) -> Html:
    return el("p", state(BAD, message), class_="no-price")


def _side(found: View, side: str) -> Html:
    price = found["ask" if side == "buy" else "bid"]
    title = "Clients buy at" if side == "buy" else "Clients sell at"
    if price is None:
        return el("div", el("h3", title), el("p", "not offered", class_="hint"))
    parts = [
        [el("dt", PART_NAMES.get(name, name)), el("dd", part_text(value), data_part=name, title=value)]
        for name, value in found["parts"][side][:-1]
    ]
    shown = el("span", rupees(price), class_="price", data_preview_price=side)
    return el("div", el("h3", title, shown), el("dl", parts))


EDIT = Action(
    MARKET,
    "edit-symbol",
    "Edit",
    patch_symbol,
    _ask_edit,
    _edit,
    _EDIT_FIELDS,
    changes="pricing",
    preview=_preview,
)
NEW = Action(
    MARKET,
    "new-symbol",
    "New symbol",
    put_symbol,
    _ask_new,
    _create,
    _NEW_FIELDS,
    check=_code_taken,
    preview=_preview,
)
