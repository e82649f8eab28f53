"""Orders that the desk places for a client: the API's own way, checks and answers, under another channel."""

from typing import Any

import pytest

from tests.support.dealing import Dealing
from tests.support.desk import Office, nothing_changed, refusal
from tests.support.node import until
from tests.support.orders import BUY_PRICE

BODY = {
    "login_id": "client",
    "source": "web",
    "idempotency_key": "key",
    "symbol_code": "GOLD",
    "trade_type": "buy",
    "quantity": "1",
}


def test_it_is_booked_as_the_venue_confirms(dealing: Dealing) -> None:
    answer = dealing.place(
        source="phone", quantity="2.5", expected_price="71240.000", client_order_id="PO 1 \U0001f947"
    )
    assert answer.status_code == 201
    assert "idempotent-replayed" not in answer.headers
    order = answer.json()
    assert (order["source"], order["quantity"], order["total"]) == ("phone", "2.5000", "17810.00")
    assert (order["price"], order["client_order_id"]) == (BUY_PRICE, "PO 1 \U0001f947")
    assert order["request_id"] == answer.headers["x-request-id"]
    assert order["key_id"] is None
    found = dealing.order(order)
    assert found["expected_price"] == "71240"
    assert {name: found[name] for name in order} == order
    (listed,) = dealing.desk.do("GET", "/orders?source=phone")["items"]
    assert {name: listed[name] for name in order} == order
    dealing.check()


def test_a_pending_order_is_accepted(dealing: Dealing) -> None:
    dealing.venue(mode="hold")
    answer = dealing.place(idempotency_key="k")
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    assert answer.json()["price"] == BUY_PRICE  # The desk sees it before the client does.
    again = dealing.place(idempotency_key="k")
    assert (again.status_code, again.json()) == (200, answer.json())
    assert again.headers["idempotent-replayed"] == "true"


def test_the_same_key_replays_and_another_body_does_not_book(dealing: Dealing) -> None:
    first = dealing.place(idempotency_key="k", quantity="1", expected_price="71240")
    again = dealing.place(idempotency_key="k", quantity="1.0000", expected_price="71240.00")
    assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
    assert again.json() == first.json()
    reused = dealing.place(idempotency_key="k", quantity="2", expected_price="71240")
    assert refusal(reused, 422, "idempotency_key_reused")
    dealing.do(first.json(), "delete")
    assert dealing.place(idempotency_key="k", expected_price="71240").json()["status"] == "deleted"
    assert dealing.desk.do("GET", "/orders?login_id=client")["total"] == 1


def test_channels_and_accounts_do_not_share_keys(dealing: Dealing) -> None:
    ids = {
        dealing.placed(idempotency_key="k", source=source, login_id=login_id)["id"]
        for source in ("web", "mobile", "phone")
        for login_id in ("client", "usher")
    }
    assert len(ids) == 6


def test_every_placing_leaves_its_entry(dealing: Dealing) -> None:
    dealer = dealing.office.hire("dealer")
    order = dealing.place(dealer, idempotency_key="k").json()
    (entry,) = dealing.desk.do("GET", "/audit?limit=1")["items"]
    assert (entry["action"], entry["subject"], entry["before"]) == ("place_order", order["id"], None)
    assert entry["after"] == {**order, "replayed": False}
    assert entry["actor"].startswith("a dealer (")
    dealing.place(idempotency_key="k")
    (entry,) = dealing.desk.do("GET", "/audit?limit=1")["items"]
    assert (entry["subject"], entry["after"]["replayed"]) == (order["id"], True)


def test_the_venues_refusal_is_told_with_the_order(dealing: Dealing) -> None:
    dealing.venue(mode="refuse")
    answer = dealing.place(idempotency_key="k", quantity="3")
    assert answer.status_code == 409
    detail = answer.json()["detail"]
    assert detail.keys() == {"code", "message", "order_id", "order"}
    assert (detail["code"], detail["order"]["status"]) == ("order_rejected", "rejected")
    found = dealing.order(detail["order"])
    assert {name: found[name] for name in detail["order"]} == detail["order"]
    assert found["events"][-1]["by"] == "venue"
    assert dealing.place(idempotency_key="k", quantity="3").json()["detail"]["order_id"] == detail["order_id"]
    dealing.check()


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "no such symbol": ({"symbol_code": "gold"}, 404, "unknown_symbol"),
    "no side": ({"trade_type": "hold"}, 400, "invalid_side"),
    "past the allocation": ({"quantity": "100001"}, 400, "limit_exceeded"),
    "a moved price": ({"expected_price": "70000"}, 409, "price_moved"),
    "SQL": ({"symbol_code": "'; DROP TABLE orders; --"}, 404, "unknown_symbol"),
}


@pytest.mark.parametrize("which", REFUSED)
def test_the_market_refuses_with_the_apis_own_codes(dealing: Dealing, which: str) -> None:
    fields, status, code = REFUSED[which]
    with nothing_changed(dealing.desk):
        assert refusal(dealing.place(**fields), status, code)


def test_a_moved_price_settles_the_key(dealing: Dealing) -> None:
    assert refusal(dealing.place(idempotency_key="k", expected_price="70000"), 409, "price_moved")
    again = dealing.place(idempotency_key="k", expected_price="70000")
    assert refusal(again, 409, "price_moved")
    assert again.headers["idempotent-replayed"] == "true"


@pytest.mark.parametrize(
    ("switches", "status", "code"),
    [
        ({"halted": True}, 403, "trading_halted"),
        ({"paused": True}, 503, "production_prerequisites_unmet"),
        ({"trading_hours": {"zone": "UTC", "week": {}}}, 403, "trading_halted"),
    ],
)
def test_halts_and_pauses_hold_for_every_channel(
    dealing: Dealing, switches: dict[str, Any], status: int, code: str
) -> None:
    kept = dealing.placed(idempotency_key="before")
    dealing.desk.do("PATCH", "/switches", switches)
    assert refusal(dealing.place(), status, code)
    assert dealing.place(idempotency_key="before").json() == kept


def test_the_apis_own_switches_do_not(dealing: Dealing) -> None:
    """Production is off for this deployment and broker, and API access for the account."""
    dealing.desk.do("PATCH", "/accounts/client", {"api_access": False, "production_trading": False})
    assert dealing.desk.do("GET", "/switches")["production"] is False
    assert dealing.place().status_code == 201


def test_an_inactive_account_is_refused_but_replays(dealing: Dealing) -> None:
    kept = dealing.placed(idempotency_key="before")
    dealing.desk.do("PATCH", "/accounts/client", {"active": False})
    with nothing_changed(dealing.desk):
        assert refusal(dealing.place(), 403, "account_inactive")
    assert dealing.place(idempotency_key="before").json() == kept


def test_the_venues_word_on_an_instrument_holds(dealing: Dealing) -> None:
    codes = {"suspended": "symbol_unavailable", "unknown": "tradeability_unverified"}
    for word, code in codes.items():
        dealing.venue(instruments={"GOLD": word})
        until(lambda code=code: _code(dealing) == code, within_s=3)
    assert dealing.placed(symbol_code="SILVER")["status"] == "open"
    dealing.venue(instruments={"GOLD": "tradable"}, mode="down")
    until(lambda: _code(dealing) == "production_prerequisites_unmet", within_s=5)
    dealing.venue(mode="fill")
    until(lambda: dealing.place().status_code == 201, within_s=5)


def _code(dealing: Dealing) -> str:
    answer = dealing.place()
    return "" if answer.is_success else str(answer.json()["detail"]["code"])


def test_stock_is_taken_and_comes_back(dealing: Dealing) -> None:
    dealing.desk.do("PATCH", "/symbols/GOLD", {"stock": "10"})
    order = dealing.placed(quantity="7")
    assert _stock(dealing) == "3.0000"
    assert "3.0000" in refusal(dealing.place(quantity="4"), 400, "out_of_stock")
    assert dealing.placed(quantity="4", trade_type="sell")["status"] == "open"
    assert _stock(dealing) == "3.0000"
    dealing.do(order, "delete")
    assert _stock(dealing) == "10.0000"
    dealing.desk.do("PATCH", "/symbols/GOLD", {"stock": None})
    assert dealing.placed(quantity="1000")["status"] == "open"
    assert _stock(dealing) is None
    dealing.check()


def _stock(dealing: Dealing) -> Any:
    (gold,) = [each for each in dealing.desk.all("/symbols") if each["code"] == "GOLD"]
    return gold["stock"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "the API's channel": ({"source": "api"}, "source"),
    "a channel in capitals": ({"source": "Web"}, "source"),
    "no channel": ({"source": ""}, "source"),
    "a long channel": ({"source": "w" * 33}, "source"),
    "a channel with an end of line": ({"source": "web\n"}, "source"),
    "no key": ({"idempotency_key": ""}, "idempotency_key"),
    "a blank key": ({"idempotency_key": "  "}, "idempotency_key"),
    "a long key": ({"idempotency_key": "k" * 65}, "idempotency_key"),
    "a key that is not ASCII": ({"idempotency_key": "schlüssel"}, "idempotency_key"),
    "a key with a NUL": ({"idempotency_key": "k\0"}, "idempotency_key"),
    "no symbol": ({"symbol_code": ""}, "symbol_code"),
    "a long symbol": ({"symbol_code": "G" * 33}, "symbol_code"),
    "a symbol with a NUL": ({"symbol_code": "G\0"}, "symbol_code"),
    "a side that is no text": ({"trade_type": 1}, "trade_type"),
    "a quantity that is a number": ({"quantity": 1}, "quantity"),
    "no weight": ({"quantity": "0"}, "quantity"),
    "less than nothing": ({"quantity": "-1"}, "quantity"),
    "too fine": ({"quantity": "1.00001"}, "quantity"),
    "too much": ({"quantity": "1000000.0001"}, "quantity"),
    "an exponent": ({"quantity": "1e2"}, "quantity"),
    "infinite": ({"quantity": "Infinity"}, "quantity"),
    "other digits": ({"quantity": "١"}, "quantity"),
    "no price": ({"expected_price": "0"}, "expected_price"),
    "a negative price": ({"expected_price": "-0.01"}, "expected_price"),
    "a price of many digits": ({"expected_price": "123456789012345.123456"}, "expected_price"),
    "a price that is a number": ({"expected_price": 71240}, "expected_price"),
    "a long reference": ({"client_order_id": "x" * 65}, "client_order_id"),
    "a reference with a NUL": ({"client_order_id": "x\0"}, "client_order_id"),
    "an unknown field": ({"price": "1"}, "price"),
    "a mistyped field": ({"expected_prise": "1"}, "expected_prise"),
}


@pytest.mark.parametrize("which", WRONG)
def test_a_wrong_body_is_refused_in_words(standing: Office, which: str) -> None:
    fields, named = WRONG[which]
    with nothing_changed(standing.desk):
        assert named in standing.desk.refused("POST", "/orders", {**BODY, **fields})


@pytest.mark.parametrize("missing", BODY)
def test_nothing_may_be_left_out(standing: Office, missing: str) -> None:
    with nothing_changed(standing.desk):
        body = {name: value for name, value in BODY.items() if name != missing}
        assert missing in standing.desk.refused("POST", "/orders", body)


@pytest.mark.parametrize("login_id", ["nobody", "", "%00", "client\0", "x" * 64])
def test_an_account_has_to_be_there(standing: Office, other: Office, login_id: str) -> None:
    with nothing_changed(standing.desk):
        body = {**BODY, "login_id": login_id}
        standing.desk.refused("POST", "/orders", body, status=404, code="not_found")
        other.desk.refused("POST", "/orders", BODY, status=404, code="not_found")


def test_the_decision_on_it_is_kept(dealing: Dealing) -> None:
    order = dealing.placed()
    until(lambda: dealing.order(order)["trace"] is not None, within_s=5)
    trace = dealing.order(order)["trace"]
    assert (trace["outcome"], trace["key_id"], trace["order_id"]) == ("open", None, order["id"])
    refused = dealing.place(quantity="100001").headers["x-request-id"]
    until(lambda: dealing.desk.get(f"/traces/{refused}").status_code == 200, within_s=5)
    trace = dealing.desk.do("GET", f"/traces/{refused}")
    assert (trace["outcome"], trace["asked"]["quantity"]) == ("limit_exceeded", "100001.0000")
    assert dealing.desk.do("GET", "/traces?outcome=open&login_id=client")["items"]
