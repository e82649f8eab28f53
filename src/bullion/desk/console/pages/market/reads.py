"""What the market's pages read, each once for all that are open."""

from typing import TypeVar

from bullion.desk.actions import duties, groups, hedge, rates, symbols
from bullion.desk.console.page import Visit
from bullion.desk.console.shared_read import Reading
from bullion.desk.console.watch import Listed
from bullion.desk.desk import Desk, View
from bullion.records.port import Page
from bullion.records.token import Actor
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.refusal import Refused

T = TypeVar("T")

MOST = 200
"""So many symbols and groups are shown."""
_EVERY_S = 2.0


async def symbols_of(visit: Visit) -> Listed:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await symbols.list_symbols(desk, actor, Page(MOST, 0))

    return _known(await visit.watch.shared("symbols", read, _EVERY_S).get(visit.actor))


async def quotes_of(visit: Visit) -> dict[str, View]:
    """By symbol."""
    found, _ = _known(await visit.watch.quotes.get(visit.actor))
    return {each["symbol_code"]: each for each in found}


async def groups_of(visit: Visit) -> Listed:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await groups.list_groups(desk, actor, Page(MOST, 0))

    return _known(await visit.watch.shared("groups", read, _EVERY_S).get(visit.actor))


async def duties_of(visit: Visit) -> list[View]:
    return _known(await visit.watch.shared("duties", duties.list_duties, _EVERY_S).get(visit.actor))


async def rates_of(visit: Visit) -> list[View]:
    return _known(await visit.watch.shared("rates", rates.list_rates).get(visit.actor))


async def opening_of(visit: Visit) -> View:
    return _known(await visit.watch.opening.get(visit.actor))


async def venue_of(visit: Visit) -> View:
    return _known(await visit.watch.shared("venue", hedge.get_hedge, _EVERY_S).get(visit.actor))


async def switches_of(visit: Visit) -> View:
    return _known(await visit.watch.switches.get(visit.actor))


def _known(reading: Reading[T]) -> T:
    """What was read last, also when the store is away since: the banner tells how old it is."""
    if reading.value is None:
        raise Refused(SERVICE_UNAVAILABLE, reading.trouble)
    return reading.value
