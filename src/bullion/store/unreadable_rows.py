"""Every row of the store that cannot be read, for the doctor."""

from collections.abc import Iterable, Sequence

from bullion.catalogue.source import Wanted
from bullion.unreadable import Unreadable

from . import readings
from .catalogue_source import StoreSource
from .engine import Engine, Row
from .rates import StoredRates


async def unreadable_rows(engine: Engine) -> list[Unreadable]:
    """Read as nodes and the desk read them. It reads everything but orders, decisions and the audit trail."""
    source = StoreSource(engine)
    changes = await source.changes(None)
    found = _unreadable(changes.entries)
    while changes.page_ends_at is not None:
        changes = await source.changes(changes.version, Wanted(after=changes.page_ends_at))
        found += _unreadable(changes.entries)
    found += (await StoredRates(engine).ticks(None)).unreadable
    found += _unreadable(map(readings.conduct, await _all(engine, "all_venues")))
    found += _unreadable(map(readings.token, await _all(engine, "all_tokens")))
    return list({entry.name: entry for entry in found}.values())


async def _all(engine: Engine, query: str) -> Sequence[Row]:
    return await engine.read(query, lambda transaction: transaction.all(query))


def _unreadable(entries: Iterable[object]) -> list[Unreadable]:
    return [entry for entry in entries if isinstance(entry, Unreadable)]
