"""The order ticket: an order for a client on the telephone, by keyboard, at a locked price, booked once."""

import contextlib
import re
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.support.console import ConsoleProcess, Visitor, session_of
from tests.support.dealing import Dealing
from tests.support.node import until
from tests.support.orders import BUY_PRICE

NBSP = "\N{NO-BREAK SPACE}"
FILLED = "ticket?login=client&symbol=GOLD&side=buy&quantity=100"
BOOK = f"Book: Raja Jewellers buys 100{NBSP}g GOLD at ₹71,240"


@pytest.fixture
def dealer(dealing: Dealing, hire: Callable[[str], str]) -> str:
    dealing.desk.do("PATCH", "/accounts/client", {"firm_name": "Raja Jewellers"})
    return hire("dealer")


def orders(dealing: Dealing) -> list[dict[str, Any]]:
    return dealing.desk.all("/orders?login_id=client")


def press_enter(page: Page) -> None:
    """Press Enter in the weight, which locks the price and leads to the button."""
    for _ in range(5):
        # Again if it came before the page had its first price: no person is so quick.
        page.locator("#weight").press("Enter")
        with contextlib.suppress(AssertionError):
            expect(page.locator("#book")).to_be_focused(timeout=4000)
            break
    expect(page.locator("#book")).to_be_focused()


def lock(page: Page) -> None:
    """Lock the price, and wait until the button accepts a press."""
    press_enter(page)
    expect(page.locator("#book")).not_to_have_attribute("aria-disabled", "true")
    page.wait_for_timeout(450)  # The button ignores a press so soon after the lock: that is its purpose.


def booked(page: Page) -> None:
    """Lock and book; again if this machine is so slow that the lock runs out."""
    done = page.locator("[data-outcome=booked]")
    for _ in range(5):
        lock(page)
        page.keyboard.press("Enter")
        expired = page.get_by_text(re.compile("has expired|ran out"))
        expect(done.or_(expired).first).to_be_visible()
        if done.is_visible():
            return
    raise AssertionError("every lock ran out")


def test_a_telephone_order_by_keyboard(
    someone: Visitor, dealing: Dealing, dealer: str, record_property: Callable[[str, object], None]
) -> None:
    """From the client's name to the deal: what is pressed is counted, and the time is noted in the report."""
    page = someone.open(dealer, "ticket")
    expect(page.locator("#client")).to_be_focused()
    started, pressed = monotonic(), 0

    def press(*keys: str) -> None:
        nonlocal pressed
        for key in keys:
            page.keyboard.press(key)
        pressed += len(keys)

    press(*"RAJ")
    expect(page.get_by_role("option", name="Raja Jewellers")).to_have_attribute("aria-selected", "true")
    press("Enter")
    expect(page.locator("[name=symbol]:checked")).to_be_focused()
    press("Tab", "Space", "Tab")
    expect(page.locator("#weight")).to_be_focused()
    press(*"100", "Enter")
    button = page.get_by_role("button", name="Book: Raja Jewellers")
    expect(button).to_be_focused()
    expect(button).to_have_text(BOOK)
    page.wait_for_timeout(450)
    press("Enter")
    result = page.locator("[data-outcome]")
    expect(result).to_be_visible()
    took_s = monotonic() - started
    if result.get_attribute("data-outcome") != "booked":  # A machine that is too slow for the lock.
        booked(page)
    expect(result).to_contain_text(re.compile(r"Booked: deal \d+"))
    (order,) = orders(dealing)
    assert (order["source"], order["price"], order["quantity"]) == ("desk", BUY_PRICE, "100.0000")
    expect(result.get_by_role("link", name=f"Order {order['id']}")).to_have_attribute(
        "href", f"/orders/{order['id']}"
    )
    (entry,) = dealing.desk.do("GET", "/audit?limit=1")["items"]
    assert (entry["action"], entry["subject"]) == ("place_order", order["id"])
    assert entry["actor"].startswith("a dealer (")
    assert pressed == 12
    record_property("a telephone order", f"{pressed} keys, {took_s:.1f} s")
    # The next order of the same client is one key away, and nothing more can be booked on this ticket.
    expect(page.locator(".foot")).to_be_hidden()
    press("Enter")
    page.wait_for_url("**/ticket?login=client")
    expect(page.locator("[name=symbol]:checked")).to_be_focused()
    assert len(orders(dealing)) == 1


def test_it_finds_clients_and_shows_what_they_pay_or_would_be_refused_for(
    someone: Visitor, dealing: Dealing, dealer: str
) -> None:
    for number in range(12):
        dealing.desk.account(f"shop{number}", firm_name=f"Meena & Sons {number}")
    page = someone.open(dealer, "ticket")
    clients_are_found_by_login_and_firm_in_any_case(page)
    page.goto(f"{someone.console.url}/ticket?login=client&side=buy")
    it_shows_what_the_order_would_be_refused_for(page, dealing)
    page.goto(f"{someone.console.url}/{FILLED}")
    tab_leads_from_field_to_field(page)
    assert orders(dealing) == []
    it_shows_what_the_client_pays(page, dealing)


def tab_leads_from_field_to_field(page: Page) -> None:
    expect(page.locator("#lock")).not_to_have_attribute("aria-disabled", "true")
    page.locator("#client").focus()
    for wanted in ("[name=symbol]:checked", "[name=side]:checked", "#weight", "#lock", "#book"):
        page.keyboard.press("Tab")
        expect(page.locator(wanted)).to_be_focused()


def it_shows_what_the_client_pays(page: Page, dealing: Dealing) -> None:
    dealing.desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "150", "sell_premium": "-40"}})
    dealing.placed(quantity="30")
    expect(page.locator("#live-price")).to_have_text("₹71,390")
    expect(page.locator("#live-price")).to_have_class(re.compile("buy"))
    expect(page.locator("#other-price")).to_contain_text("₹71,190")
    expect(page.locator("#total")).to_have_text("₹7,13,900.00")
    expect(page.locator("#quote")).to_contain_text("₹1,500.00")
    expect(page.locator("#free")).to_contain_text("99,970 g of 1,00,000 g, 99,870 g after this")
    expect(page.get_by_text("buy 100 grams")).to_be_visible()
    expect(page.locator(".ticket-page")).to_contain_text("SIMULATED: nothing is covered")
    page.get_by_role("radio", name="Client sells").check()
    expect(page.locator("#live-price")).to_have_text("₹71,190")
    expect(page.locator("#live-price")).to_have_class(re.compile("sell"))
    page.get_by_role("button", name=f"500{NBSP}g").click()
    expect(page.locator("#total")).to_have_text("₹35,59,500.00")
    assert "side=sell" in page.url
    assert "quantity=500" in page.url
    # Another rate is on the page by itself.
    dealing.desk.do(
        "PATCH", "/symbols/GOLD", {"pricing": {"kind": "fixed", "buy": BUY_PRICE, "sell": "71231"}}
    )
    expect(page.locator("#live-price")).to_have_text("₹71,191")


def it_shows_what_the_order_would_be_refused_for(page: Page, dealing: Dealing) -> None:
    expect(page.locator("#why")).to_have_text("Type a weight.")
    expect(page.locator("[data-state=waiting]")).to_have_count(3)
    dealing.desk.do("PATCH", "/switches", {"halted": True})
    dealing.desk.do("PATCH", "/symbols/GOLD", {"frozen": True})
    page.locator("#weight").fill("1,00,001")
    expect(page.locator("[data-state=refused]")).to_have_count(3)
    told = page.locator(".checks").first
    expect(told).to_contain_text("Trading is halted. Resume trading in the bar above")
    expect(told).to_contain_text("This symbol is frozen.")
    expect(told).to_contain_text(
        "The order would take the gold position past the weight allocation: "
        "100000.0000 g of 100000.0000 g are free."
    )
    expect(page.locator("#lock")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#why")).to_contain_text("It would be refused. Trading is halted.")
    # Locked or not: who presses Enter hears why.
    page.locator("#weight").press("Enter")
    expect(page.locator("[data-outcome=denied]")).to_contain_text("Trading is halted.")
    expect(page.locator("#book")).to_have_attribute("aria-disabled", "true")
    page.locator("#weight").fill("much")
    expect(page.locator("#why")).to_contain_text("This weight cannot be ordered. 'much' is not")
    dealing.desk.do("PATCH", "/switches", {"halted": False})
    dealing.desk.do("PATCH", "/symbols/GOLD", {"frozen": False})
    page.locator("#weight").fill("100")
    expect(page.locator("#why")).to_have_text("Ready to lock.")


def clients_are_found_by_login_and_firm_in_any_case(page: Page) -> None:
    box, found = page.locator("#client"), page.locator("#clients [data-login]")
    box.press_sequentially("mEENA")
    expect(found).to_have_count(8)
    expect(page.locator("#clients")).to_contain_text("There are more")
    page.keyboard.press("ArrowDown")
    expect(found.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#clients")).to_be_hidden()
    box.fill("SHOP11")
    expect(found).to_have_count(1)
    found.first.click()
    expect(box).to_have_value("shop11")
    expect(page.locator("#client-is")).to_contain_text("Meena & Sons 11")
    box.fill("nobody of this name")
    expect(page.locator("#clients")).to_contain_text("No client has")
    page.keyboard.press("Enter")
    expect(page.locator("#why")).to_contain_text("no such account")


def test_a_lock_ends_with_its_time_a_change_escape_or_a_price_that_moved(
    someone: Visitor, dealing: Dealing, dealer: str
) -> None:
    someone.page.clock.install()
    page = someone.open(dealer, FILLED)
    lock(page)
    expect(page.locator("body")).to_have_class(re.compile("price-locked"))
    page.clock.fast_forward(5000)
    expect(page.locator("#told")).to_contain_text("The lock ran out. Nothing was booked")
    expect(page.locator("#locked")).to_be_empty()
    expect(page.locator("#book")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#lock")).to_be_focused()
    page.locator("#book").click(force=True)
    expect(page.locator("#told")).to_have_text("Lock the price first.")
    # Escape and a change drop it.
    lock(page)
    page.keyboard.press("Escape")
    expect(page.locator("#told")).to_contain_text("Nothing was booked.")
    expect(page.locator("#weight")).to_be_focused()
    lock(page)
    page.locator("#weight").fill("200")
    expect(page.locator("#told")).to_have_text("The order was changed: lock its price again.")
    expect(page.locator("#book")).to_have_attribute("aria-disabled", "true")
    page.locator("#book").focus()
    page.keyboard.press("l")  # Outside of fields, the key locks.
    expect(page.get_by_role("button", name=f"buys 200{NBSP}g")).to_be_focused()
    # A price that moved too far is asked again.
    page.keyboard.press("Escape")
    lock(page)
    dealing.desk.do("PATCH", "/symbols/GOLD", {"pricing": {"kind": "fixed", "buy": "72000", "sell": "71230"}})
    page.keyboard.press("Enter")
    result = page.locator("[data-outcome=refused]")
    expect(result).to_contain_text(re.compile("The price is 72000.00|has expired"))
    expect(result).to_contain_text("Tell the client the new price, and lock it.")
    expect(page.locator("#live-price")).to_have_text("₹72,000")
    assert orders(dealing) == []
    expect(page.locator("#lock")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="at ₹72,000")).to_be_focused()
    page.keyboard.press("Escape")
    old_figures_lock_the_ticket(someone)
    assert orders(dealing) == []


def the_ring_counts_down(page: Page) -> None:
    ring = page.locator(".ring")
    expect(ring).to_have_text(re.compile(r"[1-4] s"))
    first = float(str(ring.locator(".left").get_attribute("stroke-dasharray")).split()[0])
    page.wait_for_function(
        "before => !document.querySelector('.ring') || "
        "parseFloat(document.querySelector('.ring .left').getAttribute('stroke-dasharray')) < before",
        arg=first,
    )


def sent(page: Page) -> list[Request]:
    requests: list[Request] = []
    page.on(
        "request",
        lambda request: requests.append(request) if "/actions/ticket/book" in request.url else None,
    )
    return requests


def test_many_presses_book_once(someone: Visitor, dealing: Dealing, dealer: str) -> None:
    page = someone.open(dealer, FILLED)
    requests = sent(page)
    # A double press locks, and does no more.
    press_enter(page)
    page.evaluate("document.getElementById('book').click()")
    assert requests == []
    the_ring_counts_down(page)
    assert orders(dealing) == []
    page.keyboard.press("Escape")
    booked(page)
    asked = len(requests)
    page.evaluate("for (let i = 0; i < 3; i++) document.getElementById('book').click()")
    assert len(requests) == asked
    assert len(orders(dealing)) == 1
    # On the next ticket, presses at once send one request.
    page.goto(f"{someone.console.url}/{FILLED}")
    lock(page)
    page.evaluate("for (let i = 0; i < 3; i++) document.getElementById('book').click()")
    expect(page.locator("[data-outcome]")).to_be_visible()
    assert len(requests) == asked + 1
    outcome = page.locator("[data-outcome]").get_attribute("data-outcome")
    assert len(orders(dealing)) == (2 if outcome == "booked" else 1)


def test_a_lost_answer_is_asked_for_again_also_after_a_reload_and_books_once(
    someone: Visitor, dealing: Dealing, dealer: str
) -> None:
    someone.expect_trouble("ERR_FAILED")
    page = someone.open(dealer, FILLED)
    keys: list[str] = []

    def lose_the_first(route: Route) -> None:
        found = re.search(r"key=([^&]+)", route.request.post_data or "")
        assert found is not None
        keys.append(found[1])
        if len(keys) == 1:
            route.fetch()  # It reaches the console; its answer does not come back.
            route.abort()
        else:
            route.continue_()

    page.route("**/actions/ticket/book", lose_the_first)
    lock(page)
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("There is no answer yet.")
    result = page.locator("[data-outcome]")
    expect(result).to_be_visible()
    assert len(set(keys)) == 1
    assert len(keys) > 1
    found = orders(dealing)
    if result.get_attribute("data-outcome") == "booked":
        (order,) = found
        expect(result).to_contain_text(f"Order {order['id']}")
        assert dealing.order(order)["idempotency_key"] == keys[0]
    else:  # The first call came after the lock had run out.
        expect(result).to_contain_text("has expired")
        assert found == []
    # The lock may run out before the answer; after a reload the order that was booked in time is found.
    page.unroute("**/actions/ticket/book")
    page.goto(f"{someone.console.url}/{FILLED}")
    page.on("dialog", lambda dialog: dialog.accept())
    answered = 0

    def lose(route: Route) -> None:
        nonlocal answered
        if answered == 0:
            route.fetch()
        answered += 1
        route.abort()

    page.route("**/actions/ticket/book", lose)
    lock(page)
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("There is no answer yet.")
    expect(page.locator("#book")).to_have_attribute("aria-disabled", "true")
    # Nothing else can be locked meanwhile.
    page.locator("#weight").press("Enter")
    expect(page.locator("#book")).to_contain_text("Booking: Raja Jewellers")
    page.unroute("**/actions/ticket/book")
    page.reload()
    result = page.locator("[data-outcome]")
    expect(result).to_be_visible()
    assert len(orders(dealing)) - len(found) == (1 if result.get_attribute("data-outcome") == "booked" else 0)
    assert page.evaluate("sessionStorage.length") == 0


def old_figures_lock_the_ticket(someone: Visitor) -> None:
    someone.expect_trouble("ERR_FAILED|ERR_INTERNET_DISCONNECTED")
    page = someone.page
    expect(page.locator("#lock")).not_to_have_attribute("aria-disabled", "true")
    page.route("**/live/ticket*", lambda route: route.abort())
    until(lambda: "away" in str(page.locator("body").get_attribute("class")) or _later(page), within_s=30)
    expect(page.locator("#lock")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#why-book")).to_contain_text("These figures are old")
    page.locator("#weight").press("Enter")
    expect(page.locator("#told")).to_contain_text("These figures are old")
    page.unroute("**/live/ticket*")
    page.clock.run_for(2000)
    expect(page.locator("#lock")).not_to_have_attribute("aria-disabled", "true")


def _later(page: Page) -> bool:
    page.clock.run_for(1000)
    return False


def test_a_viewer_has_no_ticket(
    console: ConsoleProcess, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    with session_of(console, hire("viewer")) as (client, _):
        answer = client.get("/ticket")
        assert answer.status_code == 403
        assert 'role="alert"' in answer.text
        assert "This needs the role dealer" in answer.text
        assert 'href="/ticket"' not in answer.text
    with session_of(console, hire("dealer")) as (client, _):
        assert 'href="/ticket"' in client.get("/ticket").text
    assert orders(dealing) == []


def test_no_sideways_scroll(someone: Visitor, dealing: Dealing, dealer: str) -> None:
    page = someone.open(dealer, FILLED)
    expect(page.locator("#total")).to_be_visible()
    widths = (360, 768, 1280)
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        lock(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("#book").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        page.keyboard.press("Escape")
