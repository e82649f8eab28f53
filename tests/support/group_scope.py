"""What the tests of one group share, though they lie in several files."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


class GroupScope:
    """Keeps what a test has started until the next test is of another group.

    What a fixture of a file starts, it starts for each file, and what one of the session starts, it keeps to
    the end of the run: a worker would then have the servers of all groups that it has run.
    """

    def __init__(self) -> None:
        self._things: dict[str, Any] = {}
        self._running = ExitStack()

    def get(
        self, request: pytest.FixtureRequest, name: str, start: Callable[[], AbstractContextManager[T]]
    ) -> T:
        """For the fixture of a file that asks for it. The fixture ends before the thing does."""
        if name not in self._things:
            self._things[name] = self._running.enter_context(start())
        self._running.callback(request._fixturedef.finish, request)  # type: ignore[attr-defined]
        thing: T = self._things[name]
        return thing

    def close(self) -> None:
        self._things.clear()
        self._running.close()
