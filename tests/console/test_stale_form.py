"""Two people at the same form: the second undoes nothing that the first did, and hears why."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.console import ConsoleProcess
from tests.support.console_client import ConsoleClient, console_client
from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Office, nothing_changed
from tests.support.node import until


@pytest.fixture
def at(console: ConsoleProcess, office: Office) -> Iterator[ConsoleClient]:
    with console_client(console, office) as at:
        yield at


def test_what_is_there_is_not_made_again(at: ConsoleClient, office: Office) -> None:
    symbol = {"minimum": "1", "maximum": "5", "step": "1", "instrument": "X"}
    entry = {"from": "2099-01-01", "rupees": "9"}
    # The lists that the pages share have been read before these are made.
    for tab in ("groups", "symbols", "duty"):
        at.see(f"market/{tab}")
    office.desk.do("PUT", "/groups/mine", {"default_terms": {"buy_premium": "100"}})
    office.desk.do("PUT", "/symbols/MINE", SYMBOL)
    office.desk.do("PUT", "/duties/mine", [{"from": "2024-01-01", "rupees": "7500"}])
    with nothing_changed(office.desk):
        assert at.mistyped("market/new-group", code="mine") == {"code": "There is a group mine already."}
        told = at.mistyped("market/new-symbol", code="MINE", **symbol)
        assert told == {"code": "There is a symbol MINE already."}
        told = at.mistyped("market/new-duty", name="mine", **entry)
        assert told == {"name": "There is a duty table mine already."}
    at.do("market/new-group", code="other")
    at.do("market/new-symbol", code="OTHER", **symbol)
    at.do("market/new-duty", name="other", **entry)


def test_an_account_is_changed_by_who_saw_it_as_it_is(at: ConsoleClient, office: Office) -> None:
    office.desk.account("asha", allocation={"gold": "100", "silver": "1"})
    office.desk.do("PUT", "/groups/other", {})
    edit, allocate = "accounts/edit?login=asha", "accounts/allocate?login=asha"
    edited, allocated = at.ask(edit), at.ask(allocate)
    office.desk.do("PATCH", "/accounts/asha", {"active": False})
    office.desk.do("PATCH", "/accounts/asha", {"firm_name": "Asha and Sons", "allocation": {"gold": "5"}})
    with nothing_changed(office.desk):
        for action, fields in (
            (edit, {**edited, "group": "other"}),
            (allocate, {**allocated, "silver": "2"}),
        ):
            answer = at.send(action, fields)
            assert answer.status_code == 409, answer.text
            assert "was changed since you opened this form" in answer.json()["refused"]
    # What the form is not about may have changed.
    edited, allocated = at.ask(edit), at.ask(allocate)
    office.desk.do("PATCH", "/accounts/asha", {"active": True})
    assert at.send(edit, {**edited, "group": "other"}).status_code == 200
    assert at.send(allocate, {**allocated, "silver": "2"}).status_code == 200
    (asha,) = [each for each in office.desk.all("/accounts") if each["login_id"] == "asha"]
    assert (asha["firm_name"], asha["group"], asha["active"]) == ("Asha and Sons", "other", True)
    assert asha["allocation"] == {"gold": "5.0000", "silver": "2.0000"}


def test_a_stock_that_moved_meanwhile_is_not_set(at: ConsoleClient, office: Office) -> None:
    office.desk.do("PUT", "/symbols/GOLD", {**SYMBOL, "stock": "100"})
    edit = "market/edit-symbol?code=GOLD"
    fields = at.ask(edit)
    office.desk.do("PATCH", "/symbols/GOLD", {"stock": "60"})
    with nothing_changed(office.desk):
        answer = at.send(edit, {**fields, "stock": "200"})
        assert answer.status_code == 409, answer.text
        assert "The stock of GOLD was changed since you opened this form" in answer.json()["refused"]
    # Who leaves the stock alone may save the rest, and the stock stays what bookings made of it.
    assert at.send(edit, {**fields, "maximum": "500"}).status_code == 200
    (gold,) = [each for each in office.desk.all("/symbols") if each["code"] == "GOLD"]
    assert (gold["stock"], gold["maximum"]) == ("60.0000", "500.0000")
    at.do(edit, stock="200")
    at.do(edit, stock="")
    (gold,) = [each for each in office.desk.all("/symbols") if each["code"] == "GOLD"]
    assert gold["stock"] is None


def test_a_pin_that_somebody_set_meanwhile_is_not_ended(at: ConsoleClient, office: Office) -> None:
    until_text = (datetime.now(UTC) + timedelta(hours=1)).isoformat()

    def pinned_at(bid: str) -> None:
        office.desk.do("PUT", "/rates/GOLD", {"bid": bid, "ask": bid, "pin_until": until_text})

    pinned_at("100")
    action = "market/unpin-rate?instrument=GOLD"
    form = at.ask(action)
    pinned_at("101")
    with nothing_changed(office.desk):
        answer = at.send(action, form)
        assert answer.status_code == 409, answer.text
        assert "The pin of GOLD was changed since you opened this form" in answer.json()["refused"]
    at.do(action)
    (gold,) = office.desk.all("/rates")
    assert gold["pinned_until"] is None


def test_an_order_is_deleted_in_the_state_that_the_dialog_showed(at: ConsoleClient, dealing: Dealing) -> None:
    """It was pending, and the venue has filled it since: now it is a deal with a hedge."""
    dealing.venue(mode="hold")
    order = dealing.placed()
    action = f"orders/delete?id={order['id']}"
    form = at.ask(action) | {"reason": "called off"}
    dealing.venue(mode="fill")
    dealing.becomes(order, "open")
    with nothing_changed(dealing.desk):
        answer = at.send(action, form)
        assert answer.status_code == 409, answer.text
        assert "was changed since you opened this form" in answer.json()["refused"]
    assert dealing.order(order)["status"] == "open"
    at.do(action, reason="called off")
    assert dealing.order(order)["status"] == "deleted"


def test_the_rest_that_is_decided_about_is_what_the_dialog_showed(
    at: ConsoleClient, dealing: Dealing
) -> None:
    """It was sent again meanwhile and filled in part: more has to be sold back than was."""
    dealing.venue(mode="fill", fill_percent=50)
    order = dealing.placed(quantity="1000")
    dealing.venue(mode="refuse", fill_percent=100)

    def rest() -> str | None:
        found = dealing.order(order)["hedge"]["rest"]
        return str(found["quantity"]) if found["state"] == "partly_covered" else None

    until(rest, within_s=30)
    shown, action = rest(), f"orders/cover?id={order['id']}"
    form = at.ask(action) | {"rest": "refuse", "note": "sold back what was filled"}
    dealing.venue(mode="fill", fill_percent=50)
    dealing.do(order, "cover", {"action": "again", "note": "once more"})
    until(lambda: dealing.order(order)["hedge"]["rest"]["quantity"] != shown, within_s=30)
    dealing.venue(mode="refuse", fill_percent=100)
    until(lambda: rest() not in (None, shown), within_s=30)
    with nothing_changed(dealing.desk):
        answer = at.send(action, form)
        assert answer.status_code == 409, answer.text
        assert "was changed since you opened this form" in answer.json()["refused"]
    assert dealing.order(order)["status"] == "pending"
    at.do(action, rest="refuse", note="sold back what was filled")
    assert dealing.order(order)["status"] == "rejected"
