"""Charts of prices from stored samples, under the content policy, and the setting of the public rate page."""

import hashlib
import re
from html import unescape
from importlib import resources
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from bullion.console.assets import CHART_LIBRARY, FILES, SCRIPTS
from bullion.rates.candle import Step
from tests.support.console import ConsoleProcess, Visitor
from tests.support.console_client import console_client, text_of
from tests.support.desk import SYMBOL, Office
from tests.support.rate_samples import put_candles

LIBRARY_SHA256 = "e21cc5caa0226ef30bd8549c50b9ef926615f2a4ee6b4e486353477a55f598cf"
"""Of dist/lightweight-charts.standalone.production.js in lightweight-charts 5.2.1."""
PRICES = [150_000 + 37 * number % 400 for number in range(50)]
BLOCKED = """() => {
  window.blocked = [];
  const note = (event) => window.blocked.push(event.violatedDirective);
  document.addEventListener("securitypolicyviolation", note);
}"""
INK = """canvases => canvases.some((canvas) => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  for (const point of new Uint32Array(data.buffer)) if (found.add(point).size > 3) return true;
  return false;
})"""


@pytest.fixture
def gold(office: Office) -> Office:
    symbol = {**SYMBOL, "rate_age_s_max": None, "freeze_after_s": None}
    office.desk.do("PUT", "/symbols/GOLD", symbol)
    for step in Step:
        put_candles(office.node, office.broker, "GOLD", step, PRICES)
    return office


def shows_a_chart(page: Page) -> None:
    canvases = page.locator(".chart .plot canvas")
    expect(canvases.first).to_be_visible()
    page.wait_for_function(f"() => ({INK})([...document.querySelectorAll('.chart .plot canvas')])")


def test_a_symbol_has_its_chart(someone: Visitor, gold: Office, admin: str) -> None:
    page = someone.page
    page.add_init_script(f"({BLOCKED})()")
    someone.open(admin, "rates/GOLD")
    shows_a_chart(page)
    caption = page.locator("figcaption")
    expect(caption).to_contain_text("GOLD over 1 day: from 1,50,000.00 to ")
    expect(caption.get_by_role("link")).to_have_attribute("href", "https://www.tradingview.com/")
    for span in ("15 minutes", "1 hour", "1 week", "1 month", "1 year", "1 day"):
        page.get_by_role("link", name=span, exact=True).click()
        expect(caption).to_contain_text(f"GOLD over {span}: from ")
        shows_a_chart(page)
    page.get_by_role("link", name="Line", exact=True).click()
    expect(page.locator(".chart[data-chart=line]")).to_have_count(1)
    shows_a_chart(page)
    assert page.evaluate("window.blocked") == []
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        shows_a_chart(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_chart_follows_the_price_and_the_theme(someone: Visitor, gold: Office, admin: str) -> None:
    page = someone.open(admin, "rates/GOLD?span=15m")
    shows_a_chart(page)
    page.evaluate("document.querySelector('.plot canvas').sameAsBefore = true")
    gold.desk.do("PUT", "/rates/GOLD", {"bid": "160000", "ask": "160001"})
    expect(page.locator("figcaption")).to_contain_text("to 1,60,000.50, up ")
    expect(page.locator(".facts.day")).to_contain_text("1,60,000.50")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("details.who summary").click()
    for _ in range(3):
        page.get_by_role("button", name="Theme").click()
        if page.evaluate("getComputedStyle(document.body).backgroundColor") != ground:
            break
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    shows_a_chart(page)
    assert page.evaluate("document.querySelector('.plot canvas').sameAsBefore"), "the chart was made anew"


def test_the_values_are_there_as_a_table(console: ConsoleProcess, gold: Office) -> None:
    with console_client(console, gold) as at:
        page = at.see("rates/GOLD?span=1h")
        found = re.search(r'<a [^>]*href="/([^"]+)"[^>]*>Show the values as a table', page)
        assert found is not None
        table = at.see(unescape(found[1])).partition('id="values-table"')[2].partition("</table>")[0]
    head, _, rows = table.partition("<tbody>")
    assert "From, IST" in text_of(head)
    assert rows.count("<tr ") == len(PRICES)
    assert f"1,50,{PRICES[-1] - 150_000:03d}.00" in rows.partition("</tr>")[0]


def test_a_symbol_without_samples_says_so(console: ConsoleProcess, office: Office) -> None:
    office.desk.do("PUT", "/symbols/NEW", SYMBOL)
    with console_client(console, office) as at:
        assert "There are no samples of NEW in this time." in text_of(at.see("rates/NEW"))
        answer = at.client.get("/rates/NOTHING")
    assert answer.status_code == 404
    assert "There is no symbol NOTHING." in answer.text


def test_small_charts_come_from_stored_samples(console: ConsoleProcess, gold: Office) -> None:
    """They are whole at the first look: nobody has looked before."""
    with console_client(console, gold) as at:
        (points,) = re.findall(r'<polyline [^>]*points="([^"]+)"', at.see("overview"))
    assert len(points.split(" ")) == len(PRICES)


def test_the_library_is_the_one_that_was_published() -> None:
    assert hashlib.sha256(FILES[CHART_LIBRARY][1]).hexdigest() == LIBRARY_SHA256
    assert b"v5.2.1" in FILES[CHART_LIBRARY][1][:200]
    assert CHART_LIBRARY not in SCRIPTS, "pages without a chart do not load it"
    folder = resources.files("bullion.console.assets")
    assert "5.2.1" in folder.joinpath("lightweight-charts.NOTICE.txt").read_text("utf-8")
    assert "Apache License" in folder.joinpath("lightweight-charts.LICENSE.txt").read_text("utf-8")


def test_the_public_page_is_turned_on_and_off(someone: Visitor, gold: Office, admin: str) -> None:
    gold.desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "10", "sell_premium": "-10"}})
    gold.desk.do("PUT", "/rates/GOLD", {"bid": "123456.50", "ask": "123500"})
    page = someone.open(admin, "market/public")
    card = page.locator("#public-rates")
    expect(card).to_contain_text("off")
    page.get_by_role("button", name="Show the page").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("Our rates")
    dialog.get_by_label("Prices of the group").select_option("retail")
    dialog.get_by_role("button", name="Show the page").click()
    expect(card).to_contain_text("Our rates")
    expect(card).to_contain_text("shown")
    assert gold.desk.do("GET", "/switches")["public_rates"] == {"group": "retail", "title": "Our rates"}
    someone.confirm("Hide the page")
    expect(card).to_contain_text("off")
    assert gold.desk.do("GET", "/switches")["public_rates"] is None


def test_streams_of_prices_are_turned_on_and_off(someone: Visitor, gold: Office, admin: str) -> None:
    someone.expect_trouble("422")
    page = someone.open(admin, "market/limits")
    card = page.locator("#price-streams")
    expect(card).to_contain_text("off")
    page.get_by_role("button", name="Allow streams").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Shortest time").fill("99")
    dialog.get_by_role("button", name="Allow streams").click()
    expect(dialog).to_contain_text("is not a whole number from 100 to 60,000")
    dialog.get_by_label("Shortest time").fill("2,500")
    dialog.get_by_role("button", name="Allow streams").click()
    expect(card).to_contain_text("2,500 ms")
    assert gold.desk.do("GET", "/switches")["quote_stream_interval_ms"] == 2500
    someone.confirm("Stop streams")
    expect(card).to_contain_text("off")
    assert gold.desk.do("GET", "/switches")["quote_stream_interval_ms"] is None


def test_clients_see_the_public_page(someone: Visitor, gold: Office) -> None:
    desk = gold.desk
    desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "10", "sell_premium": "-10"}})
    desk.do("PUT", "/rates/GOLD", {"bid": "10123456.50", "ask": "10123500"})
    desk.do("PATCH", "/switches", {"public_rates": {"group": "retail", "title": "Our rates"}})
    headers = {"Host": f"{gold.broker}.example"}
    page = someone.page

    def pass_on(route: Any) -> None:
        """As if the broker's host name led to this machine."""
        path = route.request.url.split("/", 3)[3]
        answer = httpx.get(f"{gold.node.api_url}/{path}", headers=headers, verify=False)
        kept = {name: answer.headers[name] for name in answer.headers if name != "content-length"}
        route.fulfill(status=answer.status_code, headers=kept, body=answer.content)

    page.route("**/rates*", pass_on)
    page.route("**/rates/**", pass_on)
    page.add_init_script(f"({BLOCKED})()")
    page.goto(f"{gold.node.api_url}/rates")
    rate = page.locator(".rate")
    expect(rate).to_have_count(1)
    expect(rate).to_contain_text("You buy at1,01,23,510.00")
    expect(rate).to_contain_text("You sell at1,01,23,446.50")
    expect(rate).to_contain_text("per 10 g")
    expect(page.locator("#clock")).to_contain_text("IST")
    for width in (360, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    desk.do("PATCH", "/switches", {"halted": True})
    expect(rate).to_contain_text("Trading halted")
    expect(rate.locator("b").first).to_have_text("–")
    assert page.context.cookies() == []
    assert page.evaluate("window.blocked") == []
    page.unroute_all()
    someone.expect_trouble("404|Failed to load")
    page.route("**/rates/**", lambda route: route.abort())
    expect(page.locator("#notice")).to_contain_text("No connection: these prices may be old.", timeout=15_000)


def test_the_chart_is_cheap_to_look_at_again(console: ConsoleProcess, gold: Office) -> None:
    """Who looks again gets the same reading: it is made once for all."""
    with console_client(console, gold) as at:
        first, second = (
            re.findall(r'data-points="([^"]+)"', at.see("rates/GOLD?span=1mo")) for _ in range(2)
        )
        assert first == second != []
