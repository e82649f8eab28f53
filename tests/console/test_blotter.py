"""The blotter: acting in rows by mouse, keyboard and thumb, where the desk itself is the venue."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.console import ConsoleProcess, Visitor, visitor
from tests.support.console_client import console_client, text_of
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office
from tests.support.node import Node
from tests.support.orders import GOLD, ORDERS, booked

FIRM = "Kalyani Jewellers"


@dataclass
class Desk:
    """A broker of the test's own, and its console."""

    dealing: Dealing
    console: ConsoleProcess
    visit: Callable[..., Visitor]

    @property
    def token(self) -> str:
        return str(self.dealing.office.admin_token["token"])

    def open(self, path: str = "orders", **options: Any) -> Page:
        return self.visit(**options).open(self.token, path)

    def hire(self, role: str) -> str:
        return str(self.dealing.desk.do("POST", "/tokens", {"name": f"a {role}", "role": role})["token"])


@pytest.fixture
def desk(
    browser: Browser, hand_node: Node, hand_console: ConsoleProcess, hand_first: Caller
) -> Iterator[Desk]:
    office = Office.open(hand_node, hand_first)
    dealing = Dealing(office)
    dealing.desk.do("PATCH", "/accounts/client", {"firm_name": FIRM})
    for waiting in dealing.desk.all("/hedge/queue"):  # The usher's orders, which opened the market.
        dealing.do({"id": waiting["order_id"]}, "confirm")
    with ExitStack() as visitors:

        def visit(**options: Any) -> Visitor:
            return visitors.enter_context(visitor(browser, hand_console, **options))

        yield Desk(dealing, hand_console, visit)
    office.close()


def row(page: Page, order: dict[str, Any]) -> Any:
    return page.locator(f'#orders-table tr[data-key="{order["id"]}"]')


def toast(page: Page, text: str) -> None:
    expect(page.locator("#toasts")).to_contain_text(text)


def test_one_press_confirms_with_the_cover_of_the_row_and_a_deletion_needs_a_reason(desk: Desk) -> None:
    order, twice = desk.dealing.placed(quantity="5"), desk.dealing.placed()
    someone = desk.visit()
    someone.expect_trouble("422")
    page = someone.open(desk.token, "orders?status=pending")
    waiting = row(page, order)
    expect(waiting).to_contain_text(FIRM)
    expect(waiting).to_contain_text("5 g")
    cover = waiting.get_by_label("Cover price of BUY 5 g GOLD for Kalyani Jewellers")
    cover.fill("seventy")
    waiting.get_by_role("button", name="Confirm").click()
    toast(page, "'seventy' is not a plain decimal number")
    assert desk.dealing.order(order)["status"] == "pending"
    expect(cover).to_have_value("seventy")
    cover.fill("71,200.50")
    waiting.get_by_label("Cover reference of").fill("LM-88214112")
    waiting.get_by_role("button", name="Confirm").click()
    toast(page, "Confirmed as deal")
    expect(waiting).to_have_count(0)
    hedge = desk.dealing.order(order)["hedge"]
    assert (hedge["cover_price"], hedge["cover_reference"]) == ("71200.50", "LM-88214112")
    page.goto(f"{desk.console.url}/orders")
    expect(row(page, order)).to_contain_text("71,200.50")
    expect(row(page, order)).to_contain_text("LM-88214112")
    row(page, twice).hover()
    row(page, twice).get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete the order").click()
    expect(dialog).to_contain_text("Required.")
    assert desk.dealing.order(twice)["status"] == "pending"
    dialog.get_by_label("Reason").fill("entered twice")
    dialog.get_by_role("button", name="Delete the order").click()
    expect(row(page, twice)).to_contain_text("deleted")
    assert desk.dealing.order(twice)["events"][-1]["words"] == "entered twice"
    with console_client(desk.console, desk.dealing.office) as at:
        hedge_card = at.see(f"orders/{order['id']}").partition('id="hedge"')[2].partition("</section>")[0]
    assert "LM-88214112" in hedge_card


def test_one_press_confirms_nothing_of_an_order_that_was_covered_in_part(desk: Desk) -> None:
    """Whoever presses has covered all of it: what they bought twice would be recorded nowhere."""
    order = desk.dealing.placed(quantity="5")
    someone = desk.visit()
    someone.expect_trouble("409")
    page = someone.open(desk.token, "orders?status=pending")
    waiting = row(page, order)
    waiting.get_by_label("Cover price of").fill("71200.50")
    desk.dealing.do(order, "confirm", {"covered": "2"})
    waiting.get_by_role("button", name="Confirm").click()
    toast(page, "3.0000 of this order are left to cover, not 5.0000. Nothing was confirmed.")
    hedge = desk.dealing.order(order)["hedge"]
    assert (hedge["rest"]["quantity"], hedge["cover_price"]) == ("3.0000", None)
    page.goto(desk.console.url)
    in_queue = page.locator(f"#pending-table [data-key='{order['id']}']")
    in_queue.get_by_role("button", name="Confirm BUY 5 g GOLD").click()
    expect(in_queue).to_have_count(0)
    assert desk.dealing.order(order)["status"] == "open"


def test_the_keyboard_marks_acts_and_opens(desk: Desk) -> None:
    older, newer = desk.dealing.placed(quantity="3"), desk.dealing.placed(quantity="4")
    page = desk.open("orders?environment=production&login_id=client")
    expect(row(page, newer)).to_be_visible()
    page.keyboard.press("c")
    toast(page, "Mark a row first")
    page.keyboard.press("ArrowDown")
    expect(row(page, newer).locator("a.order")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    toast(page, "BUY 3 g GOLD for Kalyani Jewellers")
    expect(row(page, older)).to_contain_text("open")
    assert desk.dealing.order(newer)["status"] == "pending"
    # The mark stays on the row, although its button is gone.
    expect(row(page, older).locator("a.order")).to_be_focused()
    page.keyboard.press("c")
    toast(page, "BUY 3 g GOLD for Kalyani Jewellers: nothing to confirm.")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Buy 4 g GOLD for client")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_label("Reason").fill("no cover")
    dialog.get_by_role("button", name="Refuse the order").click()
    toast(page, "Refused: BUY 4 g GOLD")
    assert desk.dealing.order(newer)["status"] == "rejected"
    # Enter opens the marked row; Escape leads back to the same list.
    row(page, older).locator("a.order").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".title")).to_contain_text("3 g GOLD")
    page.keyboard.press("Escape")
    page.wait_for_url("**/orders?environment=production&login_id=client")
    row(page, older).locator("td.c-weight").click()
    page.get_by_role("link", name="‹ Orders").click()
    page.wait_for_url("**/orders?environment=production&login_id=client")


def test_several_are_answered_each_by_itself(desk: Desk) -> None:
    orders = [desk.dealing.placed(quantity=str(number)) for number in (1, 2, 3)]
    page = desk.open("orders?status=pending")
    expect(page.locator("#batch")).to_be_hidden()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator("#batch")).to_contain_text("1 chosen")
    for order in orders[:2]:
        row(page, order).get_by_role("checkbox").check()
    expect(page.locator("#batch")).to_contain_text("Confirm 3 …")
    # What is typed into a row goes with its order.
    row(page, orders[0]).get_by_label("Cover price of").fill("71,200.50")
    row(page, orders[0]).get_by_label("Cover reference of").fill("OWN-1")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Confirm 3 orders, ₹42,744.00?")
    expect(dialog).to_contain_text("cover ₹71,200.50, OWN-1")
    dialog.get_by_label("Reference of the cover").fill("BLOCK-7")
    desk.dealing.do(orders[1], "refuse", {"reason": "a colleague was faster"})
    dialog.get_by_role("button", name="Confirm 3 orders").click()
    expect(dialog).to_contain_text("2 of 3 confirmed, 1 not.")
    failed = dialog.locator("li", has_text="BUY 2 g GOLD")
    expect(failed).to_contain_text("not done")
    expect(failed).to_contain_text("this one is rejected, by an admin")
    dialog.get_by_role("button", name="Close").click()
    assert [desk.dealing.order(each)["status"] for each in orders] == ["open", "rejected", "open"]
    own, shared = (desk.dealing.order(orders[number])["hedge"] for number in (0, 2))
    assert (own["cover_price"], own["cover_reference"]) == ("71200.50", "OWN-1")
    assert (shared["cover_price"], shared["cover_reference"]) == (None, "BLOCK-7")
    # Each has its own entry in the trail.
    entries = [each["action"] for each in desk.dealing.desk.do("GET", "/audit?limit=3")["items"]]
    assert entries == ["confirm_order", "confirm_order", "refuse_order"]
    expect(page.locator("#batch")).to_be_hidden()
    # All refused: told in one line.
    last = [desk.dealing.placed() for _ in range(2)]
    for order in last:
        row(page, order).get_by_role("checkbox").check()
    page.locator("#batch").get_by_role("button", name="Refuse 2 …").click()
    dialog.get_by_role("button", name="Refuse 2 orders").click()
    toast(page, "2 refused")
    assert {desk.dealing.order(each)["status"] for each in last} == {"rejected"}


def test_the_dialog_of_several_says_what_is_left_to_cover_and_what_is_wrong_in_a_row(desk: Desk) -> None:
    partly, whole = desk.dealing.placed(quantity="5"), desk.dealing.placed(quantity="4")
    desk.dealing.do(partly, "confirm", {"covered": "2"})
    path = f"/dialogs/orders/confirm-all?ids={partly['id']},{whole['id']}"
    with console_client(desk.console, desk.dealing.office) as at:
        shown = text_of(at.client.get(path).json()["contents"])
        assert "BUY 5 g GOLD for Kalyani Jewellers 3 g of it are left to cover" in shown
        assert "BUY 4 g GOLD for Kalyani Jewellers ₹" in shown
        answer = at.client.get(f"{path}&cover_price%20{whole['id']}=71200,5")
        assert answer.status_code == 422
        told = text_of(answer.json()["contents"])
        assert (
            "BUY 4 g GOLD for Kalyani Jewellers: Cover price: '71200,5' is not a plain decimal number" in told
        )


def test_columns_sort_and_views_are_in_the_address(desk: Desk) -> None:
    light, heavy = desk.dealing.placed(quantity="2"), desk.dealing.placed(quantity="50")
    small = desk.dealing.placed(quantity="1")
    page = desk.open("orders?login_id=client")
    rows = page.locator("#orders-table tbody tr")
    expect(rows.first).to_have_attribute("data-key", small["id"])
    page.evaluate("window.sameAsBefore = true")
    page.get_by_role("link", name="Weight").click()
    expect(rows.first).to_have_attribute("data-key", heavy["id"])
    expect(page.get_by_role("columnheader", name="Weight")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("link", name="Weight").click()
    expect(rows.first).to_have_attribute("data-key", small["id"])
    expect(rows.nth(1)).to_have_attribute("data-key", light["id"])
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("link", name=re.compile("Deal ?, shown")).click()
    expect(page.get_by_role("columnheader", name="Deal")).to_have_count(0)
    page.get_by_role("link", name=re.compile("Client order id ?, hidden")).click()
    expect(page.get_by_role("columnheader", name="Client order id")).to_be_visible()
    assert page.evaluate("window.sameAsBefore") is True
    assert "sort=weight" in page.url
    # A filter keeps both, and so does a saved view.
    page.get_by_label("State").select_option("pending")
    page.wait_for_url("**status=pending**")
    assert "sort=weight" in page.url
    assert "columns=time" in page.url
    saved = page.url
    page.get_by_text("+ Save view").click()
    page.get_by_label("Name").fill("<b>mine</b>")
    page.get_by_role("button", name="Save in this browser").click()
    page.goto(f"{desk.console.url}/orders")
    expect(page.get_by_role("columnheader", name="Deal")).to_be_visible()
    page.get_by_role("link", name="<b>mine</b>").click()
    expect(page.get_by_role("columnheader", name="Deal")).to_have_count(0)
    assert page.url == saved
    page.get_by_role("button", name="Remove the view <b>mine</b>").click()
    expect(page.get_by_role("link", name="<b>mine</b>")).to_have_count(0)


def test_totals_results_and_the_market_at_closing(desk: Desk) -> None:
    dealing = desk.dealing
    bought, sold = dealing.placed(quantity="10"), dealing.placed(quantity="4", trade_type="sell")
    for order in (bought, sold):
        dealing.do(order, "confirm")
    page = desk.open("orders?login_id=client")
    expect(page.locator("#totals")).to_contain_text("bought 10 g gold")
    expect(page.locator("#totals")).to_contain_text("sold 4 g gold")
    expect(page.locator("#totals")).to_contain_text("value ₹99,732.00")
    row(page, bought).hover()
    row(page, bought).get_by_role("button", name="Close").click()
    dialog = page.get_by_role("dialog")
    # The client bought at 71,240 and would sell at 71,230 now.
    expect(dialog).to_contain_text("the client sells at ₹71,230.00. The client loses ₹10.00.")
    dialog.get_by_role("button", name="Close the deal").click()
    row(page, bought).get_by_role("button", name="Complete").click()
    expect(dialog).to_contain_text("the client sells at ₹71,230.00. The client loses ₹10.00.")
    dialog.get_by_label("Closing price").fill("71,300")
    expect(dialog.locator(".preview")).to_contain_text("The client gains ₹60.00.")
    dialog.get_by_role("button", name="Complete at this price").click()
    expect(row(page, bought).locator("td.c-closed")).to_have_text("71,300.00")
    expect(row(page, bought).locator("td.c-result")).to_have_text("+60.00")
    expect(page.locator("#totals")).to_contain_text("clients' result ₹60.00")


def test_totals_count_orders_that_arrive_while_the_page_is_open(desk: Desk) -> None:
    desk.dealing.placed(quantity="1")
    page = desk.open("orders?login_id=client")
    expect(page.locator("#totals")).to_contain_text("All together:bought 1 g gold")
    for quantity in ("2", "4"):
        desk.dealing.placed(quantity=quantity)
    expect(page.locator("#totals")).to_contain_text("All together:bought 7 g gold", timeout=20_000)


def test_a_live_update_moves_no_focus_and_letters_are_text_in_fields(desk: Desk) -> None:
    first, second, third = (desk.dealing.placed(quantity=str(number)) for number in (1, 2, 3))
    page = desk.open("orders?status=pending")
    link = row(page, second).locator("a.order")
    link.focus()
    desk.dealing.do(third, "confirm")
    expect(row(page, third)).to_have_count(0)
    expect(link).to_be_focused()
    new = desk.dealing.placed(quantity="9")
    expect(row(page, new)).to_have_class("waits new")
    expect(link).to_be_focused()
    expect(row(page, new)).to_have_class("waits", timeout=15_000)  # The edge goes after five seconds.
    assert desk.dealing.order(first)["status"] == "pending"
    # In a field letters are text, and elsewhere they can be switched off.
    field = row(page, first).get_by_label("Cover reference of")
    field.press_sequentially("crn/?")
    expect(field).to_have_value("crn/?")
    assert desk.dealing.order(first)["status"] == "pending"
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("confirm the marked or the chosen orders")
    keys.get_by_label("Single letters act").uncheck()
    keys.get_by_role("button", name="Close").click()
    page.reload()
    expect(row(page, first)).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(row(page, new).locator("a.order")).to_be_focused()
    page.keyboard.press("c")
    page.keyboard.press("r")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert desk.dealing.order(first)["status"] == "pending"
    assert desk.dealing.order(new)["status"] == "pending"


@pytest.fixture
def many(desk: Desk) -> Desk:
    """More orders than a page of the list has."""
    key = desk.dealing.desk.key("client")["key"]
    office = desk.dealing.office
    with office.node.api(key, Host=f"{office.broker}.example") as http:
        for _ in range(52):
            body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
            booked(http.post(ORDERS, json=body, headers={"Idempotency-Key": str(uuid4())}))
    return desk


def test_forty_rows_and_new_ones_wait_for_who_has_scrolled(many: Desk) -> None:
    page = many.open("orders", viewport={"width": 1920, "height": 1080})
    rows = page.locator("#orders-table tbody tr")
    expect(rows).to_have_count(50)
    whole = """() => {
        const foot = document.querySelector(".blotter .foot").getBoundingClientRect().top;
        const rows = [...document.querySelectorAll("#orders-table tbody tr")];
        return rows.filter((row) => row.getBoundingClientRect().bottom <= foot + 0.5).length;
    }"""
    assert page.evaluate(whole) >= 40
    page.set_viewport_size({"width": 1280, "height": 600})
    last = rows.last
    last.scroll_into_view_if_needed()
    last.locator("a.order").focus()
    before = page.evaluate("scrollY")
    assert before > 100
    key = last.get_attribute("data-key")
    new = many.dealing.placed(quantity="6")
    expect(page.locator("#new-rows")).to_have_text("1 new ↑")
    expect(row(page, new)).to_have_count(0)
    assert page.evaluate("scrollY") == before
    expect(page.locator(f'#orders-table tr[data-key="{key}"] a.order')).to_be_focused()
    another = many.dealing.placed(quantity="7")
    expect(page.locator("#new-rows")).to_have_text("2 new ↑")
    page.locator("#new-rows").click()
    expect(row(page, new)).to_be_visible()
    expect(row(page, another)).to_be_visible()
    expect(page.locator("#new-rows")).to_be_hidden()


COUNT_TONES = """
window.tones = 0;
window.AudioContext = class {
  constructor() { this.state = "running"; this.currentTime = 0; }
  resume() {}
  createOscillator() {
    return { frequency: {}, connect: (next) => next, start: () => { window.tones += 1; }, stop: () => {} };
  }
  createGain() {
    const gain = { setValueAtTime: () => {}, exponentialRampToValueAtTime: () => {} };
    return { gain, connect: () => {} };
  }
};
"""


def test_what_waits_is_in_the_title_and_heard_if_wanted(desk: Desk) -> None:
    someone = desk.visit()
    someone.page.add_init_script(COUNT_TONES)
    page = someone.open(desk.token, "orders")
    expect(page).to_have_title("Orders · Bullion")
    desk.dealing.placed()
    expect(page).to_have_title("(1) Orders · Bullion")
    assert page.evaluate("window.tones") == 0  # Silent until somebody wants it.
    page.get_by_role("button", name="Sound off").click()
    expect(page.get_by_role("button", name="Sound on")).to_have_attribute("aria-pressed", "true")
    order = desk.dealing.placed()
    expect(page).to_have_title("(2) Orders · Bullion")
    page.wait_for_function("window.tones === 1")
    # On every page; and fewer that wait make no sound.
    page.goto(f"{desk.console.url}/audit")
    expect(page).to_have_title("(2) Audit · Bullion")
    page.locator("h1").first.click(force=True)
    desk.dealing.do(order, "confirm")
    expect(page).to_have_title("(1) Audit · Bullion")
    assert page.evaluate("window.tones") == 0


def test_a_thumb_confirms_and_refuses(desk: Desk) -> None:
    one, other = desk.dealing.placed(quantity="5"), desk.dealing.placed(quantity="8")
    page = desk.open("orders?status=pending", viewport={"width": 360, "height": 740}, has_touch=True)
    expect(row(page, one)).to_contain_text(FIRM)
    sideways = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(sideways) <= 0
    sizes = page.locator("td.act button:visible").evaluate_all(
        "buttons => buttons.map(button => button.getBoundingClientRect().height)"
    )
    assert len(sizes) >= 4
    assert min(sizes) >= 44
    row(page, one).get_by_role("button", name="Confirm").tap()
    toast(page, "Confirmed as deal")
    row(page, other).get_by_role("button", name="Refuse").tap()
    page.get_by_role("dialog").get_by_role("button", name="Refuse the order").tap()
    toast(page, "Refused: BUY 8 g GOLD")
    assert desk.dealing.order(one)["status"] == "open"
    assert desk.dealing.order(other)["status"] == "rejected"
    assert page.evaluate(sideways) <= 0


def test_a_viewer_has_no_actions(desk: Desk) -> None:
    order = desk.dealing.placed()
    with console_client(desk.console, desk.dealing.office, desk.hire("viewer")) as at:
        shown = at.see("orders")
    found = shown.partition(f'data-key="{order["id"]}"')[2].partition("</tr>")[0]
    assert "pending" in text_of(found)
    assert "<button" not in found
    assert "<input" not in found
    assert 'id="batch"' not in shown


def test_a_key_takes_the_last_price_change_back(desk: Desk) -> None:
    symbol = {**GOLD, "pricing": {**GOLD["pricing"], "buy": "71250.00"}}
    page = desk.open("market")
    desk.dealing.desk.do("PUT", "/symbols/GOLD", symbol)
    expect(page.locator("#undo")).to_contain_text("GOLD")
    page.keyboard.press("u")
    toast(page, "Taken back")
    (gold,) = [each for each in desk.dealing.desk.all("/symbols") if each["code"] == "GOLD"]
    assert gold["pricing"]["buy"] == GOLD["pricing"]["buy"]
