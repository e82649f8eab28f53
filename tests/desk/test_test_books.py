"""Resetting a test book: the orders leave list and positions, and nothing of them is forgotten."""

from collections.abc import Callable
from uuid import uuid4

from tests.support.desk import Office
from tests.support.orders import Trader, booked, replayed


def test_a_reset_book_is_empty_and_goes_on(office: Office, trader: Trader) -> None:
    idempotency_key = str(uuid4())
    first = booked(trader.place(idempotency_key, quantity=5))
    trader.sell(2)
    assert trader.net() == "3.0000"
    reset = office.desk.do("POST", "/accounts/client/test-book/reset", {})
    assert reset == {
        "login_id": "client",
        "environment": "test",
        "orders": 0,
        "archived_orders": 2,
        "net": {"gold": "0.0000", "silver": "0.0000"},
    }
    assert trader.orders() == {"items": [], "total": 0}
    assert trader.orders(symbol_code="GOLD") == {"items": [], "total": 0}
    assert trader.net() == "0.0000"
    assert office.desk.all("/orders") == []
    # Still readable by id, at both sides, and still replayed.
    assert trader.order(first["id"]).json() == first
    assert office.desk.do("GET", f"/orders/{first['id']}")["archived"] is True
    assert replayed(trader.place(idempotency_key, quantity=5)) == first
    # The numbers go on, and the whole allocation is free again.
    assert trader.buy(1000)["deal_label"] == "T-3"
    assert trader.orders()["total"] == 1
    assert [order["deal_label"] for order in office.desk.all("/orders")] == ["T-3"]
    assert trader.orders(symbol_code="GOLD")["total"] == 1


def test_the_trail_has_what_was_there(office: Office, trader: Trader) -> None:
    trader.buy(5)
    dealer = office.hire("dealer")
    dealer.do("POST", "/accounts/client/test-book/reset")
    entry = office.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("reset_test_book", "client")
    assert (entry["before"]["orders"], entry["before"]["net"]["gold"]) == (1, "5.0000")
    assert (entry["after"]["orders"], entry["after"]["net"]["gold"]) == (0, "0.0000")


def test_other_books_and_all_keys_are_left_alone(
    office: Office, trader: Trader, trader_of: Callable[..., Trader]
) -> None:
    neighbour = trader_of(office, "neighbour")
    neighbour.buy(7)
    trader.buy(5)
    keys = office.desk.all("/accounts/client/keys")
    office.desk.do("POST", "/accounts/client/test-book/reset")
    assert (neighbour.net(), neighbour.orders()["total"]) == ("7.0000", 1)
    assert [key["revoked_at"] for key in keys] == [None]
    assert trader.buy(1)["deal_label"] == "T-2"


def test_a_reset_is_refused_for_nobody_and_with_words(office: Office) -> None:
    office.desk.refused("POST", "/accounts/nobody/test-book/reset", status=404, code="not_found")
    office.desk.account("client")
    assert "sure" in office.desk.refused("POST", "/accounts/client/test-book/reset", {"sure": True})
