"""What is measured round by round: every call of ours beside its floor."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path

from tests.support.servers import NotInstalled, Postgres, Redis, find

from . import bookings, pgbench, sqlite_floor
from .bookings import Bookings, running_bookings
from .calls import BASE, LIVE_BASE, get, orders
from .decisions import decisions_per_order
from .endpoint import Endpoint
from .extent import Extent
from .faults import CallFailed
from .floors import running_floor
from .load import Generator, Job, Outcome, running_generator
from .names import MEASURED
from .processes import memory_bytes
from .ratio import RatioResult
from .ratios import CROWD, RATIOS
from .rows import RowSizes, sizes_of
from .service import PLAIN, Service, running_service
from .store import make_store
from .turns import Sharing

Servers = tuple[Postgres, Redis]
_MANY = {"orders_2000": Sharing.PAIRS, "orders_mixed": Sharing.MIXED}
_LONGER = 3
"""Times a round of the other calls."""
_LAUNCHES = 5
"""Of each bare server. They take turns, because each has its luck: see docs/scaling.md."""


@dataclass(frozen=True, slots=True)
class Probe:
    call: str
    connections: int
    measure: Callable[[], Outcome]

    @property
    def in_a_ratio(self) -> bool:
        return any((self.call, self.connections) in ratio.points for ratio in RATIOS)


@contextlib.contextmanager
def running_bench(extent: Extent, servers: Servers | None, say: Callable[[str], None]) -> Iterator["Bench"]:
    """Everything that is measured, started."""
    with contextlib.ExitStack() as stack:
        yield Bench(stack, extent, servers, say)


class Bench:
    def __init__(
        self,
        stack: contextlib.ExitStack,
        extent: Extent,
        servers: Servers | None,
        say: Callable[[str], None],
    ) -> None:
        self._stack = stack
        self._extent = extent
        self._servers = servers
        self._say = say
        self._databases: list[str] = []
        self._generator: Generator = stack.enter_context(running_generator())
        say("starting the services")
        self._services = self._started(live=True)
        self._order_ids = {name: service.fill() for name, service in self._services.items()}
        say("starting the plain variant, one order per transaction")
        self._plain = self._started(PLAIN)
        self._by_book = self._started_by_book()
        say("starting the floors")
        self._floors = self._http_floors(self._services["sqlite"])
        sizes = sizes_of(self._services["sqlite"].folder / "var" / "bullion.db")
        self._sqlite_floor = self._made_for_sqlite(sizes)
        self._pgbench = self._made_for_pgbench(sizes)
        self._bookings = self._made_for_bookings()
        say("warming up")
        self._warm_up()

    def _started(self, module: str = "bullion", *, live: bool = False) -> dict[str, Service]:
        found = {
            "sqlite": self._stack.enter_context(running_service(module, self._extent.clients, live=live))
        }
        if self._servers is not None:
            for name, workers in {"pg": 1, "pg_w2": 2}.items() if live else {"pg": 1}.items():
                settings = self._shared(*self._servers) | {"BULLION_WORKERS": str(workers)}
                many = len(_MANY) * self._extent.many_clients if live else 0
                found[name] = self._stack.enter_context(
                    running_service(module, self._extent.clients, 0, many, live=live, book=False, **settings)
                )
        return found

    def _started_by_book(self) -> dict[str, Service]:
        """Services whose own book confirms orders of production."""
        if self._servers is None:
            return {}
        settings = self._shared(*self._servers)
        one = running_service("bullion", self._extent.clients, live=True, book=True, **settings)
        return {"pg": self._stack.enter_context(one)}

    def _shared(self, postgres: Postgres, redis: Redis) -> dict[str, str]:
        self._databases.append(postgres.new_database())
        return {"BULLION_DATABASE_URL": self._databases[-1], "BULLION_REDIS_URL": redis.url}

    def _warm_up(self) -> None:
        """Some orders everywhere, and then statistics, which PostgreSQL would make by itself in a minute.

        Until then it goes by plans that it made while its tables were empty, and the first rounds would be of
        another server than the last.
        """
        self._warm_up_services()
        for each in self._bookings.values():
            each.measure(self._extent.seconds)
        for url in self._databases:
            assert self._servers is not None
            self._servers[0].sql("ANALYZE", url.rpartition("/")[2])

    def _warm_up_services(self) -> None:
        most = max(self._extent.connections)
        for service in self._all_services():
            warming = [
                self._http("", service, requests, most)
                for requests in (orders(service.keys), orders(service.live_keys, LIVE_BASE))
                if requests
            ]
            for probe in [*warming, *self._spread("", service, most)]:
                if faults := probe.measure().errors:
                    raise CallFailed(f"Calls failed while a service was warmed up: {faults}.")

    def launch_again(self) -> None:
        """Every service, before another round: the luck of a launch is then that of one round."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(Service.launch_again, self._all_services()))
        self._warm_up_services()

    def _all_services(self) -> list[Service]:
        return [*self._services.values(), *self._plain.values(), *self._by_book.values()]

    def _http_floors(self, some: Service) -> dict[str, list[Endpoint]]:
        """Each answers as many bytes as the calls that it is compared with."""
        order_id = self._order_ids["sqlite"]
        wanted = {
            "get_floor": ("get", some.get("/me")),
            "post_floor": ("post", some.get(f"/orders/{order_id}")),
            "list_floor": ("get", some.get("/orders")),
        }
        return {
            name: [self._stack.enter_context(running_floor(kind, len(body))) for _ in range(_LAUNCHES)]
            for name, (kind, body) in wanted.items()
        }

    def _made_for_sqlite(self, sizes: RowSizes) -> sqlite_floor.SqliteFloor:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="bullion-bench-"))
        path = Path(folder) / "floor.db"
        make_store(path, sqlite_floor.BOOKS)
        return sqlite_floor.SqliteFloor(path, sizes)

    def _made_for_pgbench(self, sizes: RowSizes) -> pgbench.Pgbench | None:
        if self._servers is None:
            return None
        try:
            find("pgbench")
        except NotInstalled as missing:
            self._say(f"without the floor of PostgreSQL, because {missing}")
            return None
        url = self._servers[0].new_database()
        make_store(url, pgbench.BOOKS)
        process = self._servers[0].process
        return pgbench.Pgbench(url, sizes, None if process is None else process.pid)

    def _made_for_bookings(self) -> dict[str, Bookings]:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="bullion-bench-"))
        stores: dict[str, Path | str] = {"sqlite": Path(folder) / "bookings.db"}
        if self._servers is not None:
            self._databases.append(self._servers[0].new_database())
            stores["pg"] = self._databases[-1]
        found: dict[str, Bookings] = {}
        for name, address in stores.items():
            make_store(address, bookings.BOOKS)
            url = address if isinstance(address, str) else f"sqlite:///{address}"
            found[name] = self._stack.enter_context(running_bookings(url))
        return found

    def probes(self) -> list[Probe]:
        """In the order in which they are measured."""
        at_once = [*(list(self._at(each)) for each in self._extent.connections), list(self._in_a_crowd())]
        return [
            probe
            for probes in at_once
            for probe in sorted(probes, key=lambda each: MEASURED.index(each.call))
        ]

    def decisions(self) -> list[RatioResult]:
        """How often two workers decide an order, with each way to spread accounts over connections."""
        if "pg_w2" not in self._services:
            return []
        service = self._services["pg_w2"]
        found = []
        for probe in self._spread("pg_w2", service, max(self._extent.connections)):
            name = "decisions_per_order" + ("_mixed" if probe.call.startswith("orders_mixed") else "")
            found.append(decisions_per_order(name, probe.call, service.desk_url, probe.measure))
        return [each for each in found if each is not None]

    def memory(self) -> dict[str, list[dict[str, int]]]:
        """Of each service, worker by worker."""
        sizes = {
            name: [memory_bytes(pid) for pid in service.endpoint.pids]
            for name, service in self._services.items()
        }
        return {name: [size for size in each if size is not None] for name, each in sizes.items()}

    def _at(self, connections: int) -> Iterator[Probe]:
        some = self._services["sqlite"]
        # A floor is sent the very same requests, so that it has as much to read.
        yield self._floor("get_floor", self._gets(some, "/me"), connections)
        for call, path in {"me": "/me", "positions": "/positions"}.items():
            for name, service in self._services.items():
                yield self._http(f"{call}_{name}", service, self._gets(service, path), connections)
        for name, service in self._services.items():
            one = (get(f"{BASE}/orders/{self._order_ids[name]}", service.keys[0]),)
            yield self._http(f"order_{name}", service, one, connections)
        yield self._floor("list_floor", _list(some), connections)
        for name, service in self._services.items():
            yield self._http(f"list_{name}", service, _list(service), connections)
        yield self._floor("post_floor", orders(some.keys), connections)
        for name, service in self._services.items():
            yield from self._writes(name, service, connections)

    def _in_a_crowd(self) -> Iterator[Probe]:
        if "pg" in self._services:
            service = self._services["pg"]
            yield self._floor("post_floor", orders(self._services["sqlite"].keys), CROWD)
            yield self._http("orders_pg", service, orders(service.keys), CROWD)

    def _writes(self, name: str, service: Service, connections: int) -> Iterator[Probe]:
        """Orders, and whatever orders are compared with on the same store."""
        most = max(self._extent.connections)
        if name == "sqlite" and connections == most:
            yield Probe("sqlite3", 1, partial(self._sqlite_floor.measure, self._extent.seconds))
        if name in self._plain and connections in (1, most):
            plain = self._plain[name]
            yield self._http(f"plain_{name}", plain, orders(plain.keys), connections)
        whole = name != "sqlite"
        yield self._http(f"orders_{name}", service, orders(service.keys), connections, whole=whole)
        if connections == most:
            yield from self._spread(name, service, connections)
            live = orders(service.live_keys, LIVE_BASE)
            yield self._http(f"production_{name}", service, live, connections)
        if connections == most and name in self._by_book:
            by_book = self._by_book[name]
            live = orders(by_book.live_keys, LIVE_BASE)
            yield self._http(f"production_book_{name}", by_book, live, connections)
        if connections == most and name in self._bookings:
            booked = partial(self._bookings[name].measure, self._extent.seconds)
            yield Probe(f"bookings_{name}", bookings.AT_ONCE, booked)
        if name == "pg" and connections == most and self._pgbench is not None:
            for clients in pgbench.CLIENTS:
                floor = partial(self._pgbench.measure, clients, seconds=self._extent.store_floor_s)
                yield Probe("pgbench", clients, floor)

    def _spread(self, name: str, service: Service, connections: int) -> Iterator[Probe]:
        """Orders of many accounts, if the service has them.

        Each way to spread them has accounts of its own: after the one, the other would find books that other
        workers moved. And it takes its time, so that every account has its turn.
        """
        for number, (call, sharing) in enumerate(_MANY.items()):
            requests = orders(service.many_keys[number :: len(_MANY)])
            if requests:
                yield self._http(f"{call}_{name}", service, requests, connections, sharing, longer=_LONGER)

    def _tree(self, service: Service) -> tuple[int, ...]:
        """The service, and the servers that it works with."""
        beside = () if self._servers is None else (each.process for each in self._servers)
        return service.pid, *(each.pid for each in beside if each is not None)

    def _floor(self, call: str, requests: tuple[bytes, ...], connections: int) -> Probe:
        launches = cycle([self._http(call, each, requests, connections) for each in self._floors[call]])
        return Probe(call, connections, lambda: next(launches).measure())

    def _http(
        self,
        call: str,
        server: Service | Endpoint,
        requests: tuple[bytes, ...],
        connections: int,
        sharing: Sharing = Sharing.ONE,
        *,
        whole: bool = False,
        longer: int = 1,
    ) -> Probe:
        def measure() -> Outcome:
            endpoint = server if isinstance(server, Endpoint) else server.endpoint
            job = Job(
                port=endpoint.port,
                requests=requests,
                connections=connections,
                sharing=sharing,
                warm_up_s=self._extent.warm_up_s,
                seconds=self._extent.seconds * longer,
                server_pids=endpoint.pids,
                tree_pids=self._tree(server) if isinstance(server, Service) and whole else (),
            )
            return self._generator.measure(job)

        return Probe(call, connections, measure)

    @staticmethod
    def _gets(service: Service, path: str) -> tuple[bytes, ...]:
        return tuple(get(f"{BASE}{path}", key) for key in service.keys)


def _list(service: Service) -> tuple[bytes, ...]:
    """The first page, of 50, of the account that was given more than that."""
    return (get(f"{BASE}/orders", service.keys[0]),)
