"""The search box and the list of refusals in the console, in a real browser."""

from collections.abc import Callable
from urllib.parse import quote

import httpx
from playwright.sync_api import Page, expect

from tests.support.console import ConsoleProcess, Visitor
from tests.support.console_client import console_client, text_of
from tests.support.dealing import Dealing
from tests.support.desk import Office
from tests.support.node import until

PHONE = {"viewport": {"width": 360, "height": 740}}


def refused(dealing: Dealing, **fields: str) -> str:
    """Place an order that is refused. Returns its request id, once the decision is stored."""
    answer = dealing.place(quantity="500000", **fields)
    assert answer.status_code == httpx.codes.BAD_REQUEST, answer.text
    request_id = answer.headers["x-request-id"]
    until(lambda: dealing.desk.get(f"/traces/{request_id}").status_code == 200, within_s=5)
    return request_id


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def find(page: Page, text: str) -> None:
    """Two keys beside the text: the one that goes to the box, and Enter."""
    page.locator("#find").focus()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_one_exact_match_opens_at_once(someone: Visitor, dealing: Dealing, admin: str) -> None:
    order = dealing.placed(client_order_id="PO-77")
    request_id = refused(dealing, client_order_id="PO-78")
    page = someone.open(admin, "overview")
    find(page, f"deal {order['deal_no']}")
    expect(page).to_have_url(f"{someone.console.url}/orders/{order['id']}")
    find(page, "CLIENT")
    expect(page).to_have_url(f"{someone.console.url}/accounts/client")
    key_id = dealing.desk.all("/accounts/client/keys")[0]["key_id"]
    with console_client(someone.console, dealing.office) as at:
        for text, opened in {
            f"#{order['deal_no']}": f"/orders/{order['id']}",
            "PO-77": f"/orders/{order['id']}",
            order["id"]: f"/orders/{order['id']}",
            "PO-78": f"/orders/decision/{request_id}",
            key_id: "/accounts/client",
        }.items():
            answer = at.client.get(f"/find?q={quote(text)}")
            assert answer.status_code == 303, text
            assert answer.headers["location"].startswith(opened), text


def test_several_matches_are_listed_with_links(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    dealing.desk.account("clientele", firm_name="Client & <b>Sons</b>")
    order = dealing.placed(client_order_id="clientele-1")
    request_id = refused(dealing, client_order_id="clientele-2")
    page = someone.open(hire("viewer"), "overview")
    find(page, "cliente")
    accounts = page.locator("#found-accounts .hit")
    expect(accounts).to_have_count(1)
    expect(accounts).to_contain_text("Client & <b>Sons</b>")
    expect(page.locator("#found-orders .hit")).to_have_attribute("href", f"/orders/{order['id']}")
    hit = page.locator("#found-refusals .hit")
    expect(hit).to_contain_text("limit_exceeded")
    hit.click()
    expect(page).to_have_url(f"{someone.console.url}/orders/decision/{request_id}")
    find(page, "nothing-has-this-name")
    expect(page.locator(".empty")).to_contain_text("Nothing was found for “nothing-has-this-name”")


def test_a_telephone_finds_too(visit: Callable[..., Visitor], dealing: Dealing, admin: str) -> None:
    order = dealing.placed(client_order_id="PO-" + "9" * 40)
    dealing.desk.account("client-with-a-very-long-login-name-indeed-it-is-very-long", firm_name="F" * 100)
    someone = visit(**PHONE)
    page = someone.open(admin, "find")
    expect(page.locator("#help")).to_be_visible()
    box = page.locator(".find-page").get_by_role("searchbox")
    box.fill("client")
    box.press("Enter")
    # The exact login opens; a part of it lists.
    expect(page).to_have_url(f"{someone.console.url}/accounts/client")
    page.goto(f"{someone.console.url}/find?q=clien")
    expect(page.locator("#found-accounts .hit")).to_have_count(2)
    assert fits(page)
    page.goto(f"{someone.console.url}/find?q=PO-99")
    expect(page.locator("#found-orders .hit")).to_have_attribute("href", f"/orders/{order['id']}")
    assert fits(page)
    request_id = refused(dealing)
    for path in ("refusals", f"orders/decision/{request_id}"):
        page.goto(f"{someone.console.url}/{path}")
        expect(page.locator("h1")).to_have_count(1)
        assert fits(page), path
    # Refusals are read without scrolling sideways.
    page.goto(f"{someone.console.url}/refusals")
    region = "document.querySelector('#refusals-table').parentElement"
    assert page.evaluate(f"{region}.scrollWidth <= {region}.clientWidth")


def test_any_text_is_searched_for(console: ConsoleProcess, office: Office) -> None:
    office.desk.account("asha")
    with console_client(console, office) as at:
        for text in ("%", "<script>alert(1)</script>", "'; --", "🥇", "x" * 300):
            shown = at.see(f"find?q={quote(text)}")
            assert "Nothing was found" in shown
            assert "<script" not in shown


def test_refusals_are_listed_counted_and_narrowed_down(
    someone: Visitor, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    first = refused(dealing)
    second = refused(dealing, login_id="usher", symbol_code="SILVER")
    page = someone.open(hire("viewer"), "refusals")
    rows = page.locator("#refusals-table tbody tr")
    expect(rows).to_have_count(2)
    expect(page.locator("#refusals-table thead")).to_contain_text("Time, IST")
    counted = page.locator("#refusal-counts tbody tr")
    expect(counted).to_have_count(1)
    expect(counted).to_contain_text("limit exceeded")
    # A count leads to what it counted.
    counted.get_by_role("link", name="2").first.click()
    expect(page).to_have_url(
        f"{someone.console.url}/refusals?code=limit_exceeded&environment=production&since=1h"
    )
    expect(rows).to_have_count(2)
    page.goto(f"{someone.console.url}/refusals?code=limit_exceeded&login=usher&symbol=SILVER")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name="limit exceeded").click()
    expect(page).to_have_url(f"{someone.console.url}/orders/decision/{second}")
    # A decision leads to others like it.
    expect(page.locator("h1")).to_have_text("Refused: limit exceeded")
    page.get_by_role("link", name="of all accounts").click()
    expect(rows).to_have_count(2)
    with console_client(someone.console, dealing.office) as at:
        assert f'href="/orders/decision/{first}"' in at.see("refusals?symbol=GOLD&since=15m")
        assert "No more matching refusals" in at.see("refusals?code=stale_rate")
        wrong = text_of(at.see("refusals?since=soon"))
        assert "is not an ISO 8601 time" in wrong
        assert "The newest 64 MB of decisions" in wrong
