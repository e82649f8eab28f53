"""A made-up world for flows: a clock that only waiting moves, and a network that answers by a script."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, TypeVar

import httpx

from bullion_client.base_client import BaseClient
from bullion_client.flow import Flow, Moment, Now, Run, Sleep
from bullion_client.journal import Journal
from tests.client.calls import LIVE_KEY

Value = TypeVar("Value")
Outcome: TypeAlias = httpx.Response | httpx.RequestError

START = datetime(2026, 11, 15, 12, tzinfo=UTC)
TRY_S = 0.01
"""How long a try takes that says nothing else."""

TEST_ORDER: dict[str, Any] = {
    "id": "01a1de23-96a5-7be9-bf2f-390000000001",
    "environment": "test",
    "symbol_code": "GOLD",
    "trade_type": "buy",
    "quantity": "5.0000",
    "unit": "g",
    "price": "150634.00",
    "total": "75317.00",
    "status": "filled",
    "client_order_id": None,
    "created_at": "2026-11-15T07:37:16.709034+00:00",
    "deal_label": "T-1",
}
LIVE_ORDER: dict[str, Any] = {
    **{name: value for name, value in TEST_ORDER.items() if name != "deal_label"},
    "environment": "production",
    "status": "open",
    "deal_no": 1,
    "status_detail": "BOOKED",
    "source": "api",
    "close_price": None,
    "realized_pnl": None,
    "closed_at": None,
}


def answer(status: int, body: object, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, content=content, headers=named)


def refusal(status: int, code: str, *, retry_after: int | None = None, **more: object) -> httpx.Response:
    headers = {} if retry_after is None else {"Retry_After": str(retry_after)}
    return answer(status, {"detail": {"code": code, "message": "No.", **more}}, X_Request_Id="r-1", **headers)


class World:
    """Drives flows. Each request gets the next of the outcomes, and the last of them for ever."""

    def __init__(self, *outcomes: Outcome | Callable[[httpx.Request], Outcome]) -> None:
        self.seconds = 1000.0
        self.sent: list[httpx.Request] = []
        self.sent_at: list[float] = []
        self.pauses: list[float] = []
        self.try_s = TRY_S
        self._outcomes = list(outcomes)

    def now(self) -> Moment:
        return Moment(self.seconds, START + timedelta(seconds=self.seconds - 1000.0))

    def run(self, flow: Flow[Value]) -> Value:
        try:
            effect = next(flow)
            while True:
                match effect:
                    case Now():
                        effect = flow.send(self.now())
                    case Sleep(seconds):
                        assert seconds >= 0
                        self.pauses.append(seconds)
                        self.seconds += seconds
                        effect = flow.send(None)
                    case Run(function):
                        try:
                            result = function()
                        except (OSError, ValueError) as error:
                            effect = flow.throw(error)
                        else:
                            effect = flow.send(result)
                    case other:
                        assert isinstance(other, httpx.Request)
                        try:
                            response = self._send(other)
                        except httpx.RequestError as error:
                            effect = flow.throw(error)
                        else:
                            effect = flow.send(response)
        except StopIteration as end:
            value: Value = end.value
            return value

    def _send(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        self.sent_at.append(self.seconds - 1000.0)
        self.seconds += self.try_s
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if callable(outcome):
            outcome = outcome(request)
        if isinstance(outcome, httpx.RequestError):
            raise outcome
        return httpx.Response(
            outcome.status_code, content=outcome.content, headers=outcome.headers, request=request
        )

    @property
    def keys(self) -> set[str]:
        """The idempotency keys of all that was sent."""
        return {request.headers["Idempotency-Key"] for request in self.sent}

    @property
    def bodies(self) -> set[bytes]:
        return {request.content for request in self.sent}


def caller(
    key: str = LIVE_KEY, *, deadline: float = 60.0, journal: Journal | None = None, pace: bool = False
) -> BaseClient:
    """A client without its network, whose pauses are the longest they can be."""
    made = BaseClient("https://trading.example", key, 10.0, deadline, journal, pace=pace)
    made._chance = lambda: 1.0
    return made


def placed(
    world: World, key: str = LIVE_KEY, *, deadline: float = 60.0, journal: Journal | None = None
) -> Any:
    """What comes of placing an order for 5 g of gold."""
    flow = caller(key, deadline=deadline, journal=journal)._place(
        "GOLD", "buy", 5, None, None, None, deadline
    )
    return world.run(flow)
