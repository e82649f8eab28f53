"""What the desk does to an order in the console: it closes, completes and deletes, and answers by hand."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.console import ConsoleProcess, Visitor, visitor
from tests.support.console_client import console_client, text_of
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office
from tests.support.node import Node, until


@pytest.fixture
def by_hand(
    browser: Browser, hand_node: Node, hand_console: ConsoleProcess, hand_first: Caller
) -> Iterator[tuple[Dealing, Visitor]]:
    """A desk that covers orders itself, and somebody in front of its console."""
    office = Office.open(hand_node, hand_first)
    with visitor(browser, hand_console) as someone:
        yield Dealing(office), someone
    office.close()


def state_of(page: Page, name: str) -> None:
    expect(page.locator(".title .state")).to_contain_text(name)


def test_a_deal_is_closed_and_completed_at_a_price(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    order = dealing.placed(quantity="25")
    page = someone.open(hire("dealer"), f"orders/{order['id']}")
    state_of(page, "open")
    expect(page.locator("#anatomy")).to_contain_text("Fixed by the desk")
    expect(page.locator("#anatomy svg.waterfall rect")).to_have_count(2)
    expect(page.locator("#decision")).to_contain_text("With the order it is +25 g, within the allocation")
    expect(page.locator("#hedge")).to_contain_text("confirmed: 25 g")
    expect(page.locator("#life li")).to_have_count(2)
    page.get_by_role("button", name="Close", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Buy 25 g GOLD for client, at ₹71,240.00, total ₹1,78,100.00.")
    dialog.get_by_role("button", name="Close the deal").click()
    state_of(page, "closing")
    expect(page.locator("#life li").last).to_contain_text("by a dealer")
    page.get_by_role("button", name="Complete", exact=True).click()
    confirm = dialog.get_by_role("button", name="Complete at this price")
    expect(confirm).to_be_disabled()
    price = dialog.get_by_label("Closing price, in rupees per 10 g")
    price.press_sequentially("nonsense")
    expect(dialog.locator(".preview")).to_contain_text("'nonsense' is not a plain decimal number")
    expect(confirm).to_be_disabled()
    price.fill("70,000.50")
    expect(dialog).to_contain_text("Closed at ₹70,000.50. The client loses ₹3,098.75.")
    price.fill("72,240")
    expect(dialog).to_contain_text("The client gains ₹2,500.00.")
    assert dealing.order(order)["status"] == "closing"
    confirm.click()
    state_of(page, "closed")
    expect(page.locator("#about")).to_contain_text("+₹2,500.00")
    done = dealing.order(order)
    assert (done["close_price"], done["realized_pnl"]) == ("72240.00", "2500.00")
    expect(page.locator(".title")).to_contain_text("there is nothing to do")
    entries = [entry["action"] for entry in dealing.desk.do("GET", "/audit?limit=2")["items"]]
    assert entries == ["complete_order", "close_order"]


def test_a_pending_order_is_deleted_with_a_warning(someone: Visitor, dealing: Dealing, admin: str) -> None:
    dealing.venue(mode="hold")
    order = dealing.placed()
    page = someone.open(admin, f"orders/{order['id']}")
    expect(page.locator("#hedge")).to_contain_text("waiting for the venue")
    expect(page.get_by_role("button", name="Confirm")).to_have_count(0)
    page.get_by_role("button", name="Delete", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The venue may still fill it")
    dialog.get_by_label("Reason").fill("<b>called off</b>")
    dialog.get_by_role("button", name="Delete the order").click()
    state_of(page, "deleted")
    expect(page.locator("#life li").last).to_contain_text("<b>called off</b>")
    assert dealing.order(order)["events"][-1]["words"] == "<b>called off</b>"


def test_of_two_who_act_one_is_told(console: ConsoleProcess, dealing: Dealing) -> None:
    order = dealing.placed()
    action = f"orders/close?id={order['id']}"
    with console_client(console, dealing.office) as at:
        form = at.ask(action)
        dealing.do(order, "delete")
        answer = at.send(action, form)
        assert answer.status_code == 409
        told = "Only an order that is open can be closed; this one is deleted"
        assert told in answer.json()["refused"]
        assert "deleted" in text_of(at.see(f"orders/{order['id']}"))


def test_the_desk_answers_for_the_hedge(by_hand: tuple[Dealing, Visitor]) -> None:
    dealing, someone = by_hand
    held, unwanted = dealing.placed(), dealing.placed(quantity="2")
    page = someone.open(str(dealing.office.admin_token["token"]), f"orders/{held['id']}")
    expect(page.locator("#hedge")).to_contain_text("waiting for you")
    page.get_by_role("button", name="Confirm", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Confirm when you have covered it.")
    dialog.get_by_label("Cover price").fill("71,200.50")
    dialog.get_by_label("Reference of the cover").fill("LM-88214112")
    dialog.get_by_label("Where and how it was covered").fill("bought at the exchange")
    dialog.get_by_role("button", name="Confirm 1 g").click()
    state_of(page, "open")
    expect(page.locator("#life")).to_contain_text("bought at the exchange")
    expect(page.locator("#hedge")).to_contain_text("DESK-")
    expect(page.locator("#hedge")).to_contain_text("₹71,200.50")
    expect(page.locator("#hedge")).to_contain_text("LM-88214112")
    expect(page.get_by_role("button", name="Close", exact=True)).to_be_enabled()
    assert dealing.order(held)["deal_no"] is not None
    page.goto(f"{someone.console.url}/orders/{unwanted['id']}")
    someone.confirm("Refuse", "Refuse the order")
    state_of(page, "rejected")
    assert dealing.order(unwanted)["hedge"]["outcome"] == "refused"
    expect(page.locator("#life")).to_contain_text("by an admin")
    expect(page.locator("main")).not_to_contain_text("refused by the venue", ignore_case=True)
    large = dealing.placed(quantity="5")
    page.goto(f"{someone.console.url}/orders/{large['id']}")
    page.get_by_role("button", name="Confirm", exact=True).click()
    dialog.get_by_label("Weight covered, of 5 g").fill("2")
    dialog.get_by_role("button", name="Confirm 5 g").click()
    expect(page.locator("#toasts")).to_contain_text("3 g of it are left to cover.", timeout=20_000)
    assert dealing.order(large)["hedge"]["rest"]["state"] == "partly_covered"
    expect(page.get_by_role("button", name="Refuse", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Confirm", exact=True).click()
    dialog.get_by_role("button", name="Confirm 3 g").click()
    state_of(page, "open")


def test_a_dialog_about_an_order_that_was_covered_in_part_meanwhile_confirms_nothing(
    by_hand: tuple[Dealing, Visitor],
) -> None:
    dealing, someone = by_hand
    order = dealing.placed(quantity="5")
    action = f"orders/confirm?id={order['id']}"
    with console_client(someone.console, dealing.office) as client:
        seen = client.ask(action)
        client.do(action, covered="2")
        for typed in ({}, {"covered": "2"}):
            refused = client.send(action, {**seen, **typed})
            assert (refused.status_code, refused.json()["refused"]) == (
                409,
                "3.0000 of this order are left to cover, not 5.0000. Nothing was confirmed.",
            )
        together = f"orders/confirm-all?ids={order['id']}"
        seen = client.ask(together)
        client.do(action, covered="1")
        assert client.send(together, seen).status_code == 409
        assert dealing.order(order)["hedge"]["rest"]["quantity"] == "2.0000"
        client.do(together)
    assert dealing.order(order)["status"] == "open"


def test_the_rest_of_a_partly_covered_order_is_decided(
    someone: Visitor, dealing: Dealing, admin: str
) -> None:
    dealing.desk.do("PATCH", "/hedge", {"mode": "fill", "fill_percent": 50})
    order = dealing.placed(quantity="1000")
    dealing.desk.do("PATCH", "/hedge", {"mode": "refuse", "fill_percent": 100})
    until(lambda: dealing.order(order)["hedge"]["rest"]["state"] == "partly_covered", within_s=30)
    page = someone.open(admin, f"orders/{order['id']}")
    expect(page.locator("#hedge")).to_contain_text("partly covered")
    expect(page.locator("#hedge")).to_contain_text("500 at 71,240")
    page.get_by_role("button", name="Decide about the rest").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("it is little")
    dialog.get_by_role("button", name="Decide", exact=True).click()
    state_of(page, "open")
    expect(page.locator("#hedge")).to_contain_text("taken into the hedge book")


def test_a_closing_price_far_off_is_asked_about_again(
    console: ConsoleProcess, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    order = dealing.placed(quantity="25")
    dealing.do(order, "close")
    action = f"orders/complete?id={order['id']}"
    with console_client(console, dealing.office, hire("dealer")) as at:
        told = text_of(at.preview(action, close_price="712.40"))
        assert "This is 99.0 % below the price of the deal" in told
        form = {**at.ask(action), "close_price": "712.40"}
        question = at.send(action, form).json()["ask_again"]
        assert "Nothing was changed yet." in text_of(question)
        assert dealing.order(order)["status"] == "closing"
        assert "Yes, do it" in question
        assert at.send(action, {**form, **at.fields(question)}).status_code == 200
    assert dealing.order(order)["status"] == "closed"
    assert dealing.order(order)["close_price"] == "712.40"


def test_a_break_is_seen_at_once_and_settled(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    dealing.venue(mode="hold")
    order = dealing.placed(quantity="10")
    dealing.do(order, "delete")
    page = someone.open(hire("dealer"))
    expect(page.locator("#pending-table")).to_contain_text("deleted by the desk")
    dealing.venue(mode="fill")
    breaks = page.locator("#breaks-table")
    expect(breaks).to_contain_text("10 g GOLD", timeout=20_000)
    breaks.get_by_role("link").first.click()
    expect(page.locator(".title")).to_contain_text("A break: the venue's answer contradicts the order")
    someone.page.get_by_role("button", name="Settle the break").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The order is deleted, and the venue's last answer is:")
    dialog.get_by_label("What was done").fill("sold back by telephone")
    dialog.get_by_role("button", name="Mark as settled").click()
    expect(page.locator("#hedge")).to_contain_text("sold back by telephone")
    page.goto(f"{someone.console.url}/overview")
    expect(page.locator("#rates-table")).to_be_visible()
    expect(page.locator("#breaks-table")).to_have_count(0)
    assert dealing.desk.do("GET", "/hedge/breaks")["total"] == 0


def test_a_waiting_order_is_confirmed_from_the_overview_with_one_press(
    by_hand: tuple[Dealing, Visitor],
) -> None:
    dealing, someone = by_hand
    first, second, third = (dealing.placed(quantity=quantity) for quantity in ("5", "6", "7"))
    page = someone.open(str(dealing.office.admin_token["token"]))
    row = page.locator(f"#pending-table [data-key='{first['id']}']")
    row.get_by_role("button", name="Confirm BUY 5 g GOLD for client").click()
    expect(row).to_have_count(0)
    assert dealing.order(first)["status"] == "open"
    expect(page.locator(f"#blotter-table tr[data-key='{first['id']}']")).to_contain_text("open")
    # By keyboard: arrows begin at the oldest order that waits, which is the usher's, and C confirms.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    expect(page.locator(f"#pending-table [data-key='{second['id']}']")).to_have_count(0)
    assert dealing.order(second)["status"] == "open"
    # To refuse cannot be undone either, and the client is told: it asks.
    page.locator(f"#pending-table [data-key='{third['id']}']").get_by_role("button", name="Refuse").click()
    page.get_by_role("dialog").get_by_role("button", name="Refuse the order").click()
    expect(page.locator(f"#pending-table [data-key='{third['id']}']")).to_have_count(0)
    assert dealing.order(third)["status"] == "rejected"
