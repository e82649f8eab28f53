"""The best bid and ask of one instrument, as snapshots and changes of a FIX source say."""

from collections.abc import Iterable
from typing import Protocol

BID, ASK = "0", "1"
_NEW, _CHANGE, _DELETE = "0", "1", "2"
_ENTRIES_MAX = 10
"""On one side. A source that leaves more does not say which of them are over."""
_TYPE, _PRICE, _ENTRY_ID, _ACTION = 269, 270, 278, 279


class Disorder(ValueError):
    """What the source says does not fit to what it said before: nothing of it can be believed."""


class Entry(Protocol):
    """The fields of one entry of a message."""

    def get(self, tag: int) -> str | None: ...


class TopOfBook:
    """Prices as they were written.

    A top of book has one entry on each side. While the source leaves two, such as between a new entry and the
    end of the old one, the side has no price. An entry without an id takes the id of the first change that
    names one: in FIX 4.4, snapshots have no ids.
    """

    def __init__(self) -> None:
        self._sides: dict[str, dict[str, str]] = {BID: {}, ASK: {}}

    def replace(self, entries: Iterable[Entry]) -> None:
        """A snapshot."""
        self._sides = {BID: {}, ASK: {}}
        for entry in entries:
            side = self._sides.get(entry.get(_TYPE) or "")
            if side is None:
                continue  # Trades and others.
            entry_id = entry.get(_ENTRY_ID) or ""
            if entry_id in side:
                raise Disorder("a snapshot has an entry twice")
            side[entry_id] = entry.get(_PRICE) or ""

    def change(self, entry: Entry) -> bool:
        """Whether the entry is about a price of ours. Raises Disorder."""
        action, kind, entry_id = entry.get(_ACTION), entry.get(_TYPE), entry.get(_ENTRY_ID)
        if kind is not None and kind not in self._sides:
            return False
        if action == _NEW:
            self._add(kind, entry_id, entry.get(_PRICE) or "")
            return True
        if action not in (_CHANGE, _DELETE):
            raise Disorder(f"279={action} is neither new, change nor delete")
        side, key = self._find(kind, entry_id)
        if action == _DELETE:
            del side[key]
            return True
        before, price = side.pop(key), entry.get(_PRICE)
        side[entry_id or key] = before if price is None else price
        return True

    def prices(self) -> tuple[str | None, str | None]:
        """Bid and ask; None for a side that has no entry, or more than one."""
        bid, ask = (next(iter(side.values())) if len(side) == 1 else None for side in self._sides.values())
        return bid, ask

    def _add(self, kind: str | None, entry_id: str | None, price: str) -> None:
        if kind is None:
            raise Disorder("a new entry has no side")
        side = self._sides[kind]
        if entry_id is None:
            side.clear()
        else:
            if entry_id in self._sides[ASK if kind == BID else BID]:
                raise Disorder("a new entry has the id of one on the other side")
            side.pop("", None)
        side[entry_id or ""] = price
        if len(side) > _ENTRIES_MAX:
            raise Disorder(f"the source leaves more than {_ENTRIES_MAX} prices on a side")

    def _find(self, kind: str | None, entry_id: str | None) -> tuple[dict[str, str], str]:
        """The side and the key of an entry that is there."""
        sides = self._sides.values() if kind is None else (self._sides[kind],)
        if entry_id is not None:
            for side in sides:
                if entry_id in side:
                    return side, entry_id
        if kind is not None:
            side = self._sides[kind]
            if entry_id is None and len(side) == 1:
                return side, next(iter(side))
            if "" in side:
                return side, ""
        raise Disorder("an entry that is not known is changed or deleted")
