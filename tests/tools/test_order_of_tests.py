"""The order in which workers get the tests."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support import order_of_tests


@dataclass(frozen=True)
class _Test:
    nodeid: str
    group: str = ""
    quick: bool = False

    @property
    def path(self) -> Path:
        return Path(self.nodeid)

    def get_closest_marker(self, _: str) -> pytest.Mark | None:
        return pytest.mark.one_worker(self.group).mark if self.group else None


def test_folders_are_spread_groups_stay_together_and_quick_tests_come_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order_of_tests, "is_quick", lambda test: test.quick)
    collected = [
        _Test("a/1"),
        _Test("a/2", quick=True),
        _Test("a/3"),
        _Test("a/4"),
        _Test("a/5"),
        _Test("b/1", group="one worker"),
        _Test("b/2", quick=True),
        _Test("b/3", group="one worker", quick=True),
    ]
    spread = order_of_tests.spread(cast("Any", collected))
    assert [item.nodeid for item in spread] == ["a/1", "a/3", "b/1", "b/3", "a/4", "a/5", "a/2", "b/2"]


def test_a_group_of_many_tests_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_of_tests, "is_quick", lambda test: test.quick)
    collected = [_Test("a/1"), *(_Test(f"b/{number}", group="a browser") for number in range(101))]
    spread = order_of_tests.spread(cast("Any", collected))
    assert [item.nodeid for item in spread] == [*(f"b/{number}" for number in range(101)), "a/1"]
