"""Orders that the venue filled in part, at the desk: what is shown, and the ways to decide about the rest."""

from typing import Any

import httpx
import pytest

from tests.support.dealing import Dealing
from tests.support.node import until

NOTE = "as agreed with the client"


def partly_covered(dealing: Dealing, quantity: str = "1000") -> dict[str, Any]:
    """An order that was filled by half, and whose rest was refused or is too much after all children."""
    dealing.desk.do("PATCH", "/hedge", {"mode": "fill", "fill_percent": 50})
    order = dealing.placed(quantity=quantity)
    assert order["status"] == "pending"
    dealing.desk.do("PATCH", "/hedge", {"mode": "refuse", "fill_percent": 100})
    until(lambda: rest_of(dealing, order)["state"] == "partly_covered", within_s=30)
    return order


def rest_of(dealing: Dealing, order: dict[str, Any]) -> Any:
    return dealing.order(order)["hedge"]["rest"]


def test_the_desk_sees_what_is_covered_and_what_is_not(dealing: Dealing) -> None:
    order = partly_covered(dealing)
    hedge = dealing.order(order)["hedge"]
    first, rest = hedge["fills"][0], hedge["rest"]
    assert (first["sent_as"], first["quantity"], first["venue"]) == (order["id"], "500.00000000", "simulated")
    assert float(first["price"]) > 0
    covered = sum(float(fill["quantity"]) for fill in hedge["fills"])
    assert covered + float(rest["quantity"]) == 1000
    assert (hedge["state"], hedge["due_at"], rest["unit"]) == ("waiting", None, "g")
    (waiting,) = [row for row in dealing.desk.all("/hedge/queue") if row["order_id"] == order["id"]]
    assert (waiting["rest"], waiting["due_at"]) == (rest, None)


def test_the_rest_may_be_taken_into_the_book(dealing: Dealing) -> None:
    order = partly_covered(dealing)
    left = rest_of(dealing, order)
    deal = dealing.do(order, "cover", {"action": "take", "note": NOTE})
    assert (deal["status"], deal["events"][-1]["words"]) == ("open", NOTE)
    assert deal["hedge"]["rest"] == left | {"state": "taken"}
    assert deal["hedge"]["execution_id"] == deal["hedge"]["fills"][0]["execution_id"]
    answer = dealing.desk.post(f"/orders/{order['id']}/cover", json={"action": "take", "note": NOTE})
    assert answer.status_code == httpx.codes.CONFLICT


def test_the_rest_may_be_sent_again(dealing: Dealing) -> None:
    order = partly_covered(dealing)
    dealing.desk.do("PATCH", "/hedge", {"mode": "fill"})
    again = dealing.do(order, "cover", {"action": "again", "note": NOTE})
    assert (again["status"], again["hedge"]["rest"]["state"]) == ("pending", "sent")
    until(lambda: dealing.order(order)["status"] == "open", within_s=30)
    assert dealing.order(order)["hedge"]["rest"] is None


def test_the_order_may_be_refused(dealing: Dealing) -> None:
    order = partly_covered(dealing)
    refused = dealing.do(order, "cover", {"action": "refuse", "note": "sold back at the venue"})
    assert (refused["status"], refused["hedge"]["rest"]["state"]) == ("rejected", "unfilled")
    entry = dealing.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["after"]["status"]) == ("cover_order", "rejected")


def test_a_partly_covered_order_that_is_deleted_is_a_break(dealing: Dealing) -> None:
    order = partly_covered(dealing)
    dealing.do(order, "delete", {"reason": "a mistake"})
    (found,) = [each for each in dealing.desk.all("/hedge/breaks") if each["order_id"] == order["id"]]
    filled = 1000 - float(rest_of(dealing, order)["quantity"])
    assert 0 < filled < 1000
    assert found["words"].startswith(f"{filled:.4f} g of it are covered: ")  # And not all of the quantity.
    resolved = dealing.desk.do("POST", f"/hedge/breaks/{order['id']}/resolve", {"note": "sold back"})
    assert resolved["words"] == found["words"]


@pytest.mark.parametrize("action", ["take", "again", "refuse"])
def test_an_order_that_is_not_partly_covered_cannot_be_decided(dealing: Dealing, action: str) -> None:
    dealing.desk.do("PATCH", "/hedge", {"mode": "hold", "fill_percent": 100})
    order = dealing.placed()
    answer = dealing.desk.post(f"/orders/{order['id']}/cover", json={"action": action, "note": NOTE})
    assert answer.status_code == httpx.codes.CONFLICT
    assert "No rest of this order waits" in answer.text


def test_a_report_that_comes_unasked_opens_the_order(dealing: Dealing) -> None:
    """Without an answer of the call: the next question would come after a second."""
    dealing.desk.do("PATCH", "/hedge", {"mode": "fill", "fill_percent": 100, "unasked": True})
    order = dealing.placed()
    until(lambda: dealing.order(order)["status"] == "open", within_s=30)
    assert dealing.order(order)["hedge"]["tries"] <= 1
