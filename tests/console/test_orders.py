"""Orders in the console: the live list, the one search box, and why an order was refused."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from uuid import uuid4

import httpx
from playwright.sync_api import Page, expect

from tests.support.console import ConsoleProcess, Visitor, session_of
from tests.support.console_client import buttons_of, console_client, text_of
from tests.support.dealing import Dealing
from tests.support.node import until
from tests.support.orders import ORDERS, booked, refused

SCRIPT = "<script>alert(1)</script>"


class Client:
    """The program of the account `client`, in the test environment."""

    def __init__(self, dealing: Dealing) -> None:
        self._dealing = dealing
        self._key = dealing.desk.key("client")["key"]

    def place(self, **fields: Any) -> httpx.Response:
        body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1, **fields}
        headers = {"Idempotency-Key": str(uuid4())}
        with self._dealing.office.node.api(self._key, Host=f"{self._dealing.office.broker}.example") as http:
            return http.post(ORDERS, json=body, headers=headers)


def linked(html: str, name: str) -> str:
    """Where a link leads, without its first slash."""
    found = re.search(rf'<a [^>]*href="/([^"]+)"[^>]*>[^<]*{name}', html)
    assert found is not None, name
    return unescape(found[1])


def rows(page: Page) -> Any:
    return page.locator("#orders-table tbody tr")


def search(page: Page, text: str) -> None:
    page.locator("#find").fill(text)
    page.keyboard.press("Enter")


def test_an_order_appears_by_itself_and_is_text(someone: Visitor, dealing: Dealing, admin: str) -> None:
    page = someone.open(admin, "orders?columns=time,side,weight,symbol,total,state,client-id")
    expect(rows(page)).to_have_count(1)  # The usher's.
    page.evaluate("window.sameAsBefore = true")
    find = page.locator("#find")
    find.fill("half typed")
    placed = booked(Client(dealing).place(client_order_id=SCRIPT, quantity=21.5))
    first = rows(page).first
    expect(first.locator("td.c-side")).to_have_text("BUY")
    expect(first.locator("td.c-weight")).to_have_text("21.5 g")
    expect(first).to_contain_text("1,53,166.00")
    expect(first).to_contain_text("filled")
    expect(first).to_contain_text(SCRIPT)
    assert page.evaluate("window.sameAsBefore") is True
    expect(find).to_have_value("half typed")
    expect(find).to_be_focused()
    first.get_by_role("link").click()
    page.wait_for_url(f"**/orders/{placed['id']}?back=*")
    expect(page.locator("#about")).to_contain_text(SCRIPT)
    expect(page.locator(".title")).to_contain_text("there is nothing to do")


def test_the_list_is_narrowed_down_in_the_address(someone: Visitor, dealing: Dealing, admin: str) -> None:
    booked(Client(dealing).place())
    dealing.placed(symbol_code="SILVER", trade_type="sell", client_order_id="PO 7&x")
    page = someone.open(admin, "orders")
    expect(rows(page)).to_have_count(3)
    page.evaluate("window.sameAsBefore = true")
    page.get_by_label("Environment").select_option("production")
    expect(rows(page)).to_have_count(2)
    page.get_by_label("Account").fill("client")
    page.get_by_label("Account").press("Enter")
    expect(rows(page)).to_have_count(1)
    assert page.url.endswith("/orders?environment=production&login_id=client")
    assert page.evaluate("window.sameAsBefore") is True
    # It can be kept as a bookmark: what is in the address is in the fields.
    page.reload()
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("1 kg")
    expect(rows(page)).to_contain_text("SILVER")
    expect(page.get_by_label("Environment")).to_have_value("production")
    expect(page.get_by_label("Account")).to_have_value("client")
    page.get_by_label("State").select_option("rejected")
    expect(page.locator("#orders")).to_contain_text("No matching orders.")
    page.go_back()
    expect(rows(page)).to_have_count(1)
    with console_client(someone.console, dealing.office) as at:
        assert "No matching orders." in at.see("orders?from=2090-01-01T00:00")
        nothing = text_of(at.see("orders?client_order_id=client"))
        assert "No matching order has the client order id client." in nothing
        assert "Find takes other ids, and the beginnings of ids." in nothing
        assert at.see("orders?since=today&symbol_code=GOLD").count("<tr data-key=") == 2
        assert "status: is one of filled, pending" in text_of(at.see("orders?status=<b>"))
        assert "There are not that many pages." in at.see("orders?page=2")


def test_pages_of_fifty(console: ConsoleProcess, dealing: Dealing) -> None:
    client = Client(dealing)
    with dealing.office.node.api(client._key, Host=f"{dealing.office.broker}.example") as http:
        for number in range(52):
            body = {
                "symbol_code": "GOLD",
                "trade_type": "buy",
                "quantity": 1,
                "client_order_id": f"n{number}",
            }
            booked(http.post(ORDERS, json=body, headers={"Idempotency-Key": f"k{number}"}))
    columns = "columns=time,client-id"
    with console_client(console, dealing.office) as at:
        first = at.see(f"orders?environment=test&{columns}")
        numbers = re.findall(r"\bn\d+\b", text_of(first))
        assert (len(numbers), numbers[0]) == (50, "n51")
        assert "1 to 50 of 52" in text_of(first)
        older = linked(first, "Older")
        assert older.endswith("&page=2")
        second = at.see(older)
        assert re.findall(r"\bn\d+\b", text_of(second)) == ["n1", "n0"]
        assert at.see(linked(second, "Newer")).count('<tr data-key="') == first.count('<tr data-key="')


def test_a_refusal_is_found_by_its_request_id(someone: Visitor, dealing: Dealing, admin: str) -> None:
    answer = Client(dealing).place(quantity=900_000, client_order_id=SCRIPT)
    detail = refused(answer, "limit_exceeded")
    request_id = answer.headers["x-request-id"]
    until(lambda: dealing.desk.get(f"/traces/{request_id}").status_code == 200, within_s=15)
    page = someone.open(admin, "orders")
    search(page, request_id)
    page.wait_for_url(f"**/orders/decision/{request_id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused: limit exceeded")
    expect(page.locator("#meaning")).to_contain_text(detail["message"])
    expect(page.locator("#meaning")).to_contain_text("past the weight allocation")
    expect(page.locator("#asked")).to_contain_text("buy 9,00,000 g GOLD")
    expect(page.locator("#asked")).to_contain_text(SCRIPT)
    decision = page.locator("#decision")
    expect(decision).to_contain_text(
        "The client's position was 0 g. With the order it would have been +9,00,000 g, "
        "above the allocation of 1,00,000 g."
    )
    expect(decision.locator("li.failed")).to_have_count(1)
    expect(decision.locator("li.failed")).to_contain_text("It fits the client's allocation")
    expect(decision.locator("li.unreached")).to_have_count(2)
    expect(page.locator("#meaning")).to_contain_text("It stays free")
    answer = Client(dealing).place(expected_price=70_000)
    refused(answer, "price_moved")
    # An order that was taken has its decision too.
    order = dealing.placed()
    with console_client(someone.console, dealing.office) as at:
        moved = text_of(at.see(f"orders/decision/{answer.headers['x-request-id']}"))
        assert "The client expected ₹70,000 and the price was ₹71,240.00: 1.77 percent off." in moved
        assert "It is used up" in moved
        accepted = at.see(f"orders/decision/{order['request_id']}")
        assert "<h1>Accepted" in accepted
        assert "buy 1 g GOLD" in text_of(accepted)
        assert linked(accepted, "See the order") == f"orders/{order['id']}"
        assert "There is no decision on such a call" in at.client.get(f"/orders/decision/{'0' * 24}").text


def test_an_order_that_reduces_a_position_above_its_allocation_does_not_read_as_refused(
    console: ConsoleProcess, dealing: Dealing
) -> None:
    dealing.placed(quantity="100")
    dealing.desk.do("PATCH", "/accounts/client", {"allocation": {"gold": "50"}})
    order = dealing.placed(trade_type="sell", quantity="10")
    with console_client(console, dealing.office) as at:
        until(lambda: "<h1>Accepted" in at.see(f"orders/decision/{order['request_id']}"), within_s=15)
        assert (
            "The client's position was +100 g. With the order it is +90 g, above the allocation of 50 g."
        ) in text_of(at.see(f"orders/decision/{order['request_id']}"))


def test_a_viewer_sees_and_cannot_act(
    console: ConsoleProcess, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    order, token = dealing.placed(), hire("viewer")
    with console_client(console, dealing.office, token) as at:
        found = {each.name: each for each in buttons_of(at.see(f"orders/{order['id']}"))}
        for name in ("Close", "Delete"):
            assert found[name].disabled
            assert found[name].description == "needs the role dealer"
    # Who goes around the page meets the action itself.
    with session_of(console, token) as (client, csrf):
        for name in ("close", "complete", "delete", "confirm", "refuse"):
            path = f"/actions/orders/{name}?id={order['id']}"
            sent = {"csrf": csrf, "close_price": "1"}
            answer = client.post(path, data=sent, headers={"Origin": console.url})
            assert answer.status_code == 403, answer.text
            assert answer.json() == {"refused": "This needs the role dealer; yours is viewer."}
        # What a completion would come to is told for a deal that is being closed, and this one is not.
        path = f"/previews/orders/complete?id={order['id']}"
        told = client.post(path, data=sent, headers={"Origin": console.url}).json()["contents"]
        assert "Only an order that is closing can be completed; this one is open" in told
        assert "data-not-yet" in told
    assert dealing.order(order)["status"] == "open"
