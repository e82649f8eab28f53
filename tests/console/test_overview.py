"""The overview: rates that move, what waits for the hedge, what clients hold, what is refused."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote
from zoneinfo import ZoneInfo

from playwright.sync_api import Page, expect

from bullion.console.page import Visit
from bullion.console.pages import overview
from bullion.console.shared_read import Reading
from bullion.orders.instant import instant_text
from bullion.rates.candle import Step
from tests.support.console import ConsoleProcess, Visitor
from tests.support.console_client import console_client, text_of
from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Office
from tests.support.node import until
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


def test_a_broker_without_anything_is_told_what_to_do(console: ConsoleProcess, office: Office) -> None:
    with console_client(console, office) as at:
        shown = text_of(at.see("overview"))
    assert "There are no symbols yet." in shown
    assert "No orders are waiting." in shown
    assert "No orders in the last 15 minutes." in shown
    assert "0 g" in shown


def test_rates_move_by_themselves(someone: Visitor, office: Office, admin: str) -> None:
    symbol(office, rate_age_s_max=None)
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
    office.desk.do("PATCH", "/symbols/GOLD", {"rate_age_s_max": 2})
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


def test_orders_and_refusals_are_counted(console: ConsoleProcess, dealing: Dealing) -> None:
    key = dealing.desk.key("client")["key"]
    with dealing.office.node.api(key, Host=f"{dealing.office.broker}.example") as http:

        def order(number: int, quantity: int) -> Any:
            body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": quantity}
            return http.post(ORDERS, json=body, headers={"Idempotency-Key": f"{number}"})

        for number in range(3):
            booked(order(number, 1))
        refused(order(4, 900_000), "limit_exceeded")
    with console_client(console, dealing.office) as at:

        def counted(what: str) -> str:
            """The last cell of a row of the activity."""
            row = at.see("overview").partition(f'data-key="{what}"')[2].partition("</tr>")[0]
            return row.rpartition("<td")[2]

        until(lambda: text_of(f"<td{counted('test accepted')}").strip() == "3", within_s=20)
        until(lambda: text_of(f"<td{counted('test limit_exceeded')}").strip() == "1", within_s=20)
        # Every count leads to what it counts.
        told = unescape(counted("test limit_exceeded"))
        assert re.search(r'href="/refusals\?code=limit_exceeded&environment=test&since=\d', told)
        assert re.search(r'href="/orders\?environment=test&from=\d', unescape(counted("test accepted")))
        # The usher's order came by the desk.
        assert text_of(f"<td{counted('production accepted')}").strip() == "1"
        activity = at.see("overview").partition('id="activity"')[2].partition("</section>")[0]
        labels = re.findall(r'<a [^>]*href="/refusals\?since=\d[^>]*aria-label="([^"]+)"', activity)
        assert labels == ["1 refused in 15 minutes"]
        assert activity.count("<figure") == 2


def test_orders_are_counted_over_the_minutes_of_the_chart() -> None:
    """And each number leads to a list that begins with the same minute."""
    now = datetime(2026, 11, 16, 9, 30, 45, tzinfo=UTC)
    counts = [
        {
            "minute": instant_text(int((now - timedelta(minutes=back)).timestamp()) // 60 * 60_000_000),
            "environment": "test",
            "outcome": "stale_rate",
            "count": 10 if back == 15 else 1,
        }
        for back in range(16)
    ]
    visit = cast("Visit", SimpleNamespace(now=now, zone=ZoneInfo("Asia/Kolkata"), param=lambda _: ""))
    shown = str(overview._activity(visit, Reading(counts, 1.0)))
    assert 'aria-label="15 refused in 15 minutes"' in shown
    assert "at most 1 per minute" in shown
    linked = [(text, since) for since, text in re.findall(r'since=([^"]*)"[^>]*>(\d+)</a>', unescape(shown))]
    this_minute, first = now.replace(second=0), now.replace(minute=16, second=0)
    assert linked == [
        ("15", quote(first.isoformat())),
        ("1", quote(this_minute.isoformat())),
        ("15", quote(first.isoformat())),
    ]


def test_nothing_is_cut_off(someone: Visitor, dealing: Dealing, admin: str) -> None:
    sizes = ((1280, 800), (1920, 1080))
    dealing.venue(mode="hold")
    office = dealing.office
    dealing.placed(quantity="99999.9999")
    put_rate(dealing.office, "12345678.12", "12345690.99")
    symbol(dealing.office)
    page = someone.open(admin)
    expect(page.locator("#pending-table > li")).to_have_count(1)
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
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
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        assert cut_off(page) == []


def test_a_long_code_does_not_push_the_counts_out_of_sight(
    someone: Visitor, dealing: Dealing, admin: str
) -> None:
    dealing.desk.do("PATCH", "/accounts/client", {"production_trading": False})
    order = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
    with dealing.office.node.api(dealing.live_key, Host=f"{dealing.office.broker}.example") as http:
        answer = http.post("/api/trading/v1/orders", json=order, headers={"Idempotency-Key": "closed"})
    refused(answer, "production_trading_disabled")
    page = someone.open(admin)
    row = page.locator("#outcomes-table tbody tr").filter(has_text="production_trading_disabled")
    expect(row).to_have_count(1, timeout=10_000)
    for width in (1280, 390, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert cut_off(page) == []


def cut_off(page: Page) -> Any:
    """The parts of the page that are wider than the room they have."""
    parts = page.locator("html, .scroll, .switch, .bar, .card, .queue, .metals > div, .step")
    return parts.evaluate_all(
        "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"
    )
