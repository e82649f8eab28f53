"""What the market's pages read, each once for all that are open.

Pages are about what can be read; the rest is told by `unreadable_of`.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bullion.console.page import Visit
from bullion.console.shared_read import Reading
from bullion.console.watch import Listed
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
_EVERY_S = 2.0


async def symbols_of(visit: Visit) -> Listed:
    found, total = await _all_symbols(visit)
    return _readable(found), total


async def _all_symbols(visit: Visit) -> Listed:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await symbols.list_symbols(desk, actor, Page(MOST, 0))

    return _known(await visit.watch.shared("symbols", read, _EVERY_S).get(visit.actor))


async def quotes_of(visit: Visit) -> dict[str, View]:
    """By symbol."""
    found, _ = _known(await visit.watch.quotes.get(visit.actor))
    return {each["symbol_code"]: each for each in found}


async def groups_of(visit: Visit) -> Listed:
    found, total = await _all_groups(visit)
    return _readable(found), total


async def _all_groups(visit: Visit) -> Listed:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await groups.list_groups(desk, actor, Page(MOST, 0))

    return _known(await visit.watch.shared("groups", read, _EVERY_S).get(visit.actor))


async def duties_of(visit: Visit) -> list[View]:
    return _readable(await _all_duties(visit))


async def _all_duties(visit: Visit) -> list[View]:
    return _known(await visit.watch.shared("duties", duties.list_duties, _EVERY_S).get(visit.actor))


async def rates_of(visit: Visit) -> list[View]:
    return _readable(await _all_rates(visit))


async def _all_rates(visit: Visit) -> list[View]:
    return _known(await visit.watch.shared("rates", rates.list_rates).get(visit.actor))


async def opening_of(visit: Visit) -> View:
    return _known(await visit.watch.opening.get(visit.actor))


async def venue_of(visit: Visit) -> View:
    return _known(await visit.watch.shared("venue", hedge.get_hedge, _EVERY_S).get(visit.actor))


async def switches_of(visit: Visit) -> View:
    return _known(await visit.watch.switches.get(visit.actor))


def _readable(found: list[View]) -> list[View]:
    return [each for each in found if not is_unreadable(each)]


async def _listed_symbols(visit: Visit) -> list[View]:
    return (await _all_symbols(visit))[0]


async def _listed_groups(visit: Visit) -> list[View]:
    return (await _all_groups(visit))[0]


async def _broker(visit: Visit) -> list[View]:
    found = _known(await visit.watch.shared("brokers", brokers.list_brokers, _EVERY_S).get(visit.actor))
    return [each for each in found if each["tag"] == visit.actor.broker]


async def _switches(visit: Visit) -> list[View]:
    return [await switches_of(visit)]


async def _venue(visit: Visit) -> list[View]:
    return [await venue_of(visit)]


_KINDS: dict[str, Callable[[Visit], Awaitable[list[View]]]] = {
    "broker": _broker,
    "symbol": _listed_symbols,
    "group": _listed_groups,
    "rate": _all_rates,
    "duty": _all_duties,
    "switches": _switches,
    "venue": _venue,
}


async def unreadable_of(visit: Visit, *kinds: str) -> list[tuple[str, View]]:
    """Of these kinds, or of all, what cannot be read; each with what it is."""
    return [
        (f"{kind} {each[ADVICE[kind].field]}", each)
        for kind in kinds or _KINDS
        for each in await _KINDS[kind](visit)
        if is_unreadable(each)
    ]


def _known(reading: Reading[T]) -> T:
    """What was read last, also when the store is away since: the banner tells how old it is."""
    if reading.value is None:
        raise RefusalError(SERVICE_UNAVAILABLE, reading.trouble)
    return reading.value
