"""A service of the default broker, which a command finds by its address alone; its prices stand still."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from tests.support.node import DeskClient, Node, shared, until
from tests.support.orders import GOLD, SILVER
from tests.support.production import WIDE_OPEN

_numbers = count(1)


class Shop:
    """The broker's side: accounts, keys, the venue, and what the API itself answers."""

    def __init__(self, node: Node, desk: DeskClient) -> None:
        self.node = node
        self.desk = desk
        self.api_url = node.api_url

    def account(self, **fields: Any) -> str:
        """A new one, open for production, with room for ten lakhs of either metal."""
        login_id = f"client{next(_numbers)}"
        allocation = {"gold": "1000000", "silver": "1000000"}
        self.desk.account(login_id, production_trading=True, **{"allocation": allocation, **fields})
        return login_id

    def key(self, login_id: str, environment: str = "test", **fields: Any) -> str:
        issued: str = self.desk.key(login_id, environment, **fields)["key"]
        return issued

    def venue(self, mode: str) -> None:
        self.desk.do("PATCH", "/hedge", {"mode": mode})

    @contextmanager
    def venue_that(self, mode: str) -> Iterator[None]:
        """The simulated venue behaves like this for a while, and fills again afterwards."""
        self.venue(mode)
        try:
            yield
        finally:
            self.venue("fill")

    def answer(self, key: str, path: str) -> Any:
        """What the API answers to a read, as it is."""
        base = "/api/trading/test/v1" if key.startswith("key_test.") else "/api/trading/v1"
        with self.node.api(key) as http:
            answer = http.get(base + path)
        assert answer.status_code == httpx.codes.OK, answer.text
        return answer.json()

    def orders(self, key: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.answer(key, "/orders")["items"]
        return items


@contextmanager
def opened_shop(folder: Path) -> Iterator[Shop]:
    with shared(folder, BULLION_PRODUCTION="on") as node, node.desk() as desk:
        desk.add_group()
        desk.do("PUT", "/symbols/GOLD", GOLD)
        desk.do("PUT", "/symbols/SILVER", SILVER)
        desk.do("PATCH", "/switches", {"production": True, "budgets": WIDE_OPEN})
        shop = Shop(node, desk)
        key = shop.key(shop.account(), "production")
        # The venue's word on new symbols takes a moment to come in.
        until(lambda: all(quote["tradable"] for quote in shop.answer(key, "/quotes")["items"]), within_s=10)
        yield shop
