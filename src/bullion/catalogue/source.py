"""The port to the store behind the catalogue."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group
from bullion.accounts.switches import Switches
from bullion.keys.key import Key
from bullion.metals.symbol import Symbol
from bullion.rates.duty import DutyTable
from bullion.unreadable import Unreadable

Entry = Broker | Account | Group | Symbol | Key | Switches | DutyTable | Unreadable


@dataclass(frozen=True, slots=True)
class ExtraReads:
    """What a node reads in addition to the changes."""

    keys: Collection[str] = ()
    """By their ids. Each comes with its account, if there is such a key."""
    accounts: Collection[int] = ()
    after: int | None = None
    """Not None: also the next page of accounts, with ids above this one, and their keys."""


NO_EXTRA_READS = ExtraReads()


@dataclass(frozen=True, slots=True)
class Changes:
    """The store's entries at `version`: all of them, or those changed after an earlier version.

    Each key comes with its account. Of accounts and keys, "all" means the first page.
    """

    version: int
    clock_us: int
    """The store's own clock when it was read."""
    entries: Sequence[Entry]
    whole: bool = False
    """True if memory must be cleared first."""
    page_ends_at: int | None = None
    """The last account of the page; None if no account follows it."""


class Source(Protocol):
    async def changes(self, since: int | None, extra: ExtraReads = NO_EXTRA_READS) -> Changes:
        """All entries (`since` is None, or too old for the recorded changes), or those changed after `since`.

        All from one snapshot, with the extra reads. If nothing changed and there are none, only one row is
        read. May raise StoreFault.
        """

    async def wait_for_change(self, timeout_s: float) -> None:
        """Return when the store may have changed, at the latest after `timeout_s` seconds."""
