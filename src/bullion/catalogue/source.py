"""The port to the store behind the catalogue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.keys.key import Key
from bullion.metals.symbol import Symbol
from bullion.rates.duty import DutyTable

Entry = Broker | Account | Group | Symbol | Key | Switches | DutyTable


@dataclass(frozen=True, slots=True)
class Changes:
    """What the store holds at `version`: every entry, or only those changed after an earlier version."""

    version: int
    clock_us: int
    """The store's own clock when it was read."""
    entries: Sequence[Entry]
    whole: bool = False
    """True when these are all entries there are, and whatever else memory holds is gone."""


class Source(Protocol):
    async def changes(self, since: int | None) -> Changes:
        """All entries (`since` None, or further back than the store remembers), or what changed after it.

        When nothing changed this is one read of one row. May raise StoreFault.
        """

    async def changed(self, within_s: float) -> None:
        """Return when the store may have changed, at the latest after `within_s` seconds."""
