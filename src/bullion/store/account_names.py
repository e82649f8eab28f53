"""Logins and firms of a broker's accounts in memory, for the desk's search by a part of a name.

There is no index on both engines that finds a part of a name, and reading 100,000 accounts takes a tenth of a
second or more. The names of so many accounts are a few megabytes of text, which is searched in about a
millisecond. Names are read at the first search, and then follow the changes that the store notes for nodes.

The store decides what lower case is and how logins are sorted: its queries lower-case and order the names.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice

from .engine import Row, Transaction, one_row

_AT_ONCE = 2_000
"""Accounts per read: few enough that other users of the process do not wait long."""
_CHANGES_MAX = 100
"""If more accounts than this have changed, all are read again."""
_RANKED_MAX = 5_000
"""Of so many accounts with a text in a name, the best are found."""
_END = "\0"
"""Ends each name. Neither names nor searches contain it."""


@dataclass(slots=True)
class _Names:
    """In the order of logins. Immutable once it is shared."""

    version: int
    """Of the catalogue."""
    ids: list[int] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    text: str = ""
    """All names, one after the other."""
    begins: list[int] = field(default_factory=list)
    """Where in the text each account's names begin."""

    def copy(self, version: int) -> "_Names":
        return _Names(version, list(self.ids), list(self.logins), list(self.names))

    def insert(self, at: int, row: Row) -> None:
        self.ids.insert(at, row["id"])
        self.logins.insert(at, row["login_id"])
        self.names.insert(at, _names(row))

    def finish(self) -> None:
        self.text = "".join(self.names)
        self.begins = list(islice(accumulate(map(len, self.names), initial=0), len(self.names)))

    def find(self, text: str, first: int, limit: int) -> list[int]:
        """The ids of accounts from index `first` on that have this text in a name."""
        return [self.ids[index] for index in self.find_indexes(text, first, limit)]

    def find_indexes(self, text: str, first: int, limit: int) -> list[int]:
        found: list[int] = []
        while first < len(self.ids) and len(found) < limit:
            at = self.text.find(text, self.begins[first])
            if at < 0:
                break
            first = bisect_right(self.begins, at)
            found.append(first - 1)
        return found


def _names(row: Row) -> str:
    return f"{row['login']}{_END}{row['firm']}{_END}"


def _rank(name: str, text: str) -> int:
    """0: it is the whole login or firm; 1: the beginning of one; 2: elsewhere in one."""
    login, firm, _ = name.split(_END)
    if text in (login, firm):
        return 0
    return 1 if login.startswith(text) or firm.startswith(text) else 2


class AccountNames:
    def __init__(self, failovers: Callable[[], int]) -> None:
        """`failovers`: how often another server has taken over, which may lack the last accounts."""
        self._failovers = failovers
        self._known_failovers = failovers()
        self._kept: dict[str, _Names] = {}

    async def find(
        self, transaction: Transaction, broker: str, search: str, after: str, limit: int
    ) -> Sequence[int]:
        """The ids of accounts after a login, in the order of logins, that have this text in a name."""
        text = search.replace(_END, "\N{REPLACEMENT CHARACTER}")
        lower = (await one_row(transaction, "lower_case", text))["text"]
        names = await self._current(transaction, broker)
        return names.find(lower, await _index_after(transaction, broker, names, after), limit)

    async def best(
        self, transaction: Transaction, broker: str, search: str, limit: int
    ) -> list[tuple[int, bool]]:
        """The ids of accounts that have this text in a name, each with whether it is the whole name.

        Whole names first, then names that begin so, and each in the order of logins.
        """
        text = search.replace(_END, "\N{REPLACEMENT CHARACTER}")
        lower = (await one_row(transaction, "lower_case", text))["text"]
        names = await self._current(transaction, broker)
        ranked = sorted(
            (_rank(names.names[index], lower), index) for index in names.find_indexes(lower, 0, _RANKED_MAX)
        )
        return [(names.ids[index], rank == 0) for rank, index in ranked[:limit]]

    async def _current(self, transaction: Transaction, broker: str) -> _Names:
        if self._failovers() != self._known_failovers:
            self._known_failovers = self._failovers()
            self._kept.clear()
        state = await one_row(transaction, "catalogue_state")
        version, kept = state["version"], self._kept.get(broker)
        if kept is not None and kept.version == version:
            return kept
        if kept is None or not state["oldest_change"] <= kept.version < version:
            names = await _load(transaction, broker, version)
        else:
            names = await _follow(transaction, broker, kept, version)
        self._kept[broker] = names
        return names


async def _load(transaction: Transaction, broker: str, version: int) -> _Names:
    names, after = _Names(version), ""
    while found := await transaction.all("account_names", broker, after, _AT_ONCE):
        names.ids += [row["id"] for row in found]
        names.logins += [row["login_id"] for row in found]
        names.names += map(_names, found)
        after = found[-1]["login_id"]
    names.finish()
    return names


async def _follow(transaction: Transaction, broker: str, kept: _Names, version: int) -> _Names:
    """The cached names, with the accounts that were created or changed since."""
    changed = await transaction.all("account_changes", broker, kept.version, _CHANGES_MAX + 1)
    if len(changed) > _CHANGES_MAX:
        return await _load(transaction, broker, version)
    if not changed:
        return replace(kept, version=version)
    names = kept.copy(version)
    for login_id in [row["subject"] for row in changed]:
        row = await transaction.one("one_account_name", broker, login_id)
        if row is None:
            continue
        if login_id in names.logins:
            names.names[names.logins.index(login_id)] = _names(row)
        else:
            await _insert(transaction, broker, names, row)
    names.finish()
    return names


async def _insert(transaction: Transaction, broker: str, names: _Names, row: Row) -> None:
    """Insert a new account, and before it all new accounts that sort before it."""
    new = [row]
    while (before := await transaction.one("account_before", broker, new[-1]["login_id"])) is not None:
        if before["login_id"] in names.logins:
            break
        new.append(before)
    at = 0 if before is None else names.logins.index(before["login_id"]) + 1
    for each in reversed(new):
        names.insert(at, each)
        at += 1


async def _index_after(transaction: Transaction, broker: str, names: _Names, login_id: str) -> int:
    """The index of the first account after a login, which need not exist."""
    if not login_id:
        return 0
    if login_id not in names.logins:
        before = await transaction.one("account_before", broker, login_id)
        if before is None:
            return 0
        login_id = before["login_id"]
    return names.logins.index(login_id) + 1
