"""The switches in the frame: seen on every page, turned by whoever may, with a question before."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.support.console import ConsoleProcess, Visitor
from tests.support.console_client import buttons_of, console_client
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office
from tests.support.orders import ORDERS, refused


def test_a_dealer_halts_and_orders_are_refused(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    key = dealing.desk.key("client")["key"]
    page = someone.open(hire("dealer"))
    expect(page.locator("[data-switch=halted]")).to_contain_text("open")
    page.get_by_role("button", name="Halt trading").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Every new order is refused")
    dialog.get_by_role("button", name="Cancel").click()
    assert dealing.desk.do("GET", "/switches")["halted"] is False
    someone.confirm("Halt trading")
    expect(page.locator("#toasts")).to_contain_text("Trading is halted.")
    expect(page.locator("[data-switch=halted]")).to_contain_text("halted")
    with dealing.office.node.api(key, Host=f"{dealing.office.broker}.example") as http:
        body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
        refused(http.post(ORDERS, json=body, headers={"Idempotency-Key": "k"}), "trading_halted")
    entry = dealing.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("patch_switches", "halted")
    assert entry["actor"].startswith("a dealer (")
    expect(page.locator("#rates-table")).to_contain_text("halted")
    someone.confirm("Resume trading")
    expect(page.locator("[data-switch=halted]")).to_contain_text("open")
    # What a dealer may not turn is grey, and says why.
    someone.confirm("Pause production")
    expect(page.locator("[data-switch=paused] .state")).to_have_text("paused")
    end = page.get_by_role("button", name="End the pause")
    expect(end).to_be_disabled()
    expect(end).to_have_accessible_description("needs the role admin")


def test_an_admin_turns_production_pause_and_trading_of_one_broker(
    someone: Visitor, office: Office, admin: str, first: Caller
) -> None:
    page = someone.open(admin)
    expect(page.locator(".brand")).to_contain_text("A Broker")
    someone.confirm("Open production")
    expect(
        page.locator("[data-switch=production]").get_by_role("button", name="Close production")
    ).to_be_visible()
    someone.confirm("Pause production")
    expect(page.locator("[data-switch=paused] .state")).to_have_text("paused")
    held = office.desk.do("GET", "/switches")
    assert (held["production"], held["paused"], held["halted"]) == (True, True, False)
    someone.confirm("End the pause")
    someone.confirm("Close production")
    expect(page.locator("[data-switch=production] .state")).to_have_text("closed")
    held = office.desk.do("GET", "/switches")
    assert (held["production"], held["paused"]) == (False, False)
    # A switch turned elsewhere is seen here.
    office.desk.do("PATCH", "/switches", {"halted": True})
    expect(page.locator("[data-switch=halted]")).to_contain_text("halted", timeout=5_000)
    expect(page.get_by_role("button", name="Resume trading")).to_be_enabled()
    office.desk.do("PATCH", "/switches", {"halted": False})
    expect(page.get_by_role("button", name="Halt trading")).to_be_enabled()
    # Another broker's switches stay as they are.
    someone.confirm("Halt trading")
    expect(page.locator("[data-switch=halted]")).to_contain_text("halted")
    other = Office.open(office.node, first)
    assert other.desk.do("GET", "/switches")["halted"] is False
    other.close()


def test_a_viewer_sees_but_cannot_act(
    console: ConsoleProcess, office: Office, hire: Callable[[str], str]
) -> None:
    with console_client(console, office, hire("viewer")) as at:
        page = at.client.get("/overview").text
        assert "read only" in page
        switchboard = page.partition("switchboard")[2].partition("<main")[0]
        turned = [each for each in buttons_of(switchboard) if "needs the role" in each.description]
        assert [each.disabled for each in turned] == [True] * 3
        assert turned[0].description == "needs the role dealer"
        # Who goes around the page meets the action itself.
        answer = at.send("frame/halt", {})
        assert answer.status_code == 403
        assert answer.json() == {"refused": "This needs the role dealer; yours is viewer."}
    assert office.desk.do("GET", "/switches")["halted"] is False


def test_who_was_locked_out_cannot_finish_what_they_began(
    someone: Visitor, office: Office, hire: Callable[[str], str]
) -> None:
    """The token is deleted while the dialog is open."""
    token = hire("dealer")
    page = someone.open(token)
    someone.expect_trouble("Failed to load resource")
    page.get_by_role("button", name="Halt trading").click()
    page.get_by_role("dialog").wait_for()
    office.desk.do("DELETE", f"/tokens/{token.split('.')[1]}")
    page.get_by_role("dialog").get_by_role("button", name="Halt trading").click()
    page.wait_for_url("**/login**", timeout=30_000)
    assert office.desk.do("GET", "/switches")["halted"] is False
