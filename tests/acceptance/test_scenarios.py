"""Scenarios: the test environment answers as it is asked to, and production does not know the header."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from bullion.api.openapi import openapi
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Retry
from tests.support import production
from tests.support.command import bullion
from tests.support.node import Node, own_transport, until
from tests.support.orders import BASE, ORDERS, Market, Trader, booked, refused, replayed
from tests.support.production import LiveMarket, opened, rejected

pytestmark = pytest.mark.both_stacks

HEADER = "X-Bullion-Scenario"
ME = f"{BASE}/me"
ROWS = {row.code: row for row in CATALOGUE}
GATE = [row.code for row in CATALOGUE[: CATALOGUE.index(ROWS["rate_limiter_unavailable"]) + 1]]
"""What is refused before the call was counted, or because of the count."""
BUDGET = {"ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"}
ORDER = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 5, "client_order_id": "mine"}
UNREAD: dict[str, list[bytes]] = {
    "twice": [b"stale_rate", b"stale_rate"],
    "empty": [b""],
    "rubbish": [b"=;;="],
    "another case": [b"Stale_Rate"],
    "very long": [b"stale_rate" + b";" * 9_000],
    "not ASCII": ["ключ".encode()],
    "about scenarios": [b"unknown_scenario"],
    "of the wire": [b"malformed_http"],
    "an unknown parameter": [b"unpriced; retry_after=1"],
    "an order that cannot be": [b"stale_rate; order=booked"],
}


@pytest.fixture
def player(market: Market) -> Trader:
    """A key of an account that may ask."""
    return market.trader(market.account(scenarios=True))


def ask(trader: Trader, scenario: str, path: str = ME) -> httpx.Response:
    return trader.http.get(path, headers={HEADER: scenario})


def place(trader: Trader, scenario: str, key: str | None = None, **body: Any) -> httpx.Response:
    headers = {HEADER: scenario, "Idempotency-Key": key or str(uuid4())}
    return trader.http.post(f"{trader.base}/orders", json=ORDER | body, headers=headers)


def pretended(answer: httpx.Response, code: str) -> dict[str, Any]:
    """The detail of a refusal that is marked as made up."""
    assert answer.headers[HEADER] == code
    return refused(answer, code)


def in_earnest(answer: httpx.Response, code: str) -> dict[str, Any]:
    assert HEADER not in answer.headers
    return refused(answer, code)


def scenarios_of(path: str, method: str) -> list[str]:
    names = openapi()["paths"][path][method]["x-scenario-header"]["x-scenarios"]
    return [name for name in names if name != "answer_lost"]


# --- What is answered ---------------------------------------------------------------------------------------


def like_the_real_one(answer: httpx.Response, code: str, path: str, method: str) -> None:
    """Status, fields and headers; the description of production has every code that can be asked for."""
    pretended(answer, code)
    described = path.replace(BASE, production.BASE)
    production._validator(described, method, f"{answer.status_code}").validate(answer.json())
    waits = ROWS[code].retry is Retry.SAME_KEY_AFTER
    assert answer.headers.get("retry-after") == ("2" if waits else None)
    counted = code not in GATE or answer.status_code == 429
    assert answer.headers.keys() & BUDGET == (BUDGET if counted else set())
    if answer.status_code == 429:
        assert (answer.headers["ratelimit-remaining"], answer.headers["ratelimit-reset"]) == ("0", "2")


@pytest.mark.parametrize(
    "path", ["/me", "/orders", "/orders/{order_id}", "/positions", "/symbols", "/quotes"]
)
def test_a_read_answers_like_every_refusal_that_it_can_meet(player: Trader, path: str) -> None:
    names = scenarios_of(BASE + path, "get")
    assert {"invalid_credential", "rate_limited", "service_unavailable", "internal_error"} <= set(names)
    for code in names:
        answer = ask(player, code, BASE + path.replace("{order_id}", str(uuid4())))
        like_the_real_one(answer, code, BASE + path, "get")


def test_an_order_answers_like_every_refusal_and_books_nothing(player: Trader) -> None:
    """Every code of the specification's table but that of reading one order; the key is free at the end."""
    names, key = scenarios_of(ORDERS, "post"), str(uuid4())
    assert {row.code for row in CATALOGUE if row.specified} - set(names) == {"order_not_found"}
    for code in names:
        like_the_real_one(place(player, code, key), code, ORDERS, "post")
    assert player.orders()["total"] == 0
    order = booked(player.place(key, **ORDER))
    assert (order["deal_label"], player.net()) == ("T-1", "5.0000")


def alike(real: httpx.Response, made_up: httpx.Response, *, body: bool = True) -> None:
    """Told apart by the mark alone."""
    assert real.status_code == made_up.status_code
    assert set(made_up.headers) - set(real.headers) == {HEADER.lower()}
    assert set(real.headers) <= set(made_up.headers)
    assert real.json()["detail"].keys() == made_up.json()["detail"].keys()
    if body:
        assert real.json() == made_up.json()


def test_they_are_just_like_those_that_the_service_gives_for_a_reason(market: Market) -> None:
    login_id = market.account(gold="4", scenarios=True)
    player, narrow = market.trader(login_id), market.trader(login_id, scopes=["account:read"])
    name = str(uuid4())
    booked(player.place(name, quantity=1))
    alike(player.place(name, quantity=2), place(player, "idempotency_key_reused", name))
    alike(player.send(b"{}"), place(player, "idempotency_key_required"))
    alike(player.place(symbol_code="NONE"), place(player, "unknown_symbol"))
    alike(player.place(trade_type="hold"), place(player, "invalid_side"))
    alike(player.place(quantity=4), place(player, "limit_exceeded", quantity=4))
    alike(player.place(expected_price=1), place(player, "price_moved"), body=False)
    alike(player.send(b"[]", str(uuid4())), place(player, "invalid_request"), body=False)
    alike(player.order(str(uuid4())), ask(player, "order_not_found", f"{ORDERS}/{uuid4()}"))
    alike(narrow.http.get(ORDERS), ask(player, "insufficient_scope", ORDERS))
    zipped = player.send(b"{}", str(uuid4()), **{"Content-Encoding": "gzip"})
    alike(zipped, place(player, "unsupported_encoding"))
    revoked = market.trader(login_id)
    market.desk.do("POST", f"/keys/{revoked.key_id}/revoke")
    alike(revoked.http.get(ME), ask(player, "credential_revoked"))
    assert player.orders()["total"] == 1


def test_what_production_alone_refuses_is_as_there(own_live_market: LiveMarket) -> None:
    market = own_live_market
    login_id = market.account(scenarios=True)
    live, tester = market.trader(login_id), market.tester(login_id)
    tester.http.event_hooks["response"] = []  # Test is not described as answering like this.
    market.venue(mode="refuse")
    real, made_up = live.place(**ORDER), place(tester, "order_rejected")
    alike(real, made_up, body=False)
    theirs, ours = rejected(real), pretended(made_up, "order_rejected")["order"]
    own = ("id", "created_at")
    assert {name: ours[name] for name in ours if name not in own} == {
        name: theirs[name] for name in theirs if name not in own
    }
    assert pretended(made_up, "order_rejected")["order_id"] == ours["id"] != theirs["id"]
    in_earnest(tester.order(ours["id"]), "order_not_found")
    market.switch(production=False)
    asked = "production_trading_disabled; reason=global"
    alike(live.place(**ORDER), place(tester, asked, quantity="not even read"))


@pytest.mark.parametrize("reason", ["deploy", "global", "account"])
def test_the_reason_of_a_closed_production_is_chosen(player: Trader, reason: str) -> None:
    answer = place(player, f"production_trading_disabled; reason={reason}")
    assert pretended(answer, "production_trading_disabled")["reason"] == reason


def test_how_long_to_wait_is_chosen(player: Trader) -> None:
    for code in ("rate_limited", "booking_busy", "stale_rate", "rate_limiter_unavailable"):
        answer = place(player, f"{code};retry_after=17")
        pretended(answer, code)
        assert answer.headers["retry-after"] == "17"


def test_until_an_instant_and_no_longer(player: Trader) -> None:
    """The same header on every try: the last of them goes through."""
    now, key = datetime.now(UTC), str(uuid4())
    coming, past = ((now + timedelta(minutes=each)).isoformat() for each in (5, -5))
    pretended(place(player, f"stale_rate; until={coming}", key), "stale_rate")
    answer = place(player, f"stale_rate; until={past}", key)
    assert booked(answer)["client_order_id"] == "mine"
    assert HEADER not in answer.headers


# --- Orders that are booked, and not told -------------------------------------------------------------------


@pytest.mark.parametrize("code", ["booking_outcome_unknown", "service_unavailable", "internal_error"])
def test_an_order_that_is_booked_and_answered_otherwise(player: Trader, code: str) -> None:
    key = str(uuid4())
    pretended(place(player, f"{code}; order=booked", key), code)
    (order,) = player.orders()["items"]
    again = place(player, f"{code}; order=booked", key)
    assert replayed(again) == replayed(player.place(key, **ORDER)) == order
    assert HEADER not in again.headers
    in_earnest(place(player, f"{code}; order=booked", key, quantity=6), "idempotency_key_reused")
    assert player.net() == "5.0000"


def test_an_answer_that_is_lost(player: Trader) -> None:
    key = str(uuid4())
    with pytest.raises(httpx.TransportError):
        place(player, "answer_lost", key)
    assert player.orders()["total"] == 0
    with pytest.raises(httpx.TransportError):
        place(player, "answer_lost; order=booked", key)
    (order,) = player.orders()["items"]
    assert replayed(place(player, "answer_lost; order=booked", key)) == order
    with pytest.raises(httpx.TransportError):
        ask(player, "answer_lost", f"{ORDERS}/{order['id']}")


def test_an_answer_that_is_lost_behind_a_proxy(player: Trader) -> None:
    """nginx would take a node that closes the connection for a dead one, and refuse calls of others."""
    player.http.headers["X-Forwarded-For"] = "198.51.100.9"
    key = str(uuid4())
    lost = [ask(player, "answer_lost"), place(player, "answer_lost; order=booked", key)]
    assert [(answer.status_code, answer.headers[HEADER]) for answer in lost] == [(502, "answer_lost")] * 2
    assert all("ratelimit-limit" in answer.headers for answer in lost)
    (order,) = player.orders()["items"]
    assert replayed(place(player, "answer_lost; order=booked", key)) == order


def test_an_order_that_cannot_be_booked_is_told_so(player: Trader) -> None:
    answer = place(player, "answer_lost; order=booked", symbol_code="NONE")
    in_earnest(answer, "unknown_symbol")
    assert player.orders()["total"] == 0


# --- Whose turn it is ---------------------------------------------------------------------------------------


def test_the_call_itself_is_looked_at_as_far_as_the_real_check_would_see_it(player: Trader) -> None:
    def answer(scenario: str, body: bytes, **headers: str) -> httpx.Response:
        return player.send(body, **headers, **{HEADER: scenario})

    bad, named = b'{"quantity": "5"}', {"Idempotency-Key": str(uuid4())}
    in_earnest(answer("stale_rate", bad), "idempotency_key_required")
    in_earnest(answer("stale_rate", bad, **named), "invalid_request")
    in_earnest(answer("stale_rate", b" " * 70_000, **named), "request_too_large")
    in_earnest(place(player, "stale_rate", symbol_code="NONE"), "unknown_symbol")
    in_earnest(place(player, "limit_exceeded", trade_type="hold"), "invalid_side")
    for early in ("production_prerequisites_unmet", "request_too_large", "credential_expired"):
        pretended(answer(early, bad), early)
    assert player.orders()["total"] == 0


def test_the_gate_comes_first(market: Market) -> None:
    login_id = market.account(scenarios=True)
    player, narrow = market.trader(login_id), market.trader(login_id, scopes=["orders:read"])
    in_earnest(ask(narrow, "internal_error"), "insufficient_scope")
    narrow.http.headers["X-API-Key"] = "wrong"
    in_earnest(ask(narrow, "internal_error"), "malformed_credential")
    market.desk.do("PATCH", f"/accounts/{login_id}", {"api_access": False})
    in_earnest(ask(player, "internal_error"), "api_access_disabled")


def test_budgets_are_charged_and_no_failure_is_counted(own_market: Market) -> None:
    own_market.switch(
        budgets={"reads_per_minute": 30, "orders_per_10_seconds": 2, "failed_auth_per_minute": 3}
    )
    player = own_market.trader(own_market.account(scenarios=True))
    for _ in range(8):
        pretended(ask(player, "invalid_credential"), "invalid_credential")
    assert player.http.get(ORDERS).headers["ratelimit-remaining"] == "21"
    for _ in range(21):
        answer = ask(player, "auth_throttled")
        pretended(answer, "auth_throttled")
        assert answer.headers["ratelimit-limit"] == "3"
    in_earnest(ask(player, "auth_throttled"), "rate_limited")
    for _ in range(2):
        pretended(place(player, "rate_limited"), "rate_limited")
    in_earnest(place(player, "stale_rate"), "rate_limited")


# --- Who may ------------------------------------------------------------------------------------------------


def test_scenario_not_allowed(market: Market, trader: Trader) -> None:
    """Refused rather than ignored: whoever sent it must not take what comes for a made-up answer."""
    key = str(uuid4())
    for scenario in ("stale_rate", "rubbish", "answer_lost; order=booked"):
        in_earnest(place(trader, scenario, key), "scenario_not_allowed")
        in_earnest(ask(trader, scenario), "scenario_not_allowed")
    assert trader.orders()["total"] == 0
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"scenarios": True})
    pretended(place(trader, "stale_rate", key), "stale_rate")
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"scenarios": False})
    in_earnest(place(trader, "stale_rate", key), "scenario_not_allowed")
    booked(trader.place(key))


def test_the_switch_holds_within_a_second_where_another_process_turned_it(
    market: Market, trader: Trader
) -> None:
    node = market.node
    settings = node.settings | {"BULLION_BROKER": market.tag}
    done = bullion(node.folder, "desk", "accounts", "set", trader.login_id, "scenarios=true", **settings)
    assert done.returncode == 0, done.stderr
    assert until(lambda: ask(trader, "stale_rate").status_code != 403, within_s=5) < 1
    pretended(place(trader, "stale_rate"), "stale_rate")


@pytest.mark.parametrize("fault", UNREAD)
def test_unknown_scenario(player: Trader, fault: str) -> None:
    headers = [(HEADER.encode(), value) for value in UNREAD[fault]]
    for answer in (
        player.http.get(ME, headers=headers),
        player.http.post(ORDERS, json=ORDER, headers=[*headers, (b"Idempotency-Key", b"a key")]),
    ):
        message = in_earnest(answer, "unknown_scenario")["message"]
        assert "/openapi.json" in message
        assert len(message) < 400
    assert player.orders()["total"] == 0


def test_a_code_that_the_call_cannot_meet_is_refused_with_one_that_can(player: Trader) -> None:
    assert "Try POST /orders." in in_earnest(ask(player, "limit_exceeded"), "unknown_scenario")["message"]
    answer = place(player, "order_not_found")
    assert "Try GET /orders/{order_id}." in in_earnest(answer, "unknown_scenario")["message"]


# --- Production ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [True, False])
def test_in_production_the_header_is_no_header(live_market: LiveMarket, allowed: bool) -> None:
    live = live_market.trader(live_market.account(scenarios=allowed))
    for scenario in ("stale_rate", "answer_lost; order=booked", "rubbish"):
        answer = place(live, scenario)
        order = opened(answer)
        reads = [ask(live, scenario, production.BASE + path) for path in ("/me", "/orders", "/positions")]
        reads += [ask(live, scenario, f"{production.ORDERS}/{order['id']}")]
        assert [each.status_code for each in reads] == [200] * 4
        assert not [each for each in (answer, *reads) if HEADER in each.headers]
    twice = live.http.get(production.ME, headers=[(HEADER, "stale_rate"), (HEADER, "stale_rate")])
    assert twice.status_code == 200
    assert live.positions()["gold"]["net"] == "15.0000"


# --- What the desk sees -------------------------------------------------------------------------------------


def test_decisions_say_that_it_was_a_scenario(market: Market, player: Trader) -> None:
    made_up = place(player, "stale_rate; until=2999-01-01")
    untold = place(player, "internal_error; order=booked")

    def trace(answer: httpx.Response) -> Any:
        path = f"/traces/{answer.headers['x-request-id']}"
        until(lambda: market.desk.get(path).status_code == 200, within_s=10)
        return market.desk.do("GET", path)

    found = trace(made_up)
    assert (found["outcome"], found["order_id"]) == ("scenario", None)
    assert found["compared"] == {"scenario": "stale_rate; until=2999-01-01"}
    assert found["asked"]["symbol_code"] == "GOLD"
    listed = market.desk.do("GET", f"/traces?outcome=scenario&login_id={player.login_id}")["items"]
    assert listed == [found]
    (order,) = player.orders()["items"]
    found = trace(untold)
    assert (found["outcome"], found["order_id"]) == ("filled", order["id"])
    assert found["compared"]["scenario"] == "internal_error; order=booked"
    assert found["compared"]["price"] == "71240.00"


@contextmanager
def counted(node: Node) -> Iterator[dict[str, float]]:
    """How far the counters have moved at the end, by name and labels."""
    moved: dict[str, float] = {}
    before = _counters(node)
    yield moved
    moved.update({name: value - before.get(name, 0) for name, value in _counters(node).items()})


def _counters(node: Node) -> dict[str, float]:
    transport = own_transport()
    with httpx.Client(transport=transport) as client:
        text = client.get(f"{node.desk_url}/metrics").text
    found = re.findall(r"(?m)^(bullion_(?:calls|refusals)_total\{.*\}) (\S+)$", text)
    return {name: float(value) for name, value in found}


def test_no_alarm_is_raised(market: Market, player: Trader) -> None:
    with counted(market.node) as moved:
        for code in ("internal_error", "booking_outcome_unknown", "service_unavailable"):
            place(player, code)
        with pytest.raises(httpx.TransportError):
            ask(player, "answer_lost")
    assert moved['bullion_refusals_total{code="scenario",environment="test"}'] == 4
    answered = 'bullion_calls_total{{environment="test",method="{}",route="{} scenario",status="{}"}}'
    assert moved[answered.format("POST", ORDERS, 500)] == 1
    assert moved[answered.format("GET", ME, 0)] == 1
    real = [name for name, value in moved.items() if value and "scenario" not in name]
    assert not [name for name in real if "refusals" in name or 'status="5' in name]

    def logged() -> list[Any]:
        calls = market.node.entries("call")
        return [each for each in calls if each["key_id"] == player.key_id and each["status"] == 500]

    until(logged, within_s=10)
    (entry,) = logged()
    assert (entry["code"], entry["note"]) == ("scenario", "scenario internal_error")
