"""The second factor in the console: set up, asked for at log-in, required by the broker, reset."""

import base64
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import quote

import httpx
from playwright.sync_api import Page, expect

from bullion.keys.totp import STEP_S, code_at
from tests.support.console import ConsoleProcess, Visitor, session_cookie, session_of
from tests.support.console_client import ConsoleClient
from tests.support.desk import Office
from tests.support.loopback_transport import LoopbackTransport
from tests.support.node import own_address, until

REFUSED_LOAD = "Failed to load resource"


def code_of(key: str, off: int = 0) -> str:
    """What an app with this key shows now, or some steps later."""
    plain = key.replace(" ", "")
    secret = base64.b32decode(plain + "=" * (-len(plain) % 8))
    return code_at(secret, int(time.time()) // STEP_S + off)


def enrol(page: Page) -> tuple[str, list[str]]:
    """Set it up on the page of the second factor. Returns the key and the recovery codes."""
    page.get_by_role("button", name="Set it up").click()
    key = page.locator("code.key").inner_text()
    shown = page.get_by_role("img", name="QR code").bounding_box()
    assert shown is not None
    assert shown["width"] == shown["height"] >= 180  # A telephone reads it from a screen.
    page.get_by_label("Code", exact=True).fill(code_of(key))
    page.get_by_role("button", name="Turn it on").click()
    expect(page.get_by_role("heading")).to_have_text("Recovery codes")
    return key, page.locator(".codes code").all_inner_texts()


def test_a_user_sets_it_up_and_logs_in_with_it(
    visit: Callable[..., Visitor], hire: Callable[[str], str], office: Office
) -> None:
    token, someone, elsewhere = hire("dealer"), visit(), visit()
    other = elsewhere.open(token)
    elsewhere.expect_trouble(REFUSED_LOAD)
    page = someone.open(token)
    someone.expect_trouble(REFUSED_LOAD)
    someone.from_menu("link", "Security")
    expect(page.locator("main")).to_contain_text("The second factor is off")
    key, codes = enrol(page)
    assert len(codes) == 10
    page.get_by_role("link", name="I have kept them").click()
    page.wait_for_url("**/overview")
    # Sessions that were open before have to enter a code too, and come back to where they were.
    other.wait_for_url("**/login/code?next=%2Foverview")
    other.get_by_label("Code").fill(codes[0])
    other.get_by_role("button", name="Log in").click()
    other.wait_for_url("**/overview")

    someone.from_menu("button", "Log out")
    page.wait_for_url("**/login*")  # A poll on its way may add where to come back to.
    someone.log_in(token)
    page.wait_for_url("**/login/code")
    page.get_by_label("Code").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("This code is wrong, or was used before.")
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("used before")
    page.get_by_label("Code").fill(code_of(key, 1))
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/overview")
    page.goto(f"{someone.console.url}/second-factor")
    expect(page.locator("main")).to_contain_text("Recovery codes left: 9.")
    page.get_by_label("Code").fill(codes[1])
    page.get_by_role("button", name="Turn it off").click()
    expect(page.locator("main")).to_contain_text("The second factor is off")
    entries = office.desk.do("GET", "/audit?limit=4")["items"]
    assert [entry["action"] for entry in entries] == [
        "remove_second_factor",
        "use_recovery_code",
        "use_recovery_code",
        "enrol_second_factor",
    ]
    log = "".join(someone.console.log)
    assert not any(secret in log for secret in (key, key.replace(" ", ""), *codes))


def test_the_broker_requires_it_and_an_admin_resets_it(
    visit: Callable[..., Visitor], admin: str, hire: Callable[[str], str], office: Office
) -> None:
    someone, boss = visit(), visit()
    someone.expect_trouble(REFUSED_LOAD)
    page, token = someone.open(admin, "users"), hire("dealer")
    page.get_by_role("button", name="Second factor", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Required").select_option("all")
    dialog.get_by_role("button", name="Save").click()
    # It holds for the admin too, who has none yet.
    page.wait_for_url("**/second-factor?next=%2Fusers")
    expect(page.locator("main")).to_contain_text("Your broker requires a second factor")
    page.goto(f"{someone.console.url}/orders")
    page.wait_for_url("**/second-factor?next=%2Forders")
    enrol(page)
    page.get_by_role("link", name="I have kept them").click()
    page.wait_for_url("**/orders")

    boss.log_in(token)
    theirs = boss.page
    boss.expect_trouble(REFUSED_LOAD)
    theirs.wait_for_url("**/second-factor")
    enrol(theirs)
    theirs.get_by_role("link", name="I have kept them").click()
    theirs.wait_for_url("**/overview")
    boss.from_menu("link", "Security")
    expect(theirs.get_by_role("button", name="Turn it off")).to_have_count(0)

    page.goto(f"{someone.console.url}/users")
    row = page.locator("#users-table tbody tr", has_text="a dealer")
    expect(row).to_contain_text("on")
    row.get_by_role("button", name="Reset the second factor of a dealer").click()
    expect(dialog).to_contain_text(f"Reset the second factor of a dealer ({token.split('.')[1]})?")
    dialog.get_by_role("button", name="Reset the second factor").click()
    expect(row).to_contain_text("off")
    theirs.goto(f"{boss.console.url}/overview")
    theirs.wait_for_url("**/login?next=%2Foverview")


@contextmanager
def user_with_factor(console: ConsoleProcess, token: str) -> Iterator[tuple[httpx.Client, str, list[str]]]:
    """Logged in with the token alone, with the key and the recovery codes of the factor."""
    own = {"Origin": console.url}
    with session_of(console, token) as (client, csrf):
        client.post("/second-factor/begin", data={"csrf": csrf}, headers=own)
        found = re.search(r'class="key">([^<]+)<', client.get("/second-factor").text)
        assert found is not None
        sent = {"csrf": csrf, "code": code_of(found[1])}
        shown = client.post("/second-factor/confirm", data=sent, headers=own)
        assert shown.status_code == 200
        codes = re.findall(r"<li><code>([^<]+)</code>", shown.text)
    headers = {"X-Forwarded-For": own_address(), **own}
    transport = LoopbackTransport()
    with httpx.Client(base_url=console.url, headers=headers, transport=transport, timeout=20) as client:
        answer = client.post("/login", data={"token": token})
        assert answer.headers["location"] == "/login/code"
        assert "Max-Age=300;" in answer.headers["set-cookie"]
        yield client, found[1], codes


def csrf_of(client: httpx.Client) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/login/code").text)
    assert found is not None
    return found[1]


def test_without_the_code_the_token_opens_nothing(
    console: ConsoleProcess, office: Office, hire: Callable[[str], str]
) -> None:
    with user_with_factor(console, hire("dealer")) as (client, _, codes):
        csrf = csrf_of(client)
        for path in ("/", "/overview", "/users", "/second-factor", "/nowhere"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/login/code")
        for path in ("/live/overview", "/dialogs/frame/halt"):
            assert client.get(path).status_code == 401
        assert client.post("/actions/frame/halt", data={"csrf": csrf}).status_code == 401
        for path in ("begin", "confirm", "turn-off"):
            sent = {"csrf": csrf, "code": codes[0]}
            assert client.post(f"/second-factor/{path}", data=sent).status_code == 303
        assert office.desk.do("GET", "/switches")["halted"] is False
        # A forged form is refused before its code is looked at.
        assert client.post("/login/code", data={"code": codes[0]}).status_code == 403
        before = session_cookie(client)
        sent = {"csrf": csrf, "code": codes[0], "next": "//evil.example"}
        answer = client.post("/login/code", data=sent)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert session_cookie(client) != before
        assert client.get("/live/overview").status_code == 200
        # The cookie of the time before the code is worth nothing.
        old = httpx.get(f"{console.url}/live/overview", cookies=dict([before]))
        assert old.status_code == 401


def test_a_session_that_showed_the_old_key_has_to_show_the_new_one(
    console: ConsoleProcess, hire: Callable[[str], str]
) -> None:
    """The user sets up another key because the telephone is lost, with a session open on it."""
    token = hire("dealer")
    with user_with_factor(console, token) as (lost, _, codes):
        own = {"Origin": console.url}
        lost.post("/login/code", data={"csrf": csrf_of(lost), "code": codes[0]})
        assert lost.get("/live/overview").status_code == 200
        headers = {"X-Forwarded-For": own_address(), **own}
        transport = LoopbackTransport()
        with httpx.Client(base_url=console.url, headers=headers, transport=transport, timeout=20) as safe:
            safe.post("/login", data={"token": token})
            safe.post("/login/code", data={"csrf": csrf_of(safe), "code": codes[1]})
            _send(safe, "turn-off", code=codes[2])
            assert (safe.get("/live/overview").status_code, lost.get("/live/overview").status_code) == (
                200,
                200,
            )
            _send(safe, "begin")
            found = re.search(r'class="key">([^<]+)<', safe.get("/second-factor").text)
            assert found is not None
            assert "Recovery codes" in _send(safe, "confirm", code=code_of(found[1])).text
            assert safe.get("/live/overview").status_code == 200
        until(lambda: lost.get("/live/overview").status_code == 401, within_s=5)
        assert lost.get("/overview").headers["location"].startswith("/login/code")


def test_the_rule_is_changed_by_who_saw_it_as_it_is(
    console: ConsoleProcess, office: Office, admin: str
) -> None:
    with user_with_factor(console, admin) as (client, _, codes):
        client.post("/login/code", data={"csrf": csrf_of(client), "code": codes[0]})
        found = re.search(r'name="csrf" value="([^"]+)"', client.get("/users").text)
        assert found is not None
        form = ConsoleClient(console, client, found[1]).ask("users/factor-rule")
        office.desk.do("PUT", "/second-factor", {"required": "all"})
        sent = {**form, "csrf": found[1], "required": "admins"}
        answer = client.post("/actions/users/factor-rule", data=sent)
        assert (answer.status_code, office.desk.do("GET", "/second-factor")) == (409, {"required": "all"})
        assert "was changed since you opened this form" in answer.json()["refused"]


def _send(client: httpx.Client, what: str, **sent: str) -> httpx.Response:
    """A form of the page of the user's own second factor."""
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/second-factor").text)
    assert found is not None
    return client.post(f"/second-factor/{what}", data={"csrf": found[1], **sent})


def test_right_codes_count_too(console: ConsoleProcess, hire: Callable[[str], str]) -> None:
    token = hire("viewer")
    with user_with_factor(console, token) as (client, _, codes):
        answers = []
        for code in codes[:6]:
            client.post("/login", data={"token": token})
            answers.append(client.post("/login/code", data={"csrf": csrf_of(client), "code": code}))
        assert [each.status_code for each in answers] == [303] * 5 + [429]


def test_the_app_names_the_users_own_broker(console: ConsoleProcess, office: Office, admin: str) -> None:
    """A console of several brokers: the log-in page names the first one."""
    name = office.desk.do("GET", "/brokers")["items"][0]["name"]
    with session_of(console, admin) as (client, csrf):
        client.post("/second-factor/begin", data={"csrf": csrf}, headers={"Origin": console.url})
        found = re.search(r'href="otpauth://totp/([^"]+)"', client.get("/second-factor").text)
    assert found is not None
    assert found[1].startswith(f"{quote(name)}:")
    assert found[1].endswith(f"issuer={quote(name)}")


def test_too_many_codes_have_to_wait(console: ConsoleProcess, hire: Callable[[str], str]) -> None:
    with user_with_factor(console, hire("viewer")) as (client, _, codes):
        csrf = csrf_of(client)
        tries = [client.post("/login/code", data={"csrf": csrf, "code": str(each)}) for each in range(6)]
        assert [each.status_code for each in tries] == [401] * 5 + [429]
        assert int(tries[-1].headers["retry-after"]) > 0
        assert client.post("/login/code", data={"csrf": csrf, "code": codes[0]}).status_code == 429
        assert client.get("/overview").status_code == 303


def test_the_rule_is_set_over_http_and_refused_by_name(office: Office) -> None:
    assert office.desk.do("GET", "/second-factor") == {"required": "off"}
    assert office.desk.do("PUT", "/second-factor", {"required": "admins"}) == {"required": "admins"}
    assert "required" in office.desk.refused("PUT", "/second-factor", {"required": "nobody"})
    dealer = office.hire("dealer")
    dealer.refused("PUT", "/second-factor", {"required": "off"}, status=403, code="role_too_low")
    path = f"/tokens/{office.admin_token['token_id']}/second-factor"
    dealer.refused("DELETE", path, status=403, code="role_too_low")
    office.desk.refused("DELETE", "/tokens/first/second-factor", status=404, code="not_found")
    # Programs with a token are not asked for a code.
    assert office.desk.all("/accounts") == []
