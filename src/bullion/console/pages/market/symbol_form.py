"""The form of one symbol, with the price that it would give just now."""

from collections.abc import Mapping
from datetime import datetime

from bullion.console.html import Child, Html, el
from bullion.console.page import Action, FormErrors, Result, Visit
from bullion.console.stale_form import new, overtaken, seen, still
from bullion.console.widgets.components import BAD, state
from bullion.console.widgets.dialog import choice, dialog, field, hidden, preview_place
from bullion.console.widgets.formatting import rupees, weight
from bullion.console.widgets.times import clock
from bullion.desk.actions import quotes, symbols
from bullion.desk.bodies import DirectBody, FixedBody, LandedBody, SymbolBody
from bullion.desk.conversion import Changes
from bullion.desk.desk import OnlyIf, View
from bullion.metals.rupees import PLACES as RUPEES_PLACES
from bullion.metals.weight import PLACES as WEIGHT_PLACES
from bullion.records.token import Role
from bullion.refusals.refusal import RefusalError

from .forms import Form, beside_fields, saved, short
from .market_data import duties_of, rates_of
from .names import PAGE_NAME
from .symbol_text import KINDS, PART_NAMES, part_words, spoken

_FACTOR_PLACES = 10
_SECONDS_MAX = 10_000_000
_SIDES = {"both": ["buy", "sell"], "buy": ["buy"], "sell": ["sell"]}
_BEGINNING: View = {
    "metal": "gold",
    "unit": "g",
    "quoted_weight": "10",
    "trading": True,
    "sides": ["buy", "sell"],
    "frozen": False,
    "minimum": "",
    "maximum": "",
    "step": "",
    "rate_age_s_max": 30,
    "freeze_after_s": 300,
    "stock": None,
    "pricing": {"kind": "direct", "instrument": ""},
}


def _body(typed: Mapping[str, str]) -> SymbolBody:
    """What the form says, or what is wrong with which of its fields."""
    form = Form(typed)
    body = SymbolBody(
        metal="silver" if form.text("metal") == "silver" else "gold",
        quoted_weight=form.amount("quoted_weight", WEIGHT_PLACES),
        trading=form.is_yes("trading"),
        sides=list(_SIDES.get(form.text("sides"), ())),  # type: ignore[arg-type]
        frozen=form.is_yes("frozen"),
        minimum=form.amount("minimum", WEIGHT_PLACES),
        maximum=form.amount("maximum", WEIGHT_PLACES),
        step=form.amount("step", WEIGHT_PLACES),
        rate_age_s_max=form.count_if_any("rate_age_s_max", 1, _SECONDS_MAX),
        freeze_after_s=form.count_if_any("freeze_after_s", 1, _SECONDS_MAX),
        stock=form.amount_if_any("stock", WEIGHT_PLACES),
        pricing=_pricing(form),
    )
    form.check()
    return body


def _pricing(form: Form) -> DirectBody | FixedBody | LandedBody:
    match form.text("kind"):
        case "fixed":
            buy, sell = (form.amount_if_any(side, RUPEES_PLACES) for side in ("buy", "sell"))
            if buy is None and sell is None:
                form.troubles["buy"] = "Type a price for at least one of the two sides."
            return FixedBody(buy, sell)
        case "landed":
            return LandedBody(
                spot=form.code("spot"),
                currency=form.code("currency"),
                premium_usd=form.amount("premium_usd", _FACTOR_PLACES),
                interbank=form.amount("interbank", _FACTOR_PLACES),
                conversion=form.amount("conversion", _FACTOR_PLACES),
                duty=form.code("duty"),
                margin=form.amount("margin", RUPEES_PLACES),
            )
        case _:
            return DirectBody(form.code("instrument"))


async def _ask_edit(visit: Visit) -> Html:
    code = visit.query.get("code", "")
    found = await symbols.get_symbol(visit.desk, visit.actor, code)
    marks = [hidden("seen", seen(_lasting(found))), hidden("seen_stock", found["stock"] or "")]
    words = ["What you change holds for every order from then on. Recorded orders keep their price and size."]
    fields = [*marks, *await _fields(visit, found), preview_place(PAGE_NAME, EDIT, {"code": code})]
    return dialog(f"Symbol {code}", words, confirm="Save", fields=fields, broad=True)


async def _ask_new(visit: Visit) -> Html:
    code = field("Code", "code", hint="what clients write in an order; it stays", required=True)
    metal = choice(
        "Metal", "metal", [("gold", "gold, in grams"), ("silver", "silver, in kilograms")], hint="it stays"
    )
    fields = [code, metal, *await _fields(visit, _BEGINNING), preview_place(PAGE_NAME, NEW)]
    return dialog("New symbol", [], confirm="Make it", fields=fields, broad=True)


async def _fields(visit: Visit, now: View) -> list[Child]:
    unit = now["unit"] if "code" in now else "g or kg"
    sides = now["sides"][0] if len(now["sides"]) == 1 else "both"

    def weighed(label: str, name: str, hint: str | None = None) -> Html:
        return field(f"{label}, {unit}", name, value=short(now[name] or ""), hint=hint)

    def seconds(label: str, name: str, hint: str) -> Html:
        return field(label, name, value="" if now[name] is None else str(now[name]), hint=hint)

    return [
        hidden("metal", now["metal"]) if "code" in now else None,
        weighed("Price is for", "quoted_weight"),
        choice(
            "Trading",
            "trading",
            [("yes", "on"), ("no", "off")],
            value="yes" if now["trading"] else "no",
        ),
        choice(
            "Clients may",
            "sides",
            [("both", "buy and sell"), ("buy", "only buy"), ("sell", "only sell")],
            value=sides,
        ),
        choice("Frozen", "frozen", [("no", "no"), ("yes", "yes")], value="yes" if now["frozen"] else "no"),
        weighed("Smallest order", "minimum"),
        weighed("Largest order", "maximum"),
        weighed("Step", "step", "orders are multiples of it"),
        weighed("Stock", "stock", "empty: not counted"),
        seconds("Rate too old after, s", "rate_age_s_max", "empty: never"),
        seconds("Frozen if unmoved for, s", "freeze_after_s", "empty: never"),
        *await _pricing_fields(visit, now["pricing"]),
    ]


async def _pricing_fields(visit: Visit, pricing: View) -> list[Child]:
    rates = [each["instrument"] for each in await rates_of(visit)]
    duties = [each["name"] for each in await duties_of(visit)]

    def typed(label: str, name: str, hint: str | None = None, suggested: list[str] | None = None) -> Html:
        value = pricing.get(name) or ""
        return field(label, name, value=value, hint=hint, suggested=suggested or ())

    return [
        choice("Priced by", "kind", list(KINDS.items()), value=pricing["kind"]),
        el(
            "div",
            typed("Instrument", "instrument", "whose bid and ask it takes", rates),
            class_="whole kind direct",
        ),
        el(
            "div",
            typed("Clients buy at, ₹", "buy", "empty: they cannot buy"),
            typed("Clients sell at, ₹", "sell", "empty: they cannot sell"),
            class_="whole kind fixed",
        ),
        el(
            "div",
            typed("Spot, $", "spot", "instrument", rates),
            typed("Premium on spot, $", "premium_usd"),
            typed("Currency, ₹ a $", "currency", "instrument", rates),
            typed("Interbank, ₹ a $", "interbank"),
            typed("Conversion", "conversion", "of spot to the quoted weight"),
            typed("Duty table", "duty", None, duties),
            typed("Margin, ₹", "margin"),
            class_="whole kind landed",
        ),
    ]


def _lasting(view: View) -> View:
    """Without the stock, which bookings move."""
    return {name: value for name, value in view.items() if name != "stock"}


async def _edit(visit: Visit) -> Result:
    code, typed = visit.query.get("code", ""), visit.form
    body = _body(typed)
    before = await symbols.get_symbol(visit.desk, visit.actor, code)
    only_if = still(visit, code, before, _lasting)
    with beside_fields(typed):
        wanted = symbols.view(symbols.held_symbol(visit.actor.broker, code, body))
        patch = {name: value for name, value in _lasting(wanted).items() if value != before[name]}
        if (wanted["stock"] or "") != typed.get("seen_stock"):
            patch["stock"] = wanted["stock"]
            only_if = _if_stock_still(only_if, code, typed.get("seen_stock"))
        if not patch:
            return Result(f"{code} is as it was: nothing was changed.")
        changes = Changes(SymbolBody, patch)
        after = await symbols.patch_symbol(visit.desk, visit.actor, code, changes, only_if=only_if)
    told = spoken(before) if "stock" in patch else {**spoken(before), "stock": spoken(after)["stock"]}
    return Result(saved(code, told, spoken(after)))


def _if_stock_still(lasting: OnlyIf, code: str, shown: str | None) -> OnlyIf:
    """Who sets the stock counted it from what the form showed: what was booked meanwhile would be lost."""

    def judge(before: View | None) -> None:
        lasting(before)
        if before is None or (before["stock"] or "") != shown:
            raise overtaken(f"The stock of {code}")

    return judge


async def _make(visit: Visit) -> Result:
    form = Form(visit.form)
    code = form.code("code")
    try:
        body = _body(visit.form)
    except FormErrors as mistyped:
        raise FormErrors({**form.troubles, **mistyped.troubles}) from None
    form.check()
    only_if = new("code", f"There is a symbol {code} already.")
    with beside_fields(visit.form):
        made = await symbols.put_symbol(visit.desk, visit.actor, code, body, only_if=only_if)
    told = spoken(made)
    sizes = f"{told['minimum']} to {told['maximum']} in steps of {told['step']}"
    per, pricing = told["quoted weight"], told["pricing"]
    return Result(
        f"{code} is made: {made['metal']} per {per}, {sizes}, {pricing}; trading {told['trading']}."
    )


async def _preview(visit: Visit) -> Html:
    """The price that the formula gives just now, with its parts; nothing of it is kept."""
    code = visit.query.get("code") or visit.form.get("code", "").strip() or "NEW"
    try:
        body = _body(visit.form)
        with beside_fields(visit.form):
            found = await quotes.preview_quote(visit.desk, visit.actor, code, body)
    except FormErrors as mistyped:
        (name, words), *_ = mistyped.troubles.items()
        return _no_price(f"No price yet. {_LABELS.get(name, name)}: {words}")
    except RefusalError as refused:
        return _no_price(f"No price yet. {refused.message}")
    if found["missing"]:
        return _no_price(f"No price just now: missing is {' and '.join(found['missing'])}.")
    if found["bid"] is None and found["ask"] is None:
        return _no_price(found["words"] or "No price just now: the formula's result is not above 0.")
    return _shown(visit, found)


_LABELS = {
    "quoted_weight": "Price is for",
    "minimum": "Smallest order",
    "maximum": "Largest order",
    "rate_age_s_max": "Rate too old after",
    "freeze_after_s": "Frozen if unmoved for",
    "premium_usd": "Premium on spot",
    "duty": "Duty table",
    "buy": "Clients buy at",
    "sell": "Clients sell at",
    "instrument": "Instrument",
    "spot": "Spot",
    "currency": "Currency",
    "interbank": "Interbank",
    "conversion": "Conversion",
    "margin": "Margin",
    "step": "Step",
    "stock": "Stock",
    "code": "Code",
}


def _no_price(words: str) -> Html:
    return el("p", state(BAD, words), class_="no-price")


def _shown(visit: Visit, found: View) -> Html:
    at = clock(datetime.fromisoformat(found["previewed_at"]), visit.zone)
    per = weight(found["quoted_weight"], found["unit"])
    return el(
        "div",
        el(
            "p",
            el("b", f"With what is typed, at {at}, per {per} before any premium:"),
            class_="hint",
        ),
        el("div", [_side(found, side) for side in ("buy", "sell")], class_="sides"),
    )


def _side(found: View, side: str) -> Html:
    price = found["ask" if side == "buy" else "bid"]
    title = "Clients buy at" if side == "buy" else "Clients sell at"
    if price is None:
        return el("div", el("h3", title), el("p", "not offered", class_="hint"))
    parts = found["parts"][side][:-1]
    return el(
        "div",
        el("h3", title, el("span", rupees(price), class_="price", data_preview_price=side)),
        el(
            "dl",
            [
                [
                    el("dt", PART_NAMES.get(name, name)),
                    el("dd", part_words(value), data_part=name, title=value),
                ]
                for name, value in parts
            ],
        ),
    )


EDIT = Action("edit-symbol", Role.ADMIN, _ask_edit, _edit, _preview)
NEW = Action("new-symbol", Role.ADMIN, _ask_new, _make, _preview)
