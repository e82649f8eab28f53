"""Services to check: one open for production on each stack, and what checks against it can share."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from bullion_conformance.connection import Connection
from bullion_conformance.context import Setup
from bullion_conformance.pace import Pace
from bullion_conformance.plan import select
from bullion_conformance.requirement import Profile
from bullion_conformance.run import Report, run
from bullion_conformance.setup import Given, open_setup
from tests.conformance.spoiling_proxy import SpoilingProxy
from tests.support.node import DESK_TOKEN, Node, shared

WAIT_S_MAX = 1.2
"""A check may wait for a header to count down, but not for a budget to be free again."""


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer has set must not decide a test."""
    for name in list(os.environ):
        if name.startswith("CONFORMANCE_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def open_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with shared(tmp_path_factory.mktemp("open"), BULLION_PRODUCTION="on") as node:
        yield node


@pytest.fixture(scope="module")
def closed_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """As it is installed: closed for production."""
    with shared(tmp_path_factory.mktemp("closed")) as node:
        yield node


def with_desk(node: Node, **more: Any) -> Given:
    return Given(node.api_url, desk_url=node.desk_url, desk_token=DESK_TOKEN, quick=True, **more)


@pytest.fixture(scope="module")
def shared_means(open_node: Node) -> Iterator[Setup]:
    """The kit's own broker on that node, for as many runs as one likes."""
    with open_setup(with_desk(open_node, burn=True)) as setup:
        yield setup


@pytest.fixture(scope="module")
def proxy(open_node: Node) -> Iterator[SpoilingProxy]:
    with SpoilingProxy(open_node.api_url).serving() as proxy:
        yield proxy


def checked(setup: Setup, *only: str, profile: Profile = Profile.SPECIFICATION) -> Report:
    return run(select(profile, only), setup, service="the service", profile=profile)


@pytest.fixture
def spoilt(shared_means: Setup, proxy: SpoilingProxy) -> Iterator[Setup]:
    """The same broker, but the calls go through the proxy."""
    with httpx.Client(base_url=proxy.url, timeout=20) as http:
        pace = Pace(clock=lambda: 0.0, sleep=_briefly, refusals=((1_000_000, 60.0),))
        yield replace(shared_means, connection=Connection(http, pace, host=shared_means.connection.host))
    proxy.spoil = lambda _passing: None
    proxy.ask = lambda target, _headers: target


def _briefly(seconds: float) -> None:
    if seconds > WAIT_S_MAX:
        raise AssertionError(f"it would have waited for {seconds} s")
    time.sleep(seconds)
