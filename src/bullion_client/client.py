"""The clients: what a program holds to talk to the service."""

from types import TracebackType
from typing import Self

import httpx

from bullion_client.access import Access
from bullion_client.account import Account, read_account
from bullion_client.environment import Environment
from bullion_client.flow import Flow, Value, exchange, run, run_async


class _Caller:
    """What both clients share: their access, and each call as a flow."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._access = Access.of(base_url, api_key)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.environment} at {self._access.root}>"

    @property
    def environment(self) -> Environment:
        """The environment that the key belongs to, and that every call goes to."""
        return self._access.environment

    def _me(self) -> Flow[Account]:
        return exchange(self._access.request("GET", "/me"), read_account)


class Client(_Caller):
    """A client that blocks. It may be shared between threads.

    `base_url` is the service's address without the `/api/trading/…` part; the key decides about that.
    `timeout` is in seconds: for connecting, and for each wait for the next bytes. `transport` is any
    `httpx.BaseTransport`; without one, the proxies named in the process's environment are used.

    Close it with `close()`, or use it as a context manager. An unusable address or key raises `ValueError`.
    Every call can raise the errors of `bullion_client.errors`. Redirects are never followed.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 10.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(base_url, api_key)
        self._http = httpx.Client(timeout=timeout, transport=transport, follow_redirects=False)

    def me(self) -> Account:
        """Return the account and the key behind this client. Needs the scope `account:read`."""
        return self._run(self._me())

    def close(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, flow: Flow[Value]) -> Value:
        return run(flow, self._http.send)


class AsyncClient(_Caller):
    """A client for asynchronous programs: `Client` with `await`.

    The arguments are those of `Client`, with `transport` any `httpx.AsyncBaseTransport`. Close it with
    `await aclose()`, or use it with `async with`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(base_url, api_key)
        self._http = httpx.AsyncClient(timeout=timeout, transport=transport, follow_redirects=False)

    async def me(self) -> Account:
        """Return the account and the key behind this client. Needs the scope `account:read`."""
        return await self._run(self._me())

    async def aclose(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _run(self, flow: Flow[Value]) -> Value:
        return await run_async(flow, self._http.send)
