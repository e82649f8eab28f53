"""The rules of a hedge book at the desk, and the covers that they make."""

from decimal import Decimal
from typing import Any

from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office, nothing_changed
from tests.support.node import until

GOLDM = {"metal": "gold", "instrument": "GOLD", "lot": "100", "fineness": "995", "price_weight": "10"}
NET = {"kind": "over", "threshold": "200", "contracts": ["GOLDM"]}
RULES = "/hedge/book/gold/rules"
SHOWN = {
    "name": "net",
    "kind": "over",
    "threshold": "200.000",
    "unit": "g",
    "contracts": ["GOLDM"],
    "side": None,
    "mode": "suggest",
}


def book(desk: Caller) -> dict[str, Any]:
    found: dict[str, Any] = desk.do("GET", "/hedge/book")["items"][0]
    return found


def automatic(desk: Caller) -> None:
    """The rule sends its covers, by the rate of their instrument."""
    desk.do("PUT", "/rates/GOLD", {"bid": "71240", "ask": "71260"})
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"mode": "auto"})
    desk.do("PUT", f"{RULES}/net", NET | {"mode": "auto"})


def set_up(desk: Caller, limit: str = "300", **book_terms: str) -> None:
    desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": limit} | book_terms)
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)


def covers(desk: Caller, *states: str) -> list[Any]:
    found: list[Any] = desk.do("GET", "/hedge/covers")["items"]
    return [each for each in found if each["state"] in (states or (each["state"],))]


def test_a_rule_comes_back_as_it_was_put_and_keeps_its_place(office: Office) -> None:
    desk = office.desk
    set_up(desk)
    assert desk.do("PUT", f"{RULES}/net", NET) == SHOWN
    night = {"kind": "close", "threshold": "600", "contracts": ["GOLDM"], "side": "sell", "mode": "auto"}
    desk.do("PUT", f"{RULES}/night", night | {"place": 1})
    desk.do("PUT", f"{RULES}/hand", {"kind": "by_hand", "contracts": ["GOLDM"]})
    desk.do("PUT", f"{RULES}/value", {"kind": "value", "threshold": "1000000", "contracts": ["GOLDM"]})
    shown = book(desk)["rules"]
    assert [(each["name"], each["threshold"], each["unit"]) for each in shown] == [
        ("night", "600", "s"),
        ("net", "200.000", "g"),
        ("hand", None, None),
        ("value", "1000000.00", "₹"),
    ]
    assert (shown[0]["side"], shown[0]["mode"]) == ("sell", "auto")
    desk.do("PUT", f"{RULES}/net", NET | {"threshold": "250.5"})
    assert [each["name"] for each in book(desk)["rules"]] == ["night", "net", "hand", "value"]
    entry = desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"], entry["before"]) == ("put_rule", "gold net", SHOWN)
    assert desk.do("DELETE", f"{RULES}/hand")["name"] == "hand"
    assert [each["name"] for each in book(desk)["rules"]] == ["night", "net", "value"]
    assert desk.do("GET", "/audit?limit=1")["items"][0]["action"] == "delete_rule"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kind": "soon"}, "kind"),
    ({"threshold": "0"}, "threshold: must be above 0"),
    ({"threshold": "0.0001"}, "threshold"),
    ({"threshold": None}, "threshold: must be given for over, in g"),
    ({"kind": "age", "threshold": "1.5"}, "threshold"),
    ({"kind": "by_hand"}, "threshold: must be left out"),
    ({"contracts": []}, "contracts"),
    ({"contracts": ["TIN"]}, "none called TIN"),
    ({"side": "long"}, "side"),
    ({"mode": "later"}, "mode"),
    ({"place": 0}, "place"),
]


def test_a_rule_that_makes_no_sense_is_refused(office: Office) -> None:
    set_up(office.desk)
    with nothing_changed(office.desk):
        for change, named in WRONG:
            assert named in office.desk.refused("PUT", f"{RULES}/net", NET | change)


def test_rules_that_are_not_there_and_books_that_are_not_open(office: Office) -> None:
    desk = office.desk
    desk.refused("PUT", f"{RULES}/net", NET, status=409, code="conflict")
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    desk.do("PATCH", "/hedge/book/gold", {"limit": "5"})
    with nothing_changed(desk):
        assert "name" in desk.refused("PUT", f"{RULES}/by_hand", NET)
        assert "name" in desk.refused("PUT", f"{RULES}/no%20name", NET)
        desk.refused("DELETE", f"{RULES}/net", status=404, code="not_found")
        desk.refused("POST", "/hedge/book/gold/plan", {"rule": "net"}, status=404, code="not_found")
        desk.refused("PUT", "/hedge/book/copper/rules/net", NET, status=404, code="not_found")
        desk.refused("PUT", "/hedge/book/silver/rules/net", NET, status=409, code="conflict")
    dealer = office.hire("dealer")
    dealer.refused("PUT", f"{RULES}/net", NET, status=403, code="role_too_low")
    dealer.refused("DELETE", f"{RULES}/net", status=403, code="role_too_low")
    office.hire("viewer").refused(
        "POST", "/hedge/book/gold/plan", {"rule": "net"}, status=403, code="role_too_low"
    )


def test_a_book_may_have_up_to_twenty_rules(office: Office) -> None:
    desk = office.desk
    set_up(desk)
    for number in range(20):
        desk.do("PUT", f"{RULES}/r{number}", NET)
    assert "20 rules" in desk.refused("PUT", f"{RULES}/more", NET, status=409, code="conflict")
    desk.do("PUT", f"{RULES}/r7", NET | {"threshold": "250"})


def test_orders_that_would_wait_for_ever_are_told_or_refused(office: Office) -> None:
    desk = office.desk
    set_up(desk)
    assert [each.partition(",")[0] for each in book(desk)["warnings"]] == [
        "The limit needs a rule over a weight that may buy",
        "The limit needs a rule over a weight that may sell",
    ]
    desk.do("PUT", f"{RULES}/buys", NET | {"side": "buy"})
    assert len(book(desk)["warnings"]) == 1
    refused = desk.refused("PUT", f"{RULES}/sells", NET | {"threshold": "301"}, status=409, code="conflict")
    assert "is below 301.000 g" in refused
    desk.do("PUT", f"{RULES}/sells", NET | {"side": "sell"})
    assert book(desk)["warnings"] == []
    with nothing_changed(desk):
        assert "limit: is below 200.000 g" in desk.refused("PATCH", "/hedge/book/gold", {"limit": "199"})
        assert "limit: must be above 0" in desk.refused("PATCH", "/hedge/book/gold", {"limit": "0"})
        desk.refused("DELETE", f"{RULES}/sells", status=409, code="conflict")
        desk.refused("PUT", f"{RULES}/sells", NET | {"kind": "age"}, status=409, code="conflict")
    desk.do("PATCH", "/hedge/book/gold", {"policy": "each"})
    desk.do("PATCH", "/hedge/book/gold", {"limit": "199"})
    assert book(desk)["warnings"] == []
    assert "limit" in desk.refused("PATCH", "/hedge/book/gold", {"policy": "book"})
    desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "300"})
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM | {"lot": "1000"})
    assert "must exceed 995.000 g" in book(desk)["warnings"][0]
    desk.do("PATCH", "/hedge/book/gold", {"volatility_percent": "1"})  # What was wrong before is not refused.


def test_a_rule_suggests_what_clients_deal(dealing: Dealing) -> None:
    desk = dealing.desk
    set_up(desk, "1000")
    desk.do("PUT", f"{RULES}/net", NET | {"threshold": "50"})
    dealing.placed(quantity="220")
    until(lambda: bool(covers(desk)), within_s=15)
    (cover,) = covers(desk)
    assert (cover["side"], cover["quantity"], cover["state"]) == ("buy", "2.00000000", "suggested")
    assert (cover["rule"], cover["made_by"]) == ("net", "planner")
    dealing.placed(quantity="100")
    until(lambda: [each["quantity"] for each in covers(desk, "suggested")] == ["3.00000000"], within_s=15)
    gone = desk.refused("POST", f"/hedge/covers/{cover['id']}/send", status=404, code="not_found")
    assert "newer plan" in gone
    (cover,) = covers(desk)
    deal = {"quantity": "3", "price": "71250", "reference": "LM-1"}
    desk.do("POST", f"/hedge/covers/{cover['id']}/fill", deal)
    until(lambda: not covers(desk, "suggested"), within_s=15)
    dealing.check()


def test_orders_beyond_the_limit_are_covered_and_confirmed(dealing: Dealing) -> None:
    desk = dealing.desk
    set_up(desk)
    desk.do("PUT", f"{RULES}/net", NET)
    answer = dealing.place(quantity="500")
    assert answer.status_code == 202
    until(lambda: bool(covers(desk, "suggested")), within_s=15)
    (cover,) = covers(desk)
    assert cover["quantity"] == "5.00000000"
    deal = {"quantity": "5", "price": "71250", "reference": "LM-1"}
    desk.do("POST", f"/hedge/covers/{cover['id']}/fill", deal)
    assert dealing.becomes(answer.json(), "open")["deal_no"] > 0
    assert book(desk)["residual"] == "-2.000"  # 499.5 g less 497.5 g.
    dealing.check()


def test_a_rule_in_auto_covers_and_the_orders_that_waited_open(dealing: Dealing) -> None:
    desk = dealing.desk
    set_up(desk)
    automatic(desk)
    assert dealing.placed(quantity="150")["status"] == "open"
    late = [dealing.place(quantity=quantity) for quantity in ("500", "160")]
    assert [each.status_code for each in late] == [202, 202]
    for each in late:
        assert dealing.becomes(each.json(), "open")["deal_no"] > 0
    # What opened the last order may leave enough for another cover, which the next plan sends.
    until(lambda: Decimal(book(desk)["residual"]) > -200, within_s=15)
    until(lambda: not covers(desk, "suggested", "sent"), within_s=15)
    made = covers(desk)
    assert {(each["side"], each["state"], each["rule"]) for each in made} == {("buy", "filled", "net")}
    lots = sum(Decimal(each["quantity"]) for each in made)
    residual = Decimal(book(desk)["residual"])
    assert residual == lots * Decimal("99.5") - 810 * Decimal("0.999")
    assert residual <= 0  # Never past zero.
    dealing.check()


def test_a_contract_that_the_venue_refused_rests(dealing: Dealing) -> None:
    desk = dealing.desk
    set_up(desk, "1000")
    automatic(desk)
    dealing.venue(mode="refuse")
    dealing.placed(quantity="300")
    until(lambda: bool(covers(desk, "refused")), within_s=15)
    dealing.placed(quantity="100")
    planned_again = desk.do("POST", "/hedge/book/gold/plan", {"rule": "net"})["covers"]
    assert [each["quantity"] for each in planned_again] == ["4.00000000"]  # But a dealer may ask for it.
    # The rule sends this one too.
    until(lambda: [each["state"] for each in covers(desk)] == ["refused", "refused"], within_s=15)


def test_a_dealer_applies_a_rule_by_hand(dealing: Dealing) -> None:
    desk = dealing.desk
    set_up(desk, "1000")
    desk.do("PUT", f"{RULES}/hand", {"kind": "by_hand", "contracts": ["GOLDM"]})
    assert desk.do("POST", "/hedge/book/gold/plan", {"rule": "hand"})["covers"] == []
    dealing.placed(quantity="120")
    planned = desk.do("POST", "/hedge/book/gold/plan", {"rule": "hand"})
    (cover,) = planned["covers"]
    assert (cover["contract"], cover["side"], cover["quantity"]) == ("GOLDM", "buy", "1.00000000")
    assert [each["id"] for each in covers(desk)] == [cover["id"]]
    entry = desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["after"]["rule"]) == ("plan_covers", "hand")
    desk.refused("POST", "/hedge/book/silver/plan", {"rule": "hand"}, status=404, code="not_found")
