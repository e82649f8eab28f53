"""A running service for the tests of a few files; each test has its own accounts and addresses on it."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.node import DeskClient, Node
from tests.support.orders import Market, Trader
from tests.support.production import LiveMarket, LiveTrader
from tests.support.stacks import STACKS, group_neighbours, shared_node

_numbers = count(1)


def pytest_itemcollected(item: pytest.Item) -> None:
    group_neighbours(item, "node")


@pytest.fixture(scope="module", params=STACKS)
def node(request: pytest.FixtureRequest) -> Node:
    node = shared_node(request, BULLION_PRODUCTION="on")
    with node.desk() as desk:
        desk.add_group()
    return node


@pytest.fixture
def desk(node: Node) -> Iterator[DeskClient]:
    with node.desk() as desk:
        yield desk


@pytest.fixture
def login(desk: DeskClient) -> str:
    """A new account of the test's own."""
    login_id = f"client{next(_numbers)}"
    desk.account(login_id, firm_name="A Firm")
    return login_id


@pytest.fixture(scope="module")
def shared_market(node: Node) -> Iterator[Market]:
    with Market.open(node) as market:
        yield market


@pytest.fixture
def market(shared_market: Market) -> Iterator[Market]:
    """For tests that leave its switches and symbols as they are; they may add some of their own."""
    with shared_market.visit() as market:
        yield market


@pytest.fixture
def own_market(node: Node) -> Iterator[Market]:
    """For tests that turn its switches."""
    with Market.open(node) as market:
        yield market


@pytest.fixture
def trader(market: Market) -> Trader:
    """A new account, with room for a million of either metal."""
    return market.trader()


@pytest.fixture(scope="module")
def shared_live_market(node: Node) -> Iterator[LiveMarket]:
    with LiveMarket.open(node) as market:
        yield market


@pytest.fixture
def live_market(shared_live_market: LiveMarket) -> Iterator[LiveMarket]:
    """Open for production, for tests that leave switches, venue and symbols as they are."""
    with shared_live_market.visit() as market:
        yield market


@pytest.fixture
def own_live_market(node: Node) -> Iterator[LiveMarket]:
    """For tests that turn its switches, or tell its venue how to behave."""
    with LiveMarket.open(node) as market:
        yield market


@pytest.fixture
def live_trader(live_market: LiveMarket) -> LiveTrader:
    return live_market.trader()
