"""The audit trail: reading it, and verifying its hash chain."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from bullion.desk.audit_sentences import sentences, text_of
from bullion.desk.audit_wording.parts import Units
from bullion.desk.desk import Desk, View
from bullion.desk.registry import action
from bullion.metals.symbol import Symbol
from bullion.metals.weight import weight_text
from bullion.orders.instant import instant_text
from bullion.records.audit import BEFORE_ALL_ENTRIES, AuditFilter, Break, Chain, ChainVerifier, Entry, Head
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.store.records import Records, RecordStore

_AT_ONCE = 1000
_AFTER_ALL = 2**62
LOOK_BACK = 20_000
"""How many entries one search reads."""


@dataclass(frozen=True, slots=True)
class AuditSearch:
    """Which entries of a trail to find. None matches everything."""

    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    below: int | None = None
    """Only entries before this one."""


@dataclass(frozen=True, slots=True)
class AuditSearchResult:
    entries: list[View]
    """Newest first."""
    below: int | None
    """The `AuditSearch.below` of the next search; None: there are no older entries."""
    units: Mapping[str, Units]
    """Of the symbols, for the sentences of entries about groups."""


@dataclass(frozen=True, slots=True)
class AuditCheckResult:
    """The result of verifying a broker's trail from its first entry to its head."""

    entries: int
    head: Head | None
    breaks: list[Break]


@action("GET /audit", command="audit list", columns="ordinal at actor text")
async def list_audit(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    """List the audit trail, newest first."""

    async def work(records: Records) -> tuple[list[View], int]:
        units = await _units(records, actor.broker)
        found, total = await records.audit(actor.broker, page)
        return [_with_text(entry, units) for entry in found], total

    return await desk.report(actor, "audit", work)


async def _units(records: Records, broker: str) -> Mapping[str, Units]:
    symbols = await records.all_symbols(broker)
    return {
        each.code: Units(
            f"{weight_text(each.quoted_weight_e4).rstrip('0').rstrip('.')} {each.unit}", each.unit
        )
        for each in symbols
        if isinstance(each, Symbol)
    }


def _with_text(entry: Entry, units: Mapping[str, Units]) -> View:
    shown = view(entry)
    return {**shown, "text": text_of(sentences(shown, units))}


async def find_audit(desk: Desk, actor: Actor, wanted: AuditSearch, limit: int) -> AuditSearchResult:
    """Matching entries, newest first, within a bounded search."""

    async def work(records: Records) -> AuditSearchResult:
        # Not from the head: it may have been removed.
        last = await records.audit_matching(actor.broker, AuditFilter(_AFTER_ALL, BEFORE_ALL_ENTRIES), 1)
        count = last[0].ordinal if last else 0
        newest = count if wanted.below is None else min(count, wanted.below - 1)
        if wanted.until_us is not None:
            newest = min(newest, await _first_from(records, actor.broker, wanted.until_us, count) - 1)
        first = 1
        if wanted.since_us is not None:
            first = await _first_from(records, actor.broker, wanted.since_us, count)
        oldest = max(first, newest - LOOK_BACK + 1)
        asked = AuditFilter(newest, oldest, wanted.action, wanted.actor, wanted.subject)
        entries = await records.audit_matching(actor.broker, asked, limit)
        reached = entries[-1].ordinal if len(entries) == limit else oldest
        below = reached if reached > first else None
        return AuditSearchResult(
            [view(entry) for entry in entries], below, await _units(records, actor.broker)
        )

    return await desk.report(actor, "audit_find", work)


async def _first_from(records: Records, broker: str, at_us: int, count: int) -> int:
    """The first entry at a time or later. A binary search: times rise with the ordinals."""
    low, high = 1, count + 1
    while low < high:
        middle = (low + high) // 2
        there = await records.audit_after(broker, middle - 1, 1)
        if there and there[0].at_us < at_us:
            low = there[0].ordinal + 1
        else:
            high = middle
    return low


async def audit_head(desk: Desk, actor: Actor) -> Head | None:
    """The number of entries and the last hash, to compare with a later trail."""
    return await desk.read(actor, "audit_head", lambda records: records.audit_head(actor.broker))


async def check_audit(desk: Desk, actor: Actor) -> AuditCheckResult:
    """Verify the trail of the actor's broker, in several short reads."""
    verifier, breaks = ChainVerifier(desk.chain, actor.broker), list[Break]()
    last = BEFORE_ALL_ENTRIES

    async def piece(records: Records) -> tuple[list[Entry], Head | None]:
        return (
            await records.audit_after(actor.broker, last, _AT_ONCE),
            await records.audit_head(actor.broker),
        )

    while True:
        entries, head = await desk.report(actor, "audit_check", piece)
        breaks += verifier.check(entries)
        if len(entries) < _AT_ONCE:
            return AuditCheckResult(verifier.ordinal, head, [*breaks, *verifier.check_head(head)])
        last = entries[-1].ordinal


async def verify_audit(store: RecordStore, chain: Chain) -> tuple[dict[str, Head | None], list[Break]]:
    """The head of every broker's chain, and all breaks."""

    async def work(records: Records) -> tuple[dict[str, Head | None], list[Break]]:
        heads: dict[str, Head | None] = {}
        breaks: list[Break] = []
        for broker in await records.audited_brokers():
            head = heads[broker] = await records.audit_head(broker)
            verifier = ChainVerifier(chain, broker)
            async for entries in records.audit_pages(broker):
                breaks += verifier.check(entries)
            breaks += verifier.check_head(head)
        return heads, breaks

    return await store.read("audit_verify", work)


def view(entry: Entry) -> View:
    return {
        "ordinal": entry.ordinal,
        "at": instant_text(entry.at_us),
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "before": None if entry.before is None else msgspec.json.decode(entry.before),
        "after": None if entry.after is None else msgspec.json.decode(entry.after),
        "hash": entry.hash,
    }
