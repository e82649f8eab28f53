"""Coming in and going out: tokens, sessions, the throttle, and what other sites may not do."""

import http.client
import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.console import ConsoleProcess, Visitor, session_cookie, session_of
from tests.support.desk import Office
from tests.support.loopback_transport import LoopbackTransport
from tests.support.node import Node, own_address, until

REFUSED_LOAD = "Failed to load resource"


def test_somebody_logs_in_and_out_again(someone: Visitor, admin: str, console: ConsoleProcess) -> None:
    page = someone.open(admin)
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("Overview")
    expect(page.locator(".who")).to_contain_text("admin")
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert admin not in str(cookie["value"])
    someone.from_menu("button", "Log out")
    page.wait_for_url("**/login*")
    # The server forgets it too: who kept the cookie has nothing.
    kept = httpx.get(f"{console.url}/overview", cookies={str(cookie["name"]): str(cookie["value"])})
    assert (kept.status_code, kept.headers["location"]) == (303, "/login?next=%2Foverview")
    page.go_back()
    expect(page.get_by_label("Desk token")).to_be_visible()


def test_who_is_not_logged_in_comes_to_where_they_wanted_afterwards(someone: Visitor, admin: str) -> None:
    someone.page.goto(f"{someone.console.url}/overview?from=mail")
    expect(someone.page.locator("main")).to_contain_text("Log in to continue where you were")
    someone.page.get_by_label("Desk token").fill(f"  {admin} ")
    someone.page.keyboard.press("Enter")
    someone.page.wait_for_url("**/overview?from=mail")


def test_a_wrong_token_is_told_and_too_many_have_to_wait(someone: Visitor, admin: str) -> None:
    someone.expect_trouble(REFUSED_LOAD)
    someone.log_in("desk.0123456789abcdef." + "x" * 51)
    expect(someone.page.get_by_role("alert")).to_contain_text("not a desk token")
    headers = {"Origin": someone.console.url, "X-Forwarded-For": own_address()}
    with httpx.Client(base_url=someone.console.url, headers=headers) as guesser:
        answers = [guesser.post("/login", data={"token": f"guess {number}"}) for number in range(21)]
        assert [each.status_code for each in answers] == [401] * 20 + [429]
        assert int(answers[-1].headers["retry-after"]) > 0
        # Also the right one has to wait then.
        assert guesser.post("/login", data={"token": admin}).status_code == 429
        assert "Too many" in answers[-1].text
    log = "".join(someone.console.log)
    assert "guess" not in log
    assert admin not in log


def test_the_addresses_of_one_ipv6_customer_have_to_wait_together(console: ConsoleProcess) -> None:
    """Whoever rents a machine has a /64, and may use another address of it for each guess."""
    with httpx.Client(base_url=console.url, headers={"Origin": console.url}) as guesser:

        def guess(address: str) -> int:
            answer = guesser.post("/login", data={"token": "guess"}, headers={"X-Forwarded-For": address})
            return answer.status_code

        assert [guess(f"2001:db8:0:77::{number:x}") for number in range(21)] == [401] * 20 + [429]
        assert guess("2001:db8:0:78::1") == 401


def test_a_deleted_token_ends_its_sessions(
    someone: Visitor, office: Office, hire: Callable[[str], str]
) -> None:
    token = hire("dealer")
    page = someone.open(token)
    someone.expect_trouble(REFUSED_LOAD)
    office.desk.do("DELETE", f"/tokens/{token.split('.')[1]}")
    page.wait_for_url("**/login?next=%2Foverview", timeout=5_000)


HALT = "/actions/frame/halt"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {},
        {"Origin": "here", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "here", "Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_forged_post_changes_nothing(
    console: ConsoleProcess, office: Office, admin: str, headers: dict[str, str]
) -> None:
    sent = {name: console.url if value == "here" else value for name, value in headers.items()}
    with session_of(console, admin) as (client, csrf):
        answer = client.post(HALT, data={"csrf": csrf}, headers=sent)
        assert answer.status_code == 403
        assert "did not come from" in answer.json()["refused"]
    assert office.desk.do("GET", "/switches")["halted"] is False


def test_an_origin_that_cannot_be_read_is_not_from_here(console: ConsoleProcess, admin: str) -> None:
    broken = {"Origin": "http://["}
    assert httpx.get(f"{console.url}/login", headers=broken).status_code == 200
    assert httpx.post(f"{console.url}/login", headers=broken, data={"token": admin}).status_code == 403
    with session_of(console, admin) as (client, _):
        assert client.get("/overview", headers=broken).status_code == 200
        assert client.get("/live/overview", headers=broken).status_code == 403


def test_a_post_without_the_forms_token_changes_nothing(
    console: ConsoleProcess, office: Office, admin: str
) -> None:
    with session_of(console, admin) as (client, csrf):
        for form in ({}, {"csrf": ""}, {"csrf": csrf[:-1]}):
            answer = client.post(HALT, data=form, headers={"Origin": console.url})
            assert answer.status_code == 403
        assert office.desk.do("GET", "/switches")["halted"] is False
        # And with all that belongs to it, it works: what is refused above is refused for its reason.
        answer = client.post(HALT, data={"csrf": csrf}, headers={"Origin": console.url})
        assert answer.json()["done"] == "Trading is halted."
    assert office.desk.do("GET", "/switches")["halted"] is True


def test_a_page_of_another_origin_gets_nowhere(
    someone: Visitor, office: Office, admin: str, node: Node
) -> None:
    """In a real browser, and from the same machine: the cookie goes with it, and the origin gives it away."""
    someone.expect_trouble(".*")
    page = someone.open(admin)
    csrf = page.locator("input[name=csrf]").first.input_value()
    page.goto(f"{node.api_url}/openapi.json")
    read = (
        """url => fetch(url + "/live/overview", {credentials: "include"}).then(() => "read", () => "kept")"""
    )
    assert page.evaluate(read, someone.console.url) == "kept"
    post = """([url, csrf]) => {
        document.body.innerHTML = `<form method="post"><input name="csrf"></form>`;
        const form = document.querySelector("form");
        form.action = url + "/actions/frame/halt";
        form.csrf.value = csrf;
        form.submit();
    }"""
    page.evaluate(post, [someone.console.url, csrf])
    page.wait_for_url("**/actions/frame/halt")
    expect(page.locator("body")).to_contain_text("did not come from")
    assert office.desk.do("GET", "/switches")["halted"] is False


def test_there_is_no_websocket_for_anybody(console: ConsoleProcess, admin: str) -> None:
    with session_of(console, admin) as (client, _):
        cookie = "=".join(session_cookie(client))
    host = urlsplit(console.url)
    for origin in ("http://evil.example", console.url):
        line = http.client.HTTPConnection(host.hostname or "", host.port, timeout=10)
        line.request(
            "GET",
            "/live/overview",
            headers={
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Origin": origin,
                "Cookie": cookie,
            },
        )
        answer = line.getresponse()
        assert answer.status != 101
        assert (answer.status == 403) == (origin != console.url)
        line.close()


def test_the_headers_are_strict(console: ConsoleProcess, admin: str) -> None:
    with session_of(console, admin) as (client, _):
        for path in ("/login", "/overview"):
            headers = client.get(path, follow_redirects=True).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["cache-control"] == "no-store"
            assert "server" not in headers


@pytest.mark.parametrize(
    "cookie", ["", "x", "x.y", "a" * 43 + "." + "0" * 64, "é.é", '"; Path=/', "." * 1000], ids=repr
)
def test_a_made_up_cookie_is_nobodys(console: ConsoleProcess, cookie: str, admin: str) -> None:
    with session_of(console, admin) as (client, _):
        name, _ = session_cookie(client)
    line = http.client.HTTPConnection(urlsplit(console.url).netloc, timeout=10)
    line.request("GET", "/overview", headers={"Cookie": f"{name}={cookie}".encode()})
    answer = line.getresponse()
    assert (answer.status, answer.headers["location"]) == (303, "/login?next=%2Foverview")
    line.close()


def test_a_hostile_cookie_costs_no_more_time_than_any_other(console: ConsoleProcess) -> None:
    """Sent without a log-in, by anybody."""

    def least_s(cookie: str) -> float:
        taken = []
        for _ in range(3):
            began = time.monotonic()
            assert client.get("/login", headers={"Cookie": cookie}).status_code == 200
            taken.append(time.monotonic() - began)
        return min(taken)

    with httpx.Client(base_url=console.url, transport=LoopbackTransport()) as client:
        plain = least_s('bullion_console="' + "x" * 15_000 + '"')
        assert least_s('bullion_console="' + "\\" * 15_000 + '"') < 20 * plain


@pytest.mark.parametrize(
    "where", ["//evil.example", "https://evil.example", "/\\evil.example", "/a b", "/\r\nX: y"]
)
def test_the_log_in_leads_to_pages_of_ours_alone(console: ConsoleProcess, admin: str, where: str) -> None:
    answer = httpx.post(
        f"{console.url}/login",
        data={"token": admin, "next": where},
        headers={"Origin": console.url, "X-Forwarded-For": own_address()},
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_behind_tls_the_cookie_is_for_tls_alone(console: ConsoleProcess, admin: str) -> None:
    headers = {"Origin": console.url, "X-Forwarded-For": own_address(), "X-Forwarded-Proto": "https"}
    answer = httpx.post(f"{console.url}/login", data={"token": admin}, headers=headers)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-bullion_console_")
    assert "; Secure" in cookie


def test_what_is_not_there_is_told_in_words(console: ConsoleProcess, admin: str) -> None:
    with session_of(console, admin) as (client, csrf):
        for path in ("/live/nowhere", "/dialogs/frame/nowhere", "/dialogs/nowhere/halt"):
            answer = client.get(path)
            assert answer.status_code == 404
            assert "no such" in answer.json()["refused"]
        page = client.get("/nowhere/at/all")
        assert page.status_code == 404
        assert "There is no such page in the console." in page.text
        assert 'href="/overview"' in page.text
        form, own = {"csrf": csrf}, {"Origin": console.url}
        assert client.post("/actions/overview/nothing", data=form, headers=own).status_code == 404
        put = client.put("/overview")
        assert (put.status_code, put.headers["allow"]) == (405, "GET, POST")
        assert client.get("/assets/../app.py").status_code in (303, 404)
        assert client.get("/assets/__init__.py").status_code == 404


def test_head_on_its_health_is_answered_without_a_body(console: ConsoleProcess) -> None:
    got, head = httpx.get(f"{console.url}/health/live"), httpx.head(f"{console.url}/health/live")
    assert (head.status_code, head.content) == (got.status_code, b"") == (200, b"")
    assert head.headers["content-length"] == str(len(got.content))
    refused = httpx.put(f"{console.url}/health/live")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_coming_and_going_is_in_the_log(
    console: ConsoleProcess, hire: Callable[[str], str], office: Office
) -> None:
    with session_of(console, hire("viewer")) as (client, csrf):
        client.post("/logout", data={"csrf": csrf}, headers={"Origin": console.url})
    until(lambda: any(each["broker"] == office.broker for each in console.entries("logged_out")), 5)
    (came,) = [each for each in console.entries("logged_in") if each["broker"] == office.broker]
    assert came["actor"].startswith("a viewer (")
    assert csrf not in json.dumps(console.log)
