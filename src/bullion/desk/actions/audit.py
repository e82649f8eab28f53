"""The audit trail: reading it, and checking that it is whole."""

from collections.abc import Iterator

import msgspec

from bullion.desk.desk import Desk, View
from bullion.orders.instant import instant_text
from bullion.records.audit import Break, Chain, Entry, Head
from bullion.records.port import Page, Records, RecordStore
from bullion.records.token import Actor

_AT_ONCE = 1000
_BEFORE_ALL = -(2**63)
"""Not 0: an entry slipped in before the first must be seen too."""


async def list_audit(desk: Desk, actor: Actor, page: Page) -> tuple[list[View], int]:
    found, total = await desk.read(actor, "audit", lambda records: records.audit(actor.broker, page))
    return [view(entry) for entry in found], total


async def verify_audit(store: RecordStore, chain: Chain) -> tuple[dict[str, Head | None], list[Break]]:
    """The head of every broker's chain, and every place where one of them does not hold."""

    async def work(records: Records) -> tuple[dict[str, Head | None], list[Break]]:
        heads: dict[str, Head | None] = {}
        breaks: list[Break] = []
        for broker in await records.audited_brokers():
            head = heads[broker] = await records.audit_head(broker)
            breaks += chain.breaks(broker, head, await _entries(records, broker))
        return heads, breaks

    return await store.read("audit_verify", work)


async def _entries(records: Records, broker: str) -> Iterator[Entry]:
    found: list[Entry] = []
    while True:
        last = found[-1].ordinal if found else _BEFORE_ALL
        more = await records.audit_after(broker, last, _AT_ONCE)
        found += more
        if len(more) < _AT_ONCE:
            return iter(found)


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
