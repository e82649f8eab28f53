"""The page of users: created, changed, their sessions ended, revoked; for admins alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.console import ConsoleProcess, Visitor, session_of
from tests.support.console_client import console_client, text_of
from tests.support.desk import Office
from tests.support.node import until


def row_of(page: Page, name: str) -> Locator:
    return page.locator("#users-table tbody tr", has_text=name)


def asked(page: Page, button: str) -> Locator:
    page.get_by_role("button", name=button, exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    return dialog


def test_a_user_is_created_changed_and_revoked(
    visit: Callable[..., Visitor], office: Office, admin: str
) -> None:
    someone, other = visit(), visit()
    page = someone.open(admin, "users")
    expect(row_of(page, "an admin (you)")).to_contain_text("admin")
    dialog = asked(page, "New user")
    dialog.get_by_label("Name").fill("Asha, dealing")
    dialog.get_by_label("Role").select_option("dealer")
    dialog.get_by_role("button", name="Create").click()
    token = dialog.locator("#secret").inner_text()
    dialog.get_by_role("button", name="I have copied it").click()
    assert token not in page.content()
    row = row_of(page, "Asha, dealing")
    expect(row).to_contain_text("never")
    token_id = token.split(".")[1]

    theirs = other.open(token)
    other.expect_trouble("Failed to load resource")
    expect(theirs.get_by_role("navigation").get_by_role("link", name="Users")).to_have_count(0)
    expect(row.locator("td").nth(5)).to_have_text("1")
    # Another role ends the session.
    dialog = asked(page, "Change Asha, dealing")
    expect(dialog).to_contain_text(f"Change Asha, dealing ({token_id})")
    dialog.get_by_label("Role").select_option("viewer")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("role dealer → viewer")
    expect(dialog).to_be_hidden()
    theirs.wait_for_url("**/login?next=%2Foverview")
    other.log_in(token)
    expect(theirs.locator(".who")).to_contain_text("read only")
    # So does an admin, by hand.
    dialog = asked(page, "End the sessions of Asha, dealing")
    expect(dialog).to_contain_text(f"End the sessions of Asha, dealing ({token_id})?")
    expect(dialog).to_contain_text("Open sessions: 1.")
    dialog.get_by_role("button", name="End the sessions").click()
    expect(dialog).to_be_hidden()
    theirs.wait_for_url("**/login?next=%2Foverview")
    other.log_in(token)
    theirs.wait_for_url("**/overview")
    dialog = asked(page, "Revoke Asha, dealing")
    expect(dialog).to_contain_text(f"Revoke Asha, dealing ({token_id})?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Revoke the user").click()
    theirs.wait_for_url("**/login?next=%2Foverview")
    expect(row).to_contain_text("revoked")
    expect(row.get_by_role("button")).to_have_count(0)
    actions = [entry["action"] for entry in office.desk.do("GET", "/audit?limit=4")["items"]]
    assert actions == ["delete_token", "end_token_sessions", "patch_token", "create_token"]


@pytest.mark.parametrize("role", ["viewer", "dealer"])
def test_others_do_not_see_the_page_nor_act_on_users(
    console: ConsoleProcess, office: Office, hire: Callable[[str], str], role: str
) -> None:
    mine = f"token={office.admin_token['token_id']}"
    with session_of(console, hire(role)) as (client, csrf):
        answer = client.get("/users")
        assert answer.status_code == 403
        assert f"This needs the role admin; yours is {role}." in answer.text
        assert "an admin" not in client.get("/live/users").json()["parts"]["main"]
        for action in (f"revoke?{mine}", f"end-sessions?{mine}", f"edit?{mine}", "create"):
            form = {"csrf": csrf, "name": "me", "role": "admin", "seen": ""}
            sent = client.post(f"/actions/users/{action}", data=form, headers={"Origin": console.url})
            assert sent.status_code == 403, sent.text
    assert len(office.desk.all("/tokens")) == 2


def test_a_role_that_somebody_else_changed_is_not_undone(console: ConsoleProcess, office: Office) -> None:
    token_id = office.desk.do("POST", "/tokens", {"name": "Bela", "role": "viewer"})["token_id"]
    action = f"users/edit?token={token_id}"
    with console_client(console, office) as at:
        form = at.ask(action)
        assert (form["name"], form["role"]) == ("Bela", "viewer")
        office.desk.do("PATCH", f"/tokens/{token_id}", {"role": "dealer"})
        answer = at.send(action, {**form, "name": "Bela R"})
    assert answer.status_code == 409
    assert "was changed since you opened this form" in answer.json()["refused"]
    (now,) = [each for each in office.desk.all("/tokens") if each["token_id"] == token_id]
    assert (now["name"], now["role"]) == ("Bela", "dealer")


def test_a_program_that_uses_its_token_is_seen(console: ConsoleProcess, office: Office) -> None:
    made = office.desk.do("POST", "/tokens", {"name": "pricing program", "role": "viewer"})
    with console_client(console, office) as at:

        def last_used() -> str:
            row = at.see("users").partition("pricing program")[2].partition("</tr>")[0]
            return text_of(row)

        assert "never" in last_used()
        office.caller(made["token"]).all("/accounts")
        until(lambda: "never" not in last_used(), within_s=10)
