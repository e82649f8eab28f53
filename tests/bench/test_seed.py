"""A seeded store is one that the service could have left: its own rules hold, and it goes on from there."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.seed import seed
from tests.support import production_invariants
from tests.support.node import DeskClient, running, until
from tests.support.orders import GOLD, UNBOUNDED
from tests.support.stacks import STACKS, stack

TEST, LIVE = "/api/trading/test/v1", "/api/trading/v1"
ORDERS = {
    ("many", "test"): 1_500,
    ("some", "test"): 100,
    ("one", "test"): 1,
    ("many", "production"): 600,
    ("some", "production"): 7,
}


class Seeded:
    def __init__(self, name: str, request: pytest.FixtureRequest, folder: Path) -> None:
        settings = {**stack(name, request), "BULLION_PRODUCTION": "on"}
        self.store = settings.get("BULLION_DATABASE_URL") or folder / "var" / "bullion.db"
        with running(folder, **settings) as node, node.desk() as desk:
            self.keys = _set_up(desk)
        self.said: list[str] = []
        self.books = seed(self.store, ORDERS, self.said.append)
        self.tables = production_invariants.read(self.store)
        self._folder, self._settings = folder, settings

    def at_work(self) -> Iterator["Seeded"]:
        with running(self._folder, **self._settings) as node, contextlib.ExitStack() as clients:
            self.clients = {name: clients.enter_context(node.api(key)) for name, key in self.keys.items()}
            until(
                lambda: b'"tradable":true' in self.clients["some", "test"].get(f"{TEST}/quotes").content, 10
            )
            yield self


def _set_up(desk: DeskClient) -> dict[tuple[str, str], str]:
    desk.add_group()
    for code in ("GOLD", "RARE"):
        desk.do("PUT", f"/symbols/{code}", GOLD)
    desk.do("PATCH", "/switches", {"budgets": UNBOUNDED, "production": True})
    for login in ("many", "some", "one"):
        desk.account(login, allocation={"gold": "1000", "silver": "1000"}, production_trading=True)
    return {name: desk.key(name[0], environment=name[1])["key"] for name in ORDERS}


@pytest.fixture(scope="module", params=STACKS)
def seeded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeded]:
    yield from Seeded(request.param, request, tmp_path_factory.mktemp("seeded")).at_work()


def test_every_rule_of_the_store_holds(seeded: Seeded) -> None:
    assert not production_invariants.problems(seeded.tables, submitted_once=True, settled=True)


def test_there_are_as_many_as_were_asked_for(seeded: Seeded) -> None:
    counts = {row["id"]: row["order_count"] for row in seeded.tables["books"]}

    assert {name: counts[book.id] for name, book in seeded.books.items()} == ORDERS
    assert len(seeded.tables["orders"]) == sum(ORDERS.values())
    assert seeded.said[-1].startswith("seeded 2,208 orders in")


def test_names_and_times_of_orders_are_known_without_reading_them(seeded: Seeded) -> None:
    books = {book.id: book for book in seeded.books.values()}

    for row in seeded.tables["orders"]:
        book, ordinal = books[row["book_id"]], row["ordinal"]
        assert row["id"] == book.order_id(ordinal)
        assert row["idempotency_key"] == book.idempotency_key(ordinal)
        assert row["created_at_us"] == book.made_at_us(ordinal)


@pytest.mark.parametrize("login", ["many", "some"])
def test_kinds_of_which_every_book_has_the_same_number(seeded: Seeded, login: str) -> None:
    client = seeded.clients[login, "test"]

    assert client.get(f"{TEST}/orders?symbol_code=RARE").json()["total"] == 4
    assert client.get(f"{TEST}/orders?client_order_id=shared").json()["total"] == 20


@pytest.mark.parametrize(("base", "environment"), [(TEST, "test"), (LIVE, "production")])
def test_service_goes_on_from_there(seeded: Seeded, base: str, environment: str) -> None:
    client, book = seeded.clients["many", environment], seeded.books["many", environment]
    listed = client.get(f"{base}/orders").json()
    hidden = sum(row["status"] == "deleted" for row in seeded.tables["orders"] if row["book_id"] == book.id)
    assert listed["total"] == book.orders - hidden
    first = client.get(f"{base}/orders/{book.order_id(1)}").json()
    assert first == client.get(f"{base}/orders?offset={listed['total'] - 1}").json()["items"][0]

    again = _place(client, base, book.idempotency_key(1), first)
    assert (again.status_code, again.json()) == (200, first)
    placed = _place(client, base, "a new key", {**first, "symbol_code": "GOLD"})
    assert placed.status_code == 201, placed.text
    assert client.get(f"{base}/orders").json()["items"][0]["id"] == placed.json()["id"]
    assert not production_invariants.problems(production_invariants.read(seeded.store))


def _place(client: httpx.Client, base: str, key: str, like: dict[str, Any]) -> httpx.Response:
    body = {name: like[name] for name in ("symbol_code", "trade_type", "client_order_id")} | {"quantity": 1}
    return client.post(f"{base}/orders", json=body, headers={"Idempotency-Key": key})


def test_books_that_are_missing_or_not_empty_are_left_alone(seeded: Seeded) -> None:
    for name in (("nobody", "test"), ("one", "test")):
        with pytest.raises(ValueError, match="no empty book"):
            seed(seeded.store, {name: 5}, seeded.said.append)
