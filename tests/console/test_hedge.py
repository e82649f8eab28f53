"""The hedge in a browser: covers that are sent, quotes that are released, lines, statements and pins."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.console import Visitor
from tests.support.dealing import Dealing
from tests.support.feed_status import feed_status_statement
from tests.support.line_state import line_report, line_state_statement
from tests.support.node import Node, until
from tests.support.production import store_says

from .test_every_page import TOO_WIDE
from .test_hedge_pages import GOLDM

WITHIN_MS = 15_000


@pytest.fixture
def short(dealing: Dealing) -> Dealing:
    """A house that is short of 899.1 g, with a cover of 298.5 g that is suggested."""
    dealing.desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "1000"})
    dealing.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    dealing.desk.do("PUT", "/rates/GOLD", {"bid": "71230", "ask": "71240"})
    dealing.placed(quantity="900")
    body = {"contract": "GOLDM", "side": "buy", "quantity": "3", "idempotency_key": "k"}
    dealing.desk.do("POST", "/hedge/covers", body)
    return dealing


@pytest.fixture
def show_feed(node: Node) -> Iterator[Callable[[], None]]:
    """Writes the state of a live feed with held quotes, which counts for some seconds."""

    def show() -> None:
        store_says(node, feed_status_statement())

    yield show
    store_says(node, "DELETE FROM deployment WHERE name = 'feed'")


def asked(page: Page, button: str) -> Locator:
    page.get_by_role("button", name=button, exact=True).first.click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    return dialog


def press(dialog: Locator, button: str | re.Pattern[str]) -> None:
    dialog.get_by_role("button", name=button).click()


def told(page: Page, words: str) -> None:
    expect(page.locator("#toasts")).to_contain_text(words, timeout=WITHIN_MS)


def test_a_dealer_settles_a_cover_that_the_venue_does_not_answer(
    someone: Visitor, short: Dealing, hire: Callable[[str], str]
) -> None:
    short.venue(mode="down")
    (cover,) = short.desk.do("GET", "/hedge/covers")["items"]
    short.desk.do("POST", f"/hedge/covers/{cover['id']}/send")
    path = "/hedge/covers?state=sent"
    until(lambda: short.desk.do("GET", path)["items"][0]["reference"] is not None, within_s=20)
    page = someone.open(hire("dealer"), "market/covers")
    someone.expect_trouble("422")
    someone.expect_trouble("409")
    dialog = asked(page, "Settle: buy 3 GOLDM")
    dialog.get_by_label("Executions").fill("X17 3")
    dialog.get_by_label("Who said so").fill("their desk, by telephone")
    press(dialog, "Settle it")
    expect(dialog).to_contain_text("Each line has an execution id, a quantity and a price.")
    dialog.get_by_label("Executions").fill("X17 1 71250\nX18 2 71251.5")

    def settled() -> bool:
        """A node may be trying at this moment. The button is disabled or gone while the answer comes."""
        button = dialog.get_by_role("button", name="Settle it", exact=True)
        button.evaluate_all("buttons => buttons.forEach(each => each.click())")
        return bool(short.desk.do("GET", path)["total"] == 0)

    until(settled, within_s=30)
    told(page, "The cover is settled: buy 3 GOLDM, filled.")
    expect(page.locator("#past")).to_contain_text("their desk, by telephone", timeout=WITHIN_MS)
    (cover,) = short.desk.do("GET", "/hedge/covers")["items"]
    assert [each["reference"] for each in cover["deals"]] == ["X17", "X18"]


def test_a_dealer_sends_a_cover_and_the_book_moves(
    someone: Visitor, short: Dealing, hire: Callable[[str], str]
) -> None:
    page = someone.open(hire("dealer"), "market/book")
    hand = page.locator("#attention")
    expect(hand).to_contain_text("buy 3 GOLDM")
    dialog = asked(page, "Send: buy 3 GOLDM")
    expect(dialog).to_contain_text("899.1\N{NO-BREAK SPACE}g short → 600.6\N{NO-BREAK SPACE}g short")
    press(dialog, "Send: buy 3 GOLDM")
    told(page, "Sent: buy 3 GOLDM.")
    expect(page.locator("#book-gold .focal")).to_contain_text("600.6", timeout=WITHIN_MS)
    expect(hand).not_to_contain_text("GOLDM", timeout=WITHIN_MS)
    (cover,) = short.desk.do("GET", "/hedge/covers")["items"]
    assert (cover["state"], cover["deals"][0]["fine"].lstrip("-")) == ("filled", "298.500")
    page.get_by_role("link", name="Covers", exact=True).click()
    expect(page.locator("#past")).to_contain_text("filled", timeout=WITHIN_MS)


def test_a_held_quote_is_released_at_the_prices_seen(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str], show_feed: Callable[[], None]
) -> None:
    page = someone.open(hire("dealer"), "market/lines")
    show_feed()
    row = page.locator("#feeds-table tr", has_text="vendor-a")
    expect(row).to_contain_text("1,58,000.00", timeout=WITHIN_MS)
    show_feed()
    dialog = asked(page, "Release GOLD of vendor-a")
    press(dialog, "Release at 1,58,000.00 / 1,58,020.00")
    told(page, "GOLD of vendor-a is released at 1,58,000.00 / 1,58,020.00.")
    entry = dealing.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["after"]["bid"]) == ("release_quote", "158000.000000")


def test_an_admin_disconnects_a_line_with_a_reason(
    someone: Visitor, dealing: Dealing, admin: str, node: Node
) -> None:
    name = f"line-{dealing.office.broker}"

    def report(**fields: Any) -> None:
        store_says(node, line_state_statement(name, dealing.office.broker, line_report(**fields)))

    report()
    page = someone.open(admin, "market/lines")
    someone.expect_trouble("422")
    row = page.locator("#lines-table tr", has_text=name)
    expect(row).to_contain_text("up", timeout=WITHIN_MS)
    dialog = asked(page, f"Disconnect {name}")
    press(dialog, "Disconnect the line")
    expect(dialog.locator(".wrong")).to_have_text("Required.")
    dialog.get_by_label("Reason").fill("the venue asked for it")
    press(dialog, "Disconnect the line")
    told(page, f"Line {name}: it logs out and stays away.")
    report(state="resting")
    expect(row).to_contain_text("disconnected by the desk", timeout=WITHIN_MS)
    expect(row.get_by_role("button", name=f"Connect {name}")).to_be_visible()
    entry = dealing.desk.do("GET", "/audit?limit=1")["items"][0]
    assert entry["after"] == {"wanted": "disconnected", "reason": "the venue asked for it"}


def test_a_statement_from_a_file_shows_the_planted_difference(
    someone: Visitor, short: Dealing, hire: Callable[[str], str], tmp_path: Path
) -> None:
    (cover,) = short.desk.do("GET", "/hedge/covers")["items"]
    deal = {"quantity": "3", "price": "71250.5", "reference": "LM-1"}
    short.desk.do("POST", f"/hedge/covers/{cover['id']}/fill", deal)
    file = tmp_path / "trades.csv"
    file.write_text("execution_id,symbol,side,quantity,price\nLM-1,GOLDM,buy,3,71250.6\n")
    page = someone.open(hire("dealer"), "market/covers")
    dialog = asked(page, "Compare a statement")
    dialog.get_by_label("Or a file").set_input_files(file)
    expect(dialog.get_by_label("Trades of the day")).to_have_value(re.compile("LM-1,GOLDM"))
    dialog.get_by_label("Venue").fill("desk")
    press(dialog, "Compare")
    different = dialog.locator("#statement-different")
    expect(different).to_contain_text("71250.6", timeout=WITHIN_MS)
    expect(different.locator("tbody tr").first).to_contain_text("LM-1")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(TOO_WIDE) == []
    press(dialog, "Close")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_pin_is_set_marked_and_ended_on_the_rates_page(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    dealing.desk.do("PUT", "/rates/GOLD", {"bid": "71230", "ask": "71240"})
    page = someone.open(hire("dealer"), "rates")
    row = page.locator("#board-table tr", has_text="GOLD")
    dialog = asked(page, "Pin the rate of GOLD")
    dialog.locator("input[name=bid]").fill("71,000")
    press(dialog, "Pin the rate")
    told(page, "GOLD: 71,230.00 / 71,240.00 → 71,000.00 / 71,240.00, pinned until")
    expect(row).to_contain_text("pinned until", timeout=WITHIN_MS)
    press(asked(page, "End the pin of GOLD"), "End the pin")
    expect(row).not_to_contain_text("pinned until", timeout=WITHIN_MS)
    until(lambda: dealing.desk.do("GET", "/rates")["items"][0]["pinned_until"] is None, within_s=5)


def test_the_tabs_fit_a_telephone(
    someone: Visitor, short: Dealing, admin: str, show_feed: Callable[[], None], node: Node
) -> None:
    short.placed(quantity="500")
    body = {"kind": "over", "threshold": "500", "contracts": ["GOLDM"]}
    short.desk.do("PUT", "/hedge/book/gold/rules/net", body)
    broker = short.office.broker
    refusing = line_report(state="waiting", message="refused " * 20)
    store_says(node, line_state_statement(f"line-{broker}", broker, refusing))
    show_feed()
    page = someone.open(admin, "market/book")
    page.set_viewport_size({"width": 390, "height": 844})
    for tab in ("book", "covers", "lines", "contracts"):
        page.goto(f"{someone.console.url}/market/{tab}")
        page.locator("main .card").first.wait_for()
        assert page.evaluate(TOO_WIDE) == [], tab
    page.goto(f"{someone.console.url}/overview")
    expect(page.locator("#exposure .exposure-bar")).to_be_visible(timeout=WITHIN_MS)
    assert page.evaluate(TOO_WIDE) == []
