"""Which of its requests a connection sends, and in which order."""

from collections.abc import Sequence
from enum import StrEnum
from random import Random

_SEED = 23


class Sharing(StrEnum):
    """How the connections of a job share its requests, each of which is of one account."""

    ONE = "one"
    """Each sends the same one again and again; there may be fewer requests than connections."""
    PAIRS = "pairs"
    """Two and two have a group of accounts, as a dealer's program with two connections: both begin with the
    same account. Then one goes through the group forwards and the other backwards."""
    MIXED = "mixed"
    """Any account on any connection, as a proxy sends them that keeps a pool."""


def turns_of(requests: Sequence[bytes], connections: int, sharing: Sharing) -> list[list[bytes]]:
    """What each connection goes through in turn."""
    if sharing is Sharing.PAIRS:
        return _in_pairs(requests, connections)
    if sharing is Sharing.MIXED:
        random = Random(_SEED)  # noqa: S311 - the same in every run
        return [random.sample(requests, len(requests)) for _ in range(connections)]
    return [[requests[number % len(requests)]] for number in range(connections)]


def _in_pairs(requests: Sequence[bytes], connections: int) -> list[list[bytes]]:
    groups = max(1, connections // 2)
    if len(requests) < groups:
        raise ValueError(f"{connections} connections in pairs need {groups} accounts or more")
    found = []
    for number in range(connections):
        first, *others = requests[number % groups :: groups]
        found.append([first, *(reversed(others) if number // groups % 2 else others)])
    return found
