"""What a browser shows when there is nothing to show: a page with the right status, and what to do next.

The console's own script reads JSON, and goes on doing so.
"""

import http.client
import uuid
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.console import ConsoleProcess, Visitor, session_of

HTML = "text/html; charset=utf-8"
NOBODY = str(uuid.UUID(int=5))


def answer_to(
    console: ConsoleProcess, method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, str, str]:
    """Status, type and text of what is answered to a request that is sent as it is written."""
    line = http.client.HTTPConnection(urlsplit(console.url).netloc, timeout=20)
    line.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = line.getresponse()
    told = answer.status, answer.headers["content-type"], answer.read().decode()
    line.close()
    return told


@pytest.mark.parametrize(
    ("path", "words", "link"),
    [
        (f"/orders/{NOBODY}", "There is no such order on this broker.", 'href="/orders"'),
        ("/orders/not-an-id", "There is no such order on this broker.", 'href="/orders"'),
        ("/orders/%ff", "There is no such order on this broker.", 'href="/orders"'),
        ("/orders/%3Fpage=1", "There is no such order on this broker.", 'href="/orders"'),
        (f"/orders/decision/{'0' * 24}", "There is no decision on such a call", "refreshes by itself"),
        ("/orders/decision/x", "There is no decision on such a call", 'href="/orders"'),
        ("/orders/a/b", "There is no such page in the console.", 'href="/orders"'),
        ("/accounts/nobody", "There is no such account on this broker.", 'href="/accounts"'),
        ("/accounts/nobody/else", "There is no such page in the console.", 'href="/accounts"'),
        ("/market/nothing", "There is no such page in the console.", 'href="/market"'),
        ("/overview/nothing", "There is no such page in the console.", 'href="/overview"'),
        ("/audit/nothing", "There is no such page in the console.", 'href="/audit"'),
        ("/nothing", "There is no such page in the console.", 'href="/overview"'),
    ],
)
def test_what_is_not_there_is_a_page_with_status_404(
    console: ConsoleProcess, admin: str, path: str, words: str, link: str
) -> None:
    with session_of(console, admin) as (client, _):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, HTML)
        main = answer.text.partition("<main")[2]
        assert words in main
        assert link in main


@pytest.mark.parametrize("path", ["/overview?x=%ff", "/orders?find=%e9", "/login?next=%ff", "/?%fe"])
def test_an_address_that_cannot_be_read_is_a_page(console: ConsoleProcess, path: str) -> None:
    status, kind, text = answer_to(console, "GET", path)
    assert (status, kind) == (400, HTML)
    assert "This address cannot be read" in text
    assert 'href="/"' in text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_another_method_is_refused_with_a_page(console: ConsoleProcess, method: str) -> None:
    status, kind, text = answer_to(console, method, "/overview")
    assert (status, kind) == (405, HTML)
    assert "<!doctype html>" in text


def test_a_form_that_is_too_large_is_refused_with_a_page(console: ConsoleProcess) -> None:
    status, kind, text = answer_to(console, "POST", "/login", b"x" * 70_000, Origin=console.url)
    assert (status, kind) == (413, HTML)
    assert "The body is over 64 KiB." in text


def test_a_form_that_cannot_be_read_is_refused_with_a_page(console: ConsoleProcess) -> None:
    status, kind, text = answer_to(console, "POST", "/login", b"token=%ff", Origin=console.url)
    assert (status, kind) == (422, HTML)
    assert "cannot be read as a form" in text


def test_a_form_of_another_site_is_refused_with_a_page(console: ConsoleProcess) -> None:
    status, kind, text = answer_to(console, "POST", "/login", b"token=x", Origin="http://evil.example")
    assert (status, kind) == (403, HTML)
    assert "did not come from a page of this console" in text


def test_to_log_out_twice_leads_to_the_log_in(console: ConsoleProcess, admin: str) -> None:
    with session_of(console, admin) as (client, csrf):
        for _ in range(2):
            answer = client.post("/logout", data={"csrf": csrf}, headers={"Origin": console.url})
            assert (answer.status_code, answer.headers["location"]) == (303, "/login")


def test_the_script_of_the_console_goes_on_reading_json(console: ConsoleProcess, admin: str) -> None:
    own = {"Origin": console.url}
    with session_of(console, admin) as (client, csrf):
        refused = [
            client.get("/live/nothing"),
            client.get("/live/overview/nothing"),
            client.get("/live/overview?x=%ff"),
            client.get("/dialogs/frame/nothing"),
            client.put("/actions/frame/halt"),
            client.post("/actions/frame/halt", data={}, headers=own),
            client.post("/actions/frame/nothing", data={"csrf": csrf}, headers=own),
            client.post("/previews/frame/nothing", data={"csrf": csrf}, headers=own),
            client.post("/actions/frame/halt", content=b"x" * 70_000, headers=own),
            httpx.get(f"{console.url}/live/overview"),
            httpx.post(f"{console.url}/actions/frame/halt", headers=own),
        ]
        assert [each.status_code for each in refused] == [
            404,
            404,
            400,
            404,
            405,
            403,
            404,
            404,
            413,
            401,
            401,
        ]
        assert all(each.json()["refused"] for each in refused)
        # What is not there is told in the part of the page that changes, and the page looks again.
        live = client.get(f"/live/orders/{NOBODY}")
        assert live.status_code == 200
        assert "There is no such order on this broker." in live.json()["parts"]["main"]


def test_a_browser_that_opens_an_address_of_the_script_sees_a_page(console: ConsoleProcess) -> None:
    status, kind, _ = answer_to(console, "PUT", "/live/overview", Sec_Fetch_Mode="navigate")
    assert (status, kind) == (405, HTML)


def test_the_page_of_an_unknown_decision_looks_again(someone: Visitor, admin: str) -> None:
    someone.expect_trouble("404")
    request_id = "f" * 24
    page = someone.open(admin, f"orders/decision/{request_id}")
    expect(page.locator("#main")).to_contain_text("There is no decision on such a call")
    expect(page.locator("#main")).to_contain_text("refreshes by itself")
    # It really does: this is what the script asks for again and again.
    with page.expect_response(lambda answer: f"/live/orders/decision/{request_id}" in answer.url) as found:
        pass
    assert found.value.status == 200
