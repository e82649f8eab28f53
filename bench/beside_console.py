"""What the console costs clients: orders while somebody has its overview open, and while nobody has.

Meanwhile every symbol that it shows has a new rate five times a second.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import httpx

from bullion.rates.board import MARKET
from bullion.store.postgres import PostgresEngine
from tests.support.console import running_console, session_of
from tests.support.node import DESK_TOKEN, SECRET
from tests.support.ticking import meanwhile, ticking

from .calls import orders
from .extent import Extent
from .faults import CallFailed
from .load import Generator, Job, Outcome, running_generator
from .market import DIRECT
from .probes import Servers
from .ratio import RatioResult, at_least, at_most
from .service import Service, running_service
from .spread import Spread

_SYMBOLS = 20
_LOOK_EVERY_S = 1.0
"""As the page's own script does."""
_LONGER = 5
"""Times a round of the other calls: in a shorter one nobody would look at the page."""
_SETTLED_AFTER = 15
"""Times the usual time to warm up."""
_TURNS = 2
"""Times the usual rounds: what is looked for is less than the noise of one."""


def measure_beside_console(
    extent: Extent, servers: Servers | None, say: Callable[[str], None]
) -> list[RatioResult]:
    if servers is None:
        return []
    say("starting a console beside a service, with twenty symbols that tick")
    with contextlib.ExitStack() as stack:
        beside = stack.enter_context(_running(extent, servers, stack.enter_context(running_generator())))
        beside.orders()
        rounds = []
        turns = extent.rounds * _TURNS
        for number in range(1, turns + 1):
            alone, watched = _in_turn(number, beside.orders, beside.orders_watched)
            rounds.append(watched.requests_per_s / alone.requests_per_s)
            say(f"round {number} of {turns}, orders beside the console: {rounds[-1]:.2f} of without")
    found = [
        RatioResult(
            "orders_beside_console",
            Spread.of(rounds),
            "orders_pg with the console's overview open ÷ without, calls/s at 64 connections",
            at_least(0.95),
        )
    ]
    if beside.page.gaps_s:
        gaps = "seconds between two updates of the overview under that load; the value is the median"
        found.append(RatioResult("console_update_s", Spread.of(beside.page.gaps_s), gaps, at_most(1.1)))
    return found


def _in_turn(
    number: int, alone: Callable[[], Outcome], watched: Callable[[], Outcome]
) -> tuple[Outcome, Outcome]:
    """There and back again, as in the other rounds."""
    if number % 2:
        first = alone()
        return first, watched()
    second = watched()
    return alone(), second


@dataclass(slots=True)
class _Page:
    """The overview in a window: it asks for what is new once a second, for as long as it is open."""

    client: httpx.Client
    gaps_s: list[float] = field(default_factory=list)

    def keep_open(self, closed: threading.Event) -> None:
        shown, changed_at = "", time.monotonic()
        while True:
            asked_at = time.monotonic()
            rates = _rates(self.client.get("/live/overview"))
            if shown and rates != shown:
                self.gaps_s.append(time.monotonic() - changed_at)
                changed_at = time.monotonic()
            elif not shown:
                changed_at = time.monotonic()
            shown = rates
            if closed.wait(max(0.0, asked_at + _LOOK_EVERY_S - time.monotonic())):
                return


def _rates(answer: httpx.Response) -> str:
    main = str(answer.raise_for_status().json()["parts"]["main"])
    return main.partition('id="rates-table"')[2].partition("</table>")[0]


@dataclass(frozen=True, slots=True)
class _Beside:
    service: Service
    generator: Generator
    page: _Page
    extent: Extent

    def orders(self) -> Outcome:
        # A page that was closed has first to count what was decided meanwhile. Both sides have the same rest.
        time.sleep(self.extent.warm_up_s * _SETTLED_AFTER)
        outcome = self.generator.measure(
            Job(
                port=self.service.endpoint.port,
                requests=orders(self.service.keys),
                connections=max(self.extent.connections),
                warm_up_s=self.extent.warm_up_s * _LONGER,
                seconds=self.extent.seconds * _LONGER,
                server_pids=self.service.endpoint.pids,
            )
        )
        if outcome.errors:
            raise CallFailed(f"Orders beside the console failed: {outcome.errors}.")
        return outcome

    def orders_watched(self) -> Outcome:
        with meanwhile(self.page.keep_open):
            return self.orders()


@contextlib.contextmanager
def _running(extent: Extent, servers: Servers, generator: Generator) -> Iterator[_Beside]:
    postgres, redis = servers
    settings = {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}
    with running_service("bullion", extent.clients, _SYMBOLS, live=False, book=False, **settings) as service:
        known = {
            "BULLION_DESK_TOKEN": DESK_TOKEN,
            "BULLION_SECRET": SECRET,
            "BULLION_CONSOLE_API_URL": service.api_url,
        }
        make_engine = partial(PostgresEngine, settings["BULLION_DATABASE_URL"], pool_size=1)
        instruments = [DIRECT.format(number) for number in range(_SYMBOLS)]
        with (
            running_console(service.folder, **settings, **known) as console,
            session_of(console, DESK_TOKEN) as (client, _),
            ticking(make_engine, MARKET, instruments),
        ):
            yield _Beside(service, generator, _Page(client), extent)
