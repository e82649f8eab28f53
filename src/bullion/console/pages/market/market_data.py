"""What the market's pages read, each once for all that are open.

Pages show the rows that can be read; `unreadable_rows` has the others.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bullion.console.page import Visit
from bullion.console.paths import MARKET
from bullion.console.shared_read import EVERY_S, Reading
from bullion.desk.actions import brokers, duties, groups, hedge, rates, symbols
from bullion.desk.desk import Desk, View
from bullion.desk.unreadable import is_unreadable
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.unreadable import ADVICE

T = TypeVar("T")

MOST = 200
"""So many symbols and groups are shown."""
_SLOW_S = 2.0
"""How often settings are read again, which change seldom."""


_LIVE = ("rate", "group")
"""What the rate board shows: a change by another dealer is seen within a second."""


async def _symbols(desk: Desk, actor: Actor) -> list[View]:
    return (await symbols.list_symbols(desk, actor, Page(MOST, 0)))[0]


async def _groups(desk: Desk, actor: Actor) -> list[View]:
    return (await groups.list_groups(desk, actor, Page(MOST, 0)))[0]


async def _broker(desk: Desk, actor: Actor) -> list[View]:
    return [each for each in await brokers.list_brokers(desk, actor) if each["tag"] == actor.broker]


async def _venue(desk: Desk, actor: Actor) -> list[View]:
    return [await hedge.get_hedge(desk, actor)]


_READS: dict[str, Callable[[Desk, Actor], Awaitable[list[View]]]] = {
    "broker": _broker,
    "symbol": _symbols,
    "group": _groups,
    "rate": rates.list_rates,
    "duty": duties.list_duties,
    "venue": _venue,
}
_SWITCHES = "switches"
"""The kind that the frame of every page reads as well."""


def _latest(reading: Reading[T]) -> T:
    """The last data, also while the store is away: the banner shows how old it is."""
    if reading.value is None:
        raise RefusalError(SERVICE_UNAVAILABLE, reading.error)
    return reading.value


async def _rows(visit: Visit, kind: str) -> list[View]:
    if kind == _SWITCHES:
        return [await switches_of(visit)]
    return _latest(await visit.read((MARKET, kind), _READS[kind], EVERY_S if kind in _LIVE else _SLOW_S))


async def _readable(visit: Visit, kind: str) -> list[View]:
    return [each for each in await _rows(visit, kind) if not is_unreadable(each)]


async def symbols_of(visit: Visit) -> list[View]:
    return await _readable(visit, "symbol")


async def groups_of(visit: Visit) -> list[View]:
    return await _readable(visit, "group")


async def rates_of(visit: Visit) -> list[View]:
    return await _readable(visit, "rate")


async def duties_of(visit: Visit) -> list[View]:
    return await _readable(visit, "duty")


async def venue_of(visit: Visit) -> View:
    return (await _rows(visit, "venue"))[0]


async def quotes_of(visit: Visit) -> dict[str, View]:
    """By symbol."""
    found, _ = _latest(await visit.watch.quotes.get(visit.actor))
    return {each["symbol_code"]: each for each in found}


async def opening_of(visit: Visit) -> View:
    return _latest(await visit.watch.opening.get(visit.actor))


async def switches_of(visit: Visit) -> View:
    return _latest(await visit.watch.switches.get(visit.actor))


async def unreadable_rows(visit: Visit, *kinds: str) -> list[tuple[str, View]]:
    """The rows of these kinds, or of all, that cannot be read; each with what it is."""
    return [
        (f"{kind} {each[ADVICE[kind].field]}", each)
        for kind in kinds or (*_READS, _SWITCHES)
        for each in await _rows(visit, kind)
        if is_unreadable(each)
    ]
