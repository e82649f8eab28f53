"""A node, a console beside it, and a browser in front of it; each test has a broker of its own.

The tests of a file take turns on the stacks: the first on SQLite, the next on PostgreSQL. Those of one stack
are one group, so that one worker starts these once. They run until the next test is of another group: a node
with a hundred brokers is never idle, and while a browser runs, no other event loop can run in this thread.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser

from tests.support.browser import chromium_or_skip
from tests.support.console import ConsoleProcess, Visitor, running_console, visitor
from tests.support.dealing import Dealing
from tests.support.desk import Caller, Office, first_caller
from tests.support.group_scope import GroupScope
from tests.support.node import DESK_TOKEN, SECRET, Node
from tests.support.stacks import STACKS, shared_node


def pytest_itemcollected(item: pytest.Item) -> None:
    assert isinstance(item, pytest.Function)
    stacks = item.callspec.params if hasattr(item, "callspec") else {}
    if "node" in stacks and item.get_closest_marker("stacks_in_turn") is None:
        item.add_marker(pytest.mark.stacks_in_turn)
    on = stacks.get("node") or stacks.get("hand_node")
    if on is None and "browser" in item.fixturenames:
        on = STACKS[0]
    if on is not None:
        item.add_marker(pytest.mark.one_worker(f"console-{on}"))


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest, group_scope: GroupScope) -> Browser:
    """One for the files of a group: to start one takes as long as a few pages."""
    return group_scope.get(request, "browser", chromium_or_skip)


@pytest.fixture(scope="module", params=STACKS)
def node(request: pytest.FixtureRequest) -> Node:
    """With rates from the desk, and open for production."""
    return shared_node(request, BULLION_FEED="desk", BULLION_PRODUCTION="on")


@pytest.fixture(scope="module")
def console_settings(node: Node) -> dict[str, str]:
    return _console_settings(node) | {"BULLION_CONSOLE_LATE_S": "3"}


def _console_settings(node: Node) -> dict[str, str]:
    """Those of its node, whose API it watches."""
    own = {
        "BULLION_DESK_TOKEN": DESK_TOKEN,
        "BULLION_SECRET": SECRET,
        "BULLION_CONSOLE_API_URL": node.api_url,
    }
    return {**node.settings, **own}


@pytest.fixture(scope="module")
def console(
    node: Node, console_settings: dict[str, str], request: pytest.FixtureRequest, group_scope: GroupScope
) -> ConsoleProcess:
    return group_scope.get(request, "console", lambda: running_console(node.folder, **console_settings))


@pytest.fixture(scope="module")
def first(node: Node) -> Iterator[Caller]:
    with first_caller(node) as caller:
        yield caller


@pytest.fixture(scope="module", params=["postgres"])
def hand_node(request: pytest.FixtureRequest) -> Node:
    """The desk is the venue of its orders."""
    return shared_node(request, BULLION_HEDGE="desk", BULLION_PRODUCTION="on")


@pytest.fixture(scope="module")
def hand_console(hand_node: Node, request: pytest.FixtureRequest, group_scope: GroupScope) -> ConsoleProcess:
    settings = _console_settings(hand_node)
    return group_scope.get(request, "hand console", lambda: running_console(hand_node.folder, **settings))


@pytest.fixture(scope="module")
def hand_first(hand_node: Node) -> Iterator[Caller]:
    with first_caller(hand_node) as caller:
        yield caller


@pytest.fixture
def office(node: Node, first: Caller) -> Iterator[Office]:
    """A new broker with an admin."""
    office = Office.open(node, first)
    yield office
    office.close()


@pytest.fixture
def dealing(office: Office) -> Dealing:
    """The test's own office, dealing with the simulated venue."""
    return Dealing(office)


@pytest.fixture
def visit(browser: Browser, console: ConsoleProcess) -> Iterator[Callable[..., Visitor]]:
    """Makes visitors, each with a browser's profile of their own."""
    with ExitStack() as visitors:
        yield lambda **options: visitors.enter_context(visitor(browser, console, **options))


@pytest.fixture
def someone(visit: Callable[..., Visitor]) -> Visitor:
    """One visitor, who is not logged in yet."""
    return visit()


@pytest.fixture
def admin(office: Office) -> str:
    """The token of the office's admin."""
    return str(office.admin_token["token"])


@pytest.fixture
def hire(office: Office) -> Callable[[str], str]:
    """Makes a token of a role at the office."""

    def hired(role: str) -> str:
        return str(office.desk.do("POST", "/tokens", {"name": f"a {role}", "role": role})["token"])

    return hired
