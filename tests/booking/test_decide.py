"""What becomes of the orders of one book, in one batch."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bullion.allocation.book import Book
from bullion.allocation.position import Position
from bullion.booking.attempt import Booked, OrderAttempt, Outcome, QueueEntry, Settled, ToHedge
from bullion.booking.decide import Plan, decide, moved
from bullion.booking.replay import replay
from bullion.hedge.venue import HedgeRequest
from bullion.metals.metal import Metal
from bullion.orders.order import Order, PriceMove
from bullion.orders.request import PlaceOrder
from bullion.orders.verdict import Priced, Refusal, Verdict
from bullion.refusals.catalogue import (
    IDEMPOTENCY_KEY_REUSED,
    LIMIT_EXCEEDED,
    OUT_OF_STOCK,
    PRICE_MOVED,
    PRODUCTION_PREREQUISITES_UNMET,
    PRODUCTION_TRADING_DISABLED,
    TRADING_HALTED,
)

from .fixtures import checked

NOW_US = 1_800_000_000_000_000
BOOK = Book(4, Position(0, 1_000_000), Position(-50_000, 100_000), 7, 0, NOW_US - 5, 12)
GOLD = Priced(Metal.GOLD, 7_000_000, 70_000_000, 5_000, "{}", None)
SILVER = Priced(Metal.SILVER, 9_000_000, 9_000_000, 5_000, "{}", 17)
_keys = count(1)


def asked(trade_type: str = "buy", quantity_e4: int = 10_000, **fields: Any) -> PlaceOrder:
    given = {"symbol_code": "GOLD", "expected_price": None, "client_order_id": None, **fields}
    return PlaceOrder(trade_type=trade_type, quantity_e4=quantity_e4, **given)


def entry(
    verdict: Verdict = GOLD,
    of: PlaceOrder | None = None,
    settled: Settled | None = None,
    request_id: str = "r",
    book: int = 4,
    source: str = "api",
) -> QueueEntry:
    attempt = OrderAttempt(book, "main", source, f"k{next(_keys)}", of or asked(), "key", request_id)
    return checked(attempt, verdict, settled)


def decided(
    book: Book, *entries: QueueEntry, now_us: int = NOW_US, stock: dict[tuple[str, str], int] | None = None
) -> Plan:
    numbers: Iterator[int] = count(1)
    return decide(book, entries, now_us, lambda at_us, *_: f"id{next(numbers)} at {at_us}", stock)


def outcomes(plan: Plan) -> list[Outcome]:
    return [outcome for _, outcome in plan.outcomes]


def code(outcome: Outcome) -> str:
    return outcome.refusal.code if isinstance(outcome, Refusal) else "booked"


# --- One order ----------------------------------------------------------------------------------------


def test_an_order_is_booked_as_asked() -> None:
    one = entry(SILVER, asked("sell", 20_000, symbol_code="S", expected_price="1", client_order_id="c"))
    one.verdict = msgspec.structs.replace(SILVER, price_paise=100, tolerance_percent_e4=0)
    plan = decided(BOOK, one)
    (order,) = plan.orders
    assert order == Order(
        book_id=4,
        ordinal=8,
        id=f"id1 at {NOW_US}",
        source="api",
        idempotency_key=one.attempt.idempotency_key,
        asked=one.attempt.asked,
        metal=Metal.SILVER,
        price_paise=100,
        total_paise=9_000_000,
        status="filled",
        key_id="key",
        request_id="r",
        created_at_us=NOW_US,
        price_anatomy="{}",
    )
    assert plan.before == BOOK
    assert plan.after == msgspec.structs.replace(
        BOOK, silver=Position(-70_000, 100_000), order_count=8, last_order_at_us=NOW_US, version=13
    )
    (outcome,) = outcomes(plan)
    assert isinstance(outcome, Booked)
    assert (outcome.order, outcome.replayed) == (order, False)
    assert plan.changes
    assert plan.price_moves == []


def test_a_denied_order_changes_nothing() -> None:
    denied = Refusal(TRADING_HALTED)
    plan = decided(BOOK, entry(denied))
    assert outcomes(plan) == [denied]
    assert plan.after == BOOK
    assert not plan.changes


@pytest.mark.parametrize(
    ("metal", "side", "quantity_e4", "passes"),
    [
        (Metal.GOLD, "buy", 1_000_000, True),
        (Metal.GOLD, "buy", 1_000_001, False),
        (Metal.GOLD, "sell", 1_000_000, True),
        (Metal.GOLD, "sell", 1_000_001, False),
        (Metal.SILVER, "sell", 50_000, True),
        (Metal.SILVER, "sell", 50_001, False),
        (Metal.SILVER, "buy", 150_000, True),
        (Metal.SILVER, "buy", 150_001, False),
    ],
)
def test_the_allocation_of_its_own_metal(metal: Metal, side: str, quantity_e4: int, passes: bool) -> None:
    verdict = GOLD if metal is Metal.GOLD else SILVER
    plan = decided(BOOK, entry(verdict, asked(side, quantity_e4)))
    assert code(outcomes(plan)[0]) == ("booked" if passes else "limit_exceeded")
    assert plan.changes is passes


def test_limit_exceeded_names_metal_free_weight_limit_and_unit() -> None:
    (outcome,) = outcomes(decided(BOOK, entry(SILVER, asked("sell", 60_000))))
    assert isinstance(outcome, Refusal)
    assert outcome.refusal is LIMIT_EXCEEDED
    assert outcome.message == (
        "The order would take the silver position past the weight allocation: "
        "5.0000 kg of 10.0000 kg are free."
    )
    assert outcome.compared == {
        "metal": "silver",
        "net_before_e4": -50_000,
        "change_e4": -60_000,
        "limit_e4": 100_000,
        "unit": "kg",
    }


def test_the_desk_reads_what_an_order_was_booked_on() -> None:
    (outcome,) = outcomes(decided(BOOK, entry(SILVER, asked("sell", 20_000))))
    assert outcome.compared == {
        "net_before_e4": -50_000,
        "change_e4": -20_000,
        "limit_e4": 100_000,
        "price_paise": 9_000_000,
        "rate_at_us": 17,
    }


def test_the_limit_answers_before_a_moved_price_and_leaves_the_key_free() -> None:
    plan = decided(BOOK, entry(GOLD, asked("buy", 1_000_001, expected_price="1")))
    assert code(outcomes(plan)[0]) == "limit_exceeded"
    assert plan.price_moves == []
    assert not plan.changes


def test_a_moved_price_settles_the_key_and_books_nothing() -> None:
    one = entry(GOLD, asked("buy", 10_000, expected_price="69000"))
    plan = decided(BOOK, one)
    assert plan.orders == []
    assert plan.price_moves == [
        PriceMove(4, "api", one.attempt.idempotency_key, one.attempt.asked, 7_000_000, 5_000, "r", NOW_US)
    ]
    (outcome,) = outcomes(plan)
    assert isinstance(outcome, Refusal)
    assert outcome.refusal is PRICE_MOVED
    assert not outcome.replayed
    assert (plan.after.gold, plan.after.silver, plan.after.order_count) == (BOOK.gold, BOOK.silver, 7)
    assert plan.after.version == 13
    assert plan.changes


# --- A settled key ------------------------------------------------------------------------------------


def settled_order(request_id: str = "first") -> Order:
    (order,) = decided(BOOK, entry(request_id=request_id)).orders
    return order


def settled_move(request_id: str = "first") -> PriceMove:
    (move,) = decided(BOOK, entry(GOLD, asked(expected_price="1"), request_id=request_id)).price_moves
    return move


@pytest.mark.parametrize("verdict", [GOLD, Refusal(TRADING_HALTED)], ids=["priced", "denied"])
def test_a_settled_key_replays_whatever_the_market_says(verdict: Verdict) -> None:
    order, move = settled_order(), settled_move()
    full = msgspec.structs.replace(BOOK, gold=Position(1_000_000, 1_000_000))
    plan = decided(full, entry(verdict, settled=order), entry(verdict, move.asked, settled=move))
    booked, denied = outcomes(plan)
    assert booked == Booked(order, replayed=True)
    assert isinstance(denied, Refusal)
    assert denied.refusal is PRICE_MOVED
    assert denied.replayed
    assert dict(denied.to_error().headers) == {"Idempotent-Replayed": "true"}
    assert not plan.changes


def test_what_this_very_call_recorded_is_no_replay() -> None:
    order, move = settled_order("mine"), settled_move("mine")
    assert replay(order, entry(of=order.asked, request_id="mine")) == Booked(order, replayed=False)
    denied = replay(move, entry(of=move.asked, request_id="mine"))
    assert isinstance(denied, Refusal)
    assert not denied.replayed
    assert not denied.to_error().headers


@pytest.mark.parametrize(
    "other",
    [
        {"symbol_code": "gold"},
        {"trade_type": "sell"},
        {"trade_type": "hold"},
        {"quantity_e4": 10_001},
        {"expected_price": "70000"},
        {"client_order_id": ""},
    ],
)
def test_any_other_body_is_a_reused_key(other: dict[str, Any]) -> None:
    order = settled_order()
    body = msgspec.structs.replace(order.asked, **other)
    for request_id in ("first", "second"):
        plan = decided(BOOK, entry(GOLD, body, order, request_id))
        (outcome,) = outcomes(plan)
        assert isinstance(outcome, Refusal)
        assert outcome.refusal is IDEMPOTENCY_KEY_REUSED
        assert not outcome.replayed
        assert not plan.changes


# --- Several orders for one book ----------------------------------------------------------------------


def test_each_order_of_a_batch_sees_what_those_before_it_did() -> None:
    plan = decided(
        BOOK,
        entry(GOLD, asked("buy", 900_000)),
        entry(GOLD, asked("buy", 100_001)),
        entry(Refusal(TRADING_HALTED)),
        entry(GOLD, asked("buy", 100_000)),
        entry(GOLD, asked("buy", 1)),
        entry(GOLD, asked("sell", 1, expected_price="1")),
        entry(SILVER, asked("sell", 50_000)),
        entry(GOLD, asked("sell", 2_000_000)),
        entry(GOLD, settled=settled_order()),
    )
    assert [code(outcome) for outcome in outcomes(plan)] == [
        "booked",
        "limit_exceeded",
        "trading_halted",
        "booked",
        "limit_exceeded",
        "price_moved",
        "booked",
        "booked",
        "booked",
    ]
    assert [order.ordinal for order in plan.orders] == [8, 9, 10, 11]
    assert len({order.id for order in plan.orders}) == 4
    assert len(plan.price_moves) == 1
    assert plan.after.gold == Position(-1_000_000, 1_000_000)
    assert plan.after.silver == Position(-100_000, 100_000)
    assert (plan.after.order_count, plan.after.version) == (11, 13)
    assert plan.after.archived_count == BOOK.archived_count


def test_an_empty_batch_is_nothing() -> None:
    plan = decided(BOOK)
    assert not plan.changes
    assert plan.after == BOOK


@pytest.mark.parametrize(("now_us", "at_us"), [(NOW_US, NOW_US), (NOW_US - 5, NOW_US - 5), (3, NOW_US - 5)])
def test_time_never_runs_backwards_within_a_book(now_us: int, at_us: int) -> None:
    plan = decided(BOOK, entry(), entry(GOLD, asked(expected_price="1")), now_us=now_us)
    assert plan.orders[0].created_at_us == at_us
    assert plan.orders[0].id.endswith(f"at {at_us}")
    assert plan.price_moves[0].at_us == at_us
    assert plan.after.last_order_at_us == at_us


def test_a_price_that_moved_is_not_the_last_order_of_the_book() -> None:
    plan = decided(BOOK, entry(GOLD, asked(expected_price="1")))
    assert plan.price_moves
    assert plan.after == msgspec.structs.replace(BOOK, version=BOOK.version + 1)


ORDERS = st.tuples(
    st.sampled_from([Metal.GOLD, Metal.SILVER]), st.sampled_from(["buy", "sell"]), st.integers(1, 300_000)
)


@given(
    st.lists(ORDERS, max_size=20),
    st.integers(-(10**6), 10**6),
    st.integers(0, 10**6),
)
def test_nets_and_ordinals_are_the_sum_of_what_was_booked(
    batch: list[tuple[Metal, str, int]], net: int, limit: int
) -> None:
    book = msgspec.structs.replace(BOOK, gold=Position(net, limit), silver=Position(0, limit))
    plan = decided(
        book, *(entry(GOLD if m is Metal.GOLD else SILVER, asked(side, q)) for m, side, q in batch)
    )
    nets = {Metal.GOLD: net, Metal.SILVER: 0}
    booked = 0
    for (metal, side, quantity), outcome in zip(batch, outcomes(plan), strict=True):
        after = nets[metal] + (quantity if side == "buy" else -quantity)
        passes = abs(after) <= limit or abs(after) < abs(nets[metal])
        assert code(outcome) == ("booked" if passes else "limit_exceeded")
        if passes:
            nets[metal] = after
            booked += 1
    assert (plan.after.gold.net_e4, plan.after.silver.net_e4) == (nets[Metal.GOLD], nets[Metal.SILVER])
    assert [order.ordinal for order in plan.orders] == list(range(8, 8 + booked))
    assert plan.after.order_count == 7 + booked
    assert plan.after.version == (13 if booked else 12)


# --- Production ---------------------------------------------------------------------------------------

REAL = msgspec.structs.replace(BOOK, id=5)
HEDGED = msgspec.structs.replace(GOLD, instrument="XAUUSD")
STOCKED = msgspec.structs.replace(HEDGED, stock_kept=True)
STOCK = ("main", "GOLD")


def real(
    verdict: Verdict = HEDGED, side: str = "buy", quantity_e4: int = 10_000, **fields: Any
) -> QueueEntry:
    return entry(verdict, asked(side, quantity_e4, **fields), book=5)


def codes(plan: Plan) -> list[str]:
    return [code(outcome) for outcome in outcomes(plan)]


def test_a_production_order_is_pending_and_is_to_be_hedged() -> None:
    one, two = real(), entry(HEDGED, asked("sell", 3), book=5, source="web")
    plan = decided(REAL, one, two)
    assert [order.status for order in plan.orders] == ["pending", "pending"]
    assert plan.to_hedge == [
        ToHedge(plan.orders[0], "main", "XAUUSD", took_stock=False),
        ToHedge(plan.orders[1], "main", "XAUUSD", took_stock=False),
    ]
    assert [order.source for order in plan.orders] == ["api", "web"]
    assert plan.after.gold.net_e4 == REAL.gold.net_e4 + 10_000 - 3
    assert plan.stock_taken == {}
    assert all(order.deal_no is None and order.closed_at_us is None for order in plan.orders)


def test_what_the_venue_is_asked_for_is_what_the_client_was_promised() -> None:
    (to_hedge,) = decided(REAL, real(side="sell", quantity_e4=70_000)).to_hedge
    order = to_hedge.order
    assert to_hedge.request() == HedgeRequest(
        order.id, "main", "XAUUSD", "sell", 70_000, 7_000_000, "gold", 6_993
    )


def test_nothing_of_the_test_environment_is_hedged_or_takes_stock() -> None:
    plan = decided(BOOK, entry(), stock={STOCK: 5})
    assert (plan.to_hedge, plan.stock_taken) == ([], {})
    assert plan.orders[0].status == "filled"


def test_what_is_refused_is_not_hedged_and_takes_no_stock() -> None:
    stock = {STOCK: 10**9}
    plan = decided(
        REAL,
        real(Refusal(TRADING_HALTED)),
        real(STOCKED, quantity_e4=1_000_001),
        real(STOCKED, expected_price="1"),
        stock=stock,
    )
    assert codes(plan) == ["trading_halted", "limit_exceeded", "price_moved"]
    assert (plan.orders, plan.to_hedge, plan.stock_taken, stock) == ([], [], {}, {STOCK: 10**9})


@pytest.mark.parametrize(
    ("left_e4", "quantity_e4", "passes"),
    [(10_000, 10_000, True), (9_999, 10_000, False), (0, 1, False), (1, 1, True), (10**9, 10_000, True)],
)
def test_a_buy_takes_its_weight_from_the_stock_as_far_as_that_goes(
    left_e4: int, quantity_e4: int, passes: bool
) -> None:
    stock = {STOCK: left_e4}
    plan = decided(REAL, real(STOCKED, quantity_e4=quantity_e4), stock=stock)
    assert codes(plan) == ["booked" if passes else "out_of_stock"]
    assert bool(plan.orders) is passes
    assert stock == {STOCK: left_e4 - quantity_e4 if passes else left_e4}
    assert plan.stock_taken == ({STOCK: quantity_e4} if passes else {})
    assert [each.took_stock for each in plan.to_hedge] == ([True] if passes else [])


def test_a_sell_takes_nothing_and_gives_nothing() -> None:
    stock = {STOCK: 5}
    plan = decided(REAL, real(STOCKED, "sell"), stock=stock)
    assert codes(plan) == ["booked"]
    assert (plan.stock_taken, stock) == ({}, {STOCK: 5})
    assert [each.took_stock for each in plan.to_hedge] == [False]


def test_the_orders_of_a_batch_share_the_stock_and_each_symbol_has_its_own() -> None:
    stock = {STOCK: 25_000, ("main", "COIN"): 5, ("other", "GOLD"): 10**9}
    plan = decided(
        REAL,
        real(STOCKED),
        real(STOCKED, quantity_e4=15_001),
        real(STOCKED, "sell", 50_000),
        real(STOCKED, quantity_e4=15_000),
        real(STOCKED, quantity_e4=5, symbol_code="COIN"),
        real(STOCKED, quantity_e4=1, symbol_code="COIN"),
        real(HEDGED, quantity_e4=9),
        stock=stock,
    )
    taken = ["booked", "out_of_stock", "booked", "booked", "booked", "out_of_stock", "booked"]
    assert codes(plan) == taken
    assert stock == {STOCK: 0, ("main", "COIN"): 0, ("other", "GOLD"): 10**9}
    assert plan.stock_taken == {STOCK: 25_000, ("main", "COIN"): 5}
    assert [each.took_stock for each in plan.to_hedge] == [True, False, True, True, False]


def test_without_a_stock_in_hand_nothing_is_taken_from_one() -> None:
    assert codes(decided(REAL, real(STOCKED, quantity_e4=1))) == ["out_of_stock"]
    assert codes(decided(REAL, real(STOCKED, quantity_e4=1), stock={})) == ["out_of_stock"]
    assert codes(decided(REAL, real(STOCKED, "sell", 1))) == ["booked"]


def test_out_of_stock_answers_after_the_limit_before_a_moved_price_and_leaves_the_key_free() -> None:
    limit, stock, move = (
        real(STOCKED, quantity_e4=1_000_001, expected_price="1"),
        real(STOCKED, quantity_e4=6, expected_price="1"),
        real(STOCKED, quantity_e4=5, expected_price="1"),
    )
    plan = decided(REAL, limit, stock, move, stock={STOCK: 5})
    assert codes(plan) == ["limit_exceeded", "out_of_stock", "price_moved"]
    assert [each.idempotency_key for each in plan.price_moves] == [move.attempt.idempotency_key]


def test_out_of_stock_says_what_is_left() -> None:
    (outcome,) = outcomes(decided(REAL, real(STOCKED), stock={STOCK: 7_500}))
    assert isinstance(outcome, Refusal)
    assert outcome.refusal is OUT_OF_STOCK
    assert outcome.message == "There is not enough stock for this buy: 0.7500 g are left."
    assert outcome.compared == {"stock_e4": 7_500, "change_e4": 10_000, "unit": "g"}


def test_a_replay_takes_no_stock_and_is_not_hedged_again() -> None:
    stock = {STOCK: 10_000}
    (order,) = decided(REAL, real(STOCKED), stock=stock).orders
    plan = decided(REAL, entry(STOCKED, order.asked, order, "again", book=5), stock=stock)
    assert outcomes(plan) == [Booked(order, replayed=True)]
    assert (plan.to_hedge, plan.stock_taken, stock, plan.changes) == ([], {}, {STOCK: 0}, False)


CLOSED = [
    Refusal(PRODUCTION_TRADING_DISABLED, fields={"reason": "global"}, closed=True),
    Refusal(PRODUCTION_PREREQUISITES_UNMET, closed=True),
]


@pytest.mark.parametrize("closed", CLOSED, ids=lambda closed: closed.refusal.code)
def test_while_production_is_closed_only_an_exact_replay_of_an_order_is_answered(closed: Refusal) -> None:
    order, move = settled_order(), settled_move()
    other = msgspec.structs.replace(order.asked, quantity_e4=1)
    plan = decided(
        REAL,
        entry(closed, order.asked, order, "again", book=5),
        entry(closed, order.asked, order, "first", book=5),
        entry(closed, other, order, "again", book=5),
        entry(closed, move.asked, move, "again", book=5),
        entry(closed, other, move, "again", book=5),
        entry(closed, book=5),
    )
    assert outcomes(plan) == [Booked(order, replayed=True), Booked(order), *[closed] * 4]
    assert not plan.orders
    assert not plan.price_moves


def test_a_refusal_of_a_real_order_fences_what_is_still_on_its_way() -> None:
    """Decided on the version before, an earlier call with the same key is not recorded any more."""
    plan = decided(REAL, entry(Refusal(TRADING_HALTED), book=5))
    assert plan.fences
    assert plan.changes
    assert plan.after == msgspec.structs.replace(REAL, version=REAL.version + 1)
    assert not decided(BOOK, entry(Refusal(TRADING_HALTED))).changes
    order = settled_order()
    assert not decided(REAL, entry(HEDGED, order.asked, order, "again", book=5)).changes


def test_an_order_since_refused_by_the_hedge_is_replayed_as_it_is() -> None:
    order = msgspec.structs.replace(settled_order(), status="rejected")
    (outcome,) = outcomes(decided(REAL, entry(HEDGED, order.asked, order, "again", book=5)))
    assert outcome == Booked(order, replayed=True)


PRODUCTION_ORDERS = st.tuples(
    st.sampled_from(["buy", "sell"]), st.integers(1, 300_000), st.booleans(), st.booleans()
)


@given(
    st.lists(PRODUCTION_ORDERS, max_size=20),
    st.integers(0, 10**6),
    st.integers(-(10**6), 10**6),
    st.integers(0, 10**6),
)
def test_stock_and_net_are_what_was_booked_in_the_order_of_the_checks(
    batch: list[tuple[str, int, bool, bool]], left: int, net: int, limit: int
) -> None:
    book = msgspec.structs.replace(REAL, gold=Position(net, limit))
    stock = {STOCK: left}
    plan = decided(
        book,
        *(
            real(STOCKED if kept else HEDGED, side, quantity, expected_price="1" if far else None)
            for side, quantity, kept, far in batch
        ),
        stock=stock,
    )
    taken = 0
    for (side, quantity, kept, far), told in zip(batch, codes(plan), strict=True):
        after = net + (quantity if side == "buy" else -quantity)
        from_stock = kept and side == "buy"
        if not (abs(after) <= limit or abs(after) < abs(net)):
            assert told == "limit_exceeded"
        elif from_stock and quantity > left - taken:
            assert told == "out_of_stock"
        elif far:
            assert told == "price_moved"
        else:
            assert told == "booked"
            net = after
            taken += quantity if from_stock else 0
    assert stock == {STOCK: left - taken}
    assert plan.stock_taken == ({STOCK: taken} if taken else {})
    assert plan.after.gold.net_e4 == net
    assert [each.order for each in plan.to_hedge] == plan.orders


# --- The tolerance, exactly ---------------------------------------------------------------------------


def priced(price_paise: int, tolerance_e4: int) -> Priced:
    return msgspec.structs.replace(GOLD, price_paise=price_paise, tolerance_percent_e4=tolerance_e4)


@pytest.mark.parametrize(
    ("price_paise", "expected", "tolerance_e4", "is_moved"),
    [
        (7_035_000, "70000", 5_000, False),
        (7_035_001, "70000", 5_000, True),
        (6_965_000, "70000", 5_000, False),
        (6_964_999, "70000", 5_000, True),
        (7_000_000, "70000", 0, False),
        (7_000_001, "70000", 0, True),
        (7_000_000, "70000.00000000000001", 0, True),
        (7_000_000, "69999.99999999999999", 0, True),
        (14_000_000, "70000", 1_000_000, False),
        (14_000_001, "70000", 1_000_000, True),
        (1, "70000", 1_000_000, False),
        (1, "0.01", 0, False),
        (1, "0.005", 1_000_000, False),
        (1, "0.00499999", 1_000_000, True),
        (7_000_000, "1" + "0" * 100, 1_000_000, False),
        (7_000_000, "1" + "0" * 100, 999_999, True),
        (1, "0." + "0" * 99 + "1", 1_000_000, True),
    ],
)
def test_at_exactly_the_tolerance_it_passes(
    price_paise: int, expected: str, tolerance_e4: int, is_moved: bool
) -> None:
    assert moved(priced(price_paise, tolerance_e4), expected) is is_moved


def test_without_an_expected_price_nothing_can_move() -> None:
    assert not moved(priced(1, 0), None)


def plain_text(digits: int, exponent: int) -> str:
    """The one plain form of digits × 10^exponent: no exponent, no zeros that change nothing."""
    if exponent >= 0:
        return f"{digits}{'0' * exponent}"
    text = str(digits).rjust(1 - exponent, "0")
    return f"{text[:exponent]}.{text[exponent:]}".rstrip("0").rstrip(".")


@given(
    st.integers(1, 10**14),
    st.integers(1, 10**20 - 1),
    st.integers(-100, 100),
    st.integers(0, 1_000_000),
)
@example(7_035_000, 7, 4, 5_000)
def test_it_is_exact_for_every_price_that_can_be_sent(
    price_paise: int, digits: int, exponent: int, tolerance_e4: int
) -> None:
    text = plain_text(digits, exponent)
    expected = Fraction(digits) * Fraction(10) ** exponent
    assert Fraction(text) == expected
    difference = abs(Fraction(price_paise, 100) - expected)
    assert moved(priced(price_paise, tolerance_e4), text) is (
        difference > expected * Fraction(tolerance_e4, 10_000) / 100
    )


@given(st.integers(1, 10**18), st.integers(0, 16), st.integers(0, 1_000_000), st.integers(-2, 2))
def test_around_the_tolerance_to_the_last_digit(
    digits: int, places: int, tolerance_e4: int, off_by: int
) -> None:
    """Prices in paise that lie next to the border of what the expected price allows."""
    expected = Fraction(digits, 10**places)
    for sign in (1, -1):
        border_paise = int(expected * 100 * (1 + sign * Fraction(tolerance_e4, 1_000_000)))
        price_paise = border_paise + off_by
        if price_paise <= 0:
            continue
        difference = abs(Fraction(price_paise, 100) - expected)
        assert moved(priced(price_paise, tolerance_e4), plain_text(digits, -places)) is (
            difference * 1_000_000 > expected * tolerance_e4
        )
