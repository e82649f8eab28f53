"""The rate board: what clients pay, margins that are stepped in their cell, and what locks them."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.console import ConsoleProcess, Visitor
from tests.support.console_client import console_client, text_of
from tests.support.desk import Office, nothing_changed
from tests.support.node import until
from tests.support.price_slips import FIXED, NEVER_STALE, set_up

MORE, LESS = "Earn 10 more: retail GOLD, client buys", "Earn 10 less: retail GOLD, client buys"


def cell(page: Page, symbol: str, side: str) -> Locator:
    return page.locator(f"#rates-table tr[data-key={symbol}] td.cell.{side}:not(.other)")


def margins(office: Office, symbol: str = "GOLD") -> tuple[str, str]:
    (group,) = [each for each in office.desk.all("/groups") if each["code"] == "retail"]
    terms = group["terms"].get(symbol, group["default_terms"])
    return terms["buy_premium"], terms["sell_premium"]


@pytest.fixture
def board(office: Office) -> Office:
    set_up(office)
    return office


def test_a_margin_is_stepped_in_its_cell_taken_back_there_and_all_presses_count(
    someone: Visitor, board: Office, hire: Callable[[str], str]
) -> None:
    page = someone.open(hire("dealer"), "rates")
    buys, sells = cell(page, "GOLD", "buy"), cell(page, "GOLD", "sell")
    # Margins are what the house earns: above 0 on both sides.
    expect(buys.locator(".price")).to_have_text("1,50,541.00")
    expect(buys.locator("button.margin")).to_have_text("60.5")
    expect(sells.locator(".price")).to_have_text("1,50,000.00")
    expect(sells.locator("button.margin")).to_have_text("463")
    expect(page.locator("tr[data-key=GOLD] .reference")).to_have_text("1,50,463.001,50,480.50")
    more = page.get_by_role("button", name=MORE)
    expect(more).to_have_text("+10")
    more.click()
    expect(buys.locator(".price")).to_have_text("1,50,551.00")
    # The rest of the group keeps its terms, and the focus its place.
    expect(cell(page, "COIN", "buy").locator("button.margin")).to_have_text("60.5")
    expect(more).to_be_focused()
    changed = page.locator("#undo")
    expect(changed).to_contain_text("retail GOLD, client buys: margin 60.5 → 70.5")
    expect(changed).to_contain_text(re.compile(r"Undo · \d+ s"))
    expect(buys.locator(".step.changed-here")).to_have_count(1)
    # Clients that sell get less when the house earns more.
    page.get_by_role("button", name="Earn 10 more: retail GOLD, client sells").click(modifiers=["Shift"])
    expect(sells.locator(".price")).to_have_text("1,49,950.00")
    assert margins(board) == ("70.50", "-513.00")
    page.get_by_role("button", name="Undo: retail GOLD, client sells: margin 463 → 513").click()
    expect(sells.locator(".price")).to_have_text("1,50,000.00")
    assert margins(board) == ("70.50", "-463.00")
    # Faster than any answer, in one task of the browser.
    more.evaluate("button => { for (let each = 0; each < 5; each += 1) button.click() }")
    expect(cell(page, "GOLD", "buy").locator("button.margin")).to_have_text("120.5")
    # The last press makes it what it was not before.
    page.get_by_role("button", name=LESS).click()
    more.click()
    more.click()
    expect(cell(page, "GOLD", "buy").locator("button.margin")).to_have_text("130.5")
    until(lambda: margins(board)[0] == "130.50", within_s=20)


def test_a_press_is_about_the_margin_that_was_seen(
    visit: Callable[..., Visitor], board: Office, admin: str
) -> None:
    someone = visit()
    page = someone.open(admin, "rates")
    more = page.get_by_role("button", name=MORE)
    expect(more).to_be_visible()
    # This page is not refreshed any more, and another dealer steps meanwhile.
    someone.expect_trouble("ERR_FAILED|409")
    page.route("**/live/**", lambda route: route.abort())
    board.desk.do("POST", "/groups/retail/margin", {"symbol": "GOLD", "side": "buy", "by": "-20"})
    more.click()
    expect(page.locator("#toasts")).to_contain_text("is now 40.50, not 60.50. Nothing was changed.")
    assert margins(board)[0] == "40.50"


def test_a_step_into_a_loss_asks_and_a_loss_is_flagged(someone: Visitor, board: Office, admin: str) -> None:
    board.desk.do("POST", "/groups/retail/margin", {"symbol": "GOLD", "side": "buy", "by": "-55.50"})
    page = someone.open(admin, "rates")
    less = page.get_by_role("button", name=LESS)
    with nothing_changed(board.desk):
        less.click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("heading")).to_have_text(
            "Clients would trade at a price that loses you money"
        )
        expect(dialog).to_contain_text("1,50,485.50 → 1,50,475.50")
        dialog.get_by_role("button", name="Go back and correct").click()
        expect(dialog).to_be_hidden()
    less.click()
    dialog.get_by_label("type the loss you see: 5").fill("5")
    dialog.get_by_role("button", name=re.compile("Do it and lose")).click()
    wrong = cell(page, "GOLD", "buy")
    expect(wrong.locator(".problem")).to_have_text("loses")
    expect(wrong.locator(".problem .mark.bad")).to_have_count(1)
    expect(wrong.locator(".price.wrong")).to_have_text("1,50,475.50")
    # Crossed: both sides are flagged, and the symbol says for whom.
    board.desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "-5", "sell_premium": "5"}})
    board.desk.do("PUT", "/rates/GOLD", {"bid": "150463", "ask": "150470"})
    expect(page.locator("tr[data-key=GOLD] .problem", has_text="crossed")).to_have_count(2)
    expect(page.locator("tr[data-key=GOLD] .symbol")).to_contain_text("crossed for retail")


def test_freeze_and_halt_never_wait(someone: Visitor, board: Office, hire: Callable[[str], str]) -> None:
    page = someone.open(hire("dealer"), "rates")
    page.get_by_role("button", name="Freeze GOLD", exact=True).click()
    row = page.locator("#rates-table tr[data-key=GOLD]")
    expect(row.locator(".symbol")).to_contain_text("frozen")
    expect(row.locator(".price.old")).to_have_count(2)
    page.get_by_role("button", name="Unfreeze GOLD", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Unfreeze", exact=True).click()
    expect(row.locator(".price.old")).to_have_count(0)
    page.get_by_role("button", name="Halt all trading").click()
    expect(row.locator(".symbol")).to_contain_text("halted")
    assert board.desk.do("GET", "/switches")["halted"] is True
    page.get_by_role("button", name="Resume trading").last.click()
    page.get_by_role("dialog").get_by_role("button", name="Resume trading", exact=True).click()
    expect(row.locator(".symbol")).not_to_contain_text("halted")


def test_old_prices_are_grey_and_lock_the_steppers(someone: Visitor, board: Office, admin: str) -> None:
    page = someone.open(admin, "rates")
    more = page.get_by_role("button", name=MORE)
    expect(more).to_be_visible()
    someone.expect_trouble("ERR_FAILED|net::|503")
    page.route("**/live/**", lambda route: route.abort())
    note = page.locator("#away-prices")
    expect(note).to_be_visible(timeout=10_000)
    expect(note).to_contain_text("margins are locked")
    expect(more).to_have_attribute("aria-disabled", "true")
    with nothing_changed(board.desk):
        more.click(force=True)
    page.unroute("**/live/**")
    expect(note).to_be_hidden()
    expect(more).not_to_have_attribute("aria-disabled", "true")
    more.click()
    expect(cell(page, "GOLD", "buy").locator("button.margin")).to_have_text("70.5")


def test_a_viewer_sees_margins_and_no_buttons(
    console: ConsoleProcess, board: Office, hire: Callable[[str], str]
) -> None:
    with console_client(console, board, hire("viewer")) as at:
        table = at.see("rates").partition('id="rates-table"')[2].partition("</table>")[0]
    gold = table.partition('data-key="GOLD"')[2].partition("</tr>")[0]
    assert "margin 60.5" in text_of(gold)
    assert "<button" not in table


def test_terms_are_edited_from_the_board(someone: Visitor, board: Office, admin: str) -> None:
    page = someone.open(admin, "rates")
    cell(page, "GOLD", "sell").locator("button.margin").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("GOLD has the group's default terms now.")
    sells = dialog.get_by_label("House earns when clients sell, ₹ per 10 g")
    expect(sells).to_have_value("463")
    sells.fill("400")
    dialog.get_by_role("button", name="Save").click()
    expect(cell(page, "GOLD", "sell").locator("button.margin")).to_have_text("400")
    assert margins(board) == ("60.50", "-400.00")
    assert margins(board, "COIN") == ("60.50", "-463.00")
    # The name of the group opens the terms of all other symbols.
    page.get_by_role("button", name="retail: default terms").click()
    dialog.get_by_label("House earns when clients buy").fill("70")
    dialog.get_by_role("button", name="Save").click()
    expect(cell(page, "COIN", "buy").locator("button.margin")).to_have_text("70")
    assert margins(board) == ("60.50", "-400.00")


def test_the_board_fits_with_many_groups_and_long_codes(someone: Visitor, board: Office, admin: str) -> None:
    long = "GOLD-COIN-OF-THE-MINT-IN-MUMBAI9"
    board.desk.do("PUT", f"/symbols/{long}", NEVER_STALE | {"pricing": FIXED})
    for code in ("jewellers", "wholesale", "of-the-house-and-its-old-friends"):
        board.desk.do("PUT", f"/groups/{code}", {"default_terms": {"buy_premium": "1", "sell_premium": "-1"}})
    page = someone.open(admin, "rates")
    expect(page.locator(f"#rates-table tr[data-key={long}]")).to_be_visible()
    for width in (1280, 768, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The buttons of a rate are in sight.
    assert page.locator("#board .scroll").evaluate("box => box.scrollWidth <= box.clientWidth")
    # One group at a time, of one's choice; each button is large enough for a thumb on a telephone.
    expect(page.locator("#rates-table .cell.other").first).to_be_hidden()
    page.get_by_role("navigation", name="Group").get_by_role("link", name="retail").click()
    price = cell(page, "GOLD", "buy").locator(".price")
    expect(price).to_have_text("1,50,541.00")
    more = page.get_by_role("button", name=MORE)
    box = more.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert box["width"] >= 44
    more.click()
    expect(price).to_have_text("1,50,551.00")
    page.set_viewport_size({"width": 768, "height": 800})
    expect(page.locator("#rates-table .cell.other").first).to_be_hidden()
    more.click()
    expect(price).to_have_text("1,50,561.00")
    assert page.evaluate("document.documentElement.scrollWidth") <= 768
