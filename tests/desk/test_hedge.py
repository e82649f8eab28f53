"""The hedge at the desk: the simulated venue's behaviour, what waits, what was executed, and breaks."""

from typing import Any

import pytest

from tests.support.command import bullion
from tests.support.dealing import Dealing
from tests.support.desk import Office, nothing_changed
from tests.support.node import until
from tests.support.production import execute_behind_its_back

NEVER = "01a1de14-d0ac-74ff-b60f-dff545fade43"
DEFAULT = {
    "venue": "simulated",
    "mode": "fill",
    "delay_ms": 0,
    "fill_percent": 100,
    "unasked": False,
    "instruments": {},
}


def test_a_venue_fills_unless_told_otherwise(office: Office) -> None:
    assert office.desk.do("GET", "/hedge") == DEFAULT


def test_a_patch_changes_what_it_names_and_merges_instruments(office: Office, other: Office) -> None:
    desk = office.desk
    assert desk.do("PATCH", "/hedge", {"mode": "hold"}) == DEFAULT | {"mode": "hold"}
    gold = desk.do("PATCH", "/hedge", {"delay_ms": 250, "instruments": {"GOLD": "suspended"}})
    assert gold == DEFAULT | {"mode": "hold", "delay_ms": 250, "instruments": {"GOLD": "suspended"}}
    both = desk.do("PATCH", "/hedge", {"instruments": {"SILVER": "unknown"}})
    assert both["instruments"] == {"GOLD": "suspended", "SILVER": "unknown"}
    back = desk.do("PATCH", "/hedge", {"mode": "fill", "delay_ms": 0, "instruments": {"GOLD": "tradable"}})
    assert back["instruments"] == {"GOLD": "tradable", "SILVER": "unknown"}
    assert desk.do("GET", "/hedge") == back
    assert desk.do("PATCH", "/hedge", {}) == back
    assert other.desk.do("GET", "/hedge") == DEFAULT
    entry = desk.do("GET", "/audit?limit=2")["items"][1]
    assert (entry["action"], entry["before"], entry["after"]) == ("patch_hedge", both, back)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"mode": "open"}, "mode"),
        ({"mode": None}, "mode"),
        ({"delay_ms": -1}, "delay_ms"),
        ({"delay_ms": "5"}, "delay_ms"),
        ({"delay_ms": 600_001}, "delay_ms"),
        ({"delay_ms": True}, "delay_ms"),
        ({"fill_percent": 0}, "fill_percent"),
        ({"fill_percent": 101}, "fill_percent"),
        ({"unasked": 1}, "unasked"),
        ({"instruments": {"GOLD": "closed"}}, "instruments"),
        ({"instruments": {"GO LD": "tradable"}}, "instruments"),
        ({"instruments": {"": "tradable"}}, "instruments"),
        ({"instruments": ["GOLD"]}, "instruments"),
        ({"instruments": None}, "instruments"),
        ({"instruments": {f"I{number}": "unknown" for number in range(1001)}}, "instruments"),
        ({"venue": "desk"}, "venue"),
        ({"speed": 1}, "speed"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_makes_no_sense_is_refused(standing: Office, change: Any, named: str) -> None:
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("PATCH", "/hedge", change)
    assert standing.desk.do("GET", "/hedge") == DEFAULT


def test_the_conduct_is_an_admins(office: Office) -> None:
    for role in ("viewer", "dealer"):
        caller = office.hire(role)
        caller.refused("PATCH", "/hedge", {"mode": "down"}, status=403, code="role_too_low")
        assert caller.do("GET", "/hedge") == DEFAULT


def test_what_waits_is_shown_oldest_first(dealing: Dealing, other: Office) -> None:
    dealing.venue(mode="hold")
    first, second = dealing.placed(quantity="2"), dealing.placed(trade_type="sell", symbol_code="SILVER")
    queue = dealing.desk.do("GET", "/hedge/queue")
    assert queue["total"] == 2
    assert [each["order_id"] for each in queue["items"]] == [first["id"], second["id"]]
    one, two = queue["items"]
    told = ("login_id", "symbol_code", "trade_type", "quantity", "unit", "status", "instrument")
    assert [one[name] for name in told] == ["client", "GOLD", "buy", "2.0000", "g", "pending", "GOLD"]
    assert [two[name] for name in told] == ["client", "SILVER", "sell", "1.0000", "kg", "pending", "SILVER"]
    assert one["created_at"] == first["created_at"]
    assert 0 <= one["age_s"] < 10
    assert dealing.desk.do("GET", "/hedge/queue?limit=1&offset=1") == {"items": [two], "total": 2}
    assert other.desk.do("GET", "/hedge/queue") == {"items": [], "total": 0}
    until(lambda: dealing.desk.do("GET", "/hedge/queue")["items"][0]["tries"] > 1, within_s=10)
    assert "holds orders" in dealing.desk.do("GET", "/hedge/queue")["items"][0]["words"]
    hedge = dealing.order(first)["hedge"]
    assert (hedge["state"], hedge["outcome"], hedge["execution_id"]) == ("waiting", None, None)
    assert hedge["due_at"] is not None
    dealing.venue(mode="fill")
    assert dealing.becomes(first, "open")["deal_no"] > 0
    dealing.becomes(second, "open")
    until(lambda: dealing.desk.do("GET", "/hedge/queue")["total"] == 0, within_s=10)
    dealing.check()


def test_executions_are_the_venues_own_book(dealing: Dealing, other: Office) -> None:
    filled = dealing.placed(quantity="2.5")
    dealing.venue(mode="refuse")
    answer = dealing.place(quantity="7")
    assert answer.status_code == 409
    rejected = answer.json()["detail"]["order"]
    desk = dealing.desk
    executions = desk.do("GET", "/hedge/executions")
    assert executions["total"] == 3  # With the one that the office was warmed up with.
    newest, older, _ = executions["items"]
    assert newest.keys() == {"order_id", "execution_id", "outcome", "quantity", "at"}
    assert (newest["order_id"], newest["outcome"]) == (rejected["id"], "refused")
    assert (older["order_id"], older["outcome"], older["quantity"]) == (filled["id"], "confirmed", "2.5000")
    assert older["execution_id"] == dealing.order(filled)["hedge"]["execution_id"]
    assert desk.do("GET", "/hedge/executions?limit=1&offset=1") == {"items": [older], "total": 3}
    one = f"/hedge/executions?order_id={filled['id'].upper()}"
    assert desk.do("GET", one) == {"items": [older], "total": 1}
    assert desk.do("GET", f"{one}&offset=1") == {"items": [], "total": 1}
    assert desk.do("GET", f"/hedge/executions?order_id={NEVER}") == {"items": [], "total": 0}
    assert other.desk.do("GET", one) == {"items": [], "total": 0}
    assert other.desk.do("GET", "/hedge/executions") == {"items": [], "total": 0}
    for wrong in ("x", "%00", ""):
        assert "order_id" in desk.refused("GET", f"/hedge/executions?order_id={wrong}")


def test_an_order_that_waits_is_not_executed(dealing: Dealing) -> None:
    dealing.venue(mode="hold")
    order = dealing.placed()
    nothing = {"items": [], "total": 0}
    assert dealing.desk.do("GET", f"/hedge/executions?order_id={order['id']}") == nothing


def broken(dealing: Dealing) -> dict[str, Any]:
    """An order that was deleted while the venue had it, and that the venue then filled."""
    dealing.venue(mode="hold")
    order = dealing.placed(quantity="4")
    deleted = dealing.do(order, "delete", {"reason": "the client called"})
    assert deleted["hedge"]["state"] == "waiting"
    dealing.venue(mode="fill")
    until(lambda: dealing.desk.do("GET", "/hedge/breaks")["total"] == 1, within_s=15)
    return order


def test_a_fill_after_the_deletion_is_a_break_until_it_is_resolved(dealing: Dealing, other: Office) -> None:
    order = broken(dealing)
    assert dealing.order(order)["status"] == "deleted"
    (shown,) = dealing.desk.do("GET", "/hedge/breaks")["items"]
    assert (shown["order_id"], shown["status"], shown["outcome"]) == (order["id"], "deleted", "confirmed")
    assert shown["execution_id"].startswith("SIM-")
    assert shown["resolved_by"] is shown["resolution"] is None
    assert dealing.desk.do("GET", "/hedge/queue")["total"] == 0
    assert other.desk.do("GET", "/hedge/breaks") == {"items": [], "total": 0}
    path = f"/hedge/breaks/{order['id']}/resolve"
    other.desk.refused("POST", path, {"note": "x"}, status=404, code="not_found")
    dealing.office.hire("viewer").refused("POST", path, {"note": "x"}, status=403, code="role_too_low")
    for body in (None, {}, {"note": ""}, {"note": " "}, {"note": "x" * 501}, {"note": "x", "by": "me"}):
        dealing.desk.refused("POST", path, body)
    dealer = dealing.office.hire("dealer")
    resolved = dealer.do("POST", path, {"note": "sold back at the venue"})
    assert resolved["resolution"] == "sold back at the venue"
    assert resolved["resolved_by"].startswith("a dealer (")
    assert {**resolved, "resolved_by": None, "resolution": None} == shown
    assert dealing.desk.do("GET", "/hedge/breaks") == {"items": [], "total": 0}
    hedge = dealing.order(order)["hedge"]
    assert (hedge["state"], hedge["resolution"]) == ("answered", "sold back at the venue")
    entry = dealing.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("resolve_break", order["id"])
    assert (entry["before"], entry["after"]) == (shown, resolved)
    again = dealing.desk.refused("POST", path, {"note": "x"}, status=409, code="conflict")
    assert "a dealer (" in again
    dealing.check()


def test_an_execution_without_an_order_is_listed_first_and_resolved_by_its_own_id(
    dealing: Dealing, other: Office
) -> None:
    order = broken(dealing)
    (contradicted,) = dealing.desk.do("GET", "/hedge/breaks")["items"]
    assert (contradicted["break_id"], contradicted["reason"]) == (order["id"], "contradicts_order")
    execution_id = f"STRAY-{order['id'][:8]}"
    execute_behind_its_back(dealing.office.node, dealing.office.broker, execution_id)
    until(lambda: dealing.desk.do("GET", "/hedge/breaks")["total"] == 2, within_s=15)
    shown, last = dealing.desk.do("GET", "/hedge/breaks")["items"]
    assert last == contradicted
    assert shown.keys() == contradicted.keys()
    assert shown == {
        **dict.fromkeys(shown),
        "break_id": execution_id,
        "reason": "unknown_order",
        "order_id": f"not {execution_id}",
        "trade_type": "buy",
        "quantity": "3.0000",
        "unit": "g",
        "instrument": "GOLD",
        "outcome": "confirmed",
        "execution_id": execution_id,
        "words": "No recorded order has the id that the venue names.",
        "answered_at": "1970-01-01T00:00:00.000001+00:00",
    }
    for offset, items in enumerate(([shown], [last], [])):
        page = dealing.desk.do("GET", f"/hedge/breaks?limit=1&offset={offset}")
        assert page == {"items": items, "total": 2}
    assert other.desk.do("GET", "/hedge/breaks") == {"items": [], "total": 0}
    path = f"/hedge/breaks/{execution_id}/resolve"
    other.desk.refused("POST", path, {"note": "x"}, status=404, code="not_found")
    dealing.office.hire("viewer").refused("POST", path, {"note": "x"}, status=403, code="role_too_low")
    resolved = dealing.office.hire("dealer").do("POST", path, {"note": "sold back"})
    assert {**resolved, "resolved_by": None, "resolution": None} == shown
    assert resolved["resolution"] == "sold back"
    assert dealing.desk.do("GET", "/hedge/breaks") == {"items": [contradicted], "total": 1}
    entry = dealing.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("resolve_break", execution_id)
    assert (entry["before"], entry["after"]) == (shown, resolved)
    again = dealing.desk.refused("POST", path, {"note": "x"}, status=409, code="conflict")
    assert again.startswith("This execution is no break any more; a dealer (")


def test_what_is_no_break_cannot_be_resolved(dealing: Dealing) -> None:
    order = dealing.placed()
    with nothing_changed(dealing.desk):
        path = f"/hedge/breaks/{order['id']}/resolve"
        words = dealing.desk.refused("POST", path, {"note": "x"}, status=409, code="conflict")
        assert words == "There is no break on this order."
        for unknown in (NEVER, "x", "%00"):
            path = f"/hedge/breaks/{unknown}/resolve"
            dealing.desk.refused("POST", path, {"note": "x"}, status=404, code="not_found")


def test_a_deletion_that_the_venue_refuses_too_is_no_break(dealing: Dealing) -> None:
    dealing.venue(mode="hold")
    order = dealing.placed()
    dealing.do(order, "delete")
    dealing.venue(mode="refuse")
    until(lambda: dealing.desk.do("GET", "/hedge/queue")["total"] == 0, within_s=15)
    assert dealing.desk.do("GET", "/hedge/breaks") == {"items": [], "total": 0}
    assert dealing.order(order)["hedge"]["outcome"] == "refused"
    dealing.check()


def test_the_doctor_names_orders_that_wait_for_a_venue_that_nobody_asks(office: Office) -> None:
    dealing, node = Dealing(office), office.node
    dealing.venue(mode="hold")
    order = dealing.placed()
    settings = {**node.settings, "BULLION_HEDGE": "desk"}
    done = bullion(node.folder, "doctor", **settings)
    assert done.returncode == 1
    assert "wait for the venue simulated, which BULLION_HEDGE=desk does not ask" in done.stdout
    assert "BAD  hedge" not in bullion(node.folder, "doctor", **node.settings).stdout
    dealing.venue(mode="fill")
    dealing.becomes(order, "open")
    assert "BAD  hedge" not in bullion(node.folder, "doctor", **settings).stdout
