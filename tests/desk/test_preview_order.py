"""What an order would cost and be refused for, and prices that are locked for a client on the telephone."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from bullion.desk.price_lock import PriceLock, PriceLocks
from bullion.keys.hashing import Hasher
from tests.support.command import bullion
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office, nothing_changed, refusal
from tests.support.node import SECRET, until
from tests.support.orders import BUY_PRICE, GOLD, SELL_PRICE

ORDER = {"login_id": "client", "symbol_code": "GOLD", "trade_type": "buy", "quantity": "100"}
LOCKS = PriceLocks(Hasher(SECRET.encode("ascii"), "locks"))


def preview(dealing: Dealing, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = dealing.desk.do("POST", "/orders/preview", {**ORDER, **fields})
    return found


def failed(previewed: dict[str, Any]) -> list[str]:
    return [each["check"] for each in previewed["checks"] if each["state"] == "refused"]


def lock(dealing: Dealing, desk: Caller | None = None, **fields: Any) -> dict[str, Any]:
    """A lock that does not run out while a slow machine works on the test."""
    return moved((desk or dealing.desk).do("POST", "/orders/lock", {**ORDER, **fields}), by_s=600)


def moved(locked: dict[str, Any], by_s: int) -> dict[str, Any]:
    """The same lock, made at another time."""
    opened = LOCKS.open(locked["lock"])
    assert opened is not None
    later = msgspec.structs.replace(opened, until_us=opened.until_us + by_s * 1_000_000)
    return {**locked, "lock": LOCKS.seal(later)}


def book(dealing: Dealing, locked: dict[str, Any], desk: Caller | None = None, **fields: Any) -> Any:
    same = {name: locked[name] for name in (*ORDER, "source", "idempotency_key", "lock")}
    return dealing.place(desk, **{**same, **fields})


def set_price(dealing: Dealing, buy: str, sell: str = SELL_PRICE) -> None:
    dealing.desk.do("PATCH", "/symbols/GOLD", {"pricing": {"kind": "fixed", "buy": buy, "sell": sell}})


def test_it_says_what_the_client_pays_and_what_stays_free(dealing: Dealing) -> None:
    dealing.desk.do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "150", "sell_premium": "-40"}})
    dealing.desk.do("PATCH", "/symbols/GOLD", {"stock": "3900"})
    dealing.placed(quantity="30")
    with nothing_changed(dealing.desk):
        bought = preview(dealing)
        sold = preview(dealing, trade_type="sell", quantity="130.5")
    assert (bought["buy_price"], bought["sell_price"]) == ("71390.00", "71190.00")
    assert (bought["price"], bought["total"]) == ("71390.00", "713900.00")
    assert (bought["reference"], bought["premium"], bought["earned"]) == (BUY_PRICE, "150.00", "1500.00")
    assert bought["stock"] == "3870.0000"
    assert bought["allocation"] == {
        "limit": "100000.0000",
        "used": "30.0000",
        "free": "99970.0000",
        "free_after": "99870.0000",
    }
    assert (sold["price"], sold["total"]) == ("71190.00", "929029.50")
    assert (sold["reference"], sold["earned"]) == (SELL_PRICE, "522.00")
    assert sold["allocation"]["free_after"] == "99899.5000"
    assert bought["refused_for"] is sold["refused_for"] is None
    assert {each["state"] for each in bought["checks"]} == {"passed"}


def test_checks_of_a_weight_wait_for_it(dealing: Dealing) -> None:
    dealing.desk.do("PATCH", "/accounts/client", {"allocation": {"gold": "0"}})
    found = preview(dealing, quantity=None)
    assert (found["price"], found["total"], found["allocation"]["free_after"]) == (BUY_PRICE, None, None)
    waiting = {each["check"] for each in found["checks"] if each["state"] == "waiting"}
    assert waiting == {"size", "allocation", "stock"}
    assert found["refused_for"] is None


def _quiet(_dealing: Dealing) -> None:
    """The order itself is refused."""


def _change(method: str, path: str, body: Any) -> Callable[[Dealing], None]:
    return lambda dealing: dealing.desk.do(method, path, body)


DIRECT = {**GOLD, "pricing": {"kind": "direct", "instrument": "XAU"}}
OLD_RATE = {"bid": "71230", "ask": "71240", "at": "2024-01-01T00:00:00Z"}


def _stale(dealing: Dealing) -> None:
    dealing.desk.do("PUT", "/rates/XAU", OLD_RATE)
    dealing.desk.do("PUT", "/symbols/GOLD", {**DIRECT, "rate_age_s_max": 30})


def _venue(**behaviour: Any) -> Callable[[Dealing], None]:
    return lambda dealing: dealing.venue(**behaviour)


REFUSED: dict[str, tuple[Callable[[Dealing], None], dict[str, Any], str, str]] = {
    "an inactive account": (
        _change("PATCH", "/accounts/client", {"active": False}),
        {},
        "account",
        "account_inactive",
    ),
    "a pause": (
        _change("PATCH", "/switches", {"paused": True}),
        {},
        "pause",
        "production_prerequisites_unmet",
    ),
    "a venue that is down": (_venue(mode="down"), {}, "venue", "production_prerequisites_unmet"),
    "no such symbol": (_quiet, {"symbol_code": "gold"}, "symbol", "unknown_symbol"),
    "a symbol that is off": (
        _change("PATCH", "/symbols/GOLD", {"trading": False}),
        {},
        "symbol",
        "symbol_not_trading",
    ),
    "no side": (_quiet, {"trade_type": "hold"}, "side", "invalid_side"),
    "a side that is not offered": (
        _change("PATCH", "/symbols/GOLD", {"sides": ["sell"]}),
        {},
        "side",
        "side_not_offered",
    ),
    "no rate": (_change("PUT", "/symbols/GOLD", DIRECT), {}, "rate", "no_live_price"),
    "an old rate": (_stale, {}, "fresh", "stale_rate"),
    "a halt": (_change("PATCH", "/switches", {"halted": True}), {}, "halt", "trading_halted"),
    "a closed market": (
        _change("PATCH", "/switches", {"trading_hours": {"zone": "UTC", "week": {}}}),
        {},
        "hours",
        "trading_halted",
    ),
    "a frozen symbol": (
        _change("PATCH", "/symbols/GOLD", {"frozen": True}),
        {},
        "frozen",
        "symbol_frozen",
    ),
    "a weight below the minimum": (
        _change("PATCH", "/symbols/GOLD", {"minimum": "101"}),
        {},
        "size",
        "quantity_rule",
    ),
    "a weight that the group may not trade": (
        _change(
            "PUT",
            "/groups/retail",
            {"default_terms": {"buy_premium": "0", "sell_premium": "0", "maximum": "99"}},
        ),
        {},
        "size",
        "group_quantity_rule",
    ),
    "an instrument that is suspended": (
        _venue(instruments={"GOLD": "suspended"}),
        {},
        "instrument",
        "symbol_unavailable",
    ),
    "an instrument that is not known": (
        _venue(instruments={"GOLD": "unknown"}),
        {},
        "instrument",
        "tradeability_unverified",
    ),
    "a group that may not trade": (
        _change("PATCH", "/groups/retail", {"trading": False}),
        {},
        "group",
        "group_trading_disabled",
    ),
    "a group without terms": (
        _change("PUT", "/groups/retail", {"default_terms": None}),
        {},
        "group_price",
        "pricing_unavailable",
    ),
    "crossed prices": (lambda dealing: set_price(dealing, "71000"), {}, "crossed", "pricing_unavailable"),
    "too little allocation": (_quiet, {"quantity": "100001"}, "allocation", "limit_exceeded"),
    "too little stock": (
        _change("PATCH", "/symbols/GOLD", {"stock": "99"}),
        {},
        "stock",
        "out_of_stock",
    ),
}


@pytest.mark.parametrize("which", REFUSED)
def test_it_names_what_the_order_is_refused_for(dealing: Dealing, which: str) -> None:
    make, fields, check, code = REFUSED[which]
    make(dealing)
    until(lambda: preview(dealing, **fields)["refused_for"] == code, within_s=5)
    found = preview(dealing, **fields)
    assert failed(found) == [check]
    (told,) = [each for each in found["checks"] if each["state"] == "refused"]
    assert told["code"] == code
    assert told["message"].endswith(".")
    assert told["remedy"].endswith(".")
    # The order path has the last word, and it is the same one.
    order = {**ORDER, **fields}
    placed = dealing.place(**order)
    assert placed.json()["detail"]["code"] == code
    locked = dealing.desk.post("/orders/lock", json=order)
    assert (locked.status_code, locked.json()["detail"]["code"]) == (placed.status_code, code)


def test_it_names_all_of_them_at_once(dealing: Dealing) -> None:
    dealing.desk.do("PATCH", "/switches", {"halted": True, "paused": True})
    dealing.desk.do("PATCH", "/symbols/GOLD", {"frozen": True, "stock": "1", "maximum": "50"})
    dealing.desk.do("PATCH", "/accounts/client", {"active": False, "allocation": {"gold": "10"}})
    found = preview(dealing)
    assert failed(found) == ["account", "pause", "halt", "frozen", "size", "allocation", "stock"]
    assert found["refused_for"] == "account_inactive"


def test_everyone_at_the_desk_may_look_and_dealers_lock(dealing: Dealing) -> None:
    viewer = dealing.office.hire("viewer")
    assert viewer.do("POST", "/orders/preview", ORDER)["price"] == BUY_PRICE
    viewer.refused("POST", "/orders/lock", ORDER, status=403, code="role_too_low")
    dealer = dealing.office.hire("dealer")
    assert lock(dealing, dealer)["price"] == BUY_PRICE


def test_a_locked_price_is_what_is_booked(dealing: Dealing) -> None:
    dealer = dealing.office.hire("dealer")
    with nothing_changed(dealing.desk):
        locked = lock(dealing, dealer)
    assert (locked["price"], locked["total"], locked["source"]) == (BUY_PRICE, "712400.00", "desk")
    set_price(dealing, "71300")
    answer = book(dealing, locked, dealer)
    assert answer.status_code == 201, answer.text
    order = answer.json()
    assert (order["price"], order["total"], order["source"]) == (BUY_PRICE, "712400.00", "desk")
    found = dealing.order(order)
    assert (found["expected_price"], found["idempotency_key"]) == ("71240", locked["idempotency_key"])
    assert found["price_anatomy"]["price"] == BUY_PRICE
    assert found["price_anatomy"]["locked_at"] <= locked["locked_until"]
    (entry,) = dealing.desk.do("GET", "/audit?limit=1")["items"]
    assert (entry["action"], entry["subject"]) == ("place_order", order["id"])
    assert entry["actor"].startswith("a dealer (")
    dealing.check()


def test_a_lock_books_once_and_replays_after_its_time(dealing: Dealing) -> None:
    locked = lock(dealing)
    order = book(dealing, locked).json()
    again = book(dealing, locked)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
    late = book(dealing, expired(locked))
    assert (late.status_code, late.json()["id"]) == (200, order["id"])
    assert dealing.desk.do("GET", "/orders?login_id=client")["total"] == 1


def expired(locked: dict[str, Any]) -> dict[str, Any]:
    return moved(locked, by_s=-3600)


def test_a_lock_lasts_five_seconds(dealing: Dealing) -> None:
    locked = dealing.desk.do("POST", "/orders/lock", ORDER)
    opened = LOCKS.open(locked["lock"])
    assert opened is not None
    lasts = datetime.fromisoformat(locked["locked_until"]) - datetime.fromisoformat(locked["at"])
    assert lasts == timedelta(seconds=5) == timedelta(milliseconds=locked["lock_ms"])
    assert opened.until_us == datetime.fromisoformat(locked["locked_until"]).timestamp() * 1_000_000


def test_an_expired_lock_books_nothing(dealing: Dealing) -> None:
    locked = lock(dealing)
    with nothing_changed(dealing.desk):
        refused = book(dealing, expired(locked))
        assert "Nothing was booked" in refusal(refused, 409, "price_lock_expired")
    request_id = refused.headers["x-request-id"]
    until(lambda: dealing.desk.get(f"/traces/{request_id}").status_code == 200, within_s=5)
    assert dealing.desk.do("GET", "/traces?outcome=price_lock_expired")["items"]
    for query in ("", "?code=price_lock_expired"):
        (listed,) = dealing.desk.do("GET", f"/refusals{query}")["items"]
        assert (listed["request_id"], listed["outcome"]) == (request_id, "price_lock_expired")
    (counted,) = dealing.desk.do("GET", "/refusals/counts")["items"]
    assert (counted["code"], counted["last_hour"]) == ("price_lock_expired", 1)


def test_a_price_that_moved_beyond_the_tolerance_is_not_booked(dealing: Dealing) -> None:
    locked = lock(dealing)
    set_price(dealing, "71596.30")  # 0.5 percent and a paisa more.
    refused = book(dealing, locked)
    assert "71596.30" in refusal(refused, 409, "price_moved")
    set_price(dealing, BUY_PRICE)
    assert refusal(book(dealing, locked), 409, "price_moved")  # Its key is settled.
    assert dealing.desk.do("GET", "/orders?login_id=client")["total"] == 0
    again = lock(dealing)
    assert again["idempotency_key"] != locked["idempotency_key"]
    set_price(dealing, "71596.20")  # At exactly the tolerance.
    assert book(dealing, again).json()["price"] == BUY_PRICE


def test_a_locked_price_is_compared_for_the_same_weight(dealing: Dealing) -> None:
    def quote(weight: str, **prices: str) -> None:
        changes = {"quoted_weight": weight, "pricing": {"kind": "fixed", **prices}}
        asked = dealing.desk.patch("/symbols/GOLD", json=changes)
        if asked.status_code == 409:
            confirm = asked.json()["detail"]["fingerprint"]
            dealing.desk.do("PATCH", f"/symbols/GOLD?confirm={confirm}", changes)

    first, second = lock(dealing), lock(dealing)
    quote("1", buy="71240", sell="71230")  # Ten times as high.
    with nothing_changed(dealing.desk):
        refused = refusal(book(dealing, first), 409, "price_moved")
    assert "712400.00" in refused
    quote("1", buy="7124", sell="7123")
    order = book(dealing, second).json()
    assert (order["price"], order["total"]) == (BUY_PRICE, "712400.00")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_change("PATCH", "/switches", {"halted": True}), "trading_halted"),
        (_change("PATCH", "/switches", {"paused": True}), "production_prerequisites_unmet"),
        (_change("PATCH", "/symbols/GOLD", {"frozen": True}), "symbol_frozen"),
        (_change("PATCH", "/symbols/GOLD", {"stock": "99"}), "out_of_stock"),
        (_change("PATCH", "/accounts/client", {"allocation": {"gold": "99"}}), "limit_exceeded"),
    ],
)
def test_a_lock_holds_the_price_and_nothing_else(
    dealing: Dealing, change: Callable[[Dealing], None], code: str
) -> None:
    locked = lock(dealing)
    change(dealing)
    assert book(dealing, locked).json()["detail"]["code"] == code


FOREIGN: dict[str, dict[str, Any]] = {
    "another account": {"login_id": "usher"},
    "another symbol": {"symbol_code": "SILVER"},
    "another side": {"trade_type": "sell"},
    "another weight": {"quantity": "100.0001"},
    "another channel": {"source": "phone"},
    "another key": {"idempotency_key": "mine"},
}


def test_a_lock_of_another_order_is_refused(dealing: Dealing, other: Office) -> None:
    locked = lock(dealing)
    with nothing_changed(dealing.desk):
        for fields in FOREIGN.values():
            assert "another order" in refusal(book(dealing, locked, **fields), 422, "invalid_request")
    dealer = dealing.office.hire("dealer")
    assert "another order" in refusal(book(dealing, locked, dealer), 422, "invalid_request")
    assert refusal(book(dealing, locked, other.desk), 404, "not_found")
    other.desk.account("client")
    assert "another order" in refusal(book(dealing, locked, other.desk), 422, "invalid_request")
    assert book(dealing, locked).status_code == 201


def changed_at(text: str, place: int) -> str:
    return text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]


def test_a_lock_that_was_tampered_with_is_refused(dealing: Dealing) -> None:
    locked = lock(dealing)
    opened = LOCKS.open(locked["lock"])
    assert isinstance(opened, PriceLock)
    cheaper = msgspec.structs.replace(opened, price_paise=1, total_paise=10)
    forged = PriceLocks(Hasher(b"another secret of another deployment", "locks")).seal(cheaper)
    text = str(locked["lock"])
    changed = [
        forged,
        text[:-8],
        text[8:],
        changed_at(text, 0),
        "",
        "x",
        "€",
        "A" * 80,
        changed_at(text, 60),
    ]
    with nothing_changed(dealing.desk):
        for each in changed:
            refused = book(dealing, locked, lock=each)
            assert "lock the price again" in refusal(refused, 422, "invalid_request")
        assert "expected_price" in refusal(
            book(dealing, locked, expected_price="71240"), 422, "invalid_request"
        )
    assert book(dealing, locked).status_code == 201


def test_the_api_has_no_locks(standing: Office) -> None:
    assert "source" in standing.desk.refused("POST", "/orders/lock", {**ORDER, "source": "api"})


@pytest.mark.parametrize("call", ["preview", "lock"])
def test_a_wrong_body_is_refused_in_words(standing: Office, call: str) -> None:
    with nothing_changed(standing.desk):
        for field, value in (("quantity", "-1"), ("quantity", "much"), ("symbol_code", ""), ("price", "1")):
            assert field in standing.desk.refused("POST", f"/orders/{call}", {**ORDER, field: value})
        body = {**ORDER, "login_id": "nobody"}
        standing.desk.refused("POST", f"/orders/{call}", body, status=404, code="not_found")


def test_the_command_shows_it(dealing: Dealing) -> None:
    node = dealing.office.node
    order = ("client", "--symbol", "GOLD", "--side", "buy", "--quantity", "100001")
    command = ("desk", "--broker", dealing.office.broker, "orders", "preview", *order)
    done = bullion(node.folder, *command, **node.settings)
    assert done.returncode == 0, done.stderr
    assert "limit_exceeded" in done.stdout
    assert "712407124.00" in done.stdout
