"""Since when hedge books have had something to cover.

All of it follows from the entries of a book, so it is the same after a restart and on every node. What a node
found is kept in memory: its next turn reads only the entries since.
"""

from collections.abc import Callable, Mapping

from bullion.booking.cover_planning import BookName
from bullion.hedge.book.age import Age, LookBack

from .engine import Row, Transaction

_BATCH = 1_000

_Found = tuple[int, int | None]
"""The last entry that was counted, and the answer after it."""


class BookAges:
    def __init__(self, failovers: Callable[[], int] = lambda: 0) -> None:
        """`failovers`: how often another server has taken over, which may lack the last entries."""
        self._failovers = failovers
        self._known_failovers = failovers()
        self._found: dict[BookName, dict[Age, _Found]] = {}

    async def open_since_us(
        self, transaction: Transaction, position: Row, ages: Mapping[str, Age], now_us: int
    ) -> dict[str, int]:
        """By the names in `ages`, without those for which there is nothing to cover."""
        if self._failovers() != self._known_failovers:
            self._known_failovers = self._failovers()
            self._found.clear()
        name: BookName = (position["broker"], position["metal"])
        known = self._found.get(name, {})
        found = {
            age: (position["version"], await _look_back(transaction, position, age, known.get(age), now_us))
            for age in set(ages.values())
        }
        self._found[name] = found
        since = {rule: found[age][1] for rule, age in ages.items()}
        return {rule: since_us for rule, since_us in since.items() if since_us is not None}


async def _look_back(
    transaction: Transaction, position: Row, age: Age, known: _Found | None, now_us: int
) -> int | None:
    version = position["version"]
    back = LookBack(position["client_mg"] + position["cover_mg"], age, now_us)
    if not back.is_open:
        return None
    after, known_us = known if known is not None and known[0] <= version else (0, None)
    until = version
    while until > after:
        rows = await transaction.all(
            "entries_before", position["broker"], position["metal"], after, until, _BATCH
        )
        for row in rows:
            if back.reaches(row["at_us"], row["client_mg"] + row["cover_mg"]):
                return back.since_us()
        if len(rows) < _BATCH:
            break
        until = rows[-1]["ordinal"] - 1
    return back.since_us(known_us)
