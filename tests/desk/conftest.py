"""A running service for the tests of a few files; each test has a broker of its own on it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.support.dealing import Dealing
from tests.support.desk import SYMBOL, Caller, Office, first_caller, unchanging
from tests.support.node import Node
from tests.support.orders import GOLD, UNBOUNDED, Trader
from tests.support.stacks import STACKS, group_neighbours, shared_node


def pytest_itemcollected(item: pytest.Item) -> None:
    group_neighbours(item, "node", "node_by_hand")


@pytest.fixture(scope="module", params=STACKS)
def node(request: pytest.FixtureRequest) -> Node:
    return shared_node(request, BULLION_FEED="desk")


@pytest.fixture(scope="module")
def first(node: Node) -> Iterator[Caller]:
    """The deployment's first token, which may make brokers."""
    with first_caller(node) as caller:
        yield caller


@pytest.fixture
def office(node: Node, first: Caller) -> Iterator[Office]:
    """A new broker with an admin; it has a group `retail` and nothing else."""
    office = Office.open(node, first)
    yield office
    office.close()


@pytest.fixture(scope="module")
def standing(node: Node, first: Caller) -> Iterator[Office]:
    """An office with one of everything, for calls that must change nothing: see `key_id` for its key."""
    office = Office.open(node, first)
    office.desk.do("PUT", "/symbols/GOLD", SYMBOL)
    office.desk.account("client")
    office.desk.key("client")
    with unchanging(office.desk):
        yield office
    office.close()


@pytest.fixture
def key_id(standing: Office) -> str:
    """Of the standing office's key."""
    return str(standing.desk.all("/accounts/client/keys")[-1]["key_id"])


@pytest.fixture
def trader_of() -> Iterator[Callable[..., Trader]]:
    """Opens an account at an office, with a symbol GOLD at a fixed price, and puts a key of it to work."""
    with ExitStack() as clients:

        def opened(office: Office, login_id: str = "client", *, gold: str = "1000") -> Trader:
            office.desk.do("PUT", "/symbols/GOLD", GOLD)
            office.desk.do("PATCH", "/switches", {"budgets": UNBOUNDED})
            office.desk.account(login_id, allocation={"gold": gold, "silver": "50"})
            issued = office.desk.key(login_id)
            http = office.node.api(issued["key"], Host=f"{office.broker}.example")
            return Trader(clients.enter_context(http), login_id, issued)

        yield opened


@pytest.fixture
def trader(office: Office, trader_of: Callable[..., Trader]) -> Trader:
    """A client of the test's own office."""
    return trader_of(office)


@pytest.fixture
def other(node: Node, first: Caller) -> Iterator[Office]:
    """Another broker on the same service."""
    office = Office.open(node, first)
    yield office
    office.close()


@pytest.fixture
def dealing(office: Office) -> Dealing:
    """The test's own office, dealing with the simulated venue."""
    return Dealing(office)


@pytest.fixture(scope="module", params=STACKS)
def node_by_hand(request: pytest.FixtureRequest) -> Node:
    """A service where the desk itself is the venue."""
    return shared_node(request, BULLION_FEED="desk", BULLION_HEDGE="desk")


@pytest.fixture
def by_hand(node_by_hand: Node) -> Iterator[Dealing]:
    """An office of its own on such a service."""
    with first_caller(node_by_hand) as first:
        office = Office.open(node_by_hand, first)
        yield Dealing(office)
        office.close()
