"""What somebody types into a dialog is kept until it is sent, and no longer."""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.support.console import Visitor
from tests.support.desk import SYMBOL, Office

RESTORED = "What you typed before is back."
CHANGED = "This was changed meanwhile. What you typed here is not back."


def new_account(page: Page) -> Locator:
    page.get_by_role("button", name="New account").click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    return dialog


def kept(page: Page) -> dict[str, Any]:
    """Everything that this tab keeps."""
    found: dict[str, Any] = json.loads(page.evaluate("JSON.stringify(sessionStorage)"))
    return found


def test_escape_keeps_what_was_typed_and_cancel_does_not(
    someone: Visitor, office: Office, admin: str
) -> None:
    page = someone.open(admin, "accounts")
    dialog = new_account(page)
    expect(dialog).not_to_contain_text(RESTORED)
    dialog.get_by_label("Login").fill("meera")
    dialog.get_by_label("API access").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#toasts")).to_contain_text("What you typed is kept.")
    new_account(page)
    expect(dialog).to_contain_text(RESTORED)
    expect(dialog.get_by_label("Login")).to_have_value("meera")
    expect(dialog.get_by_label("API access")).not_to_be_checked()
    dialog.get_by_role("button", name="Discard it").click()
    expect(dialog.get_by_label("Login")).to_have_value("")
    expect(dialog.get_by_label("API access")).to_be_checked()
    dialog.get_by_label("Login").fill("rajat")
    dialog.get_by_role("button", name="Cancel").click()
    new_account(page)
    expect(dialog.get_by_label("Login")).to_have_value("")
    expect(dialog).not_to_contain_text(RESTORED)
    # What was sent is not kept.
    dialog.get_by_label("Login").fill("meera")
    dialog.get_by_role("button", name="Create").click()
    page.wait_for_url("**/accounts/meera")
    assert kept(page) == {}


def test_a_session_that_ended_gives_the_dialog_back_after_the_log_in(
    someone: Visitor, office: Office, hire: Callable[[str], str]
) -> None:
    token = hire("admin")
    someone.expect_trouble("Failed to load resource")
    page = someone.open(token, "accounts?q=")
    dialog = new_account(page)
    dialog.get_by_label("Login").fill("typed-before")
    dialog.get_by_label("Gold, g").fill("250")
    office.desk.do("DELETE", f"/tokens/{token.split('.')[1]}/sessions")
    page.wait_for_url("**/login?next=**")
    page.get_by_label("Desk token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/accounts?q=")
    expect(dialog.get_by_label("Login")).to_have_value("typed-before")
    expect(dialog.get_by_label("Gold, g")).to_have_value("250")
    dialog.get_by_role("button", name="Create").click()
    page.wait_for_url("**/accounts/typed-before")
    assert office.desk.do("GET", "/accounts/typed-before")["allocation"]["gold"] == "250.0000"


def test_another_user_of_the_tab_sees_nothing_of_it(someone: Visitor, hire: Callable[[str], str]) -> None:
    page = someone.open(hire("admin"), "accounts")
    new_account(page).get_by_label("Login").fill("secret-client")
    page.keyboard.press("Escape")
    # Without a log-out, as when a session has ended.
    page.context.clear_cookies()
    someone.expect_trouble("Failed to load resource")
    someone.open(hire("admin"), "accounts")
    assert "secret-client" not in str(kept(page))
    dialog = new_account(page)
    expect(dialog.get_by_label("Login")).to_have_value("")
    dialog.get_by_label("Login").fill("other-client")
    page.keyboard.press("Escape")
    someone.from_menu("button", "Log out")
    page.wait_for_url("**/login*")
    assert kept(page) == {}


def test_only_what_was_changed_is_kept(someone: Visitor, office: Office, admin: str) -> None:
    """What somebody else changed meanwhile is shown as it is now."""
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    page = someone.open(admin, "market/symbols")
    edit = page.get_by_role("button", name="Edit GOLD")
    edit.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Smallest order").fill("7")
    page.reload()
    expect(dialog.get_by_label("Smallest order")).to_have_value("7")
    page.keyboard.press("Escape")
    office.desk.do("PATCH", "/symbols/GOLD", {"maximum": "900"})
    edit.click()
    expect(dialog.get_by_label("Smallest order")).to_have_value("7")
    expect(dialog.get_by_label("Largest order")).to_have_value("900")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("minimum")
    found = office.desk.all("/symbols")[0]
    assert (found["minimum"], found["maximum"]) == ("7.0000", "900.0000")


def holidays_of(office: Office, *days: str) -> None:
    hours = {"zone": "Asia/Kolkata", "week": {"mon": [["10:00", "23:30"]]}, "holidays": days}
    office.desk.do("PATCH", "/switches", {"trading_hours": hours})


def test_what_somebody_else_saved_in_the_same_field_is_not_undone(
    someone: Visitor, office: Office, admin: str
) -> None:
    holidays_of(office, "2099-01-26")
    page = someone.open(admin, "market/hours")
    change = page.get_by_role("button", name="Change the holidays")
    change.click()
    dialog = page.get_by_role("dialog")
    days = dialog.locator("[name=holidays]")
    days.fill("2099-01-26\n2099-12-25")
    page.keyboard.press("Escape")
    change.click()
    expect(days).to_have_value("2099-01-26\n2099-12-25")
    page.keyboard.press("Escape")
    holidays_of(office, "2099-01-26", "2099-11-09")
    change.click()
    expect(days).to_have_value("2099-01-26\n2099-11-09")
    expect(dialog).to_contain_text(CHANGED)
    expect(dialog).not_to_contain_text(RESTORED)
    assert not any(key.startswith("draft ") for key in kept(page))
    days.fill("2099-01-26\n2099-11-09\n2099-12-25")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("25 Dec")
    saved = office.desk.do("GET", "/switches")["trading_hours"]["holidays"]
    assert saved == ["2099-01-26", "2099-11-09", "2099-12-25"]


def test_fields_that_nobody_else_changed_are_back_beside_one_that_somebody_did(
    someone: Visitor, office: Office, admin: str
) -> None:
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    page = someone.open(admin, "market/symbols")
    edit = page.get_by_role("button", name="Edit GOLD")
    edit.click()
    dialog = page.get_by_role("dialog")
    for label, typed in (("Smallest order", "7"), ("Largest order", "800"), ("Step", "7")):
        dialog.get_by_label(label).fill(typed)
    page.keyboard.press("Escape")
    office.desk.do("PATCH", "/symbols/GOLD", {"maximum": "900", "step": "7"})
    edit.click()
    expect(dialog.get_by_label("Smallest order")).to_have_value("7")
    expect(dialog.get_by_label("Largest order")).to_have_value("900")
    expect(dialog.get_by_label("Step")).to_have_value("7")
    expect(dialog).to_contain_text(RESTORED)
    # Not beside the step: somebody else set what was typed.
    expect(dialog.get_by_text(CHANGED)).to_have_count(1)
    page.keyboard.press("Escape")
    edit.click()
    expect(dialog.get_by_label("Smallest order")).to_have_value("7")
    expect(dialog).not_to_contain_text(CHANGED)


def test_a_rate_that_was_typed_is_back_although_the_rate_has_moved(
    someone: Visitor, office: Office, admin: str
) -> None:
    """It moves all the time, and the form has no guard against that."""
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    office.desk.do("PUT", "/rates/GOLD", {"bid": "150000", "ask": "150100"})
    page = someone.open(admin, "market/rates")
    set_rate = page.get_by_role("button", name="Set rate of GOLD")
    set_rate.click()
    dialog = page.get_by_role("dialog")
    dialog.locator("[name=bid]").fill("150005")
    page.keyboard.press("Escape")
    office.desk.do("PUT", "/rates/GOLD", {"bid": "150010", "ask": "150110"})
    set_rate.click()
    expect(dialog.locator("[name=bid]")).to_have_value("150005")
    expect(dialog.locator("[name=ask]")).to_have_value("1,50,110")
    expect(dialog).to_contain_text(RESTORED)


def test_secrets_are_never_kept(someone: Visitor, admin: str) -> None:
    page = someone.open(admin, "accounts")
    dialog = new_account(page)
    page.evaluate(
        """() => document.querySelector("#dialog .fields").insertAdjacentHTML("beforeend", `
            <input type="password" name="a"><input autocomplete="one-time-code" name="b">
            <input data-secret name="c"><input type="hidden" name="d">`)"""
    )
    dialog.get_by_label("Login").fill("meera")
    for name in "abc":
        dialog.locator(f"[name={name}]").fill("do-not-keep")
    page.evaluate("document.querySelector('#dialog [name=d]').value = 'do-not-keep'")
    dialog.get_by_label("Login").fill("meera2")
    assert "meera2" in str(kept(page))
    assert "do-not-keep" not in str(kept(page))
    assert "csrf" not in str(kept(page))


def test_where_the_browser_keeps_nothing_dialogs_work(
    visit: Callable[..., Visitor], office: Office, admin: str
) -> None:
    someone = visit()
    someone.page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('forbidden'); } })"
    )
    page = someone.open(admin, "accounts")
    dialog = new_account(page)
    dialog.get_by_label("Login").fill("meera")
    dialog.get_by_role("button", name="Create").click()
    page.wait_for_url("**/accounts/meera")
