"""The price guard in the console: the question, the way back to the form, and taking a change back."""

import re
from decimal import Decimal

from playwright.sync_api import expect

from tests.support.console import ConsoleProcess, Visitor
from tests.support.console_client import console_client
from tests.support.dealing import Dealing
from tests.support.desk import Office, nothing_changed
from tests.support.price_slips import set_up


def test_a_closing_price_far_from_the_market_asks(console: ConsoleProcess, dealing: Dealing) -> None:
    order = dealing.placed()
    dealing.do(order, "close")
    far = f"{Decimal(order['price']) * 10:f}"
    action = f"orders/complete?id={order['id']}"
    with console_client(console, dealing.office) as at:
        form = {**at.ask(action), "close_price": far}
        with nothing_changed(dealing.desk):
            again = {**form, **at.fields(at.send(action, form).json()["ask_again"])}
            assert Decimal(again["loss"]) > 8 * Decimal(order["price"])
            assert at.send(action, {**again, "typed_loss": "1"}).status_code == 422
        assert at.send(action, {**again, "typed_loss": again["loss"]}).status_code == 200
    assert dealing.order(order)["status"] == "closed"


def test_a_slip_is_seen_corrected_confirmed_and_taken_back(
    someone: Visitor, office: Office, admin: str
) -> None:
    set_up(office)
    page = someone.open(admin, "market/groups")
    with nothing_changed(office.desk):
        page.get_by_role("button", name="Edit terms of retail for all symbols").click()
        dialog = page.get_by_role("dialog")
        premium = dialog.locator("input[name=sell_premium]")
        premium.fill("-463")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("heading")).to_have_text(
            "Clients could sell to you for more than they pay you"
        )
        lost = "You would lose ₹463.00 per 10 g that clients of retail trade in GOLDLANDED."
        expect(dialog).to_contain_text(lost)
        expect(dialog).to_contain_text("1,50,000.00 → 1,50,926.00")
        # Back to the form, with what was typed.
        back = dialog.get_by_role("button", name="Go back and correct")
        expect(back).to_be_focused()
        back.click()
        expect(premium).to_have_value("-463")
        dialog.get_by_role("button", name="Save").click()
        # A loss that is not the one shown does nothing.
        loss = dialog.get_by_label("type the loss you see: 463")
        loss.fill("46")
        confirm = dialog.get_by_role("button", name=re.compile("Do it and lose"))
        someone.expect_trouble("422")
        confirm.click()
        expect(dialog).to_contain_text("Type the loss that is shown: 463.")
    loss.fill("463")
    confirm.click()
    expect(page.locator("#toasts")).to_contain_text("margin on sells")
    terms = {each["code"]: each["default_terms"] for each in office.desk.all("/groups")}
    assert terms["retail"]["sell_premium"] == "463.00"
    # The board says so, and one click takes it back.
    line = page.locator("#undo")
    expect(line).to_contain_text("changed a group: retail")
    expect(line).to_contain_text(re.compile(r"\d+ s left"))
    line.get_by_role("button", name="Take back the change of retail").click()
    expect(page.locator("#toasts")).to_contain_text("Taken back")
    expect(line).to_have_count(0)
    terms = {each["code"]: each["default_terms"] for each in office.desk.all("/groups")}
    assert terms["retail"]["sell_premium"] == "-463.00"


def test_a_crossed_symbol_is_flagged(someone: Visitor, office: Office, admin: str) -> None:
    set_up(office)
    office.desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "-5", "sell_premium": "5"}})
    office.desk.do("PUT", "/rates/GOLD", {"bid": "150463", "ask": "150470"})
    page = someone.open(admin, "market/symbols")
    state = page.locator("#symbols-table tr[data-key=GOLD] .state")
    expect(state).to_contain_text("crossed for retail")
    office.desk.do("PUT", "/rates/GOLD", {"bid": "150463", "ask": "150480"})
    expect(state).to_contain_text("live")
    # The limits of the guard are on their tab.
    page.goto(f"{someone.console.url}/market/limits")
    page.get_by_role("button", name="Change the guard").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("input[name=price_move_percent_max]").fill("2.5")
    dialog.locator("select[name=refuse_crossed]").select_option("no")
    dialog.get_by_role("button", name="Save").click()
    # To trade crossed prices takes a second word, also while none is crossed.
    expect(dialog).to_contain_text("Orders at crossed prices would be accepted")
    assert office.desk.do("GET", "/switches")["refuse_crossed"] is True
    dialog.get_by_role("button", name="Yes, do it").click()
    expect(page.locator("#toasts")).to_contain_text("limit 3 % → 2.5 %; crossed prices refused → accepted")
    switches = office.desk.do("GET", "/switches")
    assert (switches["price_move_percent_max"], switches["refuse_crossed"]) == ("2.5000", False)
