"""The audit trail as a hash chain: changing, removing or reordering an entry breaks it at that place.

Each entry's hash covers its content and the previous hash, and is keyed with the deployment's secret, so that
access to the store alone is not enough to forge the chain. The head (number of entries and last hash) is
stored separately and sealed with the same key: without it, removing the last entries would go unnoticed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hmac import compare_digest

import msgspec

from bullion.keys.hashing import Hasher

BEFORE_ALL_ENTRIES = -(2**63)
"""An ordinal. Not 0: an entry that was inserted before the first must be found too."""
BEGINNING = "0" * 64
"""In place of a hash before the first entry."""
_BROKEN = "broken"
"""Replaces the seal permanently after tampering was detected."""


@dataclass(frozen=True, slots=True)
class Entry:
    broker: str
    ordinal: int
    """From 1, without gaps, within the broker."""
    at_us: int
    actor: str
    action: str
    subject: str
    before: str | None
    """JSON of what was there; None if nothing was."""
    after: str | None
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    count: int
    hash: str
    seal: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Entries between two ordinals, both included. None matches everything."""

    newest: int
    oldest: int
    action: str | None = None
    actor: str | None = None
    """A part of the name, case-insensitive; `subject` likewise."""
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """Where a chain does not hold, and how."""

    broker: str
    ordinal: int
    why: str


class Chain:
    """While the deployment's secret is exchanged, a chain made with either secret holds."""

    def __init__(self, hasher: Hasher) -> None:
        self._hasher = hasher
        self._other = None if hasher.other is None else Chain(hasher.other)

    def append(self, head: Head | None, entry: Entry, *, beginning: bool = False) -> tuple[Entry, Head]:
        """Append the entry after the head.

        A head that is missing although the chain has begun, or has a wrong seal, was tampered with. The desk
        must be able to continue, but the chain is never sealed again: otherwise the next honest action would
        hide the forgery.
        """
        if self._other is not None and head is not None and self._other.sealed(entry.broker, head):
            return self._other.append(head, entry)  # With the secret that the chain was made with so far.
        count = (head.count if head else 0) + 1
        placed = replace(entry, ordinal=count)
        linked = replace(placed, hash=self._hash(head.hash if head else BEGINNING, placed))
        whole = beginning if head is None else self.sealed(entry.broker, head)
        return linked, Head(
            count, linked.hash, self._seal(entry.broker, count, linked.hash) if whole else _BROKEN
        )

    def sealed(self, broker: str, head: Head) -> bool:
        if compare_digest(head.seal, self._seal(broker, head.count, head.hash)):
            return True
        return self._other is not None and self._other.sealed(broker, head)

    def holds(self, before: str, entry: Entry) -> bool:
        if compare_digest(entry.hash, self._hash(before, entry)):
            return True
        return self._other is not None and self._other.holds(before, entry)

    def link(self, before: str, entry: Entry) -> Entry:
        """The entry with the hash that it has behind another."""
        return replace(entry, hash=self._hash(before, entry))

    def head(self, broker: str, count: int, last_hash: str) -> Head:
        return Head(count, last_hash, self._seal(broker, count, last_hash))

    def _hash(self, before: str, entry: Entry) -> str:
        words = [
            before,
            entry.broker,
            entry.ordinal,
            entry.at_us,
            entry.actor,
            entry.action,
            entry.subject,
            entry.before,
            entry.after,
        ]
        return self._hasher.hash(msgspec.json.encode(words)).hex()

    def _seal(self, broker: str, count: int, last_hash: str) -> str:
        return self._hasher.hash(msgspec.json.encode(["head", broker, count, last_hash])).hex()


class ChainVerifier:
    """Checks a broker's chain, some entries at a time. It continues after a break."""

    def __init__(self, chain: Chain, broker: str) -> None:
        self._chain = chain
        self._broker = broker
        self._before = BEGINNING
        self.ordinal = 0
        """Of the last entry that was checked."""

    def check(self, entries: Iterable[Entry]) -> Iterator[Break]:
        for entry in entries:
            expected = self.ordinal + 1
            if entry.ordinal < expected:
                yield Break(self._broker, entry.ordinal, "put in where no entry can be")
                continue
            if entry.ordinal > expected:
                last = entry.ordinal - 1
                named = f"entry {expected}" if last == expected else f"entries {expected} to {last}"
                why = f"{named} missing: entry {entry.ordinal} follows {self.ordinal}"
                yield Break(self._broker, expected, why)
            elif not self._chain.holds(self._before, entry):
                yield Break(self._broker, entry.ordinal, "changed, or not where it was written")
            self._before, self.ordinal = entry.hash, entry.ordinal

    def check_head(self, head: Head | None) -> Iterator[Break]:
        """Compare the head with the entries, after all of them were checked."""
        broker, count = self._broker, self.ordinal
        if head is None:
            yield Break(broker, count, "the head of the chain is missing, so its end cannot be checked")
        elif not self._chain.sealed(broker, head):
            yield Break(broker, count, "the head of the chain was changed, now or before an earlier entry")
        elif head.count > count:
            yield Break(
                broker, count + 1, f"the last {head.count - count} of {head.count} entries are missing"
            )
        elif head.count < count:
            yield Break(broker, head.count + 1, f"written without the head: it counts {head.count} entries")
        elif not compare_digest(head.hash, self._before):
            yield Break(broker, count, "the last entry is not the one the head names")
