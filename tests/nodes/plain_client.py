"""Clients that know nothing of readiness: they call one address, and note how each call ended."""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from tests.support.node import own_address
from tests.support.orders import ORDERS, Trader

from .crowd import Connection

REFUSED = "refused"
"""The kernel refused the connection, so the client knows that nothing was sent."""
_BODY = json.dumps({"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}).encode()
_ANSWER_S = 20
_keys = count()


async def place(connection: Connection, trader: Trader, *, last: bool = False) -> str:
    """Send an order, and return the status of the response."""
    headers = {
        "Host": trader.http.headers["host"],
        "X-API-Key": trader.key,
        "Content-Type": "application/json",
        "Idempotency-Key": f"plain {next(_keys)}",
        **({"Connection": "close"} if last else {}),
    }
    status, _, _ = await connection.call("POST", ORDERS, headers, _BODY)
    return str(status)


@dataclass
class PlainClients:
    """Half of them keep their connection, the others open one for each call."""

    url: str
    traders: Sequence[Trader]
    number: int = 12
    pause_s: float = 0.01
    outcomes: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0

    @asynccontextmanager
    async def calling(self) -> AsyncIterator[None]:
        """Call for as long as the body runs, then wait for the last responses."""
        end = asyncio.Event()
        clients = [asyncio.create_task(self._call(each, end)) for each in range(self.number)]
        try:
            yield
        finally:
            end.set()
            await asyncio.gather(*clients)

    async def _call(self, number: int, end: asyncio.Event) -> None:
        trader = self.traders[number % len(self.traders)]
        address = own_address()
        keeps = number % 2 == 0
        async with contextlib.AsyncExitStack() as opened:
            connection: Connection | None = None
            while not end.is_set():
                began = time.monotonic()
                try:
                    async with asyncio.timeout(_ANSWER_S):
                        if connection is None or not connection.usable:
                            await opened.aclose()
                            connection = await opened.enter_async_context(Connection.to(self.url, address))
                        outcome = await place(connection, trader, last=not keeps)
                except ConnectionRefusedError:
                    outcome = REFUSED
                except (OSError, EOFError, TimeoutError) as error:
                    outcome = f"{'kept' if keeps else 'fresh'} connection: {error!r}"
                    connection = None
                self.outcomes[outcome] += 1
                self.longest_s = max(self.longest_s, time.monotonic() - began)
                await asyncio.sleep(self.pause_s)
