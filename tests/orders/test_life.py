"""What an event makes of an order: its state, its deal number, its profit or loss, and what it lets go of."""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from itertools import product

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bullion.metals.scaled import plain
from bullion.orders.life import (
    NotAllowed,
    after,
    hidden,
    kinds_of,
    quoted_weight_e4,
    realized_pnl_paise,
    releases_weight,
)
from bullion.orders.status import Event, Status

from .orders import BOOKED_AT_US, order_in
from .test_status import SPECIFIED

AT_US = BOOKED_AT_US + 60_000_000
CHANNELS = ["api", "web", "mobile", "desk", ""]


@pytest.mark.parametrize(("status", "event"), list(product(Status, Event)))
def test_an_event_is_allowed_where_the_specification_has_it_and_nowhere_else(
    status: Status, event: Event
) -> None:
    order = order_in(status)
    to = SPECIFIED.get((status.value, event.value))
    if to is None:
        words = f"^an order that is {status.value} cannot take the event {event.value}$"
        with pytest.raises(NotAllowed, match=words) as raised:
            after(order, event, AT_US, deal_no=1, close_price_paise=1)
        assert (raised.value.order, raised.value.event) == (order, event)
    else:
        assert after(order, event, AT_US, deal_no=1, close_price_paise=1).status == to


def test_a_whole_life_changes_what_it_says_and_nothing_else() -> None:
    pending = order_in(Status.PENDING, "sell")
    opened = after(pending, Event.CONFIRM, AT_US, deal_no=17)
    assert opened == msgspec.structs.replace(pending, status="open", deal_no=17)
    closing = after(opened, Event.CLOSE, AT_US + 1)
    assert closing == msgspec.structs.replace(opened, status="closing")
    closed = after(closing, Event.COMPLETE, AT_US + 2, close_price_paise=6_900_000)
    assert closed == msgspec.structs.replace(
        closing,
        status="closed",
        close_price_paise=6_900_000,
        realized_pnl_paise=25_000,  # Sold at 70000, bought back at 69000, a quarter of the quoted weight.
        closed_at_us=AT_US + 2,
    )


@pytest.mark.parametrize("event", [Event.REFUSE, Event.DELETE])
def test_an_order_that_never_became_a_deal_has_no_deal_number_and_no_close(event: Event) -> None:
    pending = order_in(Status.PENDING)
    gone = after(pending, event, AT_US, deal_no=9, close_price_paise=9)
    assert gone == msgspec.structs.replace(pending, status=gone.status)
    assert (gone.deal_no, gone.close_price_paise, gone.realized_pnl_paise, gone.closed_at_us) == (None,) * 4


def test_a_deleted_deal_keeps_its_number_and_has_no_close() -> None:
    gone = after(order_in(Status.CLOSING, deal_no=4), Event.DELETE, AT_US, close_price_paise=9)
    assert (gone.status, gone.deal_no, gone.close_price_paise, gone.closed_at_us) == (
        "deleted",
        4,
        None,
        None,
    )


def test_a_close_is_completed_at_a_price_or_not_at_all() -> None:
    with pytest.raises(ValueError, match="price"):
        after(order_in(Status.CLOSING), Event.COMPLETE, AT_US)


@pytest.mark.parametrize(("before", "now"), list(product(Status, Status)))
def test_weight_is_let_go_of_when_an_order_stops_holding_it(before: Status, now: Status) -> None:
    held = before in ("filled", "pending", "open", "closing")
    gone = now in ("closed", "rejected", "deleted")
    assert releases_weight(order_in(before), order_in(now)) is (held and gone)


@pytest.mark.parametrize(("status", "source"), list(product(Status, CHANNELS)))
def test_the_api_hides_what_another_channel_placed_until_it_is_a_deal(status: Status, source: str) -> None:
    order = order_in(status, source=source)
    is_hidden = source != "api" and status.value in ("pending", "rejected")
    assert hidden(order) is is_hidden
    own = (
        order.asked.symbol_code,
        order.asked.trade_type,
        f"{status.value} elsewhere" if is_hidden else status.value,
    )
    shown = set() if is_hidden or status.value == "deleted" else {("", "", "shown")}
    assert kinds_of(order) == {own} | shown


# --- Profit or loss -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "close", "quantity_e4", "weight", "pnl_paise"),
    [
        ("buy", 7_000_000, 25_000, "10.0000", 0),
        ("sell", 7_000_000, 25_000, "10.0000", 0),
        ("buy", 7_100_000, 25_000, "10.0000", 25_000),
        ("sell", 7_100_000, 25_000, "10.0000", -25_000),
        ("buy", 6_900_000, 25_000, "10.0000", -25_000),
        # A half of a paisa goes away from zero, on either side of it; less than a half goes to it.
        ("buy", 7_000_001, 50_000, "10.0000", 1),
        ("buy", 6_999_999, 50_000, "10.0000", -1),
        ("sell", 7_000_001, 50_000, "10.0000", -1),
        ("sell", 6_999_999, 50_000, "10.0000", 1),
        ("buy", 7_000_001, 49_999, "10.0000", 0),
        ("buy", 6_999_999, 49_999, "10.0000", 0),
        ("sell", 7_000_003, 50_000, "10.0000", -2),
        ("buy", 7_000_003, 30_000, "1.0000", 9),
        # A quoted weight that halves nothing evenly.
        ("buy", 7_000_001, 35_000, "7.0000", 1),
        ("buy", 7_000_001, 34_999, "7.0000", 0),
        ("buy", 7_000_001, 1, "0.0003", 0),
        ("buy", 7_000_001, 2, "0.0003", 1),
    ],
)
def test_profit_or_loss_is_rounded_once_halves_away_from_zero(
    side: str, close: int, quantity_e4: int, weight: str, pnl_paise: int
) -> None:
    order = order_in(Status.CLOSING, side, quantity_e4, price_anatomy=f'{{"quoted_weight":"{weight}"}}')
    assert realized_pnl_paise(order, close) == pnl_paise
    assert after(order, Event.COMPLETE, AT_US, close_price_paise=close).realized_pnl_paise == pnl_paise


@given(
    side=st.sampled_from(["buy", "sell"]),
    price=st.integers(1, 10**12),
    move=st.integers(-(10**6), 10**6) | st.integers(-(10**12), 10**12),
    quantity_e4=st.integers(1, 10**10),
    weight_e4=st.sampled_from([1, 3, 7, 10_000, 30_000, 100_000, 311_035, 10**9]) | st.integers(1, 10**9),
)
@example(side="buy", price=1, move=1, quantity_e4=1, weight_e4=2)
@example(side="sell", price=1, move=1, quantity_e4=1, weight_e4=2)
def test_it_is_exact_for_buys_and_sells(
    side: str, price: int, move: int, quantity_e4: int, weight_e4: int
) -> None:
    close = max(1, price + move)
    anatomy = f'{{"quoted_weight":"{plain(weight_e4, 4)}"}}'
    order = order_in(Status.CLOSING, side, quantity_e4, price_paise=price, price_anatomy=anatomy)
    with localcontext(prec=100):
        gain = Decimal(close - price) if side == "buy" else Decimal(price - close)
        # ROUND_HALF_UP of decimals is away from zero.
        wanted = (gain * quantity_e4 / weight_e4).quantize(Decimal(1), ROUND_HALF_UP)
    assert realized_pnl_paise(order, close) == int(wanted)


def test_the_quoted_weight_is_the_one_of_when_the_order_was_priced() -> None:
    order = order_in(Status.OPEN, price_anatomy='{"quoted_weight":"31.1035","premium":"₹"}')
    assert quoted_weight_e4(order) == 311_035
