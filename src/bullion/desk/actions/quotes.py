"""The current price of each symbol, before premiums, and whether its orders would be accepted."""

from collections.abc import Sequence

from bullion.accounts.group import Group, Terms
from bullion.desk.bodies import SymbolBody
from bullion.desk.desk import Desk, View
from bullion.desk.registry import action
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side, Symbol
from bullion.metals.weight import weight_text
from bullion.orders.checks import check
from bullion.orders.crossed import crossed_groups
from bullion.orders.instant import instant_text
from bullion.orders.offer import Offer, make_offer, smallest_order
from bullion.orders.verdict import Refusal
from bullion.rates.freshness import US_PER_S
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.refusals import catalogue as codes
from bullion.refusals.refusal import RefusalCode
from bullion.store.records import Records
from bullion.unreadable import Unreadable

from .switches import find_switches
from .symbols import symbol_with_stock

LIVE = "live"
_STATES = {
    codes.SYMBOL_NOT_TRADING: "off",
    codes.NO_LIVE_PRICE: "no_rate",
    codes.UNPRICED: "no_rate",
    codes.STALE_RATE: "stale",
    codes.TRADING_HALTED: "halted",
    codes.SYMBOL_FROZEN: "frozen",
}
_AT_COST = Terms(buy_premium_paise=0, sell_premium_paise=0)


@action(
    "GET /quotes",
    command="rates quotes",
    columns="symbol_code bid ask spread quoted_weight unit age_s state crossed words",
)
async def list_quotes(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the current price of each symbol before premiums, and whether orders in it would be accepted.

    `crossed` names the groups whose clients could sell the symbol for more than they buy it for.
    """
    # As the order path judges them: the state is the one that the smallest order would meet.

    async def work(records: Records) -> tuple[list[View], int]:
        now_us = await records.now_us()
        held, total = await records.symbols(actor.broker, page)
        symbols = [each.symbol for each in held if not isinstance(each, Unreadable)]
        offers = await offers_at_cost(records, actor.broker, symbols, now_us)
        groups = [each for each in await records.all_groups(actor.broker) if not isinstance(each, Unreadable)]
        shown = [
            {**_view(offer, now_us), "crossed": crossed_groups(offer.symbol, offer.price, groups)}
            for offer in offers
        ]
        shown += [_unreadable_view(each) for each in held if isinstance(each, Unreadable)]
        return sorted(shown, key=lambda each: str(each["symbol_code"])), total

    return await desk.read(actor, "quotes", work)


async def preview_quote(desk: Desk, actor: Actor, code: str, body: SymbolBody) -> View:
    """The price of the symbol that the body describes, with the components of each side's price.

    Nothing is stored. `missing` lists the inputs that its formula lacks.
    """
    symbol = symbol_with_stock(actor.broker, code, body).symbol

    async def work(records: Records) -> View:
        now_us = await records.now_us()
        (offer,) = await offers_at_cost(records, actor.broker, [symbol], now_us)
        price = offer.price
        parts = {side: [] if isinstance(price, RefusalCode) else price.components(side) for side in Side}
        at = instant_text(now_us)
        return {**_view(offer, now_us), "previewed_at": at, "missing": list(offer.missing), "parts": parts}

    return await desk.read(actor, "preview", work)


async def offers_at_cost(
    records: Records, broker: str, symbols: Sequence[Symbol], now_us: int
) -> list[Offer]:
    """The offers to a group without premiums."""
    ticks = {
        each.tick.instrument: each.tick
        for each in await records.ticks(broker)
        if not isinstance(each, Unreadable)
    }
    duties = {
        table.name: table for table in await records.duties(broker) if not isinstance(table, Unreadable)
    }
    switches, _ = await find_switches(records, broker)
    group = Group(broker, "", trading=True, terms={}, default_terms=_AT_COST)
    return [make_offer(each, group, switches, ticks.get, duties.get, now_us) for each in symbols]


def _unreadable_view(entry: Unreadable) -> View:
    nothing = dict.fromkeys(("metal", "unit", "quoted_weight", "bid", "ask", "spread", "at", "age_s"))
    return {
        "symbol_code": entry.subject,
        **nothing,
        "crossed": [],
        "state": "unreadable",
        "words": f"{entry} {entry.remedy}",
    }


def _view(offer: Offer, now_us: int) -> View:
    symbol = offer.symbol
    state, words = _state(offer, now_us)
    bid = None if offer.sell is None else offer.sell.price_paise
    ask = None if offer.buy is None else offer.buy.price_paise
    return {
        "symbol_code": symbol.code,
        "metal": symbol.metal.value,
        "unit": symbol.unit,
        "quoted_weight": weight_text(symbol.quoted_weight_e4),
        "bid": None if bid is None else rupees_text(bid),
        "ask": None if ask is None else rupees_text(ask),
        "spread": None if bid is None or ask is None else rupees_text(ask - bid),
        "at": None if offer.rate_at_us is None else instant_text(offer.rate_at_us),
        "age_s": None if offer.rate_at_us is None else max(0, now_us - offer.rate_at_us) // US_PER_S,
        "state": state,
        "words": words,
    }


def _state(offer: Offer, now_us: int) -> tuple[str, str | None]:
    """`live`, or why the market would refuse the smallest order now."""
    symbol, hours = offer.symbol, offer.switches.trading_hours
    market_open = hours is None or hours.is_open(now_us)
    side = next(side for side in Side if side in symbol.sides)
    verdict = check(smallest_order(offer, side), offer, now_us, rates_ready=True, market_open=market_open)
    if not isinstance(verdict, Refusal):
        return LIVE, None
    refusal = verdict.refusal
    if refusal is codes.TRADING_HALTED and not offer.switches.halted:
        return "closed", verdict.message
    return _STATES.get(refusal, "no_rate"), verdict.message or refusal.message


def is_live(offer: Offer, now_us: int) -> bool:
    return _state(offer, now_us)[0] == LIVE
