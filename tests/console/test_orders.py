"""Orders in the console: the live list, the one search box, and why an order was refused."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
from playwright.sync_api import Page, expect

from tests.support.console import ConsoleProcess, Visitor, session_of
from tests.support.dealing import Dealing
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
    page.goto(f"{someone.console.url}/orders?from=2090-01-01T00:00")
    expect(page.locator("#orders")).to_contain_text("No matching orders.")
    page.goto(f"{someone.console.url}/orders?since=today&symbol_code=GOLD")
    expect(rows(page)).to_have_count(2)
    page.goto(f"{someone.console.url}/orders?status=<b>")
    expect(page.locator("#orders .empty")).to_contain_text("status: is one of filled, pending")
    page.goto(f"{someone.console.url}/orders?page=2")
    expect(page.locator("#orders .empty")).to_contain_text("There are not that many pages.")


def test_pages_of_fifty(someone: Visitor, dealing: Dealing, admin: str) -> None:
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
    page = someone.open(admin, f"orders?environment=test&{columns}")
    expect(rows(page)).to_have_count(50)
    expect(rows(page).first).to_contain_text("n51")
    expect(page.locator("#pager")).to_contain_text("1 to 50 of 52")
    page.get_by_role("link", name="Older").click()
    expect(rows(page)).to_have_count(2)
    expect(rows(page).last).to_contain_text("n0")
    assert page.url.endswith("&page=2")
    page.get_by_role("link", name="Newer").click()
    expect(rows(page)).to_have_count(50)


def test_a_refusal_is_found_by_its_request_id(someone: Visitor, dealing: Dealing, admin: str) -> None:
    answer = Client(dealing).place(quantity=900_000, client_order_id=SCRIPT)
    detail = refused(answer, "limit_exceeded")
    page = someone.open(admin, "orders")
    request_id = answer.headers["x-request-id"]
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
    page.goto(f"{someone.console.url}/orders/decision/{answer.headers['x-request-id']}")
    expect(page.locator("#decision")).to_contain_text(
        "The client expected ₹70,000 and the price was ₹71,240.00: 1.77 percent off."
    )
    expect(page.locator("#meaning")).to_contain_text("It is used up")
    # An order that was taken has its decision too.
    order = dealing.placed()
    page.goto(f"{someone.console.url}/orders/decision/{order['request_id']}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Accepted")
    expect(page.locator("#asked")).to_contain_text("buy 1 g GOLD")
    page.get_by_role("link", name="See the order").click()
    page.wait_for_url(f"**/orders/{order['id']}")
    someone.expect_trouble("404")
    page.goto(f"{someone.console.url}/orders/decision/{'0' * 24}")
    expect(page.locator("main")).to_contain_text("There is no decision on such a call")


def test_a_viewer_sees_and_cannot_act(
    someone: Visitor, console: ConsoleProcess, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    order, token = dealing.placed(), hire("viewer")
    page = someone.open(token, f"orders/{order['id']}")
    for name in ("Close", "Delete"):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_disabled()
        expect(button).to_have_accessible_description("needs the role dealer")
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


def test_nothing_is_cut_off(visit: Callable[..., Visitor], dealing: Dealing, admin: str) -> None:
    """On the smaller screen, which is the narrower one also by its type."""
    longest = "W" * 64
    order = dealing.placed(quantity="99999.9999", client_order_id=longest, source="a" * 32)
    someone = visit(viewport={"width": 1280, "height": 800})
    page = someone.open(admin, "orders")
    wider = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"
    for path in ("orders", f"orders/{order['id']}", f"orders/decision/{order['request_id']}"):
        page.goto(f"{someone.console.url}/{path}")
        expect(page.locator(".orders-page")).to_contain_text("GOLD")
        assert page.locator("html, .scroll, .card, .facts dd, .title").evaluate_all(wider) == []
