"""Whether calls cost the same however many orders there are: `measure_growth`.

Two services stand side by side: one whose store is next to empty, and one with millions of orders. Each call
is sent to both in turn, a few times here and a few times there, so that whatever else this machine does slows
both. On the grown one, an account with a million orders is compared to one with a hundred in the same way.
"""

import contextlib
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from pathlib import Path
from random import getrandbits
from statistics import median
from urllib.parse import urlsplit

import msgspec

from tests.support.node import DeskClient, Node, running

from .connection import FRESH_KEY, MORE_TO_COME, fault_of
from .growth_calls import LIVE, TEST, Client, Requests, check_alike, requests_of
from .seed import BookName, seed
from .seed_sql import SeededBook
from .service import servers

MILLION = 1_000_000
_OTHERS = 40
_SLICE = 5
_ROUNDS = 60
_PASSES, _LOOK_AGAIN = 3, 1.15
"""A call that seems to have grown is measured for longer, and judged by all of it: noise goes by."""
_BUDGETS = {
    "reads_per_minute": 1_000_000,
    "orders_per_minute": 1_000_000,
    "orders_per_10_seconds": 1_000_000,
    "account_orders_per_minute": 1_000_000,
}
_SYMBOL = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "1",
    "maximum": "10000",
    "step": "1",
    "pricing": {"kind": "direct", "instrument": "GOLD"},
}
_SILVER = {"metal": "silver", "quoted_weight": "1", "pricing": {"kind": "direct", "instrument": "SILVER"}}


class Pair(msgspec.Struct, frozen=True):
    """One call on both sides."""

    small_us: float
    grown_us: float
    """Medians of all that were sent."""
    ratio: float
    """The median of the rounds' own ratios: both sides of a round met the same noise."""


class Worst(msgspec.Struct, frozen=True):
    call: str
    ratio: float


class Growth(msgspec.Struct, frozen=True):
    engine: str
    orders: int
    """So many were stored in all."""
    by_store: dict[str, Pair]
    """By call, on an account with a hundred orders: next to nothing else in the store, and everything."""
    by_account: dict[str, Pair]
    """By call, in the grown store: on an account with a hundred orders, and on the one with most."""

    @property
    def worst(self) -> Worst:
        return _worst(self.by_store)

    @property
    def account_worst(self) -> Worst:
        return _worst(self.by_account)


def _worst(pairs: Mapping[str, Pair]) -> Worst:
    return max((Worst(call, pair.ratio) for call, pair in pairs.items()), key=lambda each: each.ratio)


def lines(growth: Growth) -> list[str]:
    """For people."""
    found = [f"{growth.engine}, {growth.orders:,} orders"]
    for heading, pairs in (("by store", growth.by_store), ("by account", growth.by_account)):
        found.append(f"{heading:45} {'small µs':>9} {'grown µs':>9} ratio")
        for call, pair in pairs.items():
            found.append(f"  {call:43} {pair.small_us:9,.0f} {pair.grown_us:9,.0f} {pair.ratio:5.2f}")
    for name, worst in (("growth_worst", growth.worst), ("growth_account_worst", growth.account_worst)):
        found.append(f"{name} {worst.ratio:.2f} ({worst.call})")
    return found


def measure_growth(
    engine: str,
    orders: int,
    say: Callable[[str], None],
    *,
    rounds: int = _ROUNDS,
    most: int = MILLION,
    others: int = _OTHERS,
) -> Growth:
    """`engine` is "sqlite" or "pg", which may raise NotInstalled.

    `most` is what the largest account has. So many `others` share what there is besides.
    """
    small = _numbers(0, 0, 0)
    grown = _numbers(orders, most, others)
    with contextlib.ExitStack() as stack:
        settings = _settings(engine, stack)
        first = stack.enter_context(_service(next(settings), small, others, say))
        second = stack.enter_context(_service(next(settings), grown, others, say))
        by_store = _by_store(first, second, rounds)
        by_account = _by_account(second, rounds, say)
    return Growth(engine, sum(grown.values()), by_store, by_account)


def _numbers(orders: int, most: int, others: int) -> dict[BookName, int]:
    """How many orders each book gets: one has most of the first million, all others share the rest."""
    given = {
        (login, environment): 100 for login in ("hundred", "placer") for environment in ("test", "production")
    }
    if most:
        given["most", "test"] = most
        given["most", "production"] = min(most, max(orders // 5, 20_000))
        rest = max(orders - sum(given.values()), orders // 10)
        given |= {(f"other{number}", "test"): rest // others for number in range(others)}
    return given


def _settings(engine: str, stack: contextlib.ExitStack) -> Iterator[dict[str, str]]:
    if engine == "sqlite":
        while True:
            yield {}
    postgres, redis = stack.enter_context(servers())
    while True:
        yield {"BULLION_DATABASE_URL": postgres.new_database(), "BULLION_REDIS_URL": redis.url}


class _Service:
    def __init__(
        self, node: Node, keys: Mapping[BookName, str], books: Mapping[BookName, SeededBook]
    ) -> None:
        port = urlsplit(node.api_url).port
        assert port is not None
        self._port = port
        self._keys = keys
        self._books = books

    def client(self, login: str, environment: str) -> Client:
        base = TEST if environment == "test" else LIVE
        name = (login, environment)
        return Client(self._port, base, self._keys[name], self._books[name])


@contextlib.contextmanager
def _service(
    settings: dict[str, str], numbers: Mapping[BookName, int], others: int, say: Callable[[str], None]
) -> Iterator[_Service]:
    with tempfile.TemporaryDirectory(prefix="bullion-growth-") as name:
        folder = Path(name)
        settings = {**settings, "BULLION_PRODUCTION": "on"}
        with running(folder, **settings) as node, node.desk() as desk:
            keys = _set_up(desk, others)
        store = settings.get("BULLION_DATABASE_URL") or folder / "var" / "bullion.db"
        books = seed(store, numbers, say)
        # Started anew: nothing is left of what it had in memory while the store was empty.
        with running(folder, **settings) as node:
            service = _Service(node, keys, books)
            _await_rates(service)
            yield service


def _set_up(desk: DeskClient, others: int) -> dict[BookName, str]:
    desk.add_group()
    for code in ("GOLD", "RARE", "SPARSE"):
        desk.do("PUT", f"/symbols/{code}", _SYMBOL)
    desk.do("PUT", "/symbols/SILVER", _SYMBOL | _SILVER)
    desk.do("PATCH", "/switches", {"budgets": _BUDGETS, "production": True})
    named = ("hundred", "placer", "most")
    for login in (*named, *(f"other{number}" for number in range(others))):
        allocation = {"gold": "1000000", "silver": "1000000"}
        desk.account(login, allocation=allocation, production_trading=True)
    return {
        (login, environment): desk.key(login, environment=environment)["key"]
        for login in named
        for environment in ("test", "production")
    }


def _await_rates(service: _Service) -> None:
    give_up_at = time.monotonic() + 10
    while b'"tradable":true' not in service.client("hundred", "test").read("/quotes"):
        if time.monotonic() > give_up_at:
            raise RuntimeError("the feed did not start")
        time.sleep(0.05)


def _by_store(small: _Service, grown: _Service, rounds: int) -> dict[str, Pair]:
    found: dict[str, Pair] = {}
    for environment in ("test", "production"):
        ours, theirs = (_requests(each, "hundred", environment) for each in (small, grown))
        found |= _compared(ours, theirs, rounds)
    return found


def _by_account(grown: _Service, rounds: int, say: Callable[[str], None]) -> dict[str, Pair]:
    found: dict[str, Pair] = {}
    for environment in ("test", "production"):
        check_alike(grown.client("hundred", environment), grown.client("most", environment), say)
        ours, theirs = (_requests(grown, login, environment) for login in ("hundred", "most"))
        found |= _compared(ours, theirs, rounds)
    return found


def _requests(service: _Service, login: str, environment: str) -> dict[str, Requests]:
    """Orders are placed for an account of their own, or lists would have more to show after than before."""
    requests = requests_of(service.client(login, environment))
    if login == "hundred":
        placing = requests_of(service.client("placer", environment))
        requests |= {name: sent for name, sent in placing.items() if name.endswith("place")}
    return requests


def _compared(small: Mapping[str, Requests], grown: Mapping[str, Requests], rounds: int) -> dict[str, Pair]:
    return {call: _pair(sent, grown[call], rounds) for call, sent in small.items()}


def _pair(small: Requests, grown: Requests, rounds: int) -> Pair:
    with _Line(small) as first, _Line(grown) as second:
        for line in (first, second):
            line.take(2 * _SLICE)  # Whatever is made at the first use is made now.
        sides = [first, second]
        took: dict[_Line, list[list[int]]] = {first: [], second: []}
        for _ in range(_PASSES):
            for _ in range(rounds):
                for line in sides:
                    took[line].append(line.take(_SLICE))
                sides.reverse()  # What comes first in a round is what came last in the one before.
            ratios = [median(many) / median(few) for few, many in zip(took[first], took[second], strict=True)]
            if median(ratios) < _LOOK_AGAIN:
                break
    return Pair(_median_us(took[first]), _median_us(took[second]), median(ratios))


def _median_us(slices: list[list[int]]) -> float:
    return median(took_ns for each in slices for took_ns in each) / 1000


class _Line(contextlib.AbstractContextManager["_Line"]):
    """One connection over which a call is sent again and again."""

    def __init__(self, sent: Requests) -> None:
        self._requests = cycle(sent.requests)
        self._socket = socket.create_connection(("127.0.0.1", sent.port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def take(self, number: int) -> list[int]:
        """Send so many, one after the other, and say how many nanoseconds each took."""
        return [self._once(next(self._requests)) for _ in range(number)]

    def _once(self, request: bytes) -> int:
        request = request.replace(FRESH_KEY, b"%036x" % getrandbits(144))
        started_ns = time.perf_counter_ns()
        self._socket.sendall(request)
        received = b""
        while (fault := fault_of(received)) is MORE_TO_COME:
            more = self._socket.recv(1 << 18)
            if not more:
                raise RuntimeError("the service closed the connection")
            received += more
        took_ns = time.perf_counter_ns() - started_ns
        if fault is not None:
            raise RuntimeError(f"{fault}: {received!r}")
        return took_ns
