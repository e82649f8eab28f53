"""Webhooks in the console: set up on the account's page, looked into, replayed, switched and deleted."""

import sqlite3
import time
from contextlib import closing

import pytest
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


@pytest.mark.stacks_in_turn(only="sqlite")
def test_attempts_and_lost_events_of_a_webhook(someone: Visitor, office: Office, admin: str) -> None:
    office.desk.account("asha")
    body = {"environment": "production", "url": URL}
    webhook_id = office.desk.do("POST", "/accounts/asha/webhooks", body)["webhook_id"]
    with closing(sqlite3.connect(office.node.folder / "var" / "bullion.db")) as store, store:
        ((book_id,),) = store.execute("SELECT book_id FROM webhooks WHERE id = ?", (webhook_id,))
        now_us = time.time_ns() // 1000
        attempt = (17, "evt_2", "order.opened", now_us, 500, 41, "The receiver answered 500.", "<b>oops</b>")
        store.execute(
            "INSERT INTO webhook_attempts VALUES (?, ?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?)",
            (book_id, webhook_id, *attempt),
        )
        # The event was never there, so a replay takes it off the list.
        store.execute(
            "INSERT INTO webhook_dead_events VALUES (?, ?, 12, 'evt_1', 'order.closed', ?, 19, '500', 0)",
            (book_id, webhook_id, now_us),
        )
    page = someone.open(admin, f"accounts/asha/webhooks/{webhook_id}")
    attempts, dead = page.locator("#attempts"), page.locator("#dead")
    expect(attempts).to_contain_text("The receiver answered 500.", timeout=PATIENCE_MS)
    expect(attempts).to_contain_text("<b>oops</b>")
    expect(dead).to_contain_text("order.closed")
    dead.get_by_role("button", name="Replay").click()
    page.get_by_role("dialog").get_by_role("button", name="Send them again").click()
    expect(page.locator("body")).to_contain_text("1 events are sent again.", timeout=PATIENCE_MS)
    expect(dead).to_contain_text("No event was given up.", timeout=PATIENCE_MS)
    expect(attempts).to_contain_text("The event is no longer kept.", timeout=PATIENCE_MS)
