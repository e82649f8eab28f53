"""Places orders from other channels: as the API does, without its throttle, rate limits and switches."""

from dataclasses import dataclass

import structlog
from msgspec.structs import replace

from bullion.accounts.account import Account
from bullion.allocation.book import account_of, book_id
from bullion.booking.attempt import Booked, OrderAttempt, OrderCheck, Outcome
from bullion.booking.booking_errors import booking_error
from bullion.booking.decision_trace import decision_trace
from bullion.booking.production import Production
from bullion.desk import texts
from bullion.desk.audit_wording.orders import tell_place
from bullion.desk.bodies import PlaceOrderBody
from bullion.desk.desk import Desk, View, require_token
from bullion.desk.price_lock import LockedOrderCheck, PriceLock
from bullion.desk.problems import invalid_field
from bullion.desk.registry import action
from bullion.environment import Environment
from bullion.faults import StoreFault
from bullion.metals.weight import weight_e4
from bullion.orders.order import API
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.orders.verdict import REPLAYED, Priced, Refusal, Verdict
from bullion.records.orders import AccountOrder
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import (
    ACCOUNT_INACTIVE,
    BOOKING_UNAVAILABLE,
    ORDER_REJECTED,
    PRODUCTION_PREREQUISITES_UNMET,
)
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records

from .accounts import find_client
from .order_view import ORDER_RESULT_COLUMNS, view

_log = structlog.get_logger("desk")


@dataclass(frozen=True, slots=True)
class Placed:
    order: View
    replayed: bool

    @property
    def pending(self) -> bool:
        return bool(self.order["status"] == Status.PENDING)


@action(
    "POST /orders",
    Role.DEALER,
    audit_text="placed an order",
    tell=tell_place,
    command="orders place",
    columns=ORDER_RESULT_COLUMNS,
    reads_market=True,
)
async def place_order(desk: Desk, actor: Actor, body: PlaceOrderBody, request_id: str) -> Placed:
    """Place a production order for the account LOGIN_ID.

    It passes the same checks as the client's own orders, at the same price, and is hedged at the same venue.

    \b
    Example:
      bullion desk orders place aurum --symbol GOLD --side buy --quantity 100 --source phone --key call-1842
    """
    # The result says what became of it after a short wait for the venue.
    if body.source == API:
        message = f"{API} is for clients' own programs; name another channel, such as web"
        raise invalid_field(("source",), message)
    asked = _asked(body)
    production = await trading_production(desk)
    account = await _account(desk, actor, body.login_id)
    check: OrderCheck = DeskOrderCheck(production)
    if body.lock is not None:
        lock = _lock(desk, actor, account, body)
        asked = replace(asked, expected_price=lock.asked.expected_price)
        check = LockedOrderCheck(production, check, lock)
    attempt = _attempt(account, body, asked, request_id)
    outcome: Outcome
    try:
        # An account that was opened a moment ago on another node is in this node's memory from here on.
        await desk.refresh()
        await production.look_up_account(account.id)
        outcome = await production.place(attempt, check)
    except StoreFault as fault:
        refused = booking_error(fault)
        outcome = Refusal(refused.refusal, compared={"fault": repr(fault)})
        _note(desk, attempt, outcome)
        raise refused from fault
    _note(desk, attempt, outcome)
    if isinstance(outcome, Refusal):
        raise desk_error(outcome)
    return await _booked(desk, actor, account, outcome)


async def trading_production(desk: Desk) -> Production:
    """What places orders, with its memory up to date."""
    if desk.production is None:
        raise RefusalError(CONFLICT, "Orders cannot be placed from this command.")
    if desk.start_trading is not None:
        await desk.start_trading()
    return desk.production


def _lock(desk: Desk, actor: Actor, account: Account, body: PlaceOrderBody) -> PriceLock:
    """The locked price of this order. A lock of another order, or of another dealer, is refused."""
    if body.expected_price is not None:
        raise invalid_field(("expected_price",), "is part of the locked price; leave it out")
    lock = desk.price_locks.open(body.lock) if desk.price_locks and body.lock else None
    if lock is None:
        raise invalid_field(("lock",), "is not a price that this desk locked; lock the price again")
    booked = (actor.broker, actor.name, account.id, body.source, body.idempotency_key)
    asked = (body.symbol_code, body.trade_type, weight_e4(body.quantity))
    locked = (lock.broker, lock.dealer, lock.account_id, lock.source, lock.idempotency_key)
    if booked != locked or asked != (lock.asked.symbol_code, lock.asked.trade_type, lock.asked.quantity_e4):
        raise invalid_field(("lock",), "is the locked price of another order; lock the price of this one")
    return lock


def desk_error(denied: Refusal) -> RefusalError:
    """The refusal with the reason why production is not available, which clients do not get."""
    refused = denied.to_error()
    if denied.refusal is PRODUCTION_PREREQUISITES_UNMET:
        refused.message = f"Production is not available: {denied.compared['unmet']}. Nothing was booked."
    return refused


async def _account(desk: Desk, actor: Actor, login_id: str) -> Account:
    async def work(records: Records) -> Account:
        await require_token(records, actor)
        return (await find_client(records, actor.broker, login_id)).account

    return await desk.read(actor, "account", work)


INACTIVE = Refusal(ACCOUNT_INACTIVE, compared={"active": False}, closed=True)


def _refusals(found: list[Refusal] | Priced) -> list[Refusal]:
    return found if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class DeskOrderCheck:
    """The `OrderCheck` of orders that the desk places."""

    production: Production

    def check(self, attempt: OrderAttempt) -> Verdict:
        account = self.production.account(account_of(attempt.book_id))
        if account is None:
            return Refusal(BOOKING_UNAVAILABLE, compared={"account": "not in memory"})
        if not account.active:
            return INACTIVE
        return self.production.why_not_ready(account) or self.production.check(account, attempt.asked)

    def check_all(self, account: Account, asked: PlaceOrder) -> list[Refusal] | Priced:
        """Every refusal that the order deserves, or its price. `check` gives the first of them."""
        inactive = [] if account.active else [INACTIVE]
        found = self.production.check_all(account, asked)
        before = [*inactive, *self.production.unmet(account)]
        return found if isinstance(found, Priced) and not before else [*before, *_refusals(found)]


def _attempt(account: Account, body: PlaceOrderBody, asked: PlaceOrder, request_id: str) -> OrderAttempt:
    return OrderAttempt(
        book_id=book_id(account.id, Environment.PRODUCTION),
        broker=account.broker,
        source=body.source,
        idempotency_key=body.idempotency_key,
        asked=asked,
        key_id=None,
        request_id=request_id,
    )


async def _booked(desk: Desk, actor: Actor, account: Account, booked: Booked) -> Placed:
    order = view(AccountOrder(booked.order, account.login_id, archived=False))
    # The audit entry is written after the order: bookings of many accounts share a transaction, and must not
    # wait for the trail's lock. If the entry is lost with the store, the order exists and must be reported;
    # a retry with the same key then writes an entry, because replays have one too.
    try:
        await desk.add_audit_entry(actor, booked.order.id, {**order, "replayed": booked.replayed})
    except StoreFault as fault:
        _log.error("audit_entry_missing", order_id=booked.order.id, actor=actor.name, fault=repr(fault))
    if booked.order.status == Status.REJECTED:
        raise RefusalError(
            ORDER_REJECTED,
            fields={"order_id": booked.order.id, "order": order},
            headers=REPLAYED if booked.replayed else None,
        )
    return Placed(order, booked.replayed)


def _note(desk: Desk, attempt: OrderAttempt, outcome: Outcome) -> None:
    """Trace why it was accepted or refused, as for orders of the API."""
    if desk.traces is not None:
        desk.traces.add(decision_trace(attempt, outcome, _made_at_us(attempt.request_id)))


def _made_at_us(request_id: str) -> int:
    """Request ids begin with their time in milliseconds."""
    return int(request_id[:12], 16) * 1000


def _asked(body: PlaceOrderBody) -> PlaceOrder:
    price = None if body.expected_price is None else texts.expected_price(body.expected_price)
    return PlaceOrder(
        body.symbol_code, body.trade_type, weight_e4(body.quantity), price, body.client_order_id
    )
