"""Webhooks in the console: set up on the account's page, looked into, replayed, switched and deleted."""

from playwright.sync_api import expect

from tests.support.console import Visitor
from tests.support.desk import Office

URL = "https://hooks.example.com/bullion"
PATIENCE_MS = 20_000


def test_a_webhook_in_the_console(someone: Visitor, office: Office, admin: str) -> None:
    office.desk.account("asha")
    page = someone.open(admin, "accounts/asha")
    card = page.locator("#webhooks")
    expect(card).to_contain_text("This account has no webhook.", timeout=PATIENCE_MS)
    someone.expect_trouble("Failed to load resource")  # Refusals are answers like any other.
    card.get_by_role("button", name="Set up a webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("URL").fill("http://hooks.example.com/")
    dialog.get_by_role("button", name="Set up the webhook").click()
    wrong = dialog.locator("label", has_text="URL").locator(".wrong")
    expect(wrong).to_contain_text("https", timeout=PATIENCE_MS)
    dialog.get_by_label("URL").fill(URL)
    dialog.get_by_label("Environment").select_option("production")
    dialog.get_by_label("Description").fill("back office")
    dialog.get_by_role("button", name="Set up the webhook").click()
    expect(dialog.locator("#secret")).to_contain_text("whsec_", timeout=PATIENCE_MS)
    dialog.get_by_role("button", name="I have copied it, close").click()
    row = card.locator("tbody tr")
    expect(row).to_contain_text("back office", timeout=PATIENCE_MS)
    (made,) = office.desk.all("/accounts/asha/webhooks")
    assert (made["url"], made["environment"], made["enabled"]) == (URL, "production", True)
    row.get_by_role("button", name="Switch off").click()
    dialog.get_by_role("button", name="Switch it off").click()
    expect(row).to_contain_text("Switched off by the desk.", timeout=PATIENCE_MS)
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Webhook")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator("#attempts")).to_contain_text("Nothing was sent yet.")
    expect(page.locator("#dead")).to_contain_text("No event was given up.")
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete the webhook").click()
    expect(page.locator("body")).to_contain_text("The webhook is deleted.", timeout=PATIENCE_MS)
    assert office.desk.all("/accounts/asha/webhooks") == []
