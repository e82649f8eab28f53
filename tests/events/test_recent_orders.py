"""Orders that were just recorded: of accounts that somebody follows, and not for long."""

from bullion.events.recent_orders import RecentOrders
from bullion.metals.metal import Metal
from bullion.orders.order import API, Order
from bullion.orders.request import PlaceOrder


def order(book_id: int, ordinal: int) -> Order:
    return Order(
        book_id=book_id,
        ordinal=ordinal,
        id=f"{book_id}-{ordinal}",
        source=API,
        idempotency_key="k",
        asked=PlaceOrder("GOLD", "buy", 10_000, None, None),
        metal=Metal.GOLD,
        price_paise=1,
        total_paise=1,
        status="filled",
        key_id="k",
        request_id="r",
        created_at_us=0,
        price_anatomy="",
    )


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_only_followed_accounts_are_kept_and_only_for_seconds() -> None:
    clock = Clock()
    recent = RecentOrders({2}.__contains__, clock)
    for book_id in (2, 4):
        recent.add(order(book_id, 1))
    assert recent.find(2, [1, 2]) == {1: order(2, 1)}
    assert recent.find(4, [1]) == {}
    clock.now_s += 5
    recent.add(order(2, 2))
    assert recent.find(2, [1, 2]).keys() == {1, 2}
    clock.now_s += 5
    assert recent.find(2, [1, 2]).keys() == {2}
    clock.now_s += 100
    assert recent.find(2, [1, 2]) == {}


def test_there_is_a_bound() -> None:
    clock = Clock()
    recent = RecentOrders({2}.__contains__, clock)
    for ordinal in range(30_000):
        recent.add(order(2, ordinal))
    kept = recent.find(2, range(30_000))
    assert 29_999 in kept
    assert len(kept) <= 20_000
