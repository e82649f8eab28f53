"""What symbols cost and whether orders in them are taken, as the desk is told."""

from collections import Counter
from typing import Any

from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Office, refusal
from tests.support.node import until
from tests.support.orders import Trader, refused

HOURS = {"zone": "Asia/Kolkata", "week": {}, "holidays": []}


def quote(office: Office, code: str = "GOLD") -> Any:
    (found,) = [each for each in office.desk.all("/quotes") if each["symbol_code"] == code]
    return found


def test_a_symbol_costs_what_its_rates_say_before_any_premium(office: Office) -> None:
    desk = office.desk
    assert desk.do("GET", "/quotes") == {"items": [], "total": 0}
    desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "150", "sell_premium": "-150"}})
    desk.do("PUT", "/symbols/GOLD", SYMBOL)
    none = quote(office)
    assert (none["state"], none["bid"], none["spread"], none["at"]) == ("no_rate", None, None, None)
    assert none["words"]
    rate = desk.do("PUT", "/rates/GOLD", {"bid": "71234.505", "ask": "71240"})
    found = quote(office)
    assert {**found, "age_s": 0} == {
        "symbol_code": "GOLD",
        "metal": "gold",
        "unit": "g",
        "quoted_weight": "10.0000",
        "bid": "71234.51",
        "ask": "71240.00",
        "spread": "5.49",
        "at": rate["at"],
        "age_s": 0,
        "state": "live",
        "words": None,
        "crossed": [],
    }


def test_its_state_is_what_an_order_would_meet(office: Office, trader: Trader) -> None:
    desk = office.desk

    def meets(state: str, code: str | None) -> None:
        assert quote(office)["state"] == state
        answer = trader.place(symbol_code="GOLD", trade_type="buy", quantity=1)
        if code is None:
            assert answer.status_code == 201, answer.text
        else:
            refused(answer, code)

    meets("live", None)
    desk.do("PATCH", "/symbols/GOLD", {"frozen": True})
    meets("frozen", "symbol_frozen")
    desk.do("PATCH", "/switches", {"trading_hours": HOURS})
    meets("closed", "trading_halted")
    desk.do("PATCH", "/switches", {"halted": True})
    meets("halted", "trading_halted")
    old = {"kind": "direct", "instrument": "OLD"}
    desk.do("PUT", "/rates/OLD", {"bid": "1", "ask": "2", "at": "2026-01-01T00:00:00+00:00"})
    desk.do("PATCH", "/symbols/GOLD", {"pricing": old, "rate_age_s_max": 5})
    meets("stale", "stale_rate")
    desk.do("PATCH", "/symbols/GOLD", {"trading": False})
    meets("off", "symbol_not_trading")


def test_exposure_is_told_in_plain_weights(dealing: Dealing) -> None:
    dealing.placed(quantity="2.5", trade_type="sell")
    dealing.placed(quantity="3", symbol_code="SILVER")
    dealing.venue(mode="hold")
    dealing.placed(quantity="0.25")
    gold, silver = dealing.desk.do("GET", "/hedge/exposure")["items"]
    # The usher has bought one gram.
    assert gold == {
        "metal": "gold",
        "unit": "g",
        "net": "-1.2500",
        "hedged": "-1.5000",
        "unhedged": "0.2500",
        "waiting": 1,
        "breaks": 0,
    }
    assert (silver["net"], silver["hedged"], silver["unit"]) == ("3.0000", "3.0000", "kg")
    viewer = dealing.office.hire("viewer")
    assert viewer.do("GET", "/hedge/exposure?limit=1")["total"] == 2


def test_decisions_are_counted_by_the_minute(office: Office, trader: Trader, other: Office) -> None:
    for _ in range(2):
        assert trader.place(symbol_code="GOLD", trade_type="buy", quantity=1).status_code == 201
    refused(trader.place(symbol_code="GOLD", trade_type="buy", quantity=900_000), "limit_exceeded")
    path = "/traces/counts?minutes=5"

    def sums() -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for each in office.desk.do("GET", path)["items"]:
            found[each["environment"], each["outcome"]] += each["count"]
        return found

    # They are written twice a second.
    until(lambda: sums() == {("test", "filled"): 2, ("test", "limit_exceeded"): 1}, within_s=10)
    found = office.desk.do("GET", path)
    again = office.desk.do("GET", f"{path}&after={found['through']}")
    assert again["items"] == []
    assert other.desk.do("GET", path)["items"] == []
    for wrong in ("minutes=0", "minutes=61", "minutes=x", "after=-1", "minutes=1&minutes=2"):
        office.desk.refused("GET", f"/traces/counts?{wrong}")


def test_the_history_of_a_price_ends_with_the_current_one(office: Office) -> None:
    desk = office.desk
    desk.do("PUT", "/symbols/GOLD", SYMBOL)
    history = desk.do("GET", "/quotes/GOLD/history?span=15m")
    assert (history["items"], history["live"]) == ([], False)
    assert desk.do("GET", "/quotes/today") == {"items": [], "total": 0}
    desk.do("PUT", "/rates/GOLD", {"bid": "71234.50", "ask": "71234.53"})
    viewer = office.hire("viewer")
    history = viewer.do("GET", "/quotes/GOLD/history?span=15m")
    assert history["live"]
    assert [each["close"] for each in history["items"]] == ["71234.515"]
    (day,) = viewer.do("GET", "/quotes/today")["items"]
    assert (day["symbol_code"], day["last"], day["change"]) == ("GOLD", "71234.515", "0.00")


def test_a_history_of_nothing_is_refused(office: Office) -> None:
    refusal(office.desk.get("/quotes/NOTHING/history"), 404, "not_found")
    message = refusal(office.desk.get("/quotes/GOLD/history?span=week"), 422, "invalid_request")
    assert "15m, 1h, 1d, 1w, 1mo, 1y" in message
