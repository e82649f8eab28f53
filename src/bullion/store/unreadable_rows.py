"""Finds all rows of the store that cannot be read, for the doctor."""

from collections.abc import Iterable

from bullion.catalogue.source import ExtraReads
from bullion.unreadable import Unreadable

from . import row_decoders
from .catalogue_source import StoreSource
from .engine import Engine
from .rates import StoredRates


async def unreadable_rows(engine: Engine) -> list[Unreadable]:
    """Reads everything, as nodes and the desk do, except for orders, traces and the audit trail."""
    source = StoreSource(engine)
    changes = await source.changes(None)
    found = _unreadable(changes.entries)
    while changes.page_ends_at is not None:
        changes = await source.changes(changes.version, ExtraReads(after=changes.page_ends_at))
        found += _unreadable(changes.entries)
    found += (await StoredRates(engine).ticks(None)).unreadable
    venues = await engine.read("all_venues", lambda transaction: transaction.all("all_venues"))
    tokens = await engine.read("all_tokens", lambda transaction: transaction.all("all_tokens"))
    found += _unreadable(map(row_decoders.behaviour, venues))
    found += _unreadable(map(row_decoders.token, tokens))
    return list({entry.name: entry for entry in found}.values())


def _unreadable(entries: Iterable[object]) -> list[Unreadable]:
    return [entry for entry in entries if isinstance(entry, Unreadable)]
