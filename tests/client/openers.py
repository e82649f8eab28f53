"""Opens clients of either kind at the service, to be called alike."""

import asyncio
import inspect
from typing import Any

from bullion_client import AsyncClient, Environment
from bullion_client.raw import AsyncRawCalls
from tests.client.fixtures import Deployment


class Blocking:
    """An `AsyncClient` whose calls can be written down like those of a `Client`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._runner = asyncio.Runner()
        self._client: Any = AsyncClient(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        if isinstance(value, AsyncClient | AsyncRawCalls):
            return self._around(value)
        if not inspect.isroutine(value):
            return value

        def call(*arguments: Any, **options: Any) -> Any:
            made = value(*arguments, **options)
            if isinstance(made, AsyncClient):
                return self._around(made)
            return self._runner.run(_collected(made) if hasattr(made, "__aiter__") else made)

        return call

    def _around(self, other: Any) -> "Blocking":
        """The same for a client or for calls that belong to this one."""
        made = object.__new__(Blocking)
        made._runner, made._client = self._runner, other
        return made

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


async def _collected(items: Any) -> list[Any]:
    return [item async for item in items]


class Opener:
    """Opens clients of one kind, and closes them."""

    def __init__(self, kind: Any, deployment: Deployment) -> None:
        self._kind = kind
        self._deployment = deployment
        self.opened: list[Any] = []

    def __call__(
        self,
        environment: Environment = Environment.TEST,
        gold: str = "1000000",
        scenarios: bool = False,
        **options: Any,
    ) -> Any:
        key = self._deployment.key(self._deployment.account(gold, scenarios=scenarios), environment)
        return self.at(self._deployment.url, key, **options)

    def at(self, url: str, key: str, **options: Any) -> Any:
        self.opened.append(self._kind(url, key, **options))
        return self.opened[-1]
