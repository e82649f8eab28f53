"""What a check works with: clients, the desk if there is one, and samples that checks share."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bullion_conformance.client import Client, Symbol
from bullion_conformance.connection import Connection
from bullion_conformance.desk import Broker, Issued
from bullion_conformance.exchange import Exchange
from bullion_conformance.verdict import CheckFailed, NotChecked

T = TypeVar("T")

_ORDERS_SHARED_MAX = 5
WIDE = 1000
"""For budgets that a check must not meet."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The setup of a run: the connection, clients, and the kit's broker."""

    connection: Connection
    gold: Symbol
    silver: Symbol
    test: Client | None = None
    """With the key that the user gave."""
    live: Client | None = None
    broker: Broker | None = None
    """The kit's own broker, if there is a desk."""
    production_open: bool = False
    """Whether the kit's own broker may trade in production."""
    production_closed: str = ""
    """Why not, if it is closed."""
    burn: bool = False
    latency_s: float = 0.0
    """The duration of a call."""


@dataclass(slots=True)
class Context:
    setup: Setup
    _kept: dict[str, tuple[Any, Exception | None, list[Exchange]]] = field(default_factory=dict)
    _shared: dict[str, Client] = field(default_factory=dict)

    # --- Clients ------------------------------------------------------------------------------------

    @property
    def connection(self) -> Connection:
        return self.setup.connection

    @property
    def broker(self) -> Broker:
        if self.setup.broker is None:
            raise NotChecked("it needs the desk")
        return self.setup.broker

    @property
    def gold(self) -> Symbol:
        return self.setup.gold

    @property
    def silver(self) -> Symbol:
        return self.setup.silver

    def test(self) -> Client:
        """A client of the test environment that checks share; its account may have orders already."""
        if self.setup.broker is not None:
            return self._shared_client("test")
        if self.setup.test is None:
            raise NotChecked("it needs a test key")
        return self.setup.test

    def live(self) -> Client:
        """The same for the production path."""
        if self.setup.broker is not None:
            return self._shared_client("production")
        if self.setup.live is None:
            raise NotChecked("it needs a live key")
        return self.setup.live

    def _shared_client(self, environment: str) -> Client:
        """One client for many checks, until it comes near the budget of a key."""
        client = self._shared.get(environment)
        if client is None or client.orders_sent > _ORDERS_SHARED_MAX:
            client = self._shared[environment] = self.new_client(environment)
        return client

    def new_client(
        self,
        environment: str = "test",
        login_id: str | None = None,
        key: dict[str, Any] | None = None,
        **account: Any,
    ) -> Client:
        """A client with a new key, of a new account unless a login is given."""
        login_id = login_id or self.broker.account(**account)
        return self.with_key(self.broker.key(login_id, environment, **(key or {})), login_id, environment)

    def with_key(self, issued: Issued, login_id: str, environment: str = "test") -> Client:
        return Client(self.connection, environment, issued.key, login_id, self.gold)

    # --- Samples and switches -------------------------------------------------------------------------------

    def once(self, make: Callable[["Context"], T]) -> T:
        """Make a sample that several checks use, once; its calls are reported with each of them.

        If it cannot be made, all of them fail for the same reason.
        """
        name = f"{make.__module__}.{make.__qualname__}"
        if name in self._kept:
            value, broken, made = self._kept[name]
            self.connection.current.extend(made)
        else:
            before, self.connection.current = self.connection.current, []
            value, broken = None, None
            try:
                value = make(self)
            except (CheckFailed, NotChecked) as error:
                broken = error
            made = self.connection.current
            self.connection.current = [*before, *made]
            self._kept[name] = (value, broken, made)
        if broken is not None:
            raise broken
        found: T = value
        return found

    @contextmanager
    def budgets(self, **budgets: int) -> Iterator[None]:
        """Set a new broker's budgets, except for those given, while a check uses them up.

        Earlier failed authentications must not disturb, so that budget is wide unless it is given.
        """
        usual, new = self.broker.usual, {**self.broker.budgets, "failed_auth_per_minute": WIDE, **budgets}
        self.connection.unpaced = True
        try:
            with self.broker.switched({"budgets": usual}, budgets=new):
                yield
        finally:
            self.connection.unpaced = False

    @contextmanager
    def at_second_broker(self) -> Iterator[None]:
        """Send calls to another broker of the same service."""
        host, self.connection.host = self.connection.host, self.broker.second_host
        try:
            yield
        finally:
            self.connection.host = host

    def until(self, holds: Callable[[], bool], message: str) -> None:
        """Poll until it holds, for at most ten seconds."""
        give_up_at = self.clock() + 10
        while not holds():
            if self.clock() > give_up_at:
                raise CheckFailed(message)
            self.sleep(0.1)

    def clock(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        self.connection.pace.wait(seconds)
