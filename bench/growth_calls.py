"""The calls whose cost must not grow: for a book of a hundred orders, and the same for one with a million.

Both answer the same number of orders, so that they differ only in how many there are to look through.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPConnection
from urllib.parse import quote

import msgspec

from .calls import get
from .connection import FRESH_KEY
from .seed_sql import SeededBook

TEST, LIVE = "/api/trading/test/v1", "/api/trading/v1"
_PAGE = 50
_HUNDRED = 100


@dataclass(frozen=True, slots=True)
class Client:
    """An account's program in one environment."""

    port: int
    base: str
    key: str
    book: SeededBook

    def get(self, path: str) -> bytes:
        return get(f"{self.base}{path}", self.key)

    def read(self, path: str) -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", f"{self.base}{path}", headers={"X-API-Key": self.key})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status != HTTPStatus.OK:
            raise RuntimeError(f"{path}: {answer.status} {content!r}")
        return content


@dataclass(frozen=True, slots=True)
class Requests:
    """What is sent in turn for one call."""

    port: int
    requests: tuple[bytes, ...]


def requests_of(client: Client) -> dict[str, Requests]:
    live = client.base == LIVE
    sent: dict[str, tuple[bytes, ...]] = {
        f"list {name}": (client.get(f"/orders?{query}"),) for name, query in _lists(client).items()
    }
    ordinals = _spread_ordinals(client.book)
    sent["one order"] = tuple(client.get(f"/orders/{client.book.order_id(each)}") for each in ordinals)
    sent["positions"] = (client.get("/positions"),)
    sent["replay"] = tuple(filter(None, (_replay(client, each) for each in ordinals[::5])))
    sent["place"] = tuple(_order(client, FRESH_KEY, {"trade_type": side}) for side in ("buy", "sell"))
    kind = "production " if live else ""
    return {f"{kind}{name}": Requests(client.port, requests) for name, requests in sent.items()}


def _spread_ordinals(book: SeededBook) -> list[int]:
    """Fifty of them, from the first order to one of the last."""
    return [1 + book.orders * number // _PAGE for number in range(_PAGE)]


def _lists(client: Client) -> dict[str, str]:
    """The query of each list. Production has those that go another way there, and those by status."""
    queries = _queries(client.book)
    return {name: queries[name] for name in _LIKE_TEST} | _BY_STATUS if client.base == LIVE else queries


def _queries(book: SeededBook) -> dict[str, str]:
    million = book.orders > _HUNDRED
    half, named = book.orders // 2, book.orders // 2 // 3 * 3
    return {
        "first page": "",
        "by symbol": "symbol_code=GOLD&limit=40",
        "by side": "trade_type=buy&limit=40",
        "by symbol and side": "symbol_code=GOLD&trade_type=sell&limit=20",
        "total alone": "symbol_code=GOLD&limit=1",
        "of an unknown symbol": "symbol_code=NOTHING",
        "of a rare symbol": "symbol_code=RARE",
        "of a sparse symbol": f"symbol_code={'SPARSE' if million else 'GOLD'}&limit=40",
        "since the last few": f"since={_time(book, book.orders - 29)}",
        "since half of them": f"since={_time(book, half)}&limit=40",
        "since half of them by symbol": f"since={_time(book, half)}&symbol_code=GOLD&limit=20",
        "since now": "since=2100-01-01T00:00:00Z&symbol_code=GOLD",
        "by reference": f"client_order_id=ref-{named}",
        "by shared reference": "client_order_id=shared&limit=15",
        "by unknown reference": "client_order_id=nobody",
        "deep": f"offset={half}&limit=40",
        "deep by symbol": f"offset={half // 2 if million else 20}&symbol_code=GOLD&limit=20",
        "deep by side": f"offset={half // 2 if million else 20}&trade_type=buy&limit=20",
        "past the end by symbol": f"offset={book.orders}&symbol_code=GOLD",
    }


_LIKE_TEST = (
    "first page",
    "by symbol",
    "of an unknown symbol",
    "of a sparse symbol",
    "since half of them",
    "by shared reference",
    "deep",
    "deep by symbol",
)
_BY_STATUS = {
    "by status": "status=closed&limit=40",
    "by scarce status": "status=open&limit=4",
    "of deleted orders": "status=deleted&limit=2",
    "by a status that none has": "status=closing",
    "by status and symbol": "status=closed&symbol_code=GOLD&limit=20",
}


def _time(book: SeededBook, ordinal: int) -> str:
    seconds, micros = divmod(book.made_at_us(ordinal), 1_000_000)
    return quote(datetime.fromtimestamp(seconds, UTC).replace(microsecond=micros).isoformat())


def _replay(client: Client, ordinal: int) -> bytes | None:
    """The order as it was sent, read off its answer. None for one that was refused by the venue."""
    order = msgspec.json.decode(client.read(f"/orders/{client.book.order_id(ordinal)}"))
    if order["status"] == "rejected":
        return None
    asked = {name: order[name] for name in ("symbol_code", "trade_type", "client_order_id") if order[name]}
    return _order(client, client.book.idempotency_key(ordinal).encode("ascii"), asked)


def _order(client: Client, idempotency_key: bytes, asked: dict[str, str]) -> bytes:
    body = msgspec.json.encode({"symbol_code": "GOLD", "quantity": 1} | asked)
    lines = (
        f"POST {client.base}/orders HTTP/1.1".encode("ascii"),
        b"Host: 127.0.0.1",
        f"X-API-Key: {client.key}".encode("ascii"),
        b"Content-Type: application/json",
        b"Idempotency-Key: " + idempotency_key,
        b"Content-Length: %d" % len(body),
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def check_alike(ours: Client, theirs: Client, say: Callable[[str], None]) -> None:
    """That both answer as many orders, or they could not be compared."""
    others = _lists(theirs)
    for name, query in _lists(ours).items():
        other = others[name]
        mine, their = (_items(client, text) for client, text in ((ours, query), (theirs, other)))
        if mine != their:
            say(f"list {name}: {mine} orders against {their}")
            raise AssertionError(f"the pages of the list {name!r} are not alike: {mine} and {their} orders")


def _items(client: Client, query: str) -> int:
    return len(msgspec.json.decode(client.read(f"/orders?{query}"))["items"])
