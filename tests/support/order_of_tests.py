"""The order in which `make test` hands the tests to its workers."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.support.parallel import group_name
from tests.support.quick import is_quick

_MANY = 100
"""A group of so many tests may take half of the run, so it begins first."""


def spread(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Spread the tests of each folder over the whole run, and leave the quick tests for its end.

    The largest groups begin first, so that none of them is left alone at the end.

    The tests of some folders mostly wait, and those of others need a core all the time. When they run side
    by side, a core is seldom idle. The quick tests at the end are short, so the workers end together.
    """
    batches: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        batches[_batch_name(item)].append(item)
    folders: dict[Path, list[Sequence[pytest.Item]]] = defaultdict(list)
    quick = []
    for batch in batches.values():
        if all(map(is_quick, batch)):
            quick += batch
        else:
            folders[batch[0].path.parent].append(batch)
    placed = [
        (0.0 if len(batch) > _MANY else (number + 0.5) / len(folder), batch)
        for folder in folders.values()
        for number, batch in enumerate(folder)
    ]
    placed.sort(key=lambda each: each[0])
    return [item for _, batch in placed for item in batch] + quick


def _batch_name(item: pytest.Item) -> str:
    return group_name(item) or item.nodeid
