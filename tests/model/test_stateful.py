"""The whole test environment over HTTP against a small model of the book, on both stacks.

`TEST_SCALE` multiplies the number of examples, for a campaign. Then they are random, else the same.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.node import Node, running
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

from . import invariants
from .model import Account, Answer, Body, Symbol

EXAMPLES, STEPS, ENOUGH = (10, 40, 30) if SCALE == 1 else (60 * SCALE, 40, 100)
BASE = "/api/trading/test/v1"
TOLERANCE = Decimal("0.5")
LIMITS = [Decimal(text) for text in ("0", "1", "10", "75.5", "1000", "100000")]
D = Decimal
SYMBOLS = {
    symbol.code: symbol
    for symbol in (
        Symbol(
            "GOLD",
            "gold",
            quoted_weight=D(10),
            minimum=D(1),
            maximum=D(1000),
            step=D("0.5"),
            buy=D("70000.15"),
            sell=D("69950.05"),
            buy_premium=D("12.34"),
            sell_premium=D("-0.05"),
            group_minimum=D(2),
            group_maximum=D(500),
            group_step=D(1),
        ),
        Symbol("DUST", "gold", D(7), D("0.0001"), D(1_000_000), D("0.0001"), D("4999.99"), D("0.01")),
        Symbol("SILVER", "silver", D(1), D("0.25"), D(100), D("0.25"), D("90000"), D("89000.5"), D("-1")),
        Symbol("ONEWAY", "silver", D(30), D(1), D(50), D(1), D("1"), D("1"), sides=("buy",)),
        Symbol("OFF", "silver", D(1), D(1), D(50), D(1), D("1"), D("1"), trading=False),
    )
}
_names = count(1)


def set_up(node: Node) -> None:
    with node.desk() as desk:
        calls = dict.fromkeys(
            ("reads_per_minute", "orders_per_minute", "orders_per_10_seconds", "account_orders_per_minute"),
            1_000_000,
        )
        budgets = {**calls, "failed_auth_per_minute": 1000}
        desk.do("PATCH", "/switches", {"budgets": budgets, "price_tolerance_percent": str(TOLERANCE)})
        for symbol in SYMBOLS.values():
            desk.do(
                "PUT",
                f"/symbols/{symbol.code}",
                {
                    "metal": symbol.metal,
                    "quoted_weight": str(symbol.quoted_weight),
                    "minimum": str(symbol.minimum),
                    "maximum": str(symbol.maximum),
                    "step": str(symbol.step),
                    "trading": symbol.trading,
                    "sides": list(symbol.sides),
                    "pricing": {"kind": "fixed", "buy": str(symbol.buy), "sell": str(symbol.sell)},
                },
            )
        terms = {
            symbol.code: {
                "buy_premium": str(symbol.buy_premium),
                "sell_premium": str(symbol.sell_premium),
                "minimum": _text(symbol.group_minimum),
                "maximum": _text(symbol.group_maximum),
                "step": _text(symbol.group_step),
            }
            for symbol in SYMBOLS.values()
        }
        desk.do("PUT", "/groups/retail", {"terms": terms, "default_terms": None})


def _text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


@pytest.fixture(scope="module", params=STACKS)
def node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running(tmp_path_factory.mktemp("node"), **stack(request.param, request)) as node:
        set_up(node)
        yield node


def store_of(node: Node) -> str | Path:
    return node.settings.get("BULLION_DATABASE_URL") or node.folder / "var" / "bullion.db"


# --- What is sent -------------------------------------------------------------------------------------

QUANTITIES = st.one_of(
    st.sampled_from(["1", "2", "2.0", "2e0", "0.5", "1.5", "3", "10", "1E1", "0.25", "75.5", "500", "501"]),
    st.sampled_from(
        ["0.0001", "1000", "1000000", "1000000.0001", "999999.9999", "0.00005", "0", "-1", "1e-5"]
    ),
    st.integers(1, 40).map(str),
    st.integers(1, 10**6).map(lambda number: f"{Decimal(number) / 10_000:f}"),
)
CODES = st.sampled_from(["GOLD", "GOLD", "DUST", "DUST", "SILVER", "SILVER", "ONEWAY", "OFF", "gold", "NONE"])
SIDES = st.sampled_from(["buy", "buy", "buy", "sell", "sell", "sell", "hold"])
REFERENCES = st.sampled_from([None, None, "", "a", "b", "₹ \U0001f947", "x" * 64])


SENSIBLE = st.builds(
    Body,
    symbol_code=st.sampled_from(["GOLD", "DUST", "SILVER"]),
    trade_type=st.sampled_from(["buy", "sell"]),
    quantity=st.sampled_from(["1", "501"]) | st.integers(2, 40).map(str),
    client_order_id=REFERENCES,
)
"""Mostly the market would take it; the allocation may not."""
ANYTHING = st.builds(Body, CODES, SIDES, QUANTITIES, client_order_id=REFERENCES)


@st.composite
def bodies(draw: st.DrawFn) -> Body:
    body = draw(st.one_of(SENSIBLE, SENSIBLE, ANYTHING))
    symbol = SYMBOLS.get(body.symbol_code)
    if symbol is None or body.trade_type == "hold" or draw(st.booleans()):
        return body
    return replace(body, expected_price=draw(expected_prices(symbol.price(body.trade_type))))


@st.composite
def expected_prices(draw: st.DrawFn, price: Decimal) -> str:
    """Near the price, at the border of the tolerance and just beyond it, and far away."""
    near = draw(
        st.sampled_from(["0", "0.001", "0.004", "0.0049", "-0.004", "-0.0049", "0.006", "-0.006", "1", "9"])
    )
    if near == "9":
        return draw(st.sampled_from(["1", "1e20", "1.0000000000000000001", "0.01", "12345678901234567890"]))
    value = price * (1 + Decimal(near))
    if near == "1":  # price = expected × 1.005, or × 0.995: as near to it as twenty digits come.
        value = price / Decimal(draw(st.sampled_from(["1.005", "0.995"])))
        value = value.quantize(Decimal("1e-10")) + draw(st.sampled_from([0, 1, -1])) * Decimal("1e-10")
    text = f"{value:.10f}".rstrip("0").rstrip(".")
    return text if Decimal(text) > 0 else "1"


def spelled(number: str, way: int) -> str:
    """The same number in other words."""
    value = Decimal(number)
    match way:
        case 1:
            return f"{value:f}" + ("" if "." in f"{value:f}" else ".0")
        case 2:
            return f"{value.scaleb(2):f}e-2"
    return number


def json_text(body: Body, way: int = 0) -> bytes:
    fields = {
        "symbol_code": json.dumps(body.symbol_code),
        "trade_type": json.dumps(body.trade_type),
        "quantity": spelled(body.quantity, way),
    }
    if body.expected_price is not None:
        fields["expected_price"] = spelled(body.expected_price, way)
    elif way:
        fields["expected_price"] = "null"
    if body.client_order_id is not None:
        fields["client_order_id"] = json.dumps(body.client_order_id, ensure_ascii=way == 1)
    pairs = list(fields.items())[:: -1 if way else 1]
    return ("{" + ", ".join(f'"{name}": {value}' for name, value in pairs) + "}").encode()


# --- The machine --------------------------------------------------------------------------------------


@dataclass
class Client:
    login: str
    http: httpx.Client
    model: Account
    limits_max: dict[str, Decimal]
    changes: int = 0
    """How often the desk changed its books."""
    resets: int = 0

    def post(self, key: str, content: bytes) -> httpx.Response:
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        return self.http.post(f"{BASE}/orders", content=content, headers=headers)


WHO = st.integers(0, 1)
ALL_CLIENTS: list[Client] = []
MET: Counter[tuple[int, str | None, bool]] = Counter()
"""How often each kind of answer came."""
EVERY_KIND = {
    (201, None, False),
    (200, None, True),
    (409, "price_moved", False),
    (409, "price_moved", True),
    (422, "idempotency_key_reused", False),
    (422, "invalid_request", False),
    (404, "unknown_symbol", False),
    (400, "symbol_not_trading", False),
    (400, "invalid_side", False),
    (403, "side_not_offered", False),
    (400, "quantity_rule", False),
    (400, "group_quantity_rule", False),
    (400, "limit_exceeded", False),
}


class Machine(RuleBasedStateMachine):
    node: Node
    pool: ThreadPoolExecutor

    @initialize(gold=st.sampled_from(LIMITS[2:]), silver=st.sampled_from(LIMITS[2:]))
    def open(self, gold: Decimal, silver: Decimal) -> None:
        self.desk = self.node.desk()
        self.clients = []
        for _ in range(2):
            login = f"c{os.getpid()}-{next(_names)}"
            self.desk.account(login, allocation={"gold": str(gold), "silver": str(silver)})
            http = self.node.api(self.desk.key(login)["key"])
            limits = {"gold": gold, "silver": silver}
            self.clients.append(Client(login, http, Account(SYMBOLS, TOLERANCE, dict(limits)), dict(limits)))
        self.sent: list[tuple[int, str, Body]] = []
        ALL_CLIENTS.extend(self.clients)

    def teardown(self) -> None:
        for client in getattr(self, "clients", ()):
            self._check_positions(client)
            self._check_list(client, {"limit": 200})
            client.http.close()
        if hasattr(self, "desk"):
            self.desk.close()

    # Orders

    @rule(who=WHO, body=bodies())
    def place(self, who: int, body: Body) -> None:
        key = f"k{len(self.sent)}"
        self.sent.append((who, key, body))
        self._place(self.clients[who], key, body, json_text(body))

    @precondition(lambda self: self.sent)
    @rule(pick=st.integers(0, 10**6), way=st.integers(0, 2))
    def again(self, pick: int, way: int) -> None:
        who, key, body = self.sent[pick % len(self.sent)]
        self._place(self.clients[who], key, body, json_text(body, way))

    @precondition(lambda self: self.sent)
    @rule(pick=st.integers(0, 10**6), body=bodies())
    def the_key_of_another_order(self, pick: int, body: Body) -> None:
        who, key, _ = self.sent[pick % len(self.sent)]
        self._place(self.clients[who], key, body, json_text(body))

    @precondition(lambda self: self.sent)
    @rule(pick=st.integers(0, 10**6))
    def the_key_of_another_account(self, pick: int) -> None:
        who, key, body = self.sent[pick % len(self.sent)]
        self._place(self.clients[1 - who], key, body, json_text(body))

    @rule(who=WHO, body=SENSIBLE, far=st.sampled_from(["1", "1e9"]))
    def a_moved_price_twice(self, who: int, body: Body, far: str) -> None:
        key, moved = f"k{len(self.sent)}", replace(body, expected_price=far)
        self.sent.append((who, key, moved))
        for way in (0, 1):
            self._place(self.clients[who], key, moved, json_text(moved, way))

    def _place(self, client: Client, key: str, body: Body, content: bytes) -> None:
        expected = client.model.place(key, body)
        answer = client.post(key, content)
        _check_answer(answer, expected, content)
        if answer.status_code == 201:
            client.model.booked(key, body, answer.json())

    @rule(who=WHO, body=bodies(), times=st.integers(2, 8))
    def one_key_many_times_at_once(self, who: int, body: Body, times: int) -> None:
        client, key = self.clients[who], f"k{len(self.sent)}"
        self.sent.append((who, key, body))
        content = json_text(body)
        answers = list(self.pool.map(lambda _: client.post(key, content), range(times)))
        first = client.model.place(key, body)
        statuses = Counter(answer.status_code for answer in answers)
        assert statuses[first.status] >= 1, (content, statuses, first)
        if first.status == 201:
            (booked,) = [answer for answer in answers if answer.status_code == 201]
            _check_answer(booked, first, content)
            client.model.booked(key, body, booked.json())
            answers.remove(booked)
        elif first.code == "price_moved":
            (moved,) = [answer for answer in answers if "idempotent-replayed" not in answer.headers]
            _check_answer(moved, first, content)
            answers.remove(moved)
        for answer in answers:
            _check_answer(answer, client.model.place(key, body), content)

    @rule(who=WHO, batch=st.lists(bodies(), min_size=2, max_size=8))
    def many_orders_at_once(self, who: int, batch: list[Body]) -> None:
        """Whatever order they came in: each that was booked fitted then, each past the limit did not once."""
        client = self.clients[who]
        sent = [(f"k{len(self.sent) + number}", body) for number, body in enumerate(batch)]
        self.sent += [(who, key, body) for key, body in sent]
        answers = list(self.pool.map(lambda each: client.post(each[0], json_text(each[1])), sent))
        told = list(zip(sent, answers, strict=True))
        booked = sorted(
            (each for each in told if each[1].status_code == 201),
            key=lambda each: int(each[1].json()["deal_label"].removeprefix("T-")),
        )
        over = [each for each in told if _code(each[1]) == "limit_exceeded"]
        fitted = {key: client.model.admits(body) for (key, body), _ in over}
        for (key, body), answer in booked:
            _check_answer(answer, client.model.place(key, body), json_text(body))
            client.model.booked(key, body, answer.json())
            for (late, other), _ in over:
                fitted[late] = fitted[late] and client.model.admits(other)
        assert not any(fitted.values()), (fitted, [answer.text for answer in answers])
        for (key, body), answer in told:
            if answer.status_code != 201 and _code(answer) not in ("limit_exceeded", "price_moved"):
                _check_answer(answer, client.model.place(key, body), json_text(body))
            elif _code(answer) == "price_moved":
                client.model.settled[key] = (body, None)

    # Reading

    @rule(who=WHO)
    def positions(self, who: int) -> None:
        self._check_positions(self.clients[who])

    def _check_positions(self, client: Client) -> None:
        answer = client.http.get(f"{BASE}/positions")
        assert answer.status_code == 200
        assert answer.json() == client.model.positions()

    @precondition(lambda self: any(client.model.orders for client in self.clients))
    @rule(pick=st.integers(0, 10**6), upper=st.booleans())
    def one_order(self, pick: int, upper: bool) -> None:
        owned = [(who, order) for who in (0, 1) for order in self.clients[who].model.orders]
        who, order = owned[pick % len(owned)]
        path = f"{BASE}/orders/{order['id'].upper() if upper else order['id']}"
        answer = self.clients[who].http.get(path)
        assert (answer.status_code, answer.json()) == (200, order)
        stranger = self.clients[1 - who].http.get(path)
        assert (stranger.status_code, _code(stranger)) == (404, "order_not_found")

    @rule(
        who=WHO,
        limit=st.none() | st.sampled_from([1, 2, 5, 200]),
        offset=st.none() | st.integers(0, 12) | st.sampled_from([10**6, 10**18]),
        symbol_code=st.none() | CODES,
        trade_type=st.none() | SIDES,
        client_order_id=st.none() | REFERENCES,
        since=st.none() | st.tuples(st.integers(0, 10**6), st.sampled_from([-1, 0, 1])),
    )
    def a_list(self, who: int, since: tuple[int, int] | None, **filters: Any) -> None:
        client = self.clients[who]
        if since is not None and client.model.orders:
            order = client.model.orders[since[0] % len(client.model.orders)]
            at = datetime.fromisoformat(order["created_at"]) + timedelta(microseconds=since[1])
            filters["since"] = at
        self._check_list(client, {name: value for name, value in filters.items() if value is not None})

    def _check_list(self, client: Client, filters: dict[str, Any]) -> None:
        sent = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in filters.items()
        }
        answer = client.http.get(f"{BASE}/orders", params=sent)
        assert answer.status_code == 200, answer.text
        assert answer.json() == client.model.listed(**filters), sent

    # The desk

    @rule(who=WHO, metal=st.sampled_from(["gold", "silver"]), limit=st.sampled_from(LIMITS))
    def the_desk_changes_a_limit(self, who: int, metal: str, limit: Decimal) -> None:
        client = self.clients[who]
        client.changes += client.model.limits[metal] != limit
        client.model.limits[metal] = limit
        client.limits_max[metal] = max(client.limits_max[metal], limit)
        allocation = {name: str(value) for name, value in client.model.limits.items()}
        self.desk.do("PATCH", f"/accounts/{client.login}", {"allocation": allocation})

    @rule(who=WHO)
    def the_desk_resets_the_test_book(self, who: int) -> None:
        client = self.clients[who]
        done = self.desk.do("POST", f"/accounts/{client.login}/test-book/reset")
        assert done["orders"] == 0
        client.resets += 1
        client.model.reset()


def _code(answer: httpx.Response) -> str | None:
    detail = answer.json().get("detail")
    return None if detail is None else str(detail["code"])


def _check_answer(answer: httpx.Response, expected: Answer, content: bytes) -> None:
    about = (content, answer.status_code, answer.text, expected)
    MET[expected.status, expected.code, expected.replayed] += 1
    assert answer.status_code == expected.status, about
    assert (answer.headers.get("idempotent-replayed") == "true") is expected.replayed, about
    assert _code(answer) == expected.code, about
    assert answer.headers["x-request-id"], about
    body = answer.json()
    if expected.order is None:
        for word in expected.words:
            assert word in body["detail"]["message"], about
        return
    known = body if expected.replayed else {name: body[name] for name in expected.order}
    assert known == expected.order, about
    if not expected.replayed:
        assert body.keys() == expected.order.keys() | {"id", "created_at"}, about
        assert datetime.fromisoformat(body["created_at"]).utcoffset() == timedelta(0), about


def test_the_service_does_what_the_model_does(node: Node) -> None:
    ALL_CLIENTS.clear()
    MET.clear()
    with ThreadPoolExecutor(8) as pool:

        class OnThisNode(Machine):
            pass

        OnThisNode.node, OnThisNode.pool = node, pool
        run_state_machine_as_test(
            OnThisNode,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                derandomize=SCALE == 1,
                database=None,
                suppress_health_check=list(HealthCheck),
                print_blob=True,
            ),
        )
    assert set(MET) == EVERY_KIND
    check_store(node)


def check_store(node: Node) -> None:
    """Afterwards: what is in the tables, by what the desk did and by what was answered."""
    tables = invariants.check_now(store_of(node))
    accounts = {row["login_id"]: row["id"] for row in tables["accounts"]}
    limits_e4: dict[int, tuple[int, int]] = {}
    changes: dict[int, int] = {}
    orders: dict[int, list[dict[str, Any]]] = {}
    for row in tables["orders"]:
        orders.setdefault(row["book_id"], []).append(row)
    for client in ALL_CLIENTS:
        book = 2 * accounts[client.login]
        changes |= {book: client.changes + client.resets, book + 1: client.changes}
        if client.resets < 2:
            limits_e4[book] = (
                int(client.limits_max["gold"] * 10_000),
                int(client.limits_max["silver"] * 10_000),
            )
        assert [row["id"] for row in orders.get(book, [])] == [order["id"] for order in client.model.orders]
    assert invariants.problems(tables, limits_e4=limits_e4, other_changes=changes) == []
    assert len(tables["orders"]) == sum(len(client.model.orders) for client in ALL_CLIENTS) > ENOUGH
    assert len(tables["price_moves"]) == sum(
        order is None for client in ALL_CLIENTS for _, order in client.model.settled.values()
    )
