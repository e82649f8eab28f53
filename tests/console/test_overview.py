"""The overview: rates that move, what waits for the hedge, what clients hold, what is refused."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from bullion.rates.candle import Step
from tests.support.console import Visitor
from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Office
from tests.support.orders import GOLD, ORDERS, booked, refused
from tests.support.rate_samples import put_candles


def put_rate(office: Office, bid: str, ask: str) -> None:
    office.desk.do("PUT", "/rates/METAL", {"bid": bid, "ask": ask})


def symbol(office: Office, **fields: Any) -> None:
    pricing = {"kind": "direct", "instrument": "METAL"}
    office.desk.do("PUT", "/symbols/GOLD", {**SYMBOL, "pricing": pricing, **fields})


def in_place(page: Page) -> None:
    """From here on, a page that was loaded anew would be found out."""
    page.evaluate("window.sameAsBefore = true")


def still_in_place(page: Page) -> bool:
    return page.evaluate("window.sameAsBefore") is True


def test_a_broker_without_anything_is_told_what_to_do(someone: Visitor, admin: str) -> None:
    page = someone.open(admin)
    expect(page.locator("#rates")).to_contain_text("There are no symbols yet.")
    expect(page.locator("#pending")).to_contain_text("No orders are waiting.")
    expect(page.locator("#activity")).to_contain_text("No orders in the last 15 minutes.")
    expect(page.locator("#exposure")).to_contain_text("0 g")


def test_rates_move_by_themselves(someone: Visitor, office: Office, admin: str) -> None:
    symbol(office, rate_age_s_max=2)
    put_candles(office.node, office.broker, "GOLD", Step.MINUTE, [123_000, 123_456])
    page = someone.open(admin)
    row = page.locator("#rates-table tr", has_text="GOLD")
    expect(row).to_contain_text("no rate")
    in_place(page)
    put_rate(office, "123456.50", "123500")
    expect(row.locator(".reference")).to_have_text("1,23,456.501,23,500.00")
    expect(row).to_contain_text("per 10 g")
    # Quiet is normal: only what is not live has a state.
    expect(row.locator(".state")).to_have_count(0)
    put_rate(office, "10123456.78", "10123500")
    expect(row).to_contain_text("1,01,23,456.78")
    expect(row.locator("polyline")).to_have_count(1)
    # Then none comes any more, and the price is one that nobody gets.
    expect(row.locator(".state")).to_have_text("stale", timeout=8_000)
    expect(row.locator(".price.old")).to_have_count(2)
    office.desk.do("PATCH", "/symbols/GOLD", {"rate_age_s_max": None, "frozen": True})
    expect(row.locator(".state")).to_have_text("frozen")
    office.desk.do("PATCH", "/symbols/GOLD", {"frozen": False, "trading": False})
    expect(row.locator(".state")).to_have_text("not traded")
    assert still_in_place(page)


def test_an_order_waits_turns_red_and_goes(someone: Visitor, dealing: Dealing, admin: str) -> None:
    page = someone.open(admin)
    in_place(page)
    net = page.locator("#exposure-table [data-key=gold]")
    # The usher has bought one gram already.
    expect(net).to_contain_text("+1 g")
    dealing.venue(mode="hold")
    dealing.placed(trade_type="sell", quantity="21.5")
    row = page.locator("#pending-table > li")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("sell 21.5 g GOLD")
    expect(row).to_contain_text("71,230.00")
    expect(row).to_contain_text("₹1,53,144.50")
    expect(net).to_contain_text("−20.5 g")
    expect(net.locator(".price.open")).to_have_text("−21.5 g")
    expect(page.locator("#pending-table .late")).to_have_count(1, timeout=10_000)
    # While the venue is simulated, nothing is said to be covered or hedged.
    expect(page.locator("#exposure")).to_contain_text("SIMULATED: nothing is covered")
    said = page.locator(".overview-page").inner_text().replace("SIMULATED: nothing is covered", "").lower()
    assert "cover" not in said
    assert "hedge" not in said
    count = page.locator("#pending").get_by_role("link", name="1 waiting")
    expect(count).to_have_attribute("href", "/orders?environment=production&status=pending")
    expect(page.locator("#pending .state.bad")).to_contain_text("1 over 3 s")
    expect(row).to_contain_text("The simulated venue holds orders.")
    dealing.venue(mode="fill")
    expect(page.locator("#pending")).to_contain_text("No orders are waiting.", timeout=10_000)
    expect(net.locator(".price.open")).to_have_count(0)
    expect(net).to_contain_text("−20.5 g")
    assert still_in_place(page)


def test_orders_and_refusals_are_counted(someone: Visitor, dealing: Dealing, admin: str) -> None:
    key = dealing.desk.key("client")["key"]
    page = someone.open(admin)
    with dealing.office.node.api(key, Host=f"{dealing.office.broker}.example") as http:

        def order(number: int, quantity: int) -> Any:
            body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": quantity}
            return http.post(ORDERS, json=body, headers={"Idempotency-Key": f"{number}"})

        for number in range(3):
            booked(order(number, 1))
        refused(order(4, 900_000), "limit_exceeded")
    taken = page.locator("tr[data-key='test accepted'] td")
    expect(taken.last).to_have_text("3")
    told = page.locator("tr[data-key='test limit_exceeded'] td")
    expect(told.last).to_have_text("1")
    # Every count leads to what it counts.
    link = told.last.get_by_role("link")
    expect(link).to_have_attribute(
        "href", re.compile(r"/refusals\?code=limit_exceeded&environment=test&since=\d")
    )
    expect(taken.last.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"/orders\?environment=test&from=\d")
    )
    refusals = page.locator("#activity").get_by_role("link", name="1 refused in 15 minutes")
    expect(refusals).to_have_attribute("href", re.compile(r"/refusals\?since=\d"))
    # The usher's order came by the desk.
    expect(page.locator("tr[data-key='production accepted'] td").last).to_have_text("1")
    assert page.locator("#activity figure").count() == 2


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_nothing_is_cut_off(visit: Any, dealing: Dealing, admin: str, width: int, height: int) -> None:
    dealing.venue(mode="hold")
    office = dealing.office
    dealing.placed(quantity="99999.9999")
    put_rate(dealing.office, "12345678.12", "12345690.99")
    symbol(dealing.office)
    someone = visit(viewport={"width": width, "height": height})
    page = someone.open(admin)
    expect(page.locator("#pending-table > li")).to_have_count(1)
    # Rates, queue and blotter are on one screen: the page does not scroll.
    for card in ("rates", "pending", "blotter"):
        expect(page.locator(f"#{card}")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollHeight") <= height
    assert cut_off(page) == []
    # With more groups than have room, and a code as long as one can be.
    put_rate(office, "1234567.12", "1234590.99")
    office.desk.do("PUT", "/symbols/GOLD-COIN-OF-THE-MINT-IN-MUMBAI9", GOLD)
    for code in ("jewellers", "wholesale-and-refiners", "old-friends"):
        terms = {"buy_premium": "150.50", "sell_premium": "-1200"}
        office.desk.do("PUT", f"/groups/{code}", {"default_terms": terms})
    expect(page.locator("#rates")).to_contain_text("1 more group")
    expect(page.locator("#rates")).to_contain_text("12,34,567.12")
    assert cut_off(page) == []


def cut_off(page: Page) -> Any:
    """The parts of the page that are wider than the room they have."""
    parts = page.locator("html, .scroll, .switch, .bar, .card, .queue, .metals > div, .step")
    return parts.evaluate_all(
        "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"
    )
