"""A service in this process, behind httpx's own transport for tests: it records requests and answers them."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx

from bullion_client import AsyncClient, AsyncEventStream, Client, EventStream
from tests.client.calls import TEST_KEY
from tests.client.event_samples import event
from tests.client.scripted_network import TEST_ORDER, Outcome

ADDRESS = "https://trading.example"
ME: dict[str, Any] = {
    "login_id": "aurum",
    "firm_name": None,
    "environment": "test",
    "key_id": "k7",
    "key_name": "till",
    "scopes": [],
    "production_trading_available": False,
}
_METAL = {"net": "0", "limit": "0", "used": "0", "free": "0", "unit": "g"}
_ANSWERS: dict[str, Any] = {
    "me": ME,
    "symbols": {"items": []},
    "quotes": {"items": [{"symbol_code": "GOLD", "buy": "150634.00", "sell": None, "tradable": True}]},
    "positions": {"gold": _METAL, "silver": _METAL | {"unit": "kg"}},
    "orders": {"items": [TEST_ORDER], "total": 1},
    "events": {"items": [event(1, "order.created")], "next_after": 1, "has_more": False},
}


class MockService:
    """Answers every call of a test account; `outcomes` come first, in turn."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.requests: list[httpx.Request] = []
        self._outcomes = list(outcomes)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self._outcomes:
            outcome = self._outcomes.pop(0)
            if isinstance(outcome, httpx.RequestError):
                raise outcome
            return outcome
        number = f"r-{len(self.requests)}"
        if request.method == "POST":
            sent = json.loads(request.content)
            order = TEST_ORDER | {name: sent[name] for name in ("symbol_code", "trade_type")}
            return _answer(201, order | {"quantity": f"{sent['quantity']}.0000"}, number)
        name, _, order_id = request.url.path.partition("/v1/")[2].partition("/")
        if order_id == "stream":
            stream = b"id: 0\n\ndata: %s\n\n" % json.dumps(event(1, "order.created")).encode()
            return httpx.Response(200, content=stream, headers={"Content-Type": "text/event-stream"})
        return _answer(200, TEST_ORDER if order_id else _ANSWERS[name], number)

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self)

    def sent(self, name: str) -> list[str | None]:
        """A header of every request."""
        return [request.headers.get(name) for request in self.requests]


def _answer(status: int, body: object, request_id: str) -> httpx.Response:
    return httpx.Response(status, json=body, headers={"X-Request-Id": request_id})


class Opened:
    """A client of either kind; the calls of both are written alike."""

    def __init__(self, kind: type[Client | AsyncClient], service: MockService, **options: Any) -> None:
        made: Any = kind  # Their options differ in types alone.
        if "http_client" not in options:
            options["transport"] = service.transport
        self.client: Any = made(ADDRESS, TEST_KEY, **options)

    def call(self, calling: Callable[[Any], Any]) -> Any:
        """What comes of a call, awaited or iterated where it must be."""

        async def awaited() -> Any:
            made = calling(self.client)
            if isinstance(made, AsyncEventStream):
                async with made:
                    return await anext(made)
            return [each async for each in made] if hasattr(made, "__aiter__") else await made

        if isinstance(self.client, AsyncClient):
            return anyio.run(awaited)
        made = calling(self.client)
        if isinstance(made, EventStream):
            with made:
                return next(made)
        return list(made) if hasattr(made, "__next__") else made
