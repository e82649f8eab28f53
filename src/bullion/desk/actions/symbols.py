"""Symbols: what is traded, in which sizes, and how it is priced."""

from dataclasses import replace

from bullion.desk import texts
from bullion.desk.audit_wording.prices import tell_symbol
from bullion.desk.bodies import DirectBody, FixedBody, LandedBody, SymbolBody
from bullion.desk.conversion import Changes, convert, require_code, require_valid, rule
from bullion.desk.desk import ChangeResult, Desk, OnlyIf, View
from bullion.desk.registry import action
from bullion.desk.unreadable import read_or_unreadable, view_of
from bullion.metals.metal import Metal
from bullion.metals.pricing import Direct, Fixed, Landed, Pricing
from bullion.metals.rupees import paise, rupees_text
from bullion.metals.symbol import Side, SizeRule, Symbol
from bullion.metals.weight import weight_e4, weight_text
from bullion.records.market import SymbolWithStock
from bullion.records.page import Page
from bullion.records.token import Actor, Role
from bullion.refusals.desk import CONFLICT, NOT_FOUND
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records


async def _undo(records: Records, broker: str, code: str, earlier: View) -> ChangeResult:
    """Without the stock, which bookings have moved since."""
    now = await records.symbol(broker, code)
    if now is None:
        raise RefusalError(NOT_FOUND, f"There is no symbol {code}.")
    whole = {**_settings(earlier), "stock": view(now)["stock"]}
    held = symbol_with_stock(broker, code, convert(whole, SymbolBody))
    await records.put_symbol(held.symbol)
    return ChangeResult(view(now), view(held))


@action(
    "PUT /symbols/{code}",
    Role.ADMIN,
    audit_text="set a symbol",
    tell=tell_symbol,
    command="symbols put",
    moves_prices=True,
    undo=_undo,
)
async def put_symbol(
    desk: Desk, actor: Actor, code: str, body: SymbolBody, *, only_if: OnlyIf | None = None
) -> View:
    """Create or replace the symbol CODE."""
    held = symbol_with_stock(actor.broker, code, body)

    async def work(records: Records) -> ChangeResult:
        before = await read_or_unreadable(_hold(records, actor.broker, code))
        _require_metal(await records.metal(actor.broker, code), held)
        await records.put_symbol(held.symbol)
        await records.put_stock(actor.broker, code, held.stock_e4)
        return ChangeResult(None if before is None else view_of(before, view), view(held))

    return await desk.change(actor, code, work, only_if=only_if)


@action(
    "PATCH /symbols/{code}",
    Role.ADMIN,
    dealer_fields=["frozen", "stock"],
    audit_text="changed a symbol",
    tell=tell_symbol,
    command="symbols set",
    moves_prices=["pricing", "quoted_weight", "sides"],
    undo=_undo,
)
async def patch_symbol(
    desk: Desk, actor: Actor, code: str, changes: Changes[SymbolBody], *, only_if: OnlyIf | None = None
) -> View:
    """Change single fields of the symbol CODE.

    \b
    Examples:
      bullion desk symbols set GOLD frozen=true
      bullion desk symbols set GOLD minimum=10 step=10 stock=null
    """
    name = (actor.broker, code)

    async def work(records: Records) -> ChangeResult:
        sets_stock = "stock" in changes.fields
        before = await (_hold(records, *name) if sets_stock else records.symbol(*name))
        if before is None:
            raise RefusalError(NOT_FOUND, f"There is no symbol {code}.")
        held = symbol_with_stock(actor.broker, code, changes.applied_to(_settings(view(before))))
        _require_metal(before.symbol.metal, held)
        await records.put_symbol(held.symbol)
        if sets_stock:  # Otherwise not written: bookings may have changed it since it was read.
            await records.put_stock(*name, held.stock_e4)
        return ChangeResult(view(before), view(held))

    return await desk.change(actor, code, work, only_if=only_if)


def _settings(symbol: View) -> View:
    """Of a symbol's view, what can be set."""
    return {name: value for name, value in symbol.items() if name not in ("code", "unit")}


async def get_symbol(desk: Desk, actor: Actor, code: str) -> View:
    held = await desk.read(actor, "symbol", lambda records: records.symbol(actor.broker, code))
    if held is None:
        raise RefusalError(NOT_FOUND, f"There is no symbol {code}.")
    return view(held)


@action(
    "GET /symbols",
    command="symbols list",
    columns="code metal unit quoted_weight trading frozen sides minimum maximum step stock pricing",
)
async def list_symbols(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the symbols."""
    listed, total = await desk.read(actor, "symbols", lambda records: records.symbols(actor.broker, page))
    return [view_of(held, view) for held in listed], total


def _require_metal(metal: Metal | None, after: SymbolWithStock) -> None:
    """Open orders are in the unit of the symbol's metal: with another metal, grams would become kilograms."""
    if metal not in (None, after.symbol.metal):
        code = after.symbol.code
        raise RefusalError(
            CONFLICT, f"{code} is a {metal} symbol, which cannot be changed. Create another symbol instead."
        )


async def _hold(records: Records, broker: str, code: str) -> SymbolWithStock | None:
    """The symbol with its stock, which is locked."""
    held = await records.symbol(broker, code)
    return None if held is None else replace(held, stock_e4=await records.lock_stock(broker, code))


def symbol_with_stock(broker: str, code: str, body: SymbolBody) -> SymbolWithStock:
    """The symbol that a body describes, if it keeps to the rules."""
    require_valid(body)
    require_code("symbol code", code)
    sizes = map(weight_e4, (body.minimum, body.maximum, body.step))
    symbol = rule(
        ("sides",),
        Symbol,
        broker=broker,
        code=code,
        metal=Metal(body.metal),
        quoted_weight_e4=weight_e4(body.quoted_weight),
        trading=body.trading,
        sides=frozenset(Side(side) for side in body.sides),
        frozen=body.frozen,
        size=rule(("minimum",), SizeRule, *sizes),
        rate_age_s_max=body.rate_age_s_max,
        freeze_after_s=body.freeze_after_s,
        pricing=_pricing(body.pricing),
        stock_kept=body.stock is not None,
        fineness_e4=texts.fineness(body.fineness),
    )
    return SymbolWithStock(symbol, None if body.stock is None else weight_e4(body.stock))


def _pricing(body: DirectBody | FixedBody | LandedBody) -> Pricing:
    match body:
        case DirectBody():
            return Direct(body.instrument)
        case FixedBody():
            buy, sell = (None if each is None else paise(each) for each in (body.buy, body.sell))
            return rule(("pricing", "buy"), Fixed, buy, sell)
        case LandedBody():
            return Landed(
                spot=body.spot,
                currency=body.currency,
                premium_usd=texts.factor(body.premium_usd),
                interbank=texts.factor(body.interbank),
                conversion=texts.factor(body.conversion),
                duty=body.duty,
                margin_paise=paise(body.margin),
            )


def view(held: SymbolWithStock) -> View:
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
        "fineness": texts.fineness_text(symbol.fineness_e4),
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
