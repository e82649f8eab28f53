"""Symbols: what is traded, in which sizes, and how it is priced."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from bullion.desk import bodies
from bullion.desk.bodies import DirectBody, FixedBody, LandedBody, SymbolBody
from bullion.desk.desk import Desk, Done, View, require
from bullion.desk.unreadable import found, view_of
from bullion.metals.metal import Metal
from bullion.metals.pricing import FACTOR_PLACES, Direct, Fixed, Landed, Pricing
from bullion.metals.rupees import rupees_text
from bullion.metals.scaled import NotAnAmount, scaled
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.metals.weight import weight_text
from bullion.records.market import HeldSymbol
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

_DEALERS_FIELDS = {"frozen"}


async def put_symbol(desk: Desk, actor: Actor, code: str, body: SymbolBody) -> View:
    held = held_symbol(actor.broker, code, body)

    async def work(records: Records) -> Done:
        before = await found(_hold(records, actor.broker, code))
        _require_metal(await records.metal(actor.broker, code), held)
        await records.put_symbol(held.symbol)
        await records.put_stock(actor.broker, code, held.stock_e4)
        return Done(None if before is None else view_of(before, view), view(held))

    return await desk.change(actor, "put_symbol", code, work)


async def patch_symbol(desk: Desk, actor: Actor, code: str, raw: bytes) -> View:
    """Change single fields. A dealer may freeze and unfreeze."""
    fields = bodies.read(raw, dict[str, Any]).keys()
    require(actor, Role.DEALER if fields <= _DEALERS_FIELDS else Role.ADMIN)
    name = (actor.broker, code)

    async def work(records: Records) -> Done:
        sets_stock = "stock" in fields
        before = await (_hold(records, *name) if sets_stock else records.symbol(*name))
        if before is None:
            raise RefusalError(NOT_FOUND, f"There is no symbol {code}.")
        current = view(before)
        del current["code"], current["unit"]
        held = held_symbol(actor.broker, code, bodies.merged(current, raw, SymbolBody))
        _require_metal(before.symbol.metal, held)
        await records.put_symbol(held.symbol)
        if sets_stock:  # Bookings move it meanwhile: what was read must not be written back.
            await records.put_stock(*name, held.stock_e4)
        return Done(view(before), view(held))

    return await desk.change(actor, "patch_symbol", code, work, role=Role.DEALER)


async def get_symbol(desk: Desk, actor: Actor, code: str) -> View:
    held = await desk.read(actor, "symbol", lambda records: records.symbol(actor.broker, code))
    if held is None:
        raise RefusalError(NOT_FOUND, f"There is no symbol {code}.")
    return view(held)


async def list_symbols(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    listed, total = await desk.read(actor, "symbols", lambda records: records.symbols(actor.broker, page))
    return [view_of(held, view) for held in listed], total


def _require_metal(metal: Metal | None, after: HeldSymbol) -> None:
    """What is open in a symbol is weighed in its metal's unit: grams would become kilograms."""
    if metal not in (None, after.symbol.metal):
        code = after.symbol.code
        raise RefusalError(
            CONFLICT, f"{code} is a {metal} symbol, and stays one. Make another symbol instead."
        )


async def _hold(records: Records, broker: str, code: str) -> HeldSymbol | None:
    """With its stock as it is now, and stays until it is set."""
    held = await records.symbol(broker, code)
    return None if held is None else replace(held, stock_e4=await records.hold_stock(broker, code))


def held_symbol(broker: str, code: str, body: SymbolBody) -> HeldSymbol:
    """The symbol that a body describes, if it keeps to the rules."""
    bodies.code("symbol code", code)
    size = bodies.rule(
        "",
        SizeRule,
        bodies.weight("minimum", body.minimum),
        bodies.weight("maximum", body.maximum),
        bodies.weight("step", body.step),
    )
    symbol = bodies.rule(
        "",
        Symbol,
        broker=broker,
        code=code,
        metal=Metal(body.metal),
        quoted_weight_e4=bodies.weight("quoted_weight", body.quoted_weight),
        trading=body.trading,
        sides=frozenset(Side(side) for side in body.sides),
        frozen=body.frozen,
        size=size,
        rate_age_s_max=body.rate_age_s_max,
        freeze_after_s=body.freeze_after_s,
        pricing=_pricing(body.pricing),
        stock_kept=body.stock is not None,
    )
    return HeldSymbol(symbol, None if body.stock is None else bodies.weight("stock", body.stock))


def _pricing(body: DirectBody | FixedBody | LandedBody) -> Pricing:
    match body:
        case DirectBody():
            return Direct(body.instrument)
        case FixedBody():
            return bodies.rule(
                "pricing: ",
                Fixed,
                None if body.buy is None else bodies.rupees("pricing.buy", body.buy),
                None if body.sell is None else bodies.rupees("pricing.sell", body.sell),
            )
        case LandedBody():
            conversion = _factor("pricing.conversion", body.conversion)
            if conversion <= 0:
                raise bodies.refused("pricing.conversion: must be above 0")
            return Landed(
                spot=body.spot,
                currency=body.currency,
                premium_usd=_factor("pricing.premium_usd", body.premium_usd),
                interbank=_factor("pricing.interbank", body.interbank),
                conversion=conversion,
                duty=body.duty,
                margin_paise=bodies.rupees("pricing.margin", body.margin, signed=True),
            )


def _factor(field: str, text: str) -> Decimal:
    """A number of a formula, exact."""
    try:
        scaled(text, FACTOR_PLACES)
    except NotAnAmount as error:
        raise bodies.refused(f"{field}: {error}") from None
    return Decimal(text) or Decimal(0)  # There is no minus zero.


def view(held: HeldSymbol) -> View:
    symbol = held.symbol
    return {
        "code": symbol.code,
        "metal": symbol.metal.value,
        "unit": symbol.unit,
        "quoted_weight": weight_text(symbol.quoted_weight_e4),
        "trading": symbol.trading,
        "sides": [side.value for side in Side if side in symbol.sides],
        "frozen": symbol.frozen,
        "minimum": weight_text(symbol.size.minimum_e4),
        "maximum": weight_text(symbol.size.maximum_e4),
        "step": weight_text(symbol.size.step_e4),
        "rate_age_s_max": symbol.rate_age_s_max,
        "freeze_after_s": symbol.freeze_after_s,
        "stock": None if held.stock_e4 is None else weight_text(held.stock_e4),
        "pricing": _pricing_view(symbol.pricing),
    }


def _pricing_view(pricing: Pricing) -> View:
    match pricing:
        case Direct():
            return {"kind": "direct", "instrument": pricing.instrument}
        case Fixed():
            return {
                "kind": "fixed",
                "buy": None if pricing.buy_paise is None else rupees_text(pricing.buy_paise),
                "sell": None if pricing.sell_paise is None else rupees_text(pricing.sell_paise),
            }
        case Landed():
            return {
                "kind": "landed",
                "spot": pricing.spot,
                "currency": pricing.currency,
                "premium_usd": f"{pricing.premium_usd:f}",
                "interbank": f"{pricing.interbank:f}",
                "conversion": f"{pricing.conversion:f}",
                "duty": pricing.duty,
                "margin": rupees_text(pricing.margin_paise),
            }
