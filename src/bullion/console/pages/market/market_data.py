"""What the market's pages read, each once for all that are open.

Pages show the rows that can be read; `unreadable_rows` has the others.
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

_ALL = Page(200, 0)
"""So many symbols and groups are shown."""
_EVERY_S = 2.0


def _latest(reading: Reading[T]) -> T:
    """The last data, also while the store is away: the banner shows how old it is."""
    if reading.value is None:
        raise RefusalError(SERVICE_UNAVAILABLE, reading.error)
    return reading.value


async def _symbol_rows(visit: Visit) -> Listed:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await symbols.list_symbols(desk, actor, _ALL)

    return _latest(await visit.read("symbols", read, _EVERY_S))


async def _group_rows(visit: Visit) -> Listed:
    async def read(desk: Desk, actor: Actor) -> Listed:
        return await groups.list_groups(desk, actor, _ALL)

    return _latest(await visit.read("groups", read, _EVERY_S))


async def _rate_rows(visit: Visit) -> list[View]:
    return _latest(await visit.read("rates", rates.list_rates))


async def _duty_rows(visit: Visit) -> list[View]:
    return _latest(await visit.read("duties", duties.list_duties, _EVERY_S))


def _readable(rows: list[View]) -> list[View]:
    return [each for each in rows if not is_unreadable(each)]


async def symbols_of(visit: Visit) -> Listed:
    rows, total = await _symbol_rows(visit)
    return _readable(rows), total


async def groups_of(visit: Visit) -> Listed:
    rows, total = await _group_rows(visit)
    return _readable(rows), total


async def rates_of(visit: Visit) -> list[View]:
    return _readable(await _rate_rows(visit))


async def duties_of(visit: Visit) -> list[View]:
    return _readable(await _duty_rows(visit))


async def quotes_of(visit: Visit) -> dict[str, View]:
    """By symbol."""
    found, _ = _latest(await visit.watch.quotes.get(visit.actor))
    return {each["symbol_code"]: each for each in found}


async def opening_of(visit: Visit) -> View:
    return _latest(await visit.watch.opening.get(visit.actor))


async def venue_of(visit: Visit) -> View:
    return _latest(await visit.read("venue", hedge.get_hedge, _EVERY_S))


async def switches_of(visit: Visit) -> View:
    return _latest(await visit.watch.switches.get(visit.actor))


async def _broker_rows(visit: Visit) -> list[View]:
    found = _latest(await visit.read("brokers", brokers.list_brokers, _EVERY_S))
    return [each for each in found if each["tag"] == visit.actor.broker]


def _list_of(read: Callable[[Visit], Awaitable[Listed]]) -> Callable[[Visit], Awaitable[list[View]]]:
    async def rows(visit: Visit) -> list[View]:
        return (await read(visit))[0]

    return rows


def _one(read: Callable[[Visit], Awaitable[View]]) -> Callable[[Visit], Awaitable[list[View]]]:
    async def rows(visit: Visit) -> list[View]:
        return [await read(visit)]

    return rows


_KINDS: dict[str, Callable[[Visit], Awaitable[list[View]]]] = {
    "broker": _broker_rows,
    "symbol": _list_of(_symbol_rows),
    "group": _list_of(_group_rows),
    "rate": _rate_rows,
    "duty": _duty_rows,
    "switches": _one(switches_of),
    "venue": _one(venue_of),
}


async def unreadable_rows(visit: Visit, *kinds: str) -> list[tuple[str, View]]:
    """The rows of these kinds, or of all, that cannot be read; each with what it is."""
    return [
        (f"{kind} {each[ADVICE[kind].field]}", each)
        for kind in kinds or _KINDS
        for each in await _KINDS[kind](visit)
        if is_unreadable(each)
    ]
