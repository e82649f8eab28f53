"""Sessions that outlive a console: restarts, several consoles, and two deployments on one host."""

import signal
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, expect

from tests.support.command import bullion
from tests.support.console import ConsoleProcess, running_console, session_cookie, session_of, visitor
from tests.support.desk import Caller, Office
from tests.support.node import DESK_TOKEN, SECRET, Node, own_address, until
from tests.support.tcp_proxy import TcpProxy

PATIENCE_MS = 20_000
"""For what the next poll of a page shows, on a busy machine."""


def test_a_restart_keeps_the_session_and_an_open_dialog(
    browser: Browser, node: Node, console_settings: dict[str, str], office: Office, admin: str
) -> None:
    with running_console(node.folder, **console_settings) as before:
        port = {"BULLION_CONSOLE_PORT": str(urlsplit(before.url).port)}
        with visitor(browser, before) as someone:
            someone.expect_trouble("ERR_|Failed to load resource")
            page = someone.open(admin, "accounts")
            page.get_by_role("button", name="New account").click()
            dialog = page.get_by_role("dialog")
            dialog.get_by_label("Login").fill("typed-before")
            before.process.send_signal(signal.SIGTERM)
            before.process.wait(timeout=30)
            expect(page.locator("#banner")).to_contain_text(
                "The console does not answer", timeout=PATIENCE_MS
            )
            dialog.get_by_role("button", name="Create").click()
            expect(dialog.get_by_role("alert")).to_contain_text("The console does not answer")
            with running_console(node.folder, **console_settings | port):
                expect(page.locator("#banner")).to_be_empty(timeout=PATIENCE_MS)
                dialog.get_by_role("button", name="Create").click()
                page.wait_for_url("**/accounts/typed-before")
    assert office.desk.do("GET", "/accounts/typed-before")["group"] == "retail"


def test_consoles_of_one_deployment_share_their_sessions(
    console: ConsoleProcess, node: Node, console_settings: dict[str, str], admin: str
) -> None:
    with (
        running_console(node.folder, **console_settings) as second,
        session_of(console, admin) as (client, csrf),
    ):
        cookies = dict([session_cookie(client)])

        def status() -> int:
            return httpx.get(f"{second.url}/live/overview", cookies=cookies).status_code

        assert status() == 200
        client.post("/logout", data={"csrf": csrf}, headers={"Origin": console.url})
        until(lambda: status() == 401, within_s=5)


def test_a_user_who_is_removed_is_out_at_once_where_the_store_is_far_away(
    hand_node: Node, hand_first: Caller
) -> None:
    """Slow reads of pages are repeated less often. Whether somebody may see them is not."""
    office = Office.open(hand_node, hand_first)
    database = urlsplit(hand_node.settings["BULLION_DATABASE_URL"])
    proxy = TcpProxy(database.port or 0)
    far = database._replace(netloc=database.netloc.replace(f":{database.port}", f":{proxy.port}")).geturl()
    settings = {**hand_node.settings, "BULLION_DATABASE_URL": far, "BULLION_SECRET": SECRET}
    token = office.desk.do("POST", "/tokens", {"name": "leaver", "role": "viewer"})
    with (
        running_console(hand_node.folder, **settings) as console,
        session_of(console, token["token"]) as (client, _),
    ):
        proxy.delay_s = 0.06
        for _ in range(2):  # The second is answered by a session that was read through the proxy.
            assert client.get("/login").status_code == 303
            time.sleep(1)
        assert client.get("/login").status_code == 303
        office.desk.do("DELETE", f"/tokens/{token['token_id']}")
        assert until(lambda: client.get("/login").status_code == 200, within_s=20) < 3
    proxy.remove()
    office.close()


def test_two_deployments_on_one_host_do_not_end_each_others_sessions(
    browser: Browser, console: ConsoleProcess, admin: str, tmp_path: Path
) -> None:
    """Browsers send a cookie to every port of its host."""
    settings = {"BULLION_DESK_TOKEN": DESK_TOKEN, "BULLION_SECRET": SECRET, "BULLION_BROKER": "second"}
    assert bullion(tmp_path, "migrate", **settings).returncode == 0
    with running_console(tmp_path, **settings) as other, visitor(browser, console) as someone:
        page = someone.open(admin)
        page.goto(f"{other.url}/login")
        expect(page.get_by_role("heading")).to_contain_text("second")
        page.get_by_label("Desk token").fill(DESK_TOKEN)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(f"{other.url}/overview")
        page.goto(f"{console.url}/overview")
        expect(page.locator(".who")).to_contain_text("an admin")
        page.goto(f"{other.url}/overview")
        expect(page.locator(".who")).to_contain_text("first token")
        names = {cookie["name"] for cookie in page.context.cookies()}
        assert len(names) == 2


def test_a_session_ends_after_the_time_that_the_settings_say(
    node: Node, console_settings: dict[str, str], admin: str
) -> None:
    with running_console(node.folder, **console_settings, BULLION_CONSOLE_SESSION_S="2") as console:
        headers = {"Origin": console.url, "X-Forwarded-For": own_address()}
        answer = httpx.post(f"{console.url}/login", data={"token": admin}, headers=headers)
        assert "Max-Age=2;" in answer.headers["set-cookie"]
        cookies = dict(answer.cookies)

        def status() -> int:
            return httpx.get(f"{console.url}/live/overview", cookies=cookies).status_code

        until(lambda: status() == 401, within_s=20)
