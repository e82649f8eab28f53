"""The audit trail in the console: what was before and after, narrowed down, paged, and checked."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from bullion.console.pages.audit.audit_list import actor_parts
from bullion.desk.audit_sentences import entry_names
from bullion.desk.registry import all_actions
from tests.support.console import ConsoleProcess, Visitor
from tests.support.console_client import console_client, text_of
from tests.support.dealing import Dealing
from tests.support.desk import Office
from tests.support.production import store_says

SOURCE = Path(__file__).resolve().parents[2] / "src/bullion/desk/actions"


def test_an_entry_shows_what_was_before_and_after(
    someone: Visitor, office: Office, hire: Callable[[str], str]
) -> None:
    office.desk.account("asha", firm_name="Asha Jewels")
    office.desk.account("bela")
    office.desk.do("PATCH", "/accounts/asha", {"allocation": {"gold": "5"}, "active": False})
    page = someone.open(hire("viewer"), "audit")
    rows = page.locator("#audit-table tbody tr")
    # The newest is the viewer's own token.
    entry = rows.nth(1)
    said = entry.locator(".said p")
    expect(said).to_have_text(["asha: deactivated", "asha: gold allocation 0 g → 5 g"])
    expect(entry).to_contain_text("an admin")
    expect(page.locator("#audit-table thead")).to_contain_text("When, IST")
    expect(said.first.get_by_role("link", name="asha")).to_have_attribute("href", "/accounts/asha")
    # Every field before and after is there for whoever wants to look.
    changes = entry.locator(".change")
    expect(changes.first).to_be_hidden()
    entry.locator("summary").click()
    expect(entry.locator("summary")).to_contain_text("patch_account asha")
    expect(changes).to_have_count(2)
    expect(changes.nth(0)).to_have_text("activeyes→no")
    expect(changes.nth(1)).to_have_text("allocation.gold0.0000→5.0000")
    # Narrowed down, by what it is about and by what was done.
    page.get_by_role("textbox", name="About").fill("ASH")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(rows).to_have_count(2)
    page.get_by_label("Action").select_option("created an account")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(rows).to_have_count(1)
    expect(rows.first.locator(".said")).to_contain_text("account asha created in group retail, Asha Jewels")
    now = datetime.now(ZoneInfo("Asia/Kolkata"))
    yesterday, today = (now - timedelta(days=1)).date(), now.date()
    with console_client(someone.console, office) as at:
        assert "No more matching entries" in at.see("audit?from=2001-01-01&to=2001-12-31")
        assert "is not a date" in text_of(at.see("audit?from=2001-01-01&to=9999-12-31&who=nobody"))
        shown = at.see(f"audit?what=create_account&from={yesterday}&to={today}&who=AN+admin")
        assert shown.count("<tr data-key=") == 2


def test_a_premium_change_is_a_sentence_with_a_link(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    dealing.desk.account(
        "a-login-that-is-as-long-as-logins-may-be-which-is-sixty-four-ch", firm_name="F" * 90
    )
    for premium in ("150", "120"):
        terms = {"GOLD": {"buy_premium": premium, "sell_premium": "-150"}}
        dealing.desk.do("PATCH", "/groups/retail", {"terms": terms})
    order = dealing.placed(quantity="3")
    page = someone.open(hire("viewer"), "audit")
    rows = page.locator("#audit-table tbody tr")
    named = f"deal {order['deal_no']} of client, buy 3 g GOLD"
    expect(rows.nth(1).locator(".said p")).to_have_text(f"{named} placed by web at ₹71,360")
    expect(rows.nth(1).get_by_role("link", name=named)).to_have_attribute("href", f"/orders/{order['id']}")
    expect(rows.nth(2).locator(".said p")).to_have_text("retail: buy premium of GOLD ₹150 → ₹120 per 10 g")
    # On a telephone, sentences are read without scrolling sideways.
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    region = "document.querySelector('#audit-table').parentElement"
    assert page.evaluate(f"{region}.scrollWidth <= {region}.clientWidth")
    rows.nth(2).get_by_role("link", name="retail").click()
    expect(page).to_have_url(f"{someone.console.url}/market/groups#group-retail")
    expect(page.locator("#group-retail")).to_be_visible()


@pytest.mark.parametrize(
    ("actor", "parts"),
    [
        ("first token", ("first token", None)),
        ("command line (asha)", ("command line", "user asha")),
        ("Asha, dealing (0b6f1e2d3c4a5968)", ("Asha, dealing", "token 0b6f1e2d3c4a5968")),
        ("Asha (dealing) (0b6f1e2d3c4a5968)", ("Asha (dealing)", "token 0b6f1e2d3c4a5968")),
    ],
)
def test_who_did_it_is_a_token_or_a_user_of_the_machine(actor: str, parts: tuple[str, str | None]) -> None:
    assert actor_parts(actor) == parts


def test_times_in_sentences_are_in_the_zone_of_the_broker(console: ConsoleProcess, office: Office) -> None:
    until = datetime.now(ZoneInfo("Asia/Kolkata")).replace(microsecond=0) + timedelta(hours=2)
    office.desk.do("PUT", "/rates/GOLD", {"bid": "1", "ask": "2", "pin_until": until.isoformat()})
    with console_client(console, office) as at:
        said = text_of(at.see("audit"))
    assert f"pinned until {until:%d %b %Y} {until:%H:%M:%S}" in said
    assert "+00:00" not in said


def test_a_long_trail_is_paged(console: ConsoleProcess, office: Office) -> None:
    for number in range(51):
        office.desk.do("PATCH", "/switches", {"paused": number % 2 == 0})
    with console_client(console, office) as at:

        def page_of(path: str) -> tuple[list[int], dict[str, str]]:
            shown = at.see(path)
            links = re.findall(r'<a [^>]*href="/([^"]+)"[^>]*>[^<]*(Older|Newest)', shown)
            return [int(key) for key in re.findall(r'<tr data-key="(\d+)"', shown)], {
                name: unescape(link) for link, name in links
            }

        newest, links = page_of("audit")
        assert len(newest) == 50
        older, links = page_of(links["Older"])
        assert older[0] == newest[-1] - 1
        again, _ = page_of(links["Newest"])
        assert again == newest


def test_the_chain_is_checked_and_a_break_is_shown_at_its_entry(
    someone: Visitor, office: Office, hire: Callable[[str], str]
) -> None:
    office.desk.account("asha")
    changed = office.desk.do("GET", "/audit?limit=1")["items"][0]["ordinal"]
    office.desk.account("bela")
    page = someone.open(hire("viewer"), "audit")
    head = office.desk.do("GET", "/audit?limit=1")["items"][0]
    expect(page.locator("#head-hash")).to_have_text(head["hash"])
    expect(page.locator("#outcome")).to_contain_text("not checked since the console was started")
    someone.confirm("Check the trail")
    expect(page.locator("#outcome")).to_contain_text(f"intact: all {head['ordinal']} entries")
    expect(page.locator("#outcome")).to_contain_text("IST")
    of_entry = f"broker = '{office.broker}' AND ordinal = {changed}"
    store_says(office.node, f"UPDATE audit SET actor = 'nobody' WHERE {of_entry}")
    someone.confirm("Check the trail")
    expect(page.locator("#outcome .state")).to_contain_text(f"broken at entry {changed}")
    expect(page.locator("#outcome")).to_contain_text("changed, or not where it was written")
    expect(page.locator(f"#audit-table [data-key='{changed}']")).to_contain_text("broken here")
    expect(page.locator("#audit-table .state.bad")).to_have_count(1)
    page.get_by_role("link", name=f"entry {changed}").click()
    expect(page.locator("#audit-table tbody tr").first).to_have_attribute("data-key", str(changed))


def test_every_action_of_the_desk_has_a_name() -> None:
    """An entry is named after the action that is declared, unless the change names it otherwise."""
    text = "".join(path.read_text("utf-8") for path in sorted(SOURCE.glob("*.py")))
    named = re.findall(r'\bentry="([a-z_]+)"', text)
    changing = [each.name for each in all_actions().values() if each.audit_text is not None]
    assert len(changing) > 20
    assert named
    assert {*named, *changing} <= set(entry_names())
