"""One way to call `me()` through either client, the keys to call it with, and an order to place."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Protocol

import anyio

from bullion_client import Account, AsyncClient, Client, Environment, Intent, TradeType

SECRET = "0123456789abcdef"
TEST_KEY = f"key_test.demo.k7.{SECRET}"
LIVE_KEY = f"key_live.demo.k8.{SECRET}"

INTENT = Intent(
    environment=Environment.TEST,
    idempotency_key="k-1",
    symbol_code="GOLD",
    trade_type=TradeType.BUY,
    quantity=Decimal(5),
    expected_price=None,
    client_order_id=None,
    made_at=datetime(2026, 11, 15, 12, tzinfo=UTC),
)


class Me(Protocol):
    """Opens a client, calls `me()` with a single try unless told otherwise, and closes it."""

    def __call__(
        self, base_url: str, api_key: str, *, timeout: float = 10.0, deadline: float = 0.0
    ) -> Account: ...


def me_sync(base_url: str, api_key: str, *, timeout: float = 10.0, deadline: float = 0.0) -> Account:
    with Client(base_url, api_key, timeout=timeout, deadline=deadline) as client:
        return client.me()


def me_async(base_url: str, api_key: str, *, timeout: float = 10.0, deadline: float = 0.0) -> Account:
    async def call() -> Account:
        async with AsyncClient(base_url, api_key, timeout=timeout, deadline=deadline) as client:
            return await client.me()

    return anyio.run(call)
