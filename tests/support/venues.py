"""The simulated venue as a desk sets it up, and venues that misbehave."""

import time
from collections.abc import AsyncIterator, Callable, Mapping

import msgspec

from bullion.hedge.simulated import Mode
from bullion.hedge.venue import OutcomeReport, Tradeability, VenueAbilities, no_reports
from bullion.store.engine import Engine
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from bullion.store.venue_book import StoredVenueBook


class ScriptedAbilities:
    """For the venues of tests: they fill all or nothing, and answer only when they are asked."""

    abilities = VenueAbilities("scripted")

    def reports(self) -> AsyncIterator[OutcomeReport]:
        return no_reports()


def store_clock() -> int:
    return time.time_ns() // 1000


def venue_book_of(engine: Engine, version: Callable[[], int | None] = lambda: None) -> StoredVenueBook:
    assert isinstance(engine, PostgresEngine | SqliteEngine)
    return StoredVenueBook(engine, version)


async def behave(
    engine: Engine,
    mode: Mode,
    *,
    broker: str = "main",
    delay_ms: int = 0,
    instruments: Mapping[str, Tradeability] | None = None,
    fill_percent: int = 100,
    unasked: bool = False,
) -> None:
    """What the desk does when it tells the simulated venue how to behave."""
    words = msgspec.json.encode(instruments or {}).decode()
    values = (broker, mode.value, delay_ms, words, fill_percent, int(unasked))
    await engine.write("behave", lambda transaction: transaction.run("put_venue", *values))
