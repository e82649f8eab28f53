"""Accounts and keys in memory: all of them, or the most recently used if there are too many."""

from collections.abc import Iterable
from itertools import chain, islice

from bullion.accounts.account import Account
from bullion.keys.key import Key

from .source import ExtraReads

KEPT_MAX = 300_000
"""Accounts and keys together: a hundred thousand accounts with two keys each, in about 120 MB."""


class Clients:
    """Filled page by page after the start, up to a limit. Other callers are loaded when they call.

    For every key, its account is here too.
    """

    def __init__(self, kept_max: int | None = None) -> None:
        self._kept_max = KEPT_MAX if kept_max is None else kept_max
        self.accounts: dict[int, Account] = {}
        self.keys: dict[str, Key] = {}
        self._called: set[str] = set()
        self.clear()

    def clear(self) -> None:
        self.accounts.clear()
        self.keys.clear()
        self._called.clear()
        self._dropped = False
        self.complete = False
        """Whether all keys of the store are here, so that a missing key does not exist."""
        self.fill_after: int | None = None
        """The account after which the next page begins; None if there is nothing to fill."""

    def finish_page(self, ends_at: int | None, extra: ExtraReads) -> None:
        """A page was loaded; `ends_at` is its last account, or None if it was the last page."""
        self.complete = ends_at is None and not self._dropped
        self.fill_after = ends_at
        if ends_at is not None and self._excess() > 0:
            self._drop_accounts_without_keys(extra)
            if self._excess() > 0:
                self.fill_after = None

    def mark_used(self, key_ids: Iterable[str]) -> None:
        """Mark keys as used: others are evicted before them."""
        if not self.complete:
            self._called.update(key_ids)

    def evict(self, extra: ExtraReads) -> None:
        """Evict unused keys once the limit is clearly exceeded. What `extra` names stays.

        Many at once, so that no call has to maintain an ordered list.
        """
        if self._excess() <= self._kept_max // 8:
            return
        self._drop_accounts_without_keys(extra)
        excess = self._excess()
        if excess <= 0:
            return
        idle = (key_id for key_id in self.keys if key_id not in self._called)
        busy = (key_id for key_id in self.keys if key_id in self._called)
        may_go = (key_id for key_id in chain(idle, busy) if key_id not in extra.keys)
        for key_id in list(islice(may_go, excess)):
            del self.keys[key_id]
        self._called.clear()
        self._dropped = True
        self.complete = False

    def _drop_accounts_without_keys(self, extra: ExtraReads) -> None:
        """Only the desk needs these accounts, and it looks them up."""
        staying = {key.account_id for key in self.keys.values()}.union(extra.accounts)
        for account_id in [each for each in self.accounts if each not in staying]:
            del self.accounts[account_id]

    def _excess(self) -> int:
        return len(self.accounts) + len(self.keys) - self._kept_max
