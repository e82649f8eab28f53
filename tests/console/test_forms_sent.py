"""What the forms answer to what no browser of ours would send, or nobody should."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.support.console import ConsoleProcess
from tests.support.console_client import ConsoleClient, console_client, text_of
from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Office, nothing_changed
from tests.support.node import until
from tests.support.orders import GOLD
from tests.support.production import execute_behind_its_back
from tests.support.unreadable import LANDED


@pytest.fixture
def at(console: ConsoleProcess, office: Office) -> Iterator[ConsoleClient]:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    office.desk.do("PUT", "/groups/mine", {"default_terms": {"buy_premium": "100"}})
    with console_client(console, office) as at:
        yield at


@pytest.mark.parametrize("symbol", ["NOSUCH", "no such", "a\x00", "x" * 33])
def test_a_group_has_terms_for_symbols_that_there_are(at: ConsoleClient, office: Office, symbol: str) -> None:
    with nothing_changed(office.desk):
        told = at.mistyped("market/add-terms?group=mine", symbol=symbol)
        assert told["symbol"].startswith("There is no symbol")
        fields = at.ask("market/edit-terms?group=mine&symbol=GOLD")
        answer = at.send(f"market/edit-terms?group=mine&symbol={quote(symbol)}", fields)
        assert answer.status_code in (404, 422), answer.text
        assert "symbol" in answer.json()["refused"]
    at.do("market/add-terms?group=mine", symbol="GOLD", buy_premium="5")


def test_the_hours_open_on_what_holds_and_never_close_for_good(at: ConsoleClient, office: Office) -> None:
    assert at.ask("market/hours")["kind"] == "always"
    with nothing_changed(office.desk):
        told = at.mistyped("market/hours", kind="week")
        assert told["kind"].startswith("At least one day must be open.")
        assert at.mistyped("market/hours", kind="week", mon="closed", tue="soon").keys() == {"tue"}
        # Hours beside a forgotten choice are not lost without a word.
        told = at.mistyped("market/hours", mon="9:00 - 17:00")
        assert told["kind"].startswith("You changed hours below.")
    at.do("market/hours", kind="week", mon="9:00 - 17:00")
    assert at.ask("market/hours")["kind"] == "week"
    with nothing_changed(office.desk):
        assert at.mistyped("market/hours", kind="always", mon="9:00 - 18:00").keys() == {"kind"}
    assert at.mistyped("market/hours", mon="").keys() == {"kind"}
    at.do("market/hours", kind="always")
    assert office.desk.do("GET", "/switches")["trading_hours"] is None


def test_all_errors_of_a_form_are_told_at_once(at: ConsoleClient, office: Office) -> None:
    """Also that a name exists, which only the store knows."""
    with nothing_changed(office.desk):
        told = at.mistyped("market/new-symbol", code="GOLD", minimum="1o", maximum="", step="1")
        assert told.keys() == {"code", "minimum", "maximum", "instrument"}
        assert told["code"] == "There is a symbol GOLD already."
        told = at.mistyped("market/new-duty", name="", rupees="x")
        assert told.keys() == {"name", "rupees"}


def test_a_symbol_is_asked_for_in_three_parts(at: ConsoleClient) -> None:
    contents = at.client.get("/dialogs/market/edit-symbol?code=GOLD").json()["contents"]
    assert re.findall(r"<legend>(.*?)</legend>", contents) == ["Price", "Sizes", "Safety"]
    price, sizes, safety = contents.split("<fieldset")[1:]
    assert 'name="quoted_weight"' in price
    assert "Smallest order, g" in sizes
    assert "Oldest rate, s" in safety


def test_an_allocation_with_a_comma_out_of_place_is_refused(at: ConsoleClient, office: Office) -> None:
    office.desk.account("asha")
    with nothing_changed(office.desk):
        for typed in ("1,5", "1,2345", "1," + "9" * 5000):
            assert at.mistyped("accounts/allocate?login=asha", gold=typed).keys() == {"gold"}
    at.do("accounts/allocate?login=asha", gold="1,23,456.5")


def test_a_break_is_settled_where_there_is_one(console: ConsoleProcess, dealing: Dealing) -> None:
    order = dealing.placed()
    with console_client(console, dealing.office) as at:
        path = f"orders/resolve?id={order['id']}"
        asked = at.client.get(f"/dialogs/{path}")
        assert asked.status_code == 409
        assert "There is no break on this order" in asked.json()["contents"]
        answer = at.send(path, {"note": "nothing to settle"})
        assert (answer.status_code, answer.json()["refused"]) == (409, "There is no break on this order.")


def test_a_deal_that_somebody_else_closed_meanwhile_is_not_asked_about(
    console: ConsoleProcess, dealing: Dealing
) -> None:
    order = dealing.placed()
    with console_client(console, dealing.office) as at:
        at.ask(f"orders/close?id={order['id']}")
        dealing.do(order, "close")
        dealing.do(order, "complete", {"close_price": "71000"})
        for action in ("close", "complete"):
            asked = at.client.get(f"/dialogs/orders/{action}?id={order['id']}")
            assert asked.status_code == 409, asked.text
            assert "this one is closed, by an admin" in asked.json()["contents"]


def test_a_break_of_a_part_says_what_was_not_filled(console: ConsoleProcess, dealing: Dealing) -> None:
    dealing.venue(mode="fill", fill_percent=50)
    order = dealing.placed(quantity="1000")
    dealing.venue(mode="refuse", fill_percent=100)
    until(lambda: dealing.order(order)["hedge"]["rest"]["state"] == "partly_covered", within_s=30)
    dealing.do(order, "delete", {"reason": "a mistake"})
    left = float(dealing.order(order)["hedge"]["rest"]["quantity"])
    with console_client(console, dealing.office) as at:
        asked = at.client.get(f"/dialogs/orders/resolve?id={order['id']}").json()["contents"]
        assert f"The venue has not filled {left:g} g of it." in text_of(asked)


def test_a_sale_is_not_said_to_return_to_the_stock(console: ConsoleProcess, dealing: Dealing) -> None:
    dealing.desk.do("PATCH", "/symbols/GOLD", {"stock": "100"})
    sold = dealing.placed(trade_type="sell", quantity="5")
    bought = dealing.placed(quantity="5")
    returned = "its weight returns to stock"
    with console_client(console, dealing.office) as at:
        for order in (sold, bought):
            dealing.do(order, "close")
            for action in ("complete", "delete"):
                asked = at.client.get(f"/dialogs/orders/{action}?id={order['id']}").json()["contents"]
                assert (returned in asked) == (order is bought)
    for order in (sold, bought):
        dealing.do(order, "delete", {"reason": "a trial"})
    (gold,) = [each for each in dealing.desk.all("/symbols") if each["code"] == "GOLD"]
    assert gold["stock"] == "100.0000"


def test_an_order_of_the_ticket_that_was_deleted_meanwhile_is_not_told_as_booked(
    console: ConsoleProcess, dealing: Dealing
) -> None:
    with console_client(console, dealing.office) as at:
        asked = {"login": "client", "symbol": "GOLD", "side": "buy", "quantity": "5"}
        sent: dict[str, str] = {}

        def booked() -> bool:
            """Not before the console has read the market."""
            sent.update(at.fields(at.send("ticket/lock", asked).json()["reveal"]))
            return "Booked: deal" in at.send("ticket/book", sent).json()["reveal"]

        until(booked, within_s=15)
        (order,) = dealing.desk.all("/orders?login_id=client")
        dealing.do(order, "delete", {"reason": "entered twice"})
        # Its answer was lost, and it is asked for again.
        told = at.send("ticket/book", sent).json()["reveal"]
        assert "Booked" not in told
        assert "The order was deleted" in told


def test_a_duty_entry_is_changed_and_removed_unless_it_priced_a_production_order(
    console: ConsoleProcess, dealing: Dealing
) -> None:
    desk = dealing.desk
    for instrument in ("SPOT", "CURRENCY"):
        desk.do("PUT", f"/rates/{instrument}", {"bid": "80", "ask": "80"})
    desk.do("PUT", "/duties/customs", [{"from": f"202{each}-01-01", "rupees": "100"} for each in range(3)])
    desk.do("PUT", "/symbols/LANDED", {**GOLD, "pricing": LANDED})
    until(lambda: dealing.place(symbol_code="LANDED").is_success, within_s=15)
    (order,) = desk.all("/orders?symbol_code=LANDED")
    with console_client(console, dealing.office) as at:
        about = "name=customs&from=2020-01-01"
        told = at.do(f"market/change-duty?{about}", rupees="150")
        assert "100.00 → ₹150.00" in told["done"]
        at.do(f"market/remove-duty?{about}")
        for action, typed in (("change-duty", {"rupees": "1"}), ("remove-duty", {})):
            fields = at.ask(f"market/{action}?name=customs&from=2021-01-01")
            path = f"market/{action}?name=customs&from=2022-01-01"
            asked, answer = at.client.get(f"/dialogs/{path}"), at.send(path, {**fields, **typed})
            assert (asked.status_code, answer.status_code) == (409, 409), answer.text
            for told_text in (asked.json()["contents"], answer.json()["refused"]):
                assert "was priced by it. Add an entry from today" in told_text
                assert order["id"] in told_text
    (table,) = desk.all("/duties")
    assert [each["from"] for each in table["duties"]] == ["2021-01-01", "2022-01-01"]


def test_an_execution_without_an_order_is_shown_on_the_overview_and_settled_there(
    console: ConsoleProcess, dealing: Dealing
) -> None:
    execution_id = f"<STRAY> {dealing.office.broker}"
    execute_behind_its_back(dealing.office.node, dealing.office.broker, execution_id, instrument="UNHEARD-OF")
    until(lambda: dealing.desk.do("GET", "/hedge/breaks")["total"] == 1, within_s=15)
    with console_client(console, dealing.office) as at:
        until(lambda: "breaks-table" in at.see("overview"), within_s=15)
        shown = at.see("overview")
        assert "No recorded order has the id that the venue names." in shown
        assert "3.0000 UNHEARD-OF" in shown
        at.do(f"overview/settle?id={quote(execution_id)}", note="sold back by telephone")
        until(lambda: "breaks-table" not in at.see("overview"), within_s=15)
        answer = at.send(f"overview/settle?id={quote(execution_id)}", {"note": "again"})
        assert answer.status_code == 409
    assert dealing.desk.do("GET", "/hedge/breaks")["total"] == 0
