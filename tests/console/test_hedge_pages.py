"""The market's tabs about the hedge, without a browser: what they show, ask and refuse."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.console import ConsoleProcess, session_of
from tests.support.console_client import ConsoleClient, console_client, text_of
from tests.support.dealing import Dealing
from tests.support.desk import nothing_changed
from tests.support.line_state import line_report, line_state_statement
from tests.support.node import until
from tests.support.orders import GOLD
from tests.support.production import store_says

GOLDM = {"metal": "gold", "instrument": "GOLD", "lot": "100", "fineness": "995", "price_weight": "10"}
OUNCE = {
    "metal": "gold",
    "instrument": "XAUUSD",
    "lot": "31.1034768",
    "step": "0.1",
    "price_weight": "31.1034768",
    "currency": "USD",
}
_NBSP = "\N{NO-BREAK SPACE}"


@pytest.fixture
def client(console: ConsoleProcess, dealing: Dealing) -> Iterator[ConsoleClient]:
    with console_client(console, dealing.office) as client:
        yield client


@pytest.fixture
def short(dealing: Dealing) -> Dealing:
    """A house that is short of 899.1 g, with two contracts to cover it in."""
    dealing.desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "1000"})
    dealing.desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    dealing.desk.do("PUT", "/hedge/contracts/OUNCE", OUNCE)
    dealing.placed(quantity="900")
    return dealing


def covers(dealing: Dealing) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = dealing.desk.do("GET", "/hedge/covers")["items"]
    return found


def test_a_book_is_opened_by_its_form_and_silver_is_typed_in_kilograms(
    client: ConsoleClient, dealing: Dealing
) -> None:
    assert "The book of silver is not open." in client.see("market/book")
    typed = {"policy": "book", "limit": "1,500.25", "volatility_percent": "1.8"}
    answer = client.do("market/book-silver?metal=silver", **typed)
    said = answer["done"].replace(_NBSP, " ")
    assert said == "Book of silver: policy each → book; limit 0 kg → 1,500.25 kg; volatility 0 % → 1.8 %."
    silver = dealing.desk.do("GET", "/hedge/book")["items"][1]
    assert (silver["policy"], silver["limit"]) == ("book", "1500250.000")
    assert "1,500.25 kg short" in text_of(client.see("market/book"))
    assert client.ask("market/book-silver?metal=silver")["limit"] == "1,500.25"


def test_a_book_that_was_changed_meanwhile_is_not_changed_unseen(
    client: ConsoleClient, short: Dealing
) -> None:
    form = client.ask("market/book-gold?metal=gold")
    short.desk.do("PATCH", "/hedge/book/gold", {"limit": "2000"})
    with nothing_changed(short.desk):
        answer = client.send("market/book-gold?metal=gold", {**form, "limit": "5000"})
    assert answer.status_code == 409
    assert "was changed since you opened this form" in answer.json()["refused"]


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"limit": "1o"}, "limit"),
        ({"limit": ""}, "limit"),
        ({"volatility_percent": "101"}, "volatility_percent"),
    ],
)
def test_terms_that_cannot_be_are_told_beside_their_field(
    client: ConsoleClient, short: Dealing, typed: dict[str, str], field: str
) -> None:
    with nothing_changed(short.desk):
        assert [*client.mistyped("market/book-gold?metal=gold", **typed)] == [field]


def test_what_wants_a_hand_stands_at_the_top(client: ConsoleClient, short: Dealing) -> None:
    short.placed(quantity="500")
    short.desk.do(
        "POST", "/hedge/covers", {"contract": "GOLDM", "side": "buy", "quantity": "3", "idempotency_key": "k"}
    )
    wanted = (
        "waits for room in the book of gold",
        "Gold has used 89.9 % of its limit",
        "buy 3 GOLDM Suggested by hand by an admin. 298.5 g fine.",
        "899.1 g short",
    )
    shown = ""

    def is_shown() -> bool:
        """The console hears of the order and of the cover one after the other."""
        nonlocal shown
        shown = text_of(client.see("market/book"))
        return all(each in shown for each in wanted)

    until(is_shown, within_s=5)
    title = re.search(r"<title>(Gold:[^<]*)</title>", client.see("market/book"))
    assert title is not None
    sentence = title[1].replace(_NBSP, " ")
    assert "899.1 g short, 89.9 % of the limit of 1,000 g, 499.5 g short wait for room" in sentence
    assert "600.6 g short after the covers that are suggested or under way." in sentence
    overview = text_of(client.see("overview"))
    assert "Exposure against the limit" in overview
    assert "899.1 g short 89.9 % of 1,000 g" in overview


def test_a_cover_is_made_once_previewed_dealt_and_dropped(client: ConsoleClient, short: Dealing) -> None:
    words = text_of(client.preview("market/new-cover", contract="GOLDM", quantity="3"))
    assert words.strip() == "298.5 g fine. Book of gold: 899.1 g short → 600.6 g short."
    assert "multiple of 1" in client.preview("market/new-cover", contract="GOLDM", quantity="3.5")
    form = client.ask("market/new-cover") | {"contract": "GOLDM", "quantity": "3"}
    for _ in range(2):
        assert client.send("market/new-cover", form).status_code == 200
    (cover,) = covers(short)
    record = f"market/record-deal?id={cover['id']}"
    assert client.ask(record)["quantity"] == "3"
    assert [*client.mistyped(record, price="71,250.5", quantity="4", reference="LM-1")] == ["quantity"]
    assert [*client.mistyped(record, price="", reference="")] == ["price", "reference"]
    answer = client.do(record, price="71,250.5", reference="LM-1", fee="12")
    assert answer["done"] == "Recorded: buy 3 GOLDM, 3 dealt, reference LM-1."
    assert "3 at ₹71,250.50, LM-1" in text_of(client.see("market/covers"))
    (cover,) = covers(short)
    assert (cover["state"], cover["deals"][0]["fee"]) == ("filled", "12.00")
    client.do("market/new-cover", contract="GOLDM", quantity="1")
    newest = covers(short)[0]["id"]
    client.do(f"market/drop-cover?id={newest}", reason="the market turned")
    assert (covers(short)[0]["state"], covers(short)[0]["words"]) == ("dropped", "the market turned")
    again = client.send(f"market/drop-cover?id={newest}", {"reason": ""})
    assert (again.status_code, "dropped" in again.json()["refused"]) == (409, True)


def test_an_old_suggestion_is_shown_behind_many_newer_covers(client: ConsoleClient, short: Dealing) -> None:
    client.do("market/new-cover", contract="GOLDM", quantity="3")
    (old,) = covers(short)
    store_says(
        short.office.node,
        f"""
            WITH RECURSIVE numbers (number) AS (
                SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 101
            )
            INSERT INTO covers (
                id, broker, metal, contract, terms, venue, side, quantity_e8, fine_mg, rule, made_by, state,
                created_at_us, holder, due_at_us
            )
            SELECT
                'newer ' || number, broker, metal, contract, terms, venue, side, quantity_e8, fine_mg, rule,
                made_by, 'dropped', created_at_us + number, '', 0
            FROM covers, numbers
            WHERE id = '{old["id"]}'
            """,
    )
    until(lambda: "the newest 100 of 102 covers" in client.see("market/covers"), within_s=10)
    assert f"market/send-cover?id={old['id']}" in client.see("market/covers")
    assert "buy 3 GOLDM Suggested by hand" in text_of(client.see("market/book"))
    assert client.ask(f"market/record-deal?id={old['id']}")["quantity"] == "3"
    client.do(f"market/drop-cover?id={old['id']}", reason="too old")
    assert short.desk.do("GET", "/hedge/covers?state=open")["total"] == 0


def test_a_deal_in_dollars_asks_for_their_rate(client: ConsoleClient, short: Dealing) -> None:
    client.do("market/new-cover", contract="OUNCE", quantity="2.5")
    (cover,) = covers(short)
    record = f"market/record-deal?id={cover['id']}"
    assert "dollar" in client.ask(record)
    assert [*client.mistyped(record, price="4100", reference="XB-1")] == ["dollar"]
    client.do(record, price="4,100.25", reference="XB-1", dollar="92.01")
    assert "2.5 at $4,100.25, XB-1, ₹92.01 per $" in text_of(client.see("market/covers"))


def test_a_cover_is_dealt_by_the_terms_that_it_was_made_with(client: ConsoleClient, short: Dealing) -> None:
    """A price per kg for a cover of prices per 10 g would be booked a hundred times too high."""
    client.do("market/new-cover", contract="GOLDM", quantity="3")
    (cover,) = covers(short)
    changed = GOLDM | {"price_weight": "1000", "currency": "USD"}
    short.desk.do("PUT", "/hedge/contracts/GOLDM", changed)
    for action in ("record-deal", "settle-cover"):
        asked = client.client.get(f"/dialogs/market/{action}?id={cover['id']}").json()["contents"]
        assert "₹ per 10 g" in asked.replace(_NBSP, " ")
    assert "dollar" not in client.ask(f"market/record-deal?id={cover['id']}")


def test_a_contract_is_made_and_changed_by_its_form(client: ConsoleClient, dealing: Dealing) -> None:
    assert "There are no contracts yet." in client.see("market/contracts")
    typed = {"code": "GOLDM", **GOLDM, "currency": "INR", "mode": "suggest", "active": "yes"}
    client.do("market/new-contract", **typed)
    assert client.mistyped("market/new-contract", **typed) == {"code": "There is a contract GOLDM already."}
    assert [
        *client.mistyped("market/new-contract", **typed | {"code": "G2", "lot": "-1", "expires_on": "soon"})
    ] == [
        "lot",
        "expires_on",
    ]
    form = client.ask("market/change-contract?code=GOLDM")
    assert (form["lot"], form["fineness"], form["metal"]) == ("100", "995", "gold")
    answer = client.do("market/change-contract?code=GOLDM", expires_on="2027-02-05", active="no")
    assert answer["done"] == "Contract GOLDM: expires on – → 2027-02-05; active True → False."
    assert "Fri 05 Feb 2027" in client.see("market/contracts")
    stale = client.send("market/change-contract?code=GOLDM", {**form, "lot": "1"})
    assert stale.status_code == 409
    (kept,) = dealing.desk.do("GET", "/hedge/contracts")["items"]
    assert (kept["lot"], kept["expires_on"], kept["active"]) == ("100.000000000", "2027-02-05", False)


def test_a_pin_is_marked_wherever_it_is_used(client: ConsoleClient, dealing: Dealing) -> None:
    dealing.desk.do("PUT", "/rates/GOLD", {"bid": "71230", "ask": "71240"})
    dealing.desk.do("PUT", "/symbols/LIVE", {**GOLD, "pricing": {"kind": "direct", "instrument": "GOLD"}})
    pin = "market/pin-rate?instrument=GOLD"
    assert [*client.mistyped(pin, pin_until="tonight")] == ["pin_until"]
    assert [*client.mistyped(pin, pin_until="2020-01-01T00:00")] == ["pin_until"]
    assert [*client.mistyped(pin, ask="1")] == ["ask"]
    done = client.do(pin, ask="71,300")["done"]
    assert done.startswith("GOLD: 71,230.00 / 71,240.00 → 71,230.00 / 71,300.00, pinned until ")
    pinned = dealing.desk.do("GET", "/rates")["items"][0]
    left = datetime.fromisoformat(pinned["pinned_until"]) - datetime.now(UTC)
    assert timedelta(minutes=28) < left <= timedelta(minutes=30)
    for path in ("rates", "overview", "market/symbols", "market/rates", "rates/LIVE", "ticket?symbol=LIVE"):
        assert "pinned until" in client.see(path), path
    health = dealing.desk.do("GET", "/health")["items"]
    assert [each["text"] for each in health if each["name"] == "GOLD"] == ["pinned by the desk"]
    assert client.do("market/unpin-rate?instrument=GOLD")["done"] == "The pin of GOLD has ended."
    assert "pinned until" not in client.see("rates")
    again = client.send("market/unpin-rate?instrument=GOLD", {})
    assert (again.status_code, "is not pinned" in again.json()["refused"]) == (409, True)


def test_an_instrument_that_the_venue_does_not_trade_has_a_light(
    client: ConsoleClient, dealing: Dealing
) -> None:
    def lights() -> list[tuple[str, str, str]]:
        found = dealing.desk.do("GET", "/health")["items"]
        return [(each["name"], each["state"], each["text"]) for each in found if each["part"] == "instrument"]

    assert lights() == []
    dealing.venue(instruments={"SILVER": "suspended"})
    until(lambda: lights() == [("SILVER at the venue", "warn", "not traded")], within_s=10)
    dealing.venue(instruments={"SILVER": "tradable"})
    until(lambda: lights() == [], within_s=10)


def test_a_viewer_sees_everything_and_why_each_button_is_locked(
    console: ConsoleProcess, short: Dealing, hire: Callable[[str], str]
) -> None:
    short.desk.do(
        "POST", "/hedge/covers", {"contract": "GOLDM", "side": "buy", "quantity": "3", "idempotency_key": "k"}
    )
    with session_of(console, hire("viewer")) as (http, csrf):
        viewer = ConsoleClient(console, http, csrf)
        book, covers_tab = viewer.see("market/book"), viewer.see("market/covers")
        assert "data-dialog" not in book + covers_tab
        assert "needs the role admin" in book
        assert "needs the role dealer" in covers_tab
        cover = covers(short)[0]
        for action in (
            f"drop-cover?id={cover['id']}",
            "new-cover",
            "book-gold?metal=gold",
            "pin-rate?instrument=GOLD",
        ):
            answer = viewer.send(f"market/{action}", {})
            assert answer.status_code == 403, action


def test_a_rule_is_added_applied_changed_and_deleted(client: ConsoleClient, short: Dealing) -> None:
    rule = {
        "name": "net",
        "kind": "age",
        "threshold": "36,000",
        "contracts": "GOLDM\nOUNCE",
        "mode": "suggest",
    }
    add = "market/new-rule?metal=gold"
    assert client.mistyped(add, **rule | {"threshold": "1o"}).keys() == {"threshold"}
    assert client.mistyped(add, **rule | {"contracts": "NONE"}).keys() == {"contracts"}
    assert client.mistyped(add, **rule | {"kind": "by_hand"}).keys() == {"threshold"}
    assert client.do(add, **rule)["done"] == "Book of gold: rule net is added."
    assert client.mistyped(add, **rule) == {"name": "There is a rule net already."}
    shown = text_of(client.see("market/book"))
    assert "net a lot has been open for a time 10 h 00 min GOLDM, OUNCE" in shown
    about = "?metal=gold&name=net"
    stale = client.ask(f"market/change-rule{about}")
    changed = {"threshold": "72000", "contracts": "GOLDM"}
    assert client.do(f"market/change-rule{about}", **changed)["done"] == "Book of gold: rule net is changed."
    assert client.send(f"market/change-rule{about}", {**stale, **changed}).status_code == 409
    assert client.do(f"market/apply-rule{about}")["done"] == "Rule net: 1 suggested."
    assert "buy 9 GOLDM Suggested by the rule net." in text_of(client.see("market/book"))
    assert client.do(f"market/delete-rule{about}")["done"] == "Book of gold: rule net is deleted."
    assert short.desk.do("GET", "/hedge/book")["items"][0]["rules"] == []


def test_a_currency_deal_is_recorded_once(client: ConsoleClient, short: Dealing) -> None:
    record = "market/currency-deal"
    assert client.mistyped(record, dollars="1.234", rate="x").keys() == {"dollars", "rate", "reference"}
    form = client.ask(record) | {"dollars": "10,250.50", "rate": "92.01", "reference": "B-1", "side": "buy"}
    for _ in range(2):
        answer = client.send(record, form)
        assert answer.json()["done"] == "Recorded: $10,250.50 bought at 92.01, B-1."
    (deal,) = short.desk.do("GET", "/hedge/currency")["items"]
    assert (deal["dollars"], deal["metal"]) == ("10250.50", "gold")
    assert "buy $10,250.50 92.01 ₹9,43,148.51" in text_of(client.see("market/covers"))


def test_a_statement_with_a_planted_difference_is_told(client: ConsoleClient, short: Dealing) -> None:
    for number in ("1", "2"):
        client.do("market/new-cover", contract="GOLDM", quantity="1")
        cover = next(each for each in covers(short) if each["state"] == "suggested")
        client.do(f"market/record-deal?id={cover['id']}", price="71250.5", reference=f"LM-{number}")
    head = "execution_id,symbol,side,quantity,price"
    lines = [head, "LM-1,GOLDM,buy,1,71251.5", "LM-9,GOLDM,sell,3,70000", "LM-8,GOLDM,buy,one,1"]
    compare = "market/statement"
    day = client.ask(compare)["day"]
    answer = client.send(compare, {"venue": "desk", "day": day, "csv": "\r\n".join(lines)}).json()
    assert answer["done"] == "The statement of desk does not agree."
    report = text_of(answer["reveal"])
    assert "Missing at the venue we have these fills, and the statement does not" in report
    assert re.search(r"LM-2 \S* ?buy 1 71,250.50", report)
    assert "LM-9 GOLDM sell 3 70,000.00" in report
    assert re.search(r"LM-1 price 71250.5\S* 71251.5", report)
    assert re.search(r"Lines that cannot be read they were not compared .* 4 ", report)
    assert client.send(compare, {"venue": "", "day": "soon", "csv": ""}).json()["fields"].keys() == {
        "venue",
        "day",
        "csv",
    }
    long = "\n".join([head, *(f"X-{number},GOLDM,buy,1,71250.5" for number in range(4000))])
    answer = client.send(compare, {"venue": "desk", "day": day, "csv": long}).json()
    assert "the first 200 of 4,000" in text_of(answer["reveal"])


def test_a_form_without_a_file_stays_small(client: ConsoleClient, dealing: Dealing) -> None:
    answer = client.send("market/new-contract", {"code": "x" * 70_000})
    assert answer.status_code == 413


def test_lines_are_shown_with_their_trouble(client: ConsoleClient, dealing: Dealing) -> None:
    assert "There are no lines." in client.see("market/lines")
    broker = dealing.office.broker
    name = f"line-{broker}"
    message = "The venue refused the logon."
    waiting = line_report(state="waiting", message=message, keeps_numbers=False)
    store_says(dealing.office.node, line_state_statement(name, broker, waiting))
    until(lambda: name in client.see("market/lines"), within_s=5)
    shown = text_of(client.see("market/lines"))
    assert f"{name} VENUE, profile keeping waiting to try again" in shown
    assert "its numbers begin anew at every logon" in shown
    assert message in client.see("market/book")
    form = client.ask(f"market/disconnect-line?name={name}")
    assert client.send(f"market/disconnect-line?name={name}", form).json()["fields"] == {
        "reason": "Required."
    }
    refused = client.send(f"market/reset-line?name={name}", {"reason": "numbers"})
    assert (refused.status_code, "begins its numbers anew" in refused.json()["refused"]) == (409, True)
