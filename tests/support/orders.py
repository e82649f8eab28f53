"""A client's program that trades, and a broker of a test's own for it to trade with."""

import asyncio
import contextlib
import json
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar, Self
from uuid import uuid4

import httpx

from bullion.refusals.catalogue import CATALOGUE

from .node import DeskClient, Node, own_address

BASE = "/api/trading/test/v1"
ORDERS = f"{BASE}/orders"
POSITIONS = f"{BASE}/positions"
SYMBOLS = f"{BASE}/symbols"
QUOTES = f"{BASE}/quotes"

STATUS = {row.code: row.status for row in CATALOGUE}
REPLAYED = "idempotent-replayed"
BUY_PRICE, SELL_PRICE = "71240.00", "71230.00"
MORE_FIELDS = {
    "invalid_request": {"errors"},
    "production_trading_disabled": {"reason"},
    "order_rejected": {"order_id", "order"},
    "events_gone": {"oldest", "newest"},
}
"""What some refusals tell beside code and message."""

GOLD: dict[str, Any] = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "0.0001",
    "maximum": "1000000",
    "step": "0.0001",
    "rate_age_s_max": None,
    "freeze_after_s": None,
    "pricing": {"kind": "fixed", "buy": BUY_PRICE, "sell": SELL_PRICE},
}
"""Takes every quantity that a body may ask for, at a price that does not move."""
SILVER: dict[str, Any] = {
    **GOLD,
    "metal": "silver",
    "quoted_weight": "1",
    "pricing": {"kind": "fixed", "buy": "89100.50", "sell": "89000.25"},
}
UNBOUNDED = {"reads_per_minute": 100_000, "orders_per_minute": 100_000, "orders_per_10_seconds": 100_000}

_numbers = count(1)


def unique(prefix: str) -> str:
    """A name that nothing else in this run has."""
    return f"{prefix}{next(_numbers)}-{uuid4().hex[:6]}"


def refused(answer: httpx.Response, code: str) -> dict[str, Any]:
    """The detail of a refusal, which must have that code, the catalogue's status and the one shape."""
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"detail"}
    detail: dict[str, Any] = body["detail"]
    assert detail["code"] == code, answer.text
    assert answer.status_code == STATUS[code]
    assert detail["message"]
    assert detail.keys() == {"code", "message"} | MORE_FIELDS.get(code, set())
    assert len(answer.headers["x-request-id"]) == 24
    waits = answer.status_code in (429, 503)
    assert bool(re.fullmatch("[1-9][0-9]*", answer.headers.get("retry-after", ""))) == waits
    return detail


def problems(answer: httpx.Response) -> list[tuple[list[str], str]]:
    """Where and of which kind the problems of an invalid request are."""
    found = refused(answer, "invalid_request")["errors"]
    assert found
    for each in found:
        assert each.keys() == {"loc", "msg", "type"}
        assert each["msg"]
    return [(each["loc"], each["type"]) for each in found]


def booked(answer: httpx.Response) -> dict[str, Any]:
    """The order of a call that was answered by a new one."""
    assert answer.status_code == 201, answer.text
    assert REPLAYED not in answer.headers
    order: dict[str, Any] = answer.json()
    return order


def replayed(answer: httpx.Response) -> dict[str, Any]:
    """The order of a call that was answered by an old one."""
    assert answer.status_code == 200, answer.text
    assert answer.headers[REPLAYED] == "true"
    order: dict[str, Any] = answer.json()
    return order


class Trader:
    """One key at work."""

    base: ClassVar[str] = BASE

    def __init__(self, http: httpx.Client, login_id: str, issued: Mapping[str, Any]) -> None:
        self.http = http
        self.login_id = login_id
        self.key_id = issued["key_id"]
        self.key = issued["key"]

    def place(self, idempotency_key: str | None = None, /, **body: Any) -> httpx.Response:
        """A buy of 1 gold unless the body says otherwise; a field of ... is left out."""
        whole = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1, **body}
        sent = {name: value for name, value in whole.items() if value is not ...}
        return self.send(json.dumps(sent).encode(), idempotency_key or str(uuid4()))

    def send(self, content: bytes, idempotency_key: str | None = None, /, **headers: str) -> httpx.Response:
        """These bytes as the body."""
        given = {"Content-Type": "application/json", **headers}
        if idempotency_key is not None:
            given["Idempotency-Key"] = idempotency_key
        return self.http.post(f"{self.base}/orders", content=content, headers=given)

    def raw(self, body: bytes, *headers: bytes, framed: bool = True) -> httpx.Response:
        """Headers as no decent client would send them; the connection is closed after the answer.

        Unless `framed`, how the body is framed is for the headers to say.
        """
        with socket.create_connection(
            self.server, timeout=_ANSWER_S, source_address=(own_address(), 0)
        ) as link:
            with contextlib.suppress(OSError):  # It may answer, and close, before it has read all.
                link.sendall(self.request(body, *headers, framed=framed))
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while part := link.recv(65536):
                    received += part
        return _response(received)

    @property
    def server(self) -> tuple[str, int]:
        return self.http.base_url.host, self.http.base_url.port or 0

    def request(self, body: bytes, *headers: bytes, framed: bool = True) -> bytes:
        """The bytes of an order's request, after which the server closes the connection."""
        head = [
            b"POST " + self.base.encode() + b"/orders HTTP/1.1",
            b"Host: " + self.http.headers["host"].encode(),
            b"X-API-Key: " + self.key.encode(),
            b"Connection: close",
            *headers,
        ]
        if framed:
            head.append(b"Content-Length: %d" % len(body))
        return b"\r\n".join(head) + b"\r\n\r\n" + body

    def buy(self, quantity: Any, symbol_code: str = "GOLD", **body: Any) -> dict[str, Any]:
        return booked(self.place(symbol_code=symbol_code, trade_type="buy", quantity=quantity, **body))

    def sell(self, quantity: Any, symbol_code: str = "GOLD", **body: Any) -> dict[str, Any]:
        return booked(self.place(symbol_code=symbol_code, trade_type="sell", quantity=quantity, **body))

    def get(self, path: str, **parameters: Any) -> Any:
        answer = self.http.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def orders(self, **parameters: Any) -> Any:
        return self.get(f"{self.base}/orders", **parameters)

    def order(self, order_id: str) -> httpx.Response:
        return self.http.get(f"{self.base}/orders/{order_id}")

    def net(self, metal: str = "gold") -> str:
        net: str = self.get(f"{self.base}/positions")[metal]["net"]
        return net

    def quote(self, symbol_code: str = "GOLD") -> Any:
        (quote,) = self.get(f"{self.base}/quotes", symbol_code=symbol_code)["items"]
        return quote


_ANSWER_S = 30

Placed = tuple[str, Mapping[str, Any]]
"""An idempotency key and a body."""


def all_at_once(
    traders: Sequence[Trader], placed: Sequence[Placed], at_once: int = 100
) -> list[httpx.Response]:
    """Every order from a connection of its own, `at_once` of them under way; the traders take turns."""
    return asyncio.run(_all_at_once(traders, placed, at_once))


async def _all_at_once(
    traders: Sequence[Trader], placed: Sequence[Placed], at_once: int
) -> list[httpx.Response]:
    # Plain bytes: an HTTP library would take more time for an order than the service does.
    turn = asyncio.Semaphore(at_once)
    addresses = [own_address() for _ in traders]

    async def place(number: int, idempotency_key: str, body: Mapping[str, Any]) -> httpx.Response:
        trader = traders[number % len(traders)]
        kind, name = b"Content-Type: application/json", b"Idempotency-Key: " + idempotency_key.encode()
        async with turn, asyncio.timeout(_ANSWER_S):
            address = (addresses[number % len(traders)], 0)
            reader, writer = await asyncio.open_connection(*trader.server, local_addr=address)
            with contextlib.closing(writer):
                writer.write(trader.request(json.dumps(body).encode(), kind, name))
                return _response(await reader.read())

    return await asyncio.gather(*(place(number, *each) for number, each in enumerate(placed)))


def _response(received: bytes) -> httpx.Response:
    head, _, content = received.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    pairs = [(name, value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    return httpx.Response(int(status.split()[1]), headers=pairs, content=content)


class Market:
    """A broker with gold and silver at fixed prices, and budgets that no test runs into by chance."""

    def __init__(self, node: Node, tag: str, desk: DeskClient, clients: contextlib.ExitStack) -> None:
        self.node = node
        self.tag = tag
        self.host = f"{tag}.example"
        self.desk = desk
        self._clients = clients

    @classmethod
    @contextlib.contextmanager
    def open(cls, node: Node) -> Iterator[Self]:
        tag = unique("market")
        with node.desk() as first, contextlib.ExitStack() as clients:
            first.do("PUT", f"/brokers/{tag}", {"name": "A Broker", "hosts": [f"{tag}.example"]})
            token = first.do("POST", "/tokens", {"name": "an admin", "role": "admin", "broker": tag})
            market = cls(node, tag, clients.enter_context(node.desk(token["token"])), clients)
            market.desk.add_group()
            market.switch(budgets=UNBOUNDED)
            market.symbol("GOLD")
            market.symbol("SILVER", **SILVER)
            yield market

    @contextlib.contextmanager
    def visit(self) -> Iterator[Self]:
        """The same market, whose traders go home at the end."""
        with contextlib.ExitStack() as clients:
            yield type(self)(self.node, self.tag, self.desk, clients)

    def symbol(self, code: str, **fields: Any) -> str:
        self.desk.do("PUT", f"/symbols/{code}", {**GOLD, **fields})
        return code

    def live(self, code: str, **fields: Any) -> str:
        """A symbol that can be traded at once."""
        return self.symbol(code, **fields)

    def change(self, code: str, **fields: Any) -> None:
        self.desk.do("PATCH", f"/symbols/{code}", fields)

    def switch(self, **switches: Any) -> None:
        self.desk.do("PATCH", "/switches", switches)

    def group(self, **fields: Any) -> str:
        code = unique("group")
        terms = {"buy_premium": "0", "sell_premium": "0"}
        self.desk.do("PUT", f"/groups/{code}", {"default_terms": terms, **fields})
        return code

    def account(self, gold: str = "1000000", silver: str = "1000000", **fields: Any) -> str:
        login_id = unique("client")
        self.desk.account(login_id, **{"allocation": {"gold": gold, "silver": silver}, **fields})
        return login_id

    def allocate(self, login_id: str, **allocation: str) -> None:
        self.desk.do("PATCH", f"/accounts/{login_id}", {"allocation": allocation})

    def trader(self, login_id: str | None = None, *, node: Node | None = None, **fields: Any) -> Trader:
        """With a new key, for a new account unless one is named."""
        login_id = login_id or self.account()
        return self.at_work(login_id, self.desk.key(login_id, **fields), node=node)

    def at_work(
        self,
        login_id: str,
        issued: Mapping[str, Any],
        *,
        address: str | None = None,
        node: Node | None = None,
    ) -> Trader:
        http = (node or self.node).api(issued["key"], address or own_address(), Host=self.host)
        return Trader(self._clients.enter_context(http), login_id, issued)
