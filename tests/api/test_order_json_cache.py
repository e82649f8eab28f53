"""Orders written out are kept, but never told for another."""

from bullion.api.order_json_cache import OrderJsonCache
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.request import PlaceOrder


def order(order_id: str, quantity_e4: int) -> Order:
    asked = PlaceOrder("GOLD", "buy", quantity_e4, None, None)
    return Order(
        2, 1, order_id, "api", "key", asked, Metal.GOLD, 7_000_000, 7_000_000, "filled", None, "r", 0, "{}"
    )


def test_what_was_written_is_kept() -> None:
    orders = OrderJsonCache()
    written = orders.add(order("a", 10_000))
    assert orders.find_all(2, [2, 1]) == {1: written}
    assert orders.find_all(3, [1]) == {}


def test_an_id_leads_only_to_its_own_order() -> None:
    mine, guessed = "01a1dfe2-163d-7949-923b-8e0000000001", "01a1dfe2-163d-7949-923b-8f0000000001"
    orders = OrderJsonCache()
    assert orders.find(2, mine) is None
    written = orders.add(order(mine, 10_000))
    assert orders.find(2, mine) is written
    assert orders.find(2, guessed) is None
    assert orders.find(4, mine) is None, "another account's"


def test_another_order_in_the_same_place_is_told_as_it_is() -> None:
    """A store put back to an older copy gives the same ordinal again."""
    orders = OrderJsonCache()
    orders.add(order("a", 50_000))
    written = orders.add(order("b", 70_000))
    assert b'"id":"b"' in written
    assert b'"quantity":"7.0000"' in written
    assert orders.find_all(2, [1]) == {1: written}
