"""The money of a hedge book at the desk: its profit by parts, its mark, currency deals and statements."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.support.command import bullion
from tests.support.dealing import Dealing
from tests.support.desk import Office, nothing_changed
from tests.support.node import until

from .test_covers import GOLDM, cover, deal

XAU = {
    "metal": "gold", "instrument": "XAUUSD", "lot": "31.1034768", "fineness": "1000",
    "price_weight": "31.1034768", "currency": "USD", "step": "0.001", "tick": "0.01",
}  # fmt: skip
DOLLARS = {"side": "buy", "dollars": "4800.50", "rate": "88.4", "reference": "FX-1", "idempotency_key": "c1"}
HEAD = "execution_id,symbol,side,quantity,price\n"


@pytest.fixture
def earning(dealing: Dealing) -> Dealing:
    """A house that is short of 199.8 g at ₹71,300 for 10 g, with contracts in rupees and dollars."""
    desk = dealing.desk
    desk.do("PATCH", "/hedge/book/gold", {"policy": "book", "limit": "1000", "volatility_percent": "1.2"})
    desk.do("PUT", "/hedge/contracts/GOLDM", GOLDM)
    desk.do("PUT", "/hedge/contracts/XAU", XAU)
    dealing.placed(quantity="200")
    return dealing


def gold(dealing: Dealing) -> dict[str, Any]:
    found: dict[str, Any] = dealing.desk.do("GET", "/hedge/book")["items"][0]
    return found


def rate(dealing: Dealing, instrument: str, bid: str, ask: str) -> None:
    dealing.desk.do("PUT", f"/rates/{instrument}", {"bid": bid, "ask": ask})


def dealt(dealing: Dealing, contract: str, quantity: str, price: str, key: str = "k1", **fields: Any) -> None:
    made = cover(dealing, quantity, key, contract=contract)
    body = deal(quantity, f"T-{key}", price=price, **fields)
    dealing.desk.do("POST", f"/hedge/covers/{made['id']}/fill", body)


def total(profit: dict[str, str]) -> int:
    """In paise, of the parts."""
    return sum(int(value.replace(".", "")) for name, value in profit.items() if name != "total")


def test_without_a_fresh_rate_only_what_needs_none_is_shown(earning: Dealing) -> None:
    book = gold(earning)
    assert book["unmarked_because"] == "There is no fresh rate of GOLD or XAUUSD."
    assert (book["value"], book["value_at_risk"], book["marked_at"]) == (None, None, None)
    assert book["profit"]["unrealised"] is None
    assert book["profit"]["total"] is None
    assert book["profit"]["premium"] is not None
    assert book["average"] is not None
    assert (book["usd_open"], book["usd_open_rupees"]) == ("0.00", "0.00")


def test_the_residual_is_valued_at_the_ask_of_the_largest_contract_in_rupees(earning: Dealing) -> None:
    rate(earning, "XAUUSD", "2400", "2401")
    rate(earning, "USDINR", "88", "88.1")
    by_dollars = gold(earning)
    assert by_dollars["marked_by"] == "XAUUSD"
    # 199.8 g fine are 6.4237... ounces, bought back at the ask of both.
    assert by_dollars["value"] == "1358797.11"
    rate(earning, "GOLD", "71000", "71100")
    book = gold(earning)
    assert (book["marked_by"], book["unmarked_because"]) == ("GOLD", None)
    # 199.8 g fine are as much as 200.8040... g of 995.
    assert (book["value"], book["value_at_risk"]) == ("1427716.58", "39918.96")
    assert book["marked_at"] is not None
    labels = f'{{broker="{earning.office.broker}",metal="gold"}}'

    def measured() -> bool:
        text = httpx.get(f"{earning.office.node.desk_url}/metrics").text
        return f"bullion_book_value_at_risk{labels} 39918.96" in text

    until(measured, within_s=20)
    profit = book["profit"]
    assert total(profit) == int(profit["total"].replace(".", ""))


def test_covers_in_dollars_stay_open_until_a_currency_deal_closes_them(earning: Dealing) -> None:
    rate(earning, "GOLD", "71000", "71100")
    dealt(earning, "XAU", "2", "2400", fee="0.50", dollar="88")
    book = gold(earning)
    assert (book["usd_open"], book["usd_open_rupees"]) == ("-4800.50", None)
    assert book["unmarked_because"] == "There is no fresh rate of the dollar."
    assert book["profit"]["currency"] is None
    rate(earning, "USDINR", "88.2", "88.3")
    book = gold(earning)
    assert book["usd_open_rupees"] == "-423884.15"
    assert book["profit"]["currency"] == "-1440.15"
    made = earning.desk.do("POST", "/hedge/currency", DOLLARS)
    assert (made["rupees"], made["metal"], made["fee"]) == ("424364.20", "gold", "0.00")
    book = gold(earning)
    assert (book["usd_open"], book["usd_open_rupees"]) == ("0.00", "0.00")
    assert book["profit"]["currency"] == "-1920.20"
    assert earning.desk.do("POST", "/hedge/currency", DOLLARS) == made
    assert earning.desk.do("GET", "/hedge/currency") == {"items": [made], "total": 1}
    entry = earning.desk.do("GET", "/audit?limit=2")["items"][-1]
    assert entry["text"] == "dollars for the gold book: buy 4,800.5 at 88.4, FX-1"


def test_a_currency_deal_that_makes_no_sense_is_refused(earning: Dealing) -> None:
    desk = earning.desk
    made = desk.do("POST", "/hedge/currency", DOLLARS)
    for change, named in (
        ({"side": "hold"}, "side"),
        ({"dollars": "0"}, "dollars"),
        ({"dollars": "1.001"}, "dollars"),
        ({"rate": "0"}, "rate"),
        ({"rate": "88.1234567"}, "rate"),
        ({"fee": "-1"}, "fee"),
        ({"reference": ""}, "reference"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"metal": "copper"}, "metal"),
        ({"cents": 5}, "cents"),
    ):
        with nothing_changed(desk):
            assert named in desk.refused(
                "POST", "/hedge/currency", DOLLARS | {"idempotency_key": "c2"} | change
            )
    with nothing_changed(desk):
        other = DOLLARS | {"dollars": "1"}
        assert "key" in desk.refused("POST", "/hedge/currency", other, status=409, code="conflict")
        silver = DOLLARS | {"idempotency_key": "c3", "metal": "silver"}
        assert "silver" in desk.refused("POST", "/hedge/currency", silver, status=409, code="conflict")
    desk.do("PATCH", "/hedge/book/silver", {"limit": "5"})
    fresh = DOLLARS | {"idempotency_key": "c4"}
    assert "metal" in desk.refused("POST", "/hedge/currency", fresh)
    assert desk.do("POST", "/hedge/currency", fresh | {"metal": "silver"})["metal"] == "silver"
    assert desk.do("POST", "/hedge/currency", DOLLARS) == made, "a repeated key, with another book open since"


def test_currency_deals_and_statements_need_a_dealer_and_a_book(office: Office) -> None:
    viewer, dealer = office.hire("viewer"), office.hire("dealer")
    asked = {"venue": "desk", "day": "2026-11-17", "csv": HEAD}
    for path, body in (("/hedge/currency", DOLLARS), ("/hedge/statement", asked)):
        viewer.refused("POST", path, body, status=403, code="role_too_low")
    assert "open" in dealer.refused("POST", "/hedge/currency", DOLLARS, status=409, code="conflict")
    assert viewer.do("GET", "/hedge/currency") == {"items": [], "total": 0}
    assert dealer.do("POST", "/hedge/statement", asked)["agrees"] is True


def today(dealing: Dealing) -> str:
    """By the broker's clocks, which are India's."""
    at = datetime.fromisoformat(dealing.desk.do("GET", "/hedge/covers")["items"][0]["created_at"])
    return (at + timedelta(hours=5, minutes=30)).date().isoformat()


def test_a_statement_is_compared_by_execution_id(earning: Dealing) -> None:
    dealt(earning, "GOLDM", "1", "71250.5", "k1")
    dealt(earning, "GOLDM", "2", "71300", "k2")
    dealt(earning, "XAU", "1.5", "2400.25", "k3", dollar="88")
    day = today(earning)
    lines = ["T-k1,,buy,1,71250.50", "T-k2,,B,2,71301", "X-9,GOLDM,sell,3,71000", "X-9,GOLDM,sell,3,71000"]
    csv = HEAD + "\n".join(lines).replace(",,", ",GOLDM,")
    found = earning.desk.do("POST", "/hedge/statement", {"venue": "desk", "day": day, "csv": csv})
    assert (found["venue"], found["day"], found["agrees"]) == ("desk", day, False)
    assert found["missing"] == [
        {
            "execution_id": "T-k3",
            "symbol": "XAU",
            "side": "buy",
            "quantity": "1.50000000",
            "price": "2400.250000",
        }
    ]
    assert [each["execution_id"] for each in found["extra"]] == ["X-9"]
    assert found["different"] == [
        {"execution_id": "T-k2", "field": "price", "ours": "71300.000000", "theirs": "71301.000000"}
    ]
    assert [each["line"] for each in found["bad_lines"]] == [5]
    assert "twice" in found["bad_lines"][0]["message"]
    entry = earning.desk.do("GET", "/audit?limit=1")["items"][0]
    assert entry["text"] == (
        f"statement of desk for {day}: 1 matched, 1 missing, 1 extra, 1 different, 1 bad lines"
    )
    other = earning.desk.do("POST", "/hedge/statement", {"venue": "mcx", "day": day, "csv": HEAD})
    assert (other["agrees"], other["matched"]) == (True, 0)
    earlier = {"venue": "desk", "day": "2026-01-01", "csv": HEAD}
    assert earning.desk.do("POST", "/hedge/statement", earlier)["agrees"] is True
    for far in ("9999-12-31", "9999-12-30", "0001-01-01"):
        answer = earning.desk.do("POST", "/hedge/statement", earlier | {"day": far})
        assert (answer["day"], answer["agrees"]) == (far, True)


def test_a_currency_deal_that_is_sent_several_times_at_once_is_recorded_once(earning: Dealing) -> None:
    with ThreadPoolExecutor(8) as threads:
        sent = [threads.submit(earning.desk.do, "POST", "/hedge/currency", DOLLARS) for _ in range(8)]
        answers = [each.result() for each in sent]
    assert all(each == answers[0] for each in answers)
    assert earning.desk.do("GET", "/hedge/currency")["total"] == 1


def test_the_command_reads_the_file_and_says_by_its_exit_whether_it_agrees(earning: Dealing) -> None:
    dealt(earning, "GOLDM", "1", "71250.5")
    node, day = earning.office.node, today(earning)
    file = node.folder / "trades.csv"
    command = (
        "desk",
        "--broker",
        earning.office.broker,
        "hedge",
        "statement",
        str(file),
        "--venue",
        "desk",
        "--day",
    )
    file.write_text(f"\N{ZERO WIDTH NO-BREAK SPACE}{HEAD}T-k1,GOLDM,buy,1,71250.5\n", "utf-8")
    done = bullion(node.folder, *command, day, **node.settings)
    assert (done.returncode, "agrees" in done.stdout) == (0, True), done.stderr
    file.write_text(HEAD, "utf-8")
    done = bullion(node.folder, *command, day, **node.settings)
    assert (done.returncode, "do not agree" in done.stderr) == (1, True)
    file.write_bytes(b"\xff\xfe")
    done = bullion(node.folder, *command, day, **node.settings)
    assert done.returncode == 2
    assert "UTF-8" in done.stderr


def test_a_statement_that_makes_no_sense_is_refused(standing: Office) -> None:
    whole = {"venue": "desk", "day": "2026-11-17", "csv": HEAD}
    for change, named in (
        ({"day": "17.11.2026"}, "day"),
        ({"day": "2026-02-30"}, "day"),
        ({"venue": ""}, "venue"),
        ({"csv": None}, "csv"),
        ({"file": "x"}, "file"),
    ):
        with nothing_changed(standing.desk):
            assert named in standing.desk.refused("POST", "/hedge/statement", whole | change)
    with nothing_changed(standing.desk):
        large = whole | {"csv": HEAD + "x" * 300_000}
        told = standing.desk.refused("POST", "/hedge/statement", large, status=413, code="request_too_large")
        assert "256 KiB" in told
