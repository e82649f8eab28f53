"""What all pages share: keyboard, themes, hostile names, and what they do when something is away."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from playwright.sync_api import Browser, expect

from tests.support.command import bullion, sentence
from tests.support.console import Visitor, running_console, visitor
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office
from tests.support.node import DESK_TOKEN, SECRET, Node
from tests.support.servers import Postgres, free_port
from tests.support.tcp_proxy import tcp_proxy

SLOW = """words => {
  const plain = window.fetch;
  window.fetch = async (path, options) => {
    if (String(path).includes(words)) await new Promise((done) => setTimeout(done, 1500));
    return plain(path, options);
  };
}"""
"""What goes to such an address arrives late."""
HOSTILE = "<script>document.title = 'owned'</script><b>'\"&amp;"


def test_everything_is_reached_by_keyboard(someone: Visitor, office: Office, admin: str) -> None:
    page = someone.open(admin)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    reached = []
    name = "(each => each.ariaLabel || each.innerText.trim())(document.activeElement)"
    for _ in range(26):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(name))
        if " · admin" in reached[-1]:
            page.keyboard.press("Enter")
        if reached[-1] == "Halt trading":
            break
    parts = ("Overview", "Find anything", "Theme", "Log out", "Halt trading")
    assert [each for each in reached if each in parts] == list(parts)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Theme")).to_be_hidden()
    halt = page.get_by_role("button", name="Halt trading")
    halt.focus()
    # The page looks anew meanwhile, and leaves the focus where it is.
    page.wait_for_timeout(2_200)
    expect(halt).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(halt).to_be_focused()
    assert office.desk.do("GET", "/switches")["halted"] is False
    page.keyboard.press("Space")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Trading is halted.")
    assert office.desk.do("GET", "/switches")["halted"] is True


def test_the_theme_follows_the_machine_until_somebody_chooses(someone: Visitor, admin: str) -> None:
    page = someone.open(admin, "audit")
    ground = "getComputedStyle(document.body).backgroundColor"
    colours = {"light": "rgb(241, 243, 246)", "dark": "rgb(10, 13, 18)"}
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ground) == colours["light"]
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == colours["dark"]
    someone.from_menu("button", "Theme")
    assert page.evaluate(ground) == colours["light"]
    page.reload()
    assert page.evaluate(ground) == colours["light"]
    # Also against a machine that is light.
    page.emulate_media(color_scheme="light")
    someone.from_menu("button", "Theme")
    assert page.evaluate(ground) == colours["dark"]
    page.reload()
    assert page.evaluate(ground) == colours["dark"]


def test_a_hostile_name_is_text(someone: Visitor, office: Office, first: Caller, admin: str) -> None:
    first.do("PUT", f"/brokers/{office.broker}", {"name": HOSTILE, "hosts": [f"{office.broker}.example"]})
    page = someone.open(admin)
    expect(page.locator(".brand")).to_have_text(HOSTILE)
    page.wait_for_timeout(1_200)
    assert page.title() == "Overview · Bullion"
    assert page.locator("#top script").count() == 0


def test_a_console_that_does_not_answer_is_told_and_comes_back(someone: Visitor, admin: str) -> None:
    page = someone.open(admin)
    someone.expect_trouble("ERR_INTERNET_DISCONNECTED|Failed to fetch")
    page.context.set_offline(True)
    banner = page.locator("#banner")
    expect(banner).to_contain_text("The console does not answer. This page is", timeout=8_000)
    expect(page.locator("#rates")).to_be_visible()
    page.get_by_role("button", name="Halt trading").click()
    expect(page.locator("#toasts")).to_contain_text("Try again in a moment.")
    page.context.set_offline(False)
    expect(banner).to_be_empty(timeout=5_000)


def test_a_store_that_is_cut_off_is_told_and_comes_back(
    browser: Browser, postgres: Postgres, schema_template: str, tmp_path: Path
) -> None:
    """A console over PostgreSQL, with a tcp_proxy in between; the API it looks at is not there at all."""
    address = urlsplit(postgres.new_database(schema_template))
    with tcp_proxy(address.port or 0) as line:
        near = address._replace(netloc=address.netloc.replace(f":{address.port}", f":{line.port}"))
        nowhere = f"http://127.0.0.1:{free_port()}"
        settings = {
            "BULLION_DATABASE_URL": urlunsplit(near),
            "BULLION_SECRET": SECRET,
            "BULLION_DESK_TOKEN": DESK_TOKEN,
            "BULLION_CONSOLE_API_URL": nowhere,
        }
        assert (
            bullion(tmp_path, "desk", "switches", "set", "halted=true", "--yes", **settings).returncode == 0
        )
        with running_console(tmp_path, **settings) as console, visitor(browser, console) as someone:
            page = someone.open(DESK_TOKEN)
            banner = page.locator("#banner")
            expect(banner).to_contain_text(f"The trading API at {nowhere} does not answer.")
            expect(page.locator("[data-switch=halted]")).to_contain_text("halted")
            line.cut()
            expect(banner).to_contain_text("The store cannot be reached. Since", timeout=10_000)
            store = page.locator(".health [data-light=Store]")
            expect(store.locator("summary")).to_contain_text("cannot be read, since ")
            expect(page.locator(".health [data-light=Workers]")).to_contain_text("unknown")
            expect(banner).to_contain_text("old. The console tries again every second")
            # What was known is still there, and acting is refused in words.
            expect(page.locator("[data-switch=halted]")).to_contain_text("halted")
            someone.expect_trouble("503")
            someone.confirm("Resume trading")
            dialog = page.get_by_role("dialog")
            expect(dialog.get_by_role("alert")).to_contain_text(
                "Nothing was changed; try again.", timeout=15_000
            )
            page.keyboard.press("Escape")
            # A page that nobody has read yet is not blank either.
            tab = page.context.new_page()
            unread = tab.goto(f"{console.url}/orders/{uuid4()}")
            assert unread is not None
            assert unread.status == 503
            expect(tab.locator("#main")).to_contain_text("The page tries again by itself.")
            tab.close()
            # Sessions are in the store, so nobody can log in now, whatever the token.
            with visitor(browser, console) as other:
                other.expect_trouble("503|ERR_")
                for token in (DESK_TOKEN, "desk.0123456789abcdef." + "x" * 51):
                    other.log_in(token)
                    expect(other.page.get_by_role("alert")).to_contain_text("cannot be reached")
            line.restore()
            expect(banner).to_contain_text("The trading API at", timeout=15_000)
            someone.confirm("Resume trading")
            expect(page.locator("[data-switch=halted]")).to_contain_text("open")


def test_a_console_starts_in_words_or_not_at_all(tmp_path: Path, node: Node) -> None:
    nowhere = bullion(tmp_path, "console", BULLION_CONSOLE_PORT="0")
    assert "there is no store at var/bullion.db" in sentence(nowhere)
    taken = bullion(tmp_path, "console", BULLION_CONSOLE_PORT=str(urlsplit(node.api_url).port))
    assert "BULLION_CONSOLE_PORT: cannot listen on 127.0.0.1" in sentence(taken)


def test_a_key_that_is_on_its_way_is_waited_for(someone: Visitor, office: Office, admin: str) -> None:
    """The escape key, pressed meanwhile, must not leave a secret behind a dialog that nobody sees."""
    office.desk.account("asha")
    page = someone.open(admin, "accounts/asha")
    page.get_by_role("button", name="Issue a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("a program")
    page.evaluate(SLOW, "/actions/")
    dialog.get_by_role("button", name="Issue the key").click()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(dialog).to_contain_text("It is shown only now.")
    expect(dialog.get_by_role("button", name="Copy: the key")).to_be_focused()


def test_a_dialog_that_comes_late_takes_no_others_place(
    someone: Visitor, dealing: Dealing, admin: str
) -> None:
    assert dealing.desk.do("GET", "/symbols")["total"] == 2
    page = someone.open(admin, "market/symbols")
    page.evaluate(SLOW, "freeze?code=GOLD")
    page.get_by_role("button", name="Freeze GOLD").click()
    page.get_by_role("button", name="Edit SILVER").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Symbol SILVER")
    page.wait_for_timeout(2_000)
    expect(dialog).to_contain_text("Symbol SILVER")
    assert "edit-symbol" in (dialog.locator("form").get_attribute("action") or "")
