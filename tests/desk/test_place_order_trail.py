"""An order that is recorded is answered, also when the trail cannot be written; else nothing is."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from bullion.accounts.account import Account
from bullion.booking.attempt import Booked, OrderAttempt, OrderCheck, Outcome
from bullion.booking.production import Production
from bullion.desk.actions.place_order import place_order
from bullion.desk.bodies import PlaceOrderBody
from bullion.desk.desk import Desk
from bullion.faults import (
    NotCompleted,
    OutcomeUnknown,
    StoreBusy,
    StoreConflict,
    StoreFault,
    StoreUnavailable,
)
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import KeyIssuer
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.verdict import Refusal, Verdict
from bullion.records.audit import Chain, Entry, Head
from bullion.records.clients import Allocation, Client
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import UNKNOWN_SYMBOL
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records, RecordStore

pytestmark = pytest.mark.anyio

ACTOR = Actor("Asha", Role.DEALER, "main")
ACCOUNT = Account(7, "main", "client", None, "retail", active=True, api_access=True, production_trading=True)
BODY = PlaceOrderBody(
    login_id="client", source="web", idempotency_key="k", symbol_code="GOLD", trade_type="buy", quantity="1"
)
REQUEST = "01a1de14d0ac1ba770254725"


class Trail:
    """A store with one account in it, whose trail may be out of reach."""

    def __init__(self, fault: StoreFault | None = None) -> None:
        self.fault = fault
        self.entries: list[Entry] = []

    async def read(self, _name: str, body: Callable[[Records], Awaitable[Any]]) -> Any:
        return await body(cast("Records", self))

    async def write(
        self, _name: str, body: Callable[[Records], Awaitable[Any]], *, catalogue: bool = True
    ) -> Any:
        assert not catalogue
        if self.fault is not None:
            raise self.fault
        return await body(cast("Records", self))

    async def client(self, _broker: str, _login_id: str) -> Client:
        return Client(ACCOUNT, Allocation(0, 0), 0)

    async def lock_audit_head(self, _broker: str) -> Head | None:
        return None

    async def now_us(self) -> int:
        return 1

    async def append_audit(self, entry: Entry, _head: Head) -> None:
        self.entries.append(entry)


class Way:
    """The way of a production order, with an end of the test's choosing."""

    def __init__(self, end: StoreFault | None = None) -> None:
        self.end = end

    async def look_up_account(self, _account_id: int) -> None:
        """It is in memory."""

    def account(self, _account_id: int) -> Account:
        return ACCOUNT

    def why_not_ready(self, _account: Account) -> Refusal | None:
        return None

    def check(self, _account: Account, _asked: object) -> Verdict:
        return Refusal(UNKNOWN_SYMBOL)

    async def place(self, attempt: OrderAttempt, check: OrderCheck) -> Outcome:
        check.check(attempt)
        if self.end is not None:
            raise self.end
        return Booked(
            Order(
                attempt.book_id,
                1,
                "an id",
                attempt.source,
                "k",
                attempt.asked,
                Metal.GOLD,
                100,
                10,
                "pending",
                None,
                attempt.request_id,
                5,
                "{}",
            )
        )


async def nothing() -> None:
    return


def desk_over(trail: Trail, way: Way) -> Desk:
    hasher = Hasher(b"secret" * 8, "audit")
    store = cast("RecordStore", trail)
    return Desk(
        store, Chain(hasher), KeyIssuer(hasher, hasher), hasher, nothing, production=cast("Production", way)
    )


async def test_an_order_has_its_entry() -> None:
    trail = Trail()
    placed = await place_order(desk_over(trail, Way()), ACTOR, BODY, REQUEST)
    assert (placed.pending, placed.replayed) == (True, False)
    assert [(entry.action, entry.subject) for entry in trail.entries] == [("place_order", "an id")]


@pytest.mark.parametrize("fault", [StoreUnavailable, OutcomeUnknown, StoreBusy])
async def test_an_order_is_answered_though_its_entry_is_lost(fault: type[StoreFault]) -> None:
    placed = await place_order(desk_over(Trail(fault("gone")), Way()), ACTOR, BODY, REQUEST)
    assert placed.order["id"] == "an id"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (StoreBusy, "booking_busy"),
        (StoreConflict, "booking_conflict"),
        (StoreUnavailable, "booking_unavailable"),
        (NotCompleted, "booking_not_completed"),
        (OutcomeUnknown, "booking_outcome_unknown"),
    ],
)
async def test_what_the_store_did_is_told_by_the_apis_own_codes(fault: type[StoreFault], code: str) -> None:
    trail = Trail()
    with pytest.raises(RefusalError) as refused:
        await place_order(desk_over(trail, Way(fault("x"))), ACTOR, BODY, REQUEST)
    assert refused.value.refusal.code == code
    assert trail.entries == []


async def test_where_nothing_can_be_placed_that_is_said() -> None:
    desk = replace(desk_over(Trail(), Way()), production=None)
    with pytest.raises(RefusalError, match="conflict"):
        await place_order(desk, ACTOR, BODY, REQUEST)
