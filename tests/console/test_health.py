"""The health strip: on every page, red soon after its cause, with what it means and what to do."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.support.console import Visitor
from tests.support.dealing import LIVE, Dealing
from tests.support.desk import Office
from tests.support.orders import GOLD

WITHIN_MS = 5_000
RED = re.compile("is-bad")


class Light:
    def __init__(self, page: Page, name: str) -> None:
        self.row = page.locator(f".health [data-light={name}]")
        self.panel = self.row.locator(".panel")

    def press(self) -> None:
        self.row.locator("summary").click()


def test_a_venue_that_goes_down_is_red_on_every_page(someone: Visitor, dealing: Dealing, admin: str) -> None:
    dealing.desk.do("PATCH", "/switches", {"production": True})
    dealing.desk.do("PATCH", "/accounts/client", {"production_trading": True})
    page = someone.open(admin, "audit")
    venue = Light(page, "Venue")
    expect(venue.row).not_to_have_class(RED)
    expect(page.locator(".health")).to_contain_text("SIMULATED: nothing is covered")
    dealing.venue(mode="down")
    expect(venue.row).to_have_class(RED, timeout=WITHIN_MS)
    expect(venue.row.locator("summary")).to_contain_text("down: live orders are refused, since ")
    expect(page.locator(".health [role=alert]")).to_have_text("Venue: down: live orders are refused")
    with dealing.office.node.api(dealing.live_key, Host=f"{dealing.office.broker}.example") as http:
        body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
        answer = http.post(f"{LIVE}/orders", json=body, headers={"Idempotency-Key": "k"})
    assert answer.status_code == 503
    expect(venue.row.locator("summary")).to_contain_text("1 refused")
    venue.press()
    expect(venue.panel).to_contain_text("Live orders are refused with production_prerequisites_unmet.")
    expect(venue.panel).to_contain_text("set its behaviour under Market, Venue")
    refused = venue.panel.get_by_role("link", name="1 live order was refused")
    expect(refused).to_have_attribute("href", re.compile("^/refusals.code=production_prerequisites_unmet&"))
    # A refresh leaves it open; Escape closes it.
    with page.expect_response("**/live/audit"):
        pass
    expect(venue.panel).to_be_visible()
    page.keyboard.press("Escape")
    expect(venue.panel).to_be_hidden()
    dealing.venue(mode="fill")
    expect(venue.row).not_to_have_class(RED, timeout=WITHIN_MS)
    expect(page.locator(".health [role=alert]")).to_have_count(0)


def test_a_feed_that_stops_is_red_by_instrument(someone: Visitor, office: Office, admin: str) -> None:
    desk = office.desk
    direct = {**GOLD, "rate_age_s_max": 2, "pricing": {"kind": "direct", "instrument": "METAL"}}
    desk.do("PUT", "/rates/METAL", {"bid": "100", "ask": "101"})
    desk.do("PUT", "/symbols/GOLD", direct)
    page = someone.open(admin, "users")
    metal = Light(page, "METAL")
    expect(metal.row).to_have_class(RED, timeout=2_000 + WITHIN_MS)
    expect(metal.row.locator("summary")).to_contain_text("no new rate for ")
    metal.press()
    expect(metal.panel).to_contain_text("Orders in GOLD are refused with stale_rate.")
    expect(metal.panel).to_contain_text("Set the rate of METAL under Market, Rates.")
    desk.do("PUT", "/rates/METAL", {"bid": "100", "ask": "101"})
    expect(metal.row).not_to_have_class(RED, timeout=WITHIN_MS)


def test_the_strip_tells_a_phone_what_is_wrong_and_the_menu_the_rest(
    visit: Callable[..., Visitor], dealing: Dealing, admin: str
) -> None:
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True).open(admin, "accounts")
    expect(page.locator(".health")).to_contain_text("SIMULATED: nothing is covered")
    expect(Light(page, "Store").row).to_be_hidden()
    dealing.venue(mode="down")
    expect(Light(page, "Venue").row).to_be_visible(timeout=WITHIN_MS)
    page.get_by_role("button", name="More").click()
    expect(Light(page, "Store").row).to_be_visible()
    page.get_by_role("button", name="Halt trading").click()
    page.get_by_role("dialog").get_by_role("button", name="Halt trading").click()
    expect(page.locator("[data-switch=halted] .state")).to_have_text("halted")
    assert dealing.desk.do("GET", "/switches")["halted"] is True
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Audit").click()
    page.wait_for_url("**/audit")
    dealing.venue(mode="fill")
