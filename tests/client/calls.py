"""One way to call `me()` through either client, and the keys to call it with."""

from typing import Protocol

import anyio

from bullion_client import Account, AsyncClient, Client

SECRET = "0123456789abcdef"
TEST_KEY = f"key_test.demo.k7.{SECRET}"
LIVE_KEY = f"key_live.demo.k8.{SECRET}"


class Me(Protocol):
    """Opens a client, calls `me()` once and closes it."""

    def __call__(self, base_url: str, api_key: str, *, timeout: float = 10.0) -> Account: ...


def me_sync(base_url: str, api_key: str, *, timeout: float = 10.0) -> Account:
    with Client(base_url, api_key, timeout=timeout) as client:
        return client.me()


def me_async(base_url: str, api_key: str, *, timeout: float = 10.0) -> Account:
    async def call() -> Account:
        async with AsyncClient(base_url, api_key, timeout=timeout) as client:
            return await client.me()

    return anyio.run(call)
