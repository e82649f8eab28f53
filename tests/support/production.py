"""A client's program that trades in earnest, and a broker of a test's own that is open for it."""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from bullion.api.openapi import openapi

from .node import Node, own_address, until
from .orders import REPLAYED, UNBOUNDED, Market, Trader, refused
from .simple_query import query

BASE = "/api/trading/v1"
ORDERS = f"{BASE}/orders"
POSITIONS = f"{BASE}/positions"
QUOTES = f"{BASE}/quotes"
SYMBOLS = f"{BASE}/symbols"
ME = f"{BASE}/me"

FIELDS = {
    "id",
    "environment",
    "symbol_code",
    "trade_type",
    "quantity",
    "unit",
    "price",
    "total",
    "status",
    "client_order_id",
    "created_at",
    "deal_no",
    "status_detail",
    "source",
    "close_price",
    "realized_pnl",
    "closed_at",
}
DETAILS = {
    "pending": "HEDGE_WAIT",
    "open": "BOOKED",
    "closing": "CLOSE_REQUESTED",
    "closed": "SETTLED",
    "rejected": "HEDGE_REFUSED",
    "deleted": "REMOVED",
}
WIDE_OPEN = UNBOUNDED | {"account_orders_per_minute": 100_000}

SETTLES_S = 5.0
"""How soon an order is what its venue made of it, once the venue has an answer again."""
PATIENCE_S = SETTLES_S + 10.0
"""The same on a machine that is busy with other tests."""


def opened(answer: httpx.Response) -> dict[str, Any]:
    """The order of a call that was booked at once."""
    return _placed(answer, 201, "open")


def pending(answer: httpx.Response) -> dict[str, Any]:
    """The order of a call whose hedge is still confirming."""
    return _placed(answer, 202, "pending")


def _placed(answer: httpx.Response, status_code: int, status: str) -> dict[str, Any]:
    assert answer.status_code == status_code, f"{answer.status_code} {answer.text}"
    assert REPLAYED not in answer.headers
    order: dict[str, Any] = answer.json()
    assert order["status"] == status
    return order


def rejected(answer: httpx.Response, *, again: bool = False) -> dict[str, Any]:
    """The order of a call that the hedge refused; `again` if it had done so before."""
    detail = refused(answer, "order_rejected")
    assert answer.headers.get(REPLAYED) == ("true" if again else None)
    order: dict[str, Any] = detail["order"]
    assert detail["order_id"] == order["id"]
    assert order["status"] == "rejected"
    return order


READS_CHECKED_MAX = 20
_checked: Counter[tuple[str, int]] = Counter()


def as_described(answer: httpx.Response) -> None:
    """What a live key is answered is as the interface's description says; of reads, the first of a kind."""
    path, method = answer.request.url.path, answer.request.method.lower()
    parent, _, order_id = path.rpartition("/")
    if parent == ORDERS and order_id:
        path = f"{ORDERS}/{{order_id}}"
    if method == "get":
        _checked[path, answer.status_code] += 1
        if _checked[path, answer.status_code] > READS_CHECKED_MAX:
            return
    described = _description()["paths"].get(path, {}).get(method)
    if described is not None:
        assert f"{answer.status_code}" in described["responses"], f"{method} {path}: {answer.status_code}"
        answer.read()
        _validator(path, method, f"{answer.status_code}").validate(answer.json())
        content = described["responses"][f"{answer.status_code}"]["content"]["application/json"]
        if "examples" in content:
            assert answer.json()["detail"]["code"] in content["examples"], "a code that the call cannot get"


@cache
def _description() -> dict[str, Any]:
    """The interface's description, with exactly the fields of an order: this service sends them all."""
    description = openapi()
    schemas = dict(description["components"]["schemas"])
    for name in ("TestOrder", "ProductionOrder", "RejectedOrder"):
        every_field = {"required": list(schemas[name]["properties"]), "additionalProperties": False}
        schemas[name] = schemas[name] | every_field
    return description | {"components": description["components"] | {"schemas": schemas}}


@cache
def _validator(path: str, method: str, status: str) -> Draft202012Validator:
    described = _description()["paths"][path][method]["responses"][status]
    schema = described["content"]["application/json"]["schema"]
    resource = DRAFT202012.create_resource({**_description(), "schema": schema})
    registry: Registry[Any] = Registry().with_resource("urn:description", resource)
    return Draft202012Validator({"$ref": "urn:description#/schema"}, registry=registry)


def closed_by(answer: httpx.Response) -> str:
    """Which switch keeps the order out."""
    assert REPLAYED not in answer.headers
    reason: str = refused(answer, "production_trading_disabled")["reason"]
    return reason


class LiveTrader(Trader):
    """One live key at work."""

    base: ClassVar[str] = BASE

    def read(self, order_id: str) -> dict[str, Any]:
        answer = self.order(order_id)
        assert answer.status_code == 200, answer.text
        order: dict[str, Any] = answer.json()
        return order

    def becomes(self, order_id: str, status: str) -> dict[str, Any]:
        """The order once it is in that state; polled as a client would, only more often."""
        until(lambda: self.read(order_id)["status"] == status, within_s=PATIENCE_S)
        return self.read(order_id)

    def positions(self) -> dict[str, Any]:
        positions: dict[str, Any] = self.get(POSITIONS)
        return positions

    def symbol_rows(self) -> dict[str, tuple[str, str, str]]:
        """Of each symbol with an open position: bought, sold, net."""
        rows = self.positions()["symbols"]
        return {row["symbol_code"]: (row["buy"], row["sell"], row["net"]) for row in rows}


class LiveMarket(Market):
    """A broker whose production is open, and whose simulated venue fills."""

    @classmethod
    @contextlib.contextmanager
    def open(cls, node: Node) -> Iterator[Self]:
        with super().open(node) as market:
            market.switch(production=True, budgets=WIDE_OPEN)
            market.ready("GOLD", "SILVER")
            yield market

    @contextlib.contextmanager
    def at(self, node: Node) -> Iterator[Self]:
        """The same broker, at a service that was started anew."""
        token = self.desk.headers["Authorization"].removeprefix("Bearer ")
        with contextlib.ExitStack() as clients:
            yield type(self)(node, self.tag, clients.enter_context(node.desk(token)), clients)

    def ready(self, *symbols: str) -> None:
        """Wait for the venue's word on what was opened a moment ago."""
        with self.visit() as visited:
            watcher = visited.trader()
            for symbol in symbols:
                until(lambda symbol=symbol: watcher.quote(symbol)["reason"] is None, within_s=PATIENCE_S)

    def live(self, code: str, **fields: Any) -> str:
        """A symbol on which the venue has given its word."""
        self.symbol(code, **fields)
        self.ready(code)
        return code

    def account(self, gold: str = "1000000", silver: str = "1000000", **fields: Any) -> str:
        return super().account(gold, silver, **{"production_trading": True, **fields})

    def trader(self, login_id: str | None = None, *, node: Node | None = None, **fields: Any) -> LiveTrader:
        login_id = login_id or self.account()
        issued = self.desk.key(login_id, **{"environment": "production", **fields})
        return self.at_work(login_id, issued, node=node)

    def tester(self, login_id: str | None = None, **fields: Any) -> Trader:
        """A test key of the account."""
        login_id = login_id or self.account()
        issued = self.desk.key(login_id, **fields)
        return Trader(self._client(issued), login_id, issued)

    def at_work(
        self,
        login_id: str,
        issued: Mapping[str, Any],
        *,
        address: str | None = None,
        node: Node | None = None,
    ) -> LiveTrader:
        return LiveTrader(self._client(issued, address, node), login_id, issued)

    def back_at_work(self, trader: Trader) -> Trader:
        """The same key, at the service that this market is at."""
        issued = {"key_id": trader.key_id, "key": trader.key}
        return type(trader)(self._client(issued), trader.login_id, issued)

    def _client(
        self, issued: Mapping[str, Any], address: str | None = None, node: Node | None = None
    ) -> httpx.Client:
        http = (node or self.node).api(issued["key"], address or own_address(), Host=self.host)
        http.event_hooks["response"] = [as_described]
        return self._clients.enter_context(http)

    # --- What the desk does with production orders ----------------------------------------------------

    def venue(self, **behaviour: Any) -> None:
        self.desk.do("PATCH", "/hedge", behaviour)

    def executions(self, **filters: str) -> list[dict[str, Any]]:
        """The venue's ledger; not more than a page of it."""
        answer = self.desk.get("/hedge/executions", params={"limit": 200, **filters})
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        assert answer.json()["total"] == len(items)
        return items

    def elsewhere(self, login_id: str, /, **body: Any) -> httpx.Response:
        """An order from another channel: a buy of 1 gold from the web unless the body says otherwise."""
        whole = {
            "login_id": login_id,
            "source": "web",
            "idempotency_key": str(uuid4()),
            "symbol_code": "GOLD",
            "trade_type": "buy",
            "quantity": "1",
            **body,
        }
        return self.desk.post("/orders", json=whole)

    def act(self, order_id: str, what: str, **body: Any) -> dict[str, Any]:
        """Close, complete, delete, confirm or refuse."""
        done: dict[str, Any] = self.desk.do("POST", f"/orders/{order_id}/{what}", body or None)
        return done

    def complete(self, order_id: str, close_price: str) -> None:
        self.act(order_id, "close")
        self.act(order_id, "complete", close_price=close_price)

    def stock(self, code: str = "GOLD") -> str:
        (stock,) = (row["stock"] for row in self.desk.do("GET", "/symbols")["items"] if row["code"] == code)
        assert isinstance(stock, str)
        return stock


def store_says(node: Node, statement: str) -> list[tuple[str, ...]]:
    """What the node's store answers to a statement, run behind the service's back."""
    url = node.settings.get("BULLION_DATABASE_URL")
    if url is None:
        path = node.folder / "var" / "bullion.db"
        with contextlib.closing(sqlite3.connect(path, timeout=10)) as connection, connection:
            rows = connection.execute(statement).fetchall()
        return [tuple(str(value) for value in row) for row in rows]
    parts = urlsplit(url)
    assert parts.port is not None
    return query(parts.port, parts.path.removeprefix("/"), statement)


def expire_key(node: Node, broker: str, key_id: str) -> None:
    """Let a key have expired. The desk takes only a time to come, and a busy machine may be late for that."""
    store_says(node, f"UPDATE keys SET expires_at_us = 1 WHERE key_id = '{key_id}'")
    noted = f"SELECT version + 1, 'key', '{broker}', '{key_id}' FROM catalogue"
    store_says(node, f"INSERT INTO changes (version, kind, broker, subject) {noted}")
    store_says(node, "UPDATE catalogue SET version = version + 1")


def execute_behind_its_back(
    node: Node, broker: str, execution_id: str, *, trade_type: str = "buy", instrument: str = "GOLD"
) -> None:
    """The venue makes a deal of 3 for an order id that the service never sent."""
    store_says(
        node,
        "INSERT INTO venue_orders (order_id, broker, instrument, trade_type, quantity_e4, submissions, "
        "due_at_us, outcome, execution_id, executed_at_us) VALUES "
        f"('not {execution_id}', '{broker}', '{instrument}', '{trade_type}', 30000, 1, 1, 'confirmed', "
        f"'{execution_id}', 1) RETURNING 1",
    )


def sent_to_venue(market: Market) -> list[str]:
    """The ids of all orders of this broker that the venue was ever asked to cover, decided or not."""
    rows = store_says(market.node, f"SELECT order_id FROM venue_orders WHERE broker = '{market.tag}'")
    return [order_id for (order_id,) in rows]
