"""What an order of a client would cost and be refused for, and locks of its price. Nothing is booked."""

from dataclasses import dataclass
from uuid import uuid4

import msgspec

from bullion.accounts.account import Account
from bullion.allocation.position import Position
from bullion.booking.decide import limit_exceeded, out_of_stock
from bullion.desk.bodies import LockPriceBody, PreviewOrderBody
from bullion.desk.desk import Desk, View, require_token
from bullion.desk.order_checks import PRICE, QUANTITY, list_checks
from bullion.desk.price_lock import LOCK_US, PriceLock, locked_anatomy
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.metals.rupees import rupees_text
from bullion.metals.symbol import Side
from bullion.metals.weight import weight_e4, weight_text
from bullion.orders.instant import instant_text
from bullion.orders.offer import Offer, SidePrice, premium_paise
from bullion.orders.order import API, signed_e4
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Priced, Refusal
from bullion.rates.freshness import US_PER_S
from bullion.rates.quote import total_paise
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import BOOKING_UNAVAILABLE
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.store.records import Records

from .accounts import find_client
from .place_order import DeskOrderCheck, desk_error, trading_production


@dataclass(frozen=True, slots=True)
class _Preview:
    """An order, and all that it meets."""

    account: Account
    asked: PlaceOrder
    offer: Offer | None
    market: list[Refusal] | Priced
    position: Position | None
    """In the symbol's metal; None if the symbol is not known."""
    stock_e4: int | None
    now_us: int

    @property
    def refusals(self) -> list[Refusal]:
        """All of them, in the order of the checks."""
        found = self.market if isinstance(self.market, list) else []
        change_e4, position, offer = signed_e4(self.asked), self.position, self.offer
        if position is None or offer is None:
            return found
        metal = offer.symbol.metal
        over = [] if position.admits(change_e4) else [limit_exceeded(metal, position, change_e4)]
        stock_e4 = self.stock_e4
        short = stock_e4 is not None and stock_e4 < change_e4
        return [*found, *over, *([out_of_stock(metal, stock_e4 or 0, change_e4)] if short else [])]


@action(
    "POST /orders/preview",
    command="orders preview",
    columns="login_id symbol_code trade_type quantity unit price total refused_for",
    reads_market=True,
)
async def preview_order(desk: Desk, actor: Actor, body: PreviewOrderBody) -> View:
    """Show what an order of the account LOGIN_ID would cost, and what it would be refused for.

    Nothing is booked. Without a quantity, checks that need one are left open.

    \b
    Example:
      bullion desk orders preview aurum --symbol GOLD --side buy --quantity 100
    """
    found = await _read(desk, actor, body, body.quantity)
    return _view(desk, found, has_quantity=body.quantity is not None)


@action("POST /orders/lock", Role.DEALER)
async def lock_price(desk: Desk, actor: Actor, body: LockPriceBody) -> View:
    """Lock the price of an order for a client on the telephone, for five seconds.

    Nothing is booked. `POST /orders` with the `lock`, its `idempotency_key` and the same order books it at
    this price, if the live price is then still within the broker's tolerance of it and every check passes.
    """
    if body.source == API:
        raise invalid_field(("source",), f"{API} is for clients' own programs; name another channel")
    if desk.price_locks is None:
        raise RefusalError(CONFLICT, "Prices cannot be locked from this command.")
    found = await _read(desk, actor, body, body.quantity)
    refusals, priced = found.refusals, found.market
    if refusals or isinstance(priced, list):
        raise desk_error(refusals[0])
    price = rupees_text(priced.price_paise)
    lock = PriceLock(
        broker=actor.broker,
        dealer=actor.name,
        account_id=found.account.id,
        source=body.source,
        idempotency_key=str(uuid4()),
        asked=msgspec.structs.replace(found.asked, expected_price=price.rstrip("0").rstrip(".")),
        price_paise=priced.price_paise,
        total_paise=priced.total_paise,
        price_anatomy=locked_anatomy(priced.price_anatomy, found.now_us),
        rate_at_us=priced.rate_at_us,
        until_us=found.now_us + LOCK_US,
    )
    return {
        **_view(desk, found, has_quantity=True),
        "source": lock.source,
        "idempotency_key": lock.idempotency_key,
        "lock": desk.price_locks.seal(lock),
        "locked_until": instant_text(lock.until_us),
        "lock_ms": LOCK_US // 1000,
    }


async def _read(
    desk: Desk, actor: Actor, body: PreviewOrderBody | LockPriceBody, quantity: str | None
) -> _Preview:
    production = await trading_production(desk)

    async def work(records: Records) -> tuple[Account, dict[Metal, Position], int | None]:
        await require_token(records, actor)
        account = (await find_client(records, actor.broker, body.login_id)).account
        book = (await records.books(account.id))[Environment.PRODUCTION]
        stock_e4 = await records.stock(actor.broker, body.symbol_code)
        return account, {metal: book.position(metal) for metal in Metal}, stock_e4

    stored, positions, stock_e4 = await desk.read(actor, "preview_order", work)
    await production.look_up_account(stored.id)
    account = production.account(stored.id)
    if account is None:
        raise RefusalError(BOOKING_UNAVAILABLE)
    offer = production.offer(account, body.symbol_code)
    quantity_e4 = _smallest_e4(offer) if quantity is None else weight_e4(quantity)
    asked = PlaceOrder(body.symbol_code, body.trade_type, quantity_e4, None, None)
    return _Preview(
        account=account,
        asked=asked,
        offer=offer,
        market=DeskOrderCheck(production).check_all(account, asked),
        position=None if offer is None else positions[offer.symbol.metal],
        stock_e4=stock_e4,
        now_us=production.now_us(),
    )


def _smallest_e4(offer: Offer | None) -> int:
    return 1 if offer is None else offer.sizes.smallest_e4


def _view(desk: Desk, found: _Preview, *, has_quantity: bool) -> View:
    account, offer, asked = found.account, found.offer, found.asked
    side = next((each for each in Side if each == asked.trade_type), None)
    side_price = None if offer is None or side is None else offer.side_price(side)
    unknown = set() if has_quantity else {QUANTITY}
    if offer is None or isinstance(offer.price, RefusalCode):
        unknown.add(PRICE)
    checks = list_checks(found.refusals, unknown)
    refused = [each for each in checks if each["state"] == "refused"]
    return {
        "login_id": account.login_id,
        "firm_name": account.firm_name,
        "group": account.group,
        "symbol_code": asked.symbol_code,
        "trade_type": asked.trade_type,
        "quantity": weight_text(asked.quantity_e4) if has_quantity else None,
        **(_no_offer() if offer is None else _offer_view(offer, found.now_us)),
        **_amounts(offer, side, side_price, asked.quantity_e4 if has_quantity else None),
        "allocation": _allocation(found, has_quantity=has_quantity),
        "stock": None if found.stock_e4 is None else weight_text(found.stock_e4),
        "venue": desk.hedge,
        "at": instant_text(found.now_us),
        "refused_for": refused[0]["code"] if refused else None,
        "checks": checks,
    }


def _no_offer() -> View:
    return dict.fromkeys(("metal", "unit", "quoted_weight", "sizes", "buy_price", "sell_price", "age_s"))


def _offer_view(offer: Offer, now_us: int) -> View:
    symbol, sizes, rate_at_us = offer.symbol, offer.sizes, offer.rate_at_us
    return {
        "metal": symbol.metal.value,
        "unit": symbol.unit,
        "quoted_weight": weight_text(symbol.quoted_weight_e4),
        "sizes": {
            "minimum": weight_text(sizes.minimum_e4),
            "maximum": weight_text(sizes.maximum_e4),
            "step": weight_text(sizes.step_e4),
        },
        "buy_price": None if offer.buy is None else rupees_text(offer.buy.price_paise),
        "sell_price": None if offer.sell is None else rupees_text(offer.sell.price_paise),
        "age_s": None if rate_at_us is None else max(0, now_us - rate_at_us) // US_PER_S,
    }


def _amounts(
    offer: Offer | None, side: Side | None, side_price: SidePrice | None, quantity_e4: int | None
) -> View:
    """The price of the side with its two components, and what the order amounts to."""
    names = ("price", "reference", "premium", "total", "earned")
    if offer is None or side is None or side_price is None or offer.terms is None:
        return dict.fromkeys(names)
    price, premium = side_price.price_paise, premium_paise(offer.terms, side) or 0
    total = earned = None
    if quantity_e4 is not None:
        margin = premium if side is Side.BUY else -premium
        weight = offer.symbol.quoted_weight_e4
        total = rupees_text(total_paise(price, quantity_e4, weight))
        earned = rupees_text(total_paise(margin, quantity_e4, weight))
    values = (rupees_text(price), rupees_text(price - premium), rupees_text(premium), total, earned)
    return dict(zip(names, values, strict=True))


def _allocation(found: _Preview, *, has_quantity: bool) -> View | None:
    position = found.position
    if position is None:
        return None
    after = Position(position.net_e4 + signed_e4(found.asked), position.limit_e4)
    return {
        "limit": weight_text(position.limit_e4),
        "used": weight_text(position.used_e4),
        "free": weight_text(position.free_e4),
        "free_after": weight_text(after.free_e4) if has_quantity else None,
    }
