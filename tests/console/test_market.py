"""The market's set-up: each change is asked for, told in words, and meets the very next order."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.console import ConsoleProcess, Visitor, session_of
from tests.support.console_client import ConsoleClient, buttons_of
from tests.support.dealing import Dealing
from tests.support.desk import Office
from tests.support.node import until
from tests.support.orders import QUOTES, Trader, refused
from tests.support.price_slips import india, set_up

INDIA = ZoneInfo("Asia/Kolkata")
SIZES = {"metal": "gold", "quoted_weight": "10", "minimum": "1", "maximum": "100", "step": "1"}


@pytest.fixture
def trader(dealing: Dealing) -> Iterator[Trader]:
    """A client of the office who trades in test."""
    issued = dealing.desk.key("client")
    with dealing.office.node.api(issued["key"], Host=f"{dealing.office.broker}.example") as http:
        yield Trader(http, "client", issued)


def asked(page: Page, button: str) -> Locator:
    """The dialog that a button opens."""
    page.get_by_role("button", name=button, exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    return dialog


def save(dialog: Locator, button: str = "Save") -> None:
    dialog.get_by_role("button", name=button, exact=True).click()


def told(page: Page, words: str) -> None:
    expect(page.locator("#toasts")).to_contain_text(words.replace(" g", "\N{NO-BREAK SPACE}g"))


def becomes(trader: Trader, code: str | None, **order: Any) -> None:
    """Within a second the nodes know what the desk changed: orders are refused with a code, or taken."""
    until(lambda: _code(trader.place(**order)) == code, within_s=5)


def _code(answer: httpx.Response) -> str | None:
    if answer.status_code == 201:
        return None
    return str(refused(answer, answer.json()["detail"]["code"])["code"])


def test_a_symbol_is_edited_and_the_rule_meets_the_next_order(
    someone: Visitor, dealing: Dealing, trader: Trader, admin: str
) -> None:
    page = someone.open(admin, "market/symbols")
    before = dealing.desk.state()
    # A mistyped number is told beside its field, and nothing is saved.
    someone.expect_trouble("422")
    dialog = asked(page, "Edit GOLD")
    dialog.get_by_label("Smallest order").fill("1o")
    dialog.get_by_label("Clients buy at").fill("7,1240")
    save(dialog)
    wrong = dialog.locator("label", has_text="Smallest order").locator(".wrong")
    expect(wrong).to_have_text("'1o' is not a plain decimal number such as 12.5.")
    expect(dialog.locator("input[name=buy]")).to_be_focused()
    expect(dialog.locator("label", has_text="Clients buy at").locator(".wrong")).to_contain_text("'7,1240'")
    expect(dialog).to_contain_text("Nothing was changed.")
    # What the desk's own rules refuse stands beside its field too, and what was typed stays.
    dialog.get_by_label("Clients buy at").fill("71,240")
    dialog.get_by_label("Smallest order").fill("2000000")
    save(dialog)
    expect(wrong).to_contain_text("not above maximum")
    expect(dialog.locator(".wrong")).to_have_count(1)
    assert dealing.desk.state() == before
    # Corrected, it is saved, told in words, and the next order meets it.
    becomes(trader, None, quantity=2)
    dialog.get_by_label("Smallest order").fill("5")
    save(dialog)
    told(page, "GOLD: minimum 0.0001 g → 5 g.")
    expect(page.locator("#symbols-table")).to_contain_text("5\N{NO-BREAK SPACE}g to")
    becomes(trader, "quantity_rule", quantity=2)
    becomes(trader, None, quantity=5)
    entry = dealing.desk.do("GET", "/audit?limit=1")["items"][0]
    assert (entry["action"], entry["subject"]) == ("patch_symbol", "GOLD")
    # Who saves what was changed meanwhile is told.
    someone.expect_trouble("409")
    dialog = asked(page, "Edit GOLD")
    dealing.desk.do("PATCH", "/symbols/GOLD", {"step": "0.5", "minimum": "0.5"})
    dialog.get_by_label("Largest order").fill("10")
    save(dialog)
    expect(dialog).to_contain_text("GOLD was changed since you opened this form, so nothing was saved.")
    gold = dealing.desk.do("GET", "/symbols")["items"][0]
    assert (gold["maximum"], gold["step"]) == ("1000000.0000", "0.5000")


def test_a_landed_price_is_previewed_as_it_is_then_quoted(
    someone: Visitor, dealing: Dealing, trader: Trader, admin: str
) -> None:
    desk = dealing.desk
    page = someone.open(admin, "market/symbols")
    dialog = asked(page, "New symbol")
    for name, value in SIZES.items():
        if name == "metal":
            dialog.get_by_label("Metal").select_option(value)
        else:
            dialog.locator(f"input[name={name}]").fill(value)
    dialog.locator("input[name=code]").fill("LANDED")
    dialog.get_by_label("Priced by").select_option("landed")
    typed = {"spot": "XAUUSD", "currency": "USDINR", "premium_usd": "1.25", "interbank": "0.05"}
    typed |= {"conversion": "0.321507", "duty": "gold", "margin": "250.50"}
    for name, value in typed.items():
        dialog.locator(f".landed input[name={name}]").fill(value)
    preview = dialog.locator(".preview")
    words = "Missing: a rate of XAUUSD and a rate of USDINR and a duty gold in force"
    expect(preview).to_contain_text(words)
    desk.do("PUT", "/rates/XAUUSD", {"bid": "4085.10", "ask": "4085.60"})
    desk.do("PUT", "/rates/USDINR", {"bid": "88.61", "ask": "88.63"})
    desk.do("PUT", "/duties/gold", [{"from": "2024-01-01", "rupees": "7500"}])
    before = desk.state()
    dialog.locator("input[name=margin]").fill("300")
    price = preview.locator("[data-preview-price=buy]")
    expect(price).to_contain_text("₹")
    expect(preview.locator("[data-part=duty]").first).to_have_text("7,500.00")
    expect(preview.locator("[data-part=margin]").first).to_have_text("300.00")
    assert desk.state() == before
    shown = {side: preview.locator(f"[data-preview-price={side}]").inner_text() for side in ("buy", "sell")}
    save(dialog, "Create")
    told(page, "LANDED is created")
    (quote,) = [each for each in desk.all("/quotes") if each["symbol_code"] == "LANDED"]
    plain = {side: text.replace(",", "").removeprefix("₹") for side, text in shown.items()}
    assert plain == {"buy": quote["ask"], "sell": quote["bid"]}
    # And as a client of a group without premiums is quoted.
    until(lambda: trader.get(QUOTES, symbol_code="LANDED")["items"], within_s=5)
    assert trader.quote("LANDED")["buy"] == quote["ask"]


def test_a_dealer_freezes_sets_stock_premiums_and_rates_but_edits_no_symbol(
    someone: Visitor, trader: Trader, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    desk = dealing.desk
    page = someone.open(hire("dealer"), "market/symbols")
    dialog = asked(page, "Freeze GOLD")
    expect(dialog).to_contain_text("refused with symbol_frozen")
    save(dialog, "Freeze")
    told(page, "GOLD: frozen no → yes.")
    expect(page.locator("#symbols-table tr[data-key=GOLD] .state")).to_have_text("frozen")
    becomes(trader, "symbol_frozen")
    save(asked(page, "Unfreeze GOLD"), "Unfreeze")
    expect(page.locator("#symbols-table tr[data-key=GOLD] .state")).to_have_text("live")
    becomes(trader, None)
    edit = page.get_by_role("button", name="Edit GOLD")
    expect(edit).to_be_disabled()
    expect(edit).to_have_accessible_description("needs the role admin")
    expect(page.locator("main .why").first).to_be_visible()
    assert desk.do("GET", "/symbols")["items"][0]["frozen"] is False
    dialog = asked(page, "Set stock of GOLD")
    dialog.get_by_label("Stock, g").fill("1,500")
    save(dialog, "Save")
    told(page, "GOLD: stock not counted → 1,500\N{NO-BREAK SPACE}g.")
    # What was booked since the dialog was opened is not undone.
    dialog = asked(page, "Set stock of GOLD")
    desk.do("PATCH", "/symbols/GOLD", {"stock": "1400"})
    dialog.get_by_label("Stock, g").fill("2000")
    someone.expect_trouble("409")
    save(dialog, "Save")
    expect(dialog.get_by_role("alert")).to_contain_text("The stock of GOLD was changed since")
    dialog.get_by_role("button", name="Cancel").click()
    assert desk.all("/symbols")[0]["stock"] == "1400.0000"
    page.goto(f"{someone.console.url}/market/groups")
    expect(page.get_by_role("button", name="Stop trading: retail")).to_be_disabled()
    dialog = asked(page, "Edit terms of retail for all symbols")
    dialog.get_by_label("House earns when clients buy").fill("120")
    save(dialog, "Save")
    told(page, "margin on buys")
    assert desk.all("/groups")[0]["default_terms"]["buy_premium"] == "120.00"
    page.goto(f"{someone.console.url}/market/rates")
    expect(page.locator("#board")).to_contain_text("There are no rates yet.")
    dialog = asked(page, "Set another rate")
    dialog.get_by_label("Instrument").fill("METAL")
    dialog.locator("input[name=bid]").fill("1,23,400.50")
    dialog.locator("input[name=ask]").fill("123450")
    save(dialog, "Set rate")
    told(page, "METAL: none → 1,23,400.50 / 1,23,450.00")
    # A rate that lost a digit is asked about again.
    dialog = asked(page, "Set rate of METAL")
    dialog.locator("input[name=bid]").fill("12340")
    save(dialog, "Set rate")
    expect(dialog).to_contain_text("1,23,400.50 → 12,340.00")
    expect(dialog).to_contain_text("−90.00 %")
    expect(dialog.get_by_role("button", name="Go back and correct")).to_be_focused()
    assert desk.do("GET", "/rates")["items"][0]["bid"] == "123400.500000"
    save(dialog, "Yes, do it")
    told(page, "→ 12,340.00 / 1,23,450.00")
    assert desk.do("GET", "/rates")["items"][0]["bid"] == "12340.000000"


def test_a_duty_is_dated_tomorrow_removed_and_a_digit_too_many_corrected(
    someone: Visitor, office: Office, admin: str
) -> None:
    set_up(office)
    office.desk.do("PUT", "/duties/gold", [{"from": "2024-01-01", "rupees": "7500"}])
    office.desk.do("PUT", "/duties/customs", [{"from": india(-9), "rupees": "83500"}])
    page = someone.open(admin, "market/duty")
    dialog = asked(page, "Add an entry to gold")
    tomorrow = (datetime.now(INDIA) + timedelta(days=1)).date()
    assert dialog.get_by_label("Applies from").input_value() == tomorrow.isoformat()
    dialog.get_by_label("Duty, ₹").fill("8,250")
    save(dialog, "Add")
    told(page, "Duty gold: ₹7,500.00 → ₹8,250.00 from")
    expect(page.locator("tr[data-key='2024-01-01'] .state")).to_have_text("applies today")
    expect(page.locator(f"tr[data-key='{tomorrow}'] .state")).to_have_text("upcoming")

    def kept(name: str) -> Any:
        (found,) = [each for each in office.desk.all("/duties") if each["name"] == name]
        return found

    assert kept("gold")["duties"][1] == {"from": tomorrow.isoformat(), "rupees": "8250.00"}
    assert kept("gold")["in_force"]["rupees"] == "7500.00"
    dialog = asked(page, f"Remove the entry from {tomorrow}")
    expect(dialog.get_by_role("heading")).to_contain_text("Remove the duty gold of ₹8,250.00 from")
    expect(dialog).to_contain_text("₹7,500.00 from Mon 01 Jan 2024 continues to apply.")
    save(dialog, "Remove")
    expect(page.locator(f"tr[data-key='{tomorrow}']")).to_have_count(0)
    # A digit too many: two presses and a number, and the price is seen before it applies.
    expect(page.locator("#duty-customs th").nth(1)).to_have_text("Duty, ₹ per 10\N{NO-BREAK SPACE}g")
    dialog = asked(page, f"Change the entry from {india(-9)}")
    expect(dialog).to_contain_text("It is ₹83,500.00 per 10 g now.", use_inner_text=True)
    expect(dialog.locator(".preview")).to_contain_text("No client's price changes.")
    dialog.get_by_label("New duty, ₹ per 10").fill("8,350")
    expect(dialog.locator(".preview")).to_contain_text("GOLDLANDED bought by clients")
    expect(dialog.locator(".preview")).to_contain_text("2,25,624.93 → 1,50,474.93")
    save(dialog, "Change")
    # Far back is as far as the slip: the guard asks once more.
    expect(dialog).to_contain_text("This moves prices further than your limit")
    loss = dialog.locator("input[name=loss]").input_value()
    dialog.locator("input[name=typed_loss]").fill(loss)
    dialog.locator("button[type=submit]").click()
    told(page, "₹83,500.00 → ₹8,350.00.")
    assert kept("customs")["duties"] == [{"from": india(-9), "rupees": "8350.00"}]
    trail = office.desk.do("GET", "/audit?limit=1")["items"][0]
    assert trail["before"]["duties"] == [{"from": india(-9), "rupees": "83500.00"}]


def test_hours_that_are_over_close_the_market(
    someone: Visitor, dealing: Dealing, trader: Trader, admin: str
) -> None:
    page = someone.open(admin, "market/hours")
    expect(page.locator("#hours")).to_contain_text("open around the clock")
    someone.expect_trouble("422")
    dialog = asked(page, "Change the hours")
    choice = dialog.get_by_label("The market is open")
    expect(choice).to_have_value("always")
    # Hours beside a forgotten choice are asked about, and stay.
    dialog.get_by_label("Monday").fill("10:00 - 11:00")
    save(dialog)
    expect(dialog.locator(".wrong")).to_contain_text("Choose “by the week” for them")
    expect(dialog.get_by_label("Monday")).to_have_value("10:00 - 11:00")
    dialog.get_by_label("Monday").fill("")
    choice.select_option("week")
    # Two days from now, whatever it is: closed today.
    day = (datetime.now(INDIA) + timedelta(days=2)).strftime("%A")
    dialog.get_by_label(day).fill("9:00 - 25:30")
    save(dialog)
    expect(dialog.locator("label", has_text=day).locator(".wrong")).to_contain_text("has an invalid time")
    dialog.get_by_label(day).fill("9:00 - 17:30, 18:00-23:30")
    save(dialog)
    told(page, "The market is closed now.")
    expect(page.locator(".now")).to_contain_text("The market is closed")
    opens = (datetime.now(INDIA) + timedelta(days=2)).strftime("opens %a %d %b at 09:00\N{NO-BREAK SPACE}IST")
    expect(page.locator(".now")).to_contain_text(opens)
    expect(page.locator("[data-switch=halted]")).to_contain_text(f"closed, {opens}")
    becomes(trader, "trading_halted")
    assert dealing.desk.do("GET", "/switches")["trading_hours"]["week"] == {
        day[:3].lower(): [["09:00", "17:30"], ["18:00", "23:30"]]
    }
    dialog = asked(page, "Change the hours")
    expect(dialog.get_by_label("The market is open")).to_have_value("week")
    dialog.get_by_label("The market is open").select_option("always")
    save(dialog)
    expect(page.locator("#hours")).to_contain_text("open around the clock")
    expect(page.locator("[data-switch=halted] .state")).to_have_text("open")
    becomes(trader, None)


def test_groups_limits_and_the_venue_are_changed_with_words(
    someone: Visitor, dealing: Dealing, trader: Trader, admin: str
) -> None:
    group = dealing.desk.do("GET", "/groups")["items"][0]["code"]
    page = someone.open(admin, "market/groups")
    dialog = asked(page, f"Add terms for a symbol: {group}")
    dialog.locator("select[name=symbol]").select_option("GOLD")
    dialog.get_by_label("House earns when clients buy").fill("150")
    dialog.get_by_label("House earns when clients sell").fill("")
    save(dialog)
    told(page, "margin on sells – → not offered")
    becomes(trader, "side_not_offered", trade_type="sell")
    assert trader.buy(1)["price"] == "71390.00"
    page.goto(f"{someone.console.url}/market/limits")
    dialog = asked(page, "Change the tolerance")
    dialog.get_by_label("Price tolerance, %").fill("1.5")
    save(dialog)
    told(page, "0.5 % → 1.5 %")
    dialog = asked(page, "Change the limits")
    dialog.get_by_label("Orders per minute, per account").fill("120")
    save(dialog)
    told(page, "orders per minute, per account 60 → 120.")
    dialog = asked(page, "Change the limits")
    dialog.get_by_label("Orders per minute, per account").fill("0")
    save(dialog)
    told(page, "orders per minute, per account 120 → 0.")
    dealing.desk.do("PATCH", "/switches", {"budgets": {"account_orders_per_minute": 60}})
    page.goto(f"{someone.console.url}/market/venue")
    expect(page.locator("#venue")).to_contain_text("SIMULATED: nothing is covered")
    expect(page.locator("main")).not_to_contain_text("hedge")
    dialog = asked(page, "Change the venue")
    expect(dialog).to_contain_text("SIMULATED: nothing is covered")
    dialog.get_by_label("The venue").select_option("hold")
    save(dialog)
    told(page, "behaviour fills → holds.")
    until(lambda: dealing.place().status_code == 202, within_s=5)


TABS = ("symbols", "groups", "rates", "duty", "hours", "limits", "venue")


def test_a_viewer_sees_all_of_it_and_can_do_nothing(
    console: ConsoleProcess, dealing: Dealing, hire: Callable[[str], str]
) -> None:
    dealing.desk.do("PUT", "/duties/gold", [{"from": "2024-01-01", "rupees": "7500"}])
    token = hire("viewer")
    before = dealing.desk.state()
    calls: list[tuple[str, dict[str, str]]] = [
        ("freeze?code=GOLD", {}),
        ("set-rate", {"instrument": "METAL", "bid": "1", "ask": "1"}),
        ("add-duty?name=gold", {"from": "2099-01-01", "rupees": "1"}),
        ("new-group", {"code": "mine", "buy_premium": "0"}),
    ]
    with session_of(console, token) as (client, csrf):
        viewer = ConsoleClient(console, client, csrf)
        for tab in TABS:
            buttons = buttons_of(viewer.see(f"market/{tab}"))
            assert buttons, tab
            for button in buttons:
                assert button.disabled, (tab, button)
                assert re.search("needs the role|the feed supplies it", button.description), (tab, button)
        for path, typed in calls:
            assert viewer.send(f"market/{path}", typed).status_code in (403, 409), path
    assert dealing.desk.state() == before
