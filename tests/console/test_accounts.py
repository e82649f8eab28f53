"""Accounts in the console: found, made, changed, and their keys issued, rotated and revoked."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page, expect

from tests.support.console import ConsoleProcess, Visitor, session_of
from tests.support.console_client import ConsoleClient, buttons_of
from tests.support.dealing import Dealing
from tests.support.desk import Office
from tests.support.node import until
from tests.support.orders import ORDERS


def newest(office: Office) -> Any:
    return office.desk.do("GET", "/audit?limit=1")["items"][0]


def revealed(page: Page) -> str:
    return str(page.get_by_role("dialog").locator("#secret").text_content())


def works(office: Office, key: str) -> None:
    """Every node knows it within a second."""
    until(lambda: office.me_code(key) == "ok", within_s=5)


def test_an_account_is_made_and_mistakes_are_told_beside_their_fields(
    someone: Visitor, office: Office, admin: str
) -> None:
    office.desk.account("taken")
    page = someone.open(admin, "accounts")
    someone.expect_trouble("Failed to load resource")  # Refusals are answers like any other.
    page.get_by_role("button", name="New account").click()
    dialog = page.get_by_role("dialog")
    make = dialog.get_by_role("button", name="Create")
    dialog.get_by_label("Login").fill("not a login")
    make.click()
    login = dialog.locator("label", has_text="Login")
    expect(login.locator(".wrong")).to_contain_text("Use up to 64 letters")
    # All errors at once: of the login, which only the store knows, and of the other fields.
    dialog.get_by_label("Login").fill("taken")
    dialog.get_by_label("Firm").fill("<script>document.title = 'x'</script>")
    dialog.get_by_label("Gold, g").fill("1,50x")
    dialog.get_by_label("Silver, kg").fill("")
    make.click()
    expect(login.locator(".wrong")).to_have_text("There is an account taken already.")
    expect(dialog.locator("label", has_text="Gold").locator(".wrong")).to_contain_text(
        "is not a plain decimal number"
    )
    expect(dialog.locator("label", has_text="Silver").locator(".wrong")).to_have_text("Required.")
    dialog.get_by_label("Login").fill("asha")
    dialog.get_by_label("Gold, g").fill("1,500.5")
    dialog.get_by_label("Silver, kg").fill("0")
    dialog.get_by_label("Production trading").check()
    make.click()
    page.wait_for_url("**/accounts/asha")
    made = office.desk.do("GET", "/accounts/asha")
    assert made["allocation"] == {"gold": "1500.5000", "silver": "0.0000"}
    assert (made["active"], made["api_access"], made["production_trading"]) == (True, True, True)
    assert made["scenarios"] is False
    assert newest(office)["action"] == "create_account"
    # A name is text, wherever it stands.
    expect(page.locator(".firm")).to_have_text("<script>document.title = 'x'</script>")
    page.goto(f"{someone.console.url}/accounts")
    expect(page.locator("#accounts-table")).to_contain_text("<script>document.title = 'x'</script>")
    page.goto(f"{someone.console.url}/audit")
    expect(page.locator("#audit-table")).to_contain_text("<script>document.title = 'x'</script>")
    assert page.title() == "Audit · Bullion"


def test_accounts_are_found_and_show_what_they_use(someone: Visitor, dealing: Dealing, admin: str) -> None:
    desk = dealing.desk
    desk.account("asha", firm_name="Asha Jewels", allocation={"gold": "2", "silver": "0"})
    desk.account("bela", active=False, scenarios=True)
    soon = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    desk.key("asha", expires_at=soon)
    dealing.placed(login_id="asha", quantity="2")
    page = someone.open(admin, "accounts")
    table = page.locator("#accounts-table")
    expect(table.locator("tbody tr")).to_have_count(4)
    asha = table.locator("[data-key=asha]")
    expect(asha.locator("[data-used='production gold']")).to_contain_text("2 of 2")
    expect(asha.locator("[data-used='production gold'] rect.full")).to_have_count(1)
    expect(asha.locator("[data-used='test gold']")).to_contain_text("0 of 2")
    expect(asha).to_contain_text("1 key ends within 14 days")
    expect(asha).to_contain_text("gold 100 % used")
    expect(table.locator("[data-key=bela]")).to_contain_text("inactive")
    expect(table.locator("[data-key=bela]")).to_contain_text("no key")
    # What is as it should be is not shown, and who traded last stands first.
    expect(table.locator(".exceptions .state.ok")).to_have_count(0)
    expect(table.locator("tbody tr").first).to_have_attribute("data-key", "asha")
    expect(table.locator("th", has_text="Last order, IST")).to_have_count(1)
    page.get_by_role("link", name="sort by login").click()
    page.wait_for_url("**/accounts?sort=login")
    expect(table.locator("tbody tr").nth(1)).to_have_attribute("data-key", "bela")
    page.get_by_label("Search by login or firm").fill("jewel")
    page.get_by_role("button", name="Search").click()
    expect(table.locator("tbody tr")).to_have_count(1)
    asha.get_by_role("link").click()
    page.wait_for_url("**/accounts/asha")
    expect(page.locator("[data-held='production gold']")).to_contain_text("2\N{NO-BREAK SPACE}g used")
    page.goto(f"{someone.console.url}/accounts?q=nobody")
    expect(page.locator(".empty")).to_contain_text("No account has “nobody”")


def test_a_key_is_issued_used_rotated_and_revoked(someone: Visitor, office: Office, admin: str) -> None:
    office.desk.account("asha")
    page = someone.open(admin, "accounts/asha")
    expect(page.locator("#keys")).to_contain_text("This account has no key.")
    page.get_by_role("button", name="Issue a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("a program")
    dialog.get_by_label("Place orders").uncheck()
    dialog.get_by_label("Last day").fill("2001-01-01")
    someone.expect_trouble("Failed to load resource")
    dialog.get_by_role("button", name="Issue the key").click()
    expect(dialog.locator(".wrong")).to_contain_text("Is in the past")
    dialog.get_by_label("Last day").fill("2099-12-31")
    dialog.get_by_role("button", name="Issue the key").click()
    expect(dialog).to_contain_text("It is shown only now.")
    first = revealed(page)
    works(office, first)
    # The escape key does not take it away, and copying works without the clipboard's permission too.
    page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Copy: the key").click()
    assert page.evaluate("getSelection().toString()") == first
    expect(dialog.locator(".copied")).not_to_be_empty()
    dialog.get_by_role("button", name="I have copied it, close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert first not in page.content()
    row = page.locator("#keys-table tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("31 Dec 2099 23:59:59")
    expect(row).not_to_contain_text("orders:write")
    # Rotated with an overlap: both work.
    page.get_by_role("button", name="Rotate a program").click()
    dialog.get_by_label("Overlap").select_option("one hour")
    dialog.get_by_label("Allowed addresses").fill("127.0.0.0/8, ::1")
    dialog.get_by_role("button", name="Rotate the key").click()
    expect(dialog).to_contain_text("It is shown only now.")
    second = revealed(page)
    dialog.get_by_role("button", name="I have copied it, close").click()
    works(office, second)
    assert office.me_code(first) == "ok"
    old = page.locator(f"[data-key='{first.split('.')[2]}']")
    expect(old).to_contain_text("rotated, 59")
    expect(page.locator(f"[data-key='{second.split('.')[2]}']")).to_contain_text("127.0.0.0/8")

    def keys_of_asha() -> list[dict[str, Any]]:
        return list(office.desk.do("GET", "/accounts/asha/keys")["items"])

    kept = keys_of_asha()
    assert kept[0]["expires_at"] == kept[1]["expires_at"]
    # Revoked at once, after a question.
    until(lambda: all(key["last_used_at"] for key in keys_of_asha()), within_s=10)
    old.get_by_role("button", name="Revoke a program").click()
    # It says which key: kind, name, account, id and last use.
    expect(dialog.get_by_role("heading")).to_have_text("Revoke the test key “a program” of asha?")
    expect(dialog).to_contain_text(f"Key id {first.split('.')[2]}, account asha. It was last used at")
    expect(dialog).to_contain_text("This cannot be undone.")
    dialog.get_by_role("button", name="Revoke the key").click()
    expect(old).to_contain_text("revoked")
    until(lambda: office.me_code(first) == "credential_revoked", within_s=5)
    assert office.me_code(second) == "ok"
    assert [entry["action"] for entry in office.desk.do("GET", "/audit?limit=3")["items"]] == [
        "revoke_key",
        "rotate_key",
        "issue_key",
    ]


def test_an_account_is_changed_and_its_switches_turned(someone: Visitor, office: Office, admin: str) -> None:
    office.desk.account("asha", allocation={"gold": "5", "silver": "1"})
    office.desk.do("PUT", "/groups/trade", {})
    key = office.desk.key("asha")["key"]
    page = someone.open(admin, "accounts/asha")
    page.get_by_role("button", name="Change the allocation").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Gold, g")).to_have_value("5")
    dialog.get_by_label("Gold, g").fill("1,23,456.5")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("[data-held='test gold']")).to_contain_text("of 1,23,456.5\N{NO-BREAK SPACE}g")
    page.get_by_role("button", name="Change firm or group").click()
    dialog.get_by_label("Group").select_option("trade")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".heading .group")).to_contain_text("trade")
    for button, field, says in (
        ("Close the API", "api_access", "api_access_disabled"),
        ("Allow production trading", "production_trading", "real orders"),
        ("Allow scenarios", "scenarios", "In the test environment only"),
        ("Deactivate", "active", "account_inactive"),
    ):
        before = office.desk.do("GET", "/accounts/asha")[field]
        page.get_by_role("button", name=button, exact=True).click()
        expect(dialog).to_contain_text(says)
        dialog.get_by_role("button", name=button, exact=True).click()
        expect(page.locator(f"#switch-{field} .state")).to_contain_text("off" if before else "on")
        assert office.desk.do("GET", "/accounts/asha")[field] is not before
    until(lambda: office.me_code(key) in ("account_inactive", "api_access_disabled"), within_s=5)
    someone.confirm("Activate")
    someone.confirm("Open the API")
    works(office, key)
    held = office.desk.do("GET", "/accounts/asha")
    assert (held["group"], held["allocation"]["gold"], held["allocation"]["silver"]) == (
        "trade",
        "123456.5000",
        "1.0000",
    )


def test_a_test_book_is_reset_and_refusals_are_told(someone: Visitor, dealing: Dealing, admin: str) -> None:
    key = dealing.desk.key("client")["key"]
    with dealing.office.node.api(key, Host=f"{dealing.office.broker}.example") as http:
        body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 3}
        made = http.post(ORDERS, json=body, headers={"Idempotency-Key": "one"})
        assert made.status_code == 201, made.text
        http.post(ORDERS, json=body | {"quantity": 400_000}, headers={"Idempotency-Key": "two"})
        page = someone.open(admin, "accounts/client")
        expect(page.locator("[data-held='test gold']")).to_contain_text("3\N{NO-BREAK SPACE}g used")
        expect(page.locator("#refusals-table tbody tr")).to_have_count(1, timeout=15_000)
        expect(page.locator("#refusals-table")).to_contain_text("BUY 4,00,000 GOLD", ignore_case=True)
        page.get_by_role("button", name="Reset the test book").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("1 order in test")
        expect(dialog).to_contain_text("production do not change")
        dialog.get_by_role("button", name="Reset the test book").click()
        expect(page.locator("#test-book")).to_contain_text("0 orders, 1 archived")
        expect(page.locator("[data-held='test gold']")).to_contain_text("nothing open")
        assert http.get(ORDERS).json()["total"] == 0
        assert http.get(f"{ORDERS}/{made.json()['id']}").status_code == 200


def test_a_viewer_sees_accounts_and_cannot_act(
    console: ConsoleProcess, office: Office, hire: Callable[[str], str]
) -> None:
    office.desk.account("asha")
    office.desk.key("asha")
    token = hire("viewer")
    before = newest(office)
    with session_of(console, token) as (client, csrf):
        viewer = ConsoleClient(console, client, csrf)
        shown = viewer.see("accounts/asha")
        assert len(buttons_of(shown)) == shown.count('class="why"') == 11
        (new,) = [each for each in buttons_of(viewer.see("accounts")) if each.name == "New account"]
        for button in (*buttons_of(shown), new):
            assert button.disabled, button
            assert button.description.startswith("needs the role "), button
        for path, fields in {
            "issue-key?login=asha": {"environment": "test", "name": "x", "scope account:read": "yes"},
            "switch?login=asha&switch=active&to=off": {},
            "allocate?login=asha": {"gold": "1", "silver": "1"},
            "reset?login=asha": {},
        }.items():
            form = {"csrf": csrf, **fields}
            answer = client.post(f"/actions/accounts/{path}", data=form, headers={"Origin": console.url})
            assert (answer.status_code, "yours is viewer" in answer.text) == (403, True), answer.text
    assert newest(office) == before


def test_one_client_works_on_a_telephone(visit: Callable[..., Visitor], office: Office, admin: str) -> None:
    """At 360 px nothing scrolls sideways, and every button of the page can be pressed."""
    office.desk.account("asha", firm_name="Asha Jewels and Bullion Traders")
    office.desk.key("asha")
    page = visit(viewport={"width": 360, "height": 780}).open(admin, "accounts")
    for path in ("accounts", "accounts/asha"):
        page.goto(f"{page.url.split('/accounts')[0]}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") == 360
    for each in page.locator(".turn button, .test-book button, .heading button").all():
        box = each.bounding_box()
        assert box is not None
        assert (box["x"] >= 0, box["x"] + box["width"] <= 360, box["height"] >= 40) == (True, True, True)
    page.get_by_role("button", name="Deactivate").click()
    page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
    expect(page.locator(".heading")).to_contain_text("inactive")
    assert office.desk.do("GET", "/accounts/asha")["active"] is False
