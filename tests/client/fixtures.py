"""A real service for clients to trade with: a broker whose production is open, and whose budgets are wide."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from bullion_client import Environment
from tests.support.node import DeskClient, Node, shared, until
from tests.support.orders import GOLD
from tests.support.production import WIDE_OPEN

_numbers = count(1)


@dataclass
class Deployment:
    node: Node
    desk: DeskClient

    @property
    def url(self) -> str:
        return self.node.api_url

    def account(self, gold: str = "1000000", **fields: Any) -> str:
        """A new account that may trade in both environments."""
        login = f"client{next(_numbers)}"
        self.desk.account(login, allocation={"gold": gold, "silver": "0"}, production_trading=True, **fields)
        return login

    def key(self, login: str, environment: Environment = Environment.TEST, **fields: Any) -> str:
        key: str = self.desk.key(login, environment.value, **fields)["key"]
        return key

    def switch(self, **switches: Any) -> None:
        self.desk.do("PATCH", "/switches", switches)

    def venue(self, mode: str) -> None:
        self.desk.do("PATCH", "/hedge", {"mode": mode})


@contextmanager
def open_deployment(folder: Path) -> Iterator[Deployment]:
    with shared(folder, BULLION_PRODUCTION="on") as node, node.desk() as desk:
        desk.add_group()
        deployment = Deployment(node, desk)
        deployment.switch(production=True, budgets=WIDE_OPEN)
        desk.do("PUT", "/symbols/GOLD", GOLD)
        key = deployment.key(deployment.account(), Environment.PRODUCTION)
        with node.api(key) as api:
            # A node that has just started has not heard from its venue yet.
            until(
                lambda: api.get("/api/trading/v1/quotes").json()["items"][0]["tradable"],
                within_s=20,
            )
        yield deployment
