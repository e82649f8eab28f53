"""The kit's own API client: one key on the path of one environment."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from bullion_conformance.codes import STATUS
from bullion_conformance.connection import PRODUCTION_PATH, TEST_PATH, Connection
from bullion_conformance.exchange import Exchange
from bullion_conformance.open_stream import OpenStream
from bullion_conformance.pace import Payer
from bullion_conformance.shapes import value_of, values_of, whole
from bullion_conformance.verdict import CheckFailed, expect, expect_equal

CREATED, ACCEPTED, OK = 201, 202, 200
REPLAYED = "idempotent-replayed"
JSON = {"Content-Type": "application/json"}

LEFT_OUT: Any = object()
"""As the value of a field: leave the field out."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written into the body as it is, such as a number with trailing zeros."""

    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    code: str
    quantity: Decimal
    """A weight that an order may have."""
    metal: str

    @property
    def unit(self) -> str:
        return "g" if self.metal == "gold" else "kg"


@dataclass(slots=True)
class Client:
    connection: Connection
    environment: str
    key: str = field(repr=False)
    account: str
    """The account of the key, for the budgets that its keys share."""
    symbol: Symbol
    nets: dict[str, Decimal] = field(default_factory=dict)
    """The net weight of this account's orders in the run, by symbol."""
    orders_sent: int = 0

    @property
    def path(self) -> str:
        return TEST_PATH if self.environment == "test" else PRODUCTION_PATH

    # --- Calls ----------------------------------------------------------------------------------------

    def call(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        **parameters: Any,
    ) -> Exchange:
        query = f"?{urlencode(parameters, doseq=True)}" if parameters else ""
        order = method == "POST" and path == "/orders"
        self.orders_sent += order
        return self.connection.send(
            method,
            f"{self.path}{path}{query}",
            headers={"X-API-Key": self.key, **(headers or {})},
            content=content,
            payer=Payer(self.key, self.account, order, shared=self.environment == "production"),
        )

    def me(self) -> Exchange:
        return self.call("GET", "/me")

    def me_as(self, key: str | None, path: str | None = None) -> Exchange:
        """GET /me with a key that will be refused, or without one; it counts against this address."""
        headers = {} if key is None else {"X-API-Key": key}
        return self.connection.send("GET", f"{path or self.path}/me", headers=headers)

    def orders(self, **parameters: Any) -> Exchange:
        return self.call("GET", "/orders", **parameters)

    def order(self, order_id: str) -> Exchange:
        return self.call("GET", f"/orders/{quote(order_id, safe='')}")

    def positions(self) -> Exchange:
        return self.call("GET", "/positions")

    def events(self, **parameters: Any) -> Exchange:
        return self.call("GET", "/events", **parameters)

    @contextmanager
    def opened_stream(
        self, headers: Mapping[str, str] | None = None, **parameters: Any
    ) -> Iterator[OpenStream]:
        """The stream of the account's events."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        sent = {"X-API-Key": self.key, "Accept": "text/event-stream", **(headers or {})}
        with self.connection.open(f"{self.path}/events/stream{query}", sent) as stream:
            yield stream

    def stream(
        self, until: str = "", headers: Mapping[str, str] | None = None, **parameters: Any
    ) -> Exchange:
        """What a stream tells up to the message that contains `until`, or its refusal."""
        with self.opened_stream(headers, **parameters) as stream:
            stream.read(until) if stream.response.status_code == OK else stream.read_to_end()
        return self.connection.current[-1]

    def place(self, idempotency_key: str | None = None, /, **fields: Any) -> Exchange:
        """Place a small order. Unless given, its side brings the position back to zero."""
        body = self.order_body(**fields)
        answer = self.send(encoded(body), idempotency_key or str(uuid4()))
        if answer.status in (CREATED, ACCEPTED):
            self._count(body)
        return answer

    def send(self, content: bytes, idempotency_key: str | None = None, /, **headers: str) -> Exchange:
        """Send these bytes as the body of an order."""
        given = dict(JSON) if "Content-Type" not in headers else {}
        if idempotency_key is not None:
            given["Idempotency-Key"] = idempotency_key
        given |= {name: value for name, value in headers.items() if value}
        return self.call("POST", "/orders", headers=given, content=content)

    def order_body(self, **fields: Any) -> dict[str, Any]:
        code = fields.get("symbol_code", self.symbol.code)
        held = self.nets.get(code, Decimal(0)) if isinstance(code, str) else Decimal(0)
        complete = {
            "symbol_code": self.symbol.code,
            "trade_type": "sell" if held > 0 else "buy",
            "quantity": self.symbol.quantity,
            **fields,
        }
        return {name: value for name, value in complete.items() if value is not LEFT_OUT}

    def _count(self, body: Mapping[str, Any]) -> None:
        quantity = body["quantity"]
        weight = Decimal(quantity.text) if isinstance(quantity, Literal) else Decimal(quantity)
        signed = weight if body["trade_type"] == "buy" else -weight
        self.nets[body["symbol_code"]] = self.nets.get(body["symbol_code"], Decimal(0)) + signed

    # --- Calls that have to succeed -------------------------------------------------------------------

    def placed(self, idempotency_key: str | None = None, /, **fields: Any) -> dict[str, Any]:
        """Place an order that must be accepted immediately: filled in test, open in production."""
        return body_of(self.place(idempotency_key, **fields), CREATED)

    def read(self, order_id: str) -> dict[str, Any]:
        return body_of(self.order(order_id), OK)

    def listed(self, **parameters: Any) -> dict[str, Any]:
        page = body_of(self.orders(**parameters), OK)
        whole(value_of(page, "total"), "total")
        for order in values_of(page, "items"):
            call = self.connection.current[-1].call
            expect(isinstance(order, dict), f"{call} listed something that is not an order")
        return page

    def everything(self, **parameters: Any) -> list[dict[str, Any]]:
        """The first 200 orders that match."""
        return values_of(self.listed(limit=200, **parameters), "items")

    def position(self, metal: str) -> dict[str, Any]:
        found = body_of(self.positions(), OK).get(metal)
        if not isinstance(found, dict):
            raise CheckFailed(f"GET /positions has no entry for {metal}.")
        return found


def encoded(body: Mapping[str, Any]) -> bytes:
    return (
        "{" + ", ".join(f"{json.dumps(name)}: {_literal(value)}" for name, value in body.items()) + "}"
    ).encode()


def _literal(value: Any) -> str:
    match value:
        case Literal():
            return value.text
        case Decimal():
            return f"{value:f}"
        case _:
            return json.dumps(value)


# --- Assertions about responses ------------------------------------------------------------------------


def body_of(answer: Exchange, status: int) -> dict[str, Any]:
    """The object of a response that must have this status."""
    expect(answer.status == status, f"{answer.call} answered {answer.reply}; expected {status}.")
    if not isinstance(answer.body, dict):
        raise CheckFailed(f"{answer.call} answered {status} with a body that is not a JSON object.")
    found: dict[str, Any] = answer.body
    return found


def refused(answer: Exchange, code: str) -> dict[str, Any]:
    """The detail of a refusal that must have this code and the status of the code."""
    status = STATUS.get(code)
    expected = f"{status} {code}" if status else code
    expect(answer.code == code, f"{answer.call} answered {answer.reply}; expected {expected}.")
    if status is not None:
        expect(
            answer.status == status,
            f"{answer.call} answered {code} with status {answer.status}; expected {status}.",
        )
    return answer.detail


def invalid(answer: Exchange) -> list[dict[str, Any]]:
    """The problems of an invalid request, of which there must be at least one."""
    errors: list[dict[str, Any]] = refused(answer, "invalid_request").get("errors") or []
    expect(bool(errors), "invalid_request came without `detail.errors`.")
    return errors


def error_places(answer: Exchange) -> list[Any]:
    """Where the problems of an invalid request are."""
    return [each.get("loc") for each in invalid(answer)]


def rejected(answer: Exchange) -> None:
    """A 4xx with any code, for refusals whose code the specification does not name."""
    refusal = 400 <= answer.status < 500 and answer.code is not None
    expect(refusal, f"{answer.call} answered {answer.reply}; expected a refusal with a code.")


def replayed(answer: Exchange, order: Mapping[str, Any]) -> None:
    """The response is the same order again, marked as a replay."""
    expect(
        answer.status == OK,
        f"{answer.call} with a key and body that were sent before answered {answer.reply}; "
        "expected 200 with Idempotent-Replayed: true.",
    )
    expect_equal(answer.headers.get(REPLAYED), "true", "Idempotent-Replayed of the replay")
    expect_equal(body_of(answer, OK).get("id"), order["id"], "`id` of the replay")
