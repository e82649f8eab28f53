"""What a node takes besides time for its calls: how long it starts, and how much memory it has."""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.node import Node, running, start

from .calls import BASE, get, orders
from .extent import Extent
from .faults import CallFailed
from .load import Generator, Job, running_generator
from .market import await_tradable, open_market
from .probes import Servers
from .processes import memory_bytes
from .spread import Spread
from .store import Address, add_accounts

_FEW = 1
_LOGIN = "bench"
_SETTLE_S = 30
_STILL = 1.01
BOUND_BYTES = 250_000_000
"""Of a worker with 100,000 accounts in its catalogue."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Of one node on a store that is warm: it was made, used and closed before."""

    store: str
    accounts: int
    start_s: Spread
    rss_bytes: Spread | None
    pss_bytes: Spread | None
    """None where the system does not tell."""


def measure_footprints(
    extent: Extent, servers: Servers | None, say: Callable[[str], None]
) -> list[Footprint]:
    found: list[Footprint] = []
    with running_generator() as generator:
        for name in extent.footprint_stores:
            if name != "pg" or servers is not None:
                for each in _of_store(name, extent, servers, generator):
                    memory = "" if each.pss_bytes is None else f", {each.pss_bytes.value / 1e6:.0f} MB"
                    say(f"node on {name} with {each.accounts:,} accounts: {each.start_s.value:.2f} s{memory}")
                    found.append(each)
    return found


def bytes_per_account(footprints: list[Footprint], store: str) -> float | None:
    """By how much more a node with many accounts has than one with few."""
    few, many = sorted((each for each in footprints if each.store == store), key=lambda each: each.accounts)
    if few.pss_bytes is None or many.pss_bytes is None:
        return None
    return (many.pss_bytes.value - few.pss_bytes.value) / (many.accounts - few.accounts)


def _of_store(
    name: str, extent: Extent, servers: Servers | None, generator: Generator
) -> Iterator[Footprint]:
    """With few accounts, and then with many in the same store."""
    settings: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="bullion-bench-") as folder:
        address: Address = Path(folder) / "var" / "bullion.db"
        if name == "pg" and servers is not None:
            address = servers[0].new_database()
            settings = {"BULLION_DATABASE_URL": address, "BULLION_REDIS_URL": servers[1].url}
        with running(Path(folder), **settings) as node, node.desk() as desk:
            open_market(desk)
            desk.account(_LOGIN, allocation={"gold": "100000000"})
        for accounts in (_FEW, extent.accounts):
            if accounts > _FEW:
                add_accounts(address, range(_FEW + 1, accounts + 1))
            yield _measure(name, accounts, Path(folder), settings, extent, generator)


def _measure(
    name: str, accounts: int, folder: Path, settings: dict[str, str], extent: Extent, generator: Generator
) -> Footprint:
    took_s: list[float] = []
    sizes: list[dict[str, int]] = []
    for _ in range(extent.starts):
        began = time.perf_counter()
        node = start(folder, **settings)
        took_s.append(time.perf_counter() - began)
        with contextlib.ExitStack() as stack:
            stack.callback(node.stop)
            _warm_up(node, generator, extent.seconds)
            size = _settled_memory(node.process.pid, extent.seconds)
            if size is not None:
                sizes.append(size)
    return Footprint(
        name,
        accounts,
        Spread.of(took_s),
        Spread.of([each["rss"] for each in sizes]) if sizes else None,
        Spread.of([each["pss"] for each in sizes]) if sizes else None,
    )


def _settled_memory(pid: int, look_every_s: float) -> dict[str, int] | None:
    """Once it stands still: a node fills its memory while it answers calls already."""
    give_up_at = time.monotonic() + _SETTLE_S
    size, before = memory_bytes(pid), 0
    while size is not None and size["pss"] > before * _STILL and time.monotonic() < give_up_at:
        before = size["pss"]
        time.sleep(look_every_s)
        size = memory_bytes(pid)
    return size


def _warm_up(node: Node, generator: Generator, seconds: float) -> None:
    """Some of every call: a node that nobody has called yet has less in memory than one at work."""
    with node.desk() as desk:
        key = desk.key(_LOGIN)["key"]
    await_tradable(node.api_url, BASE, key)
    port = urlsplit(node.api_url).port
    assert port is not None
    reads = tuple(get(f"{BASE}{path}", key) for path in ("/me", "/positions", "/orders"))
    for requests in (orders((key, key)), reads):
        job = Job(
            port=port,
            requests=requests,
            connections=16,
            warm_up_s=0,
            seconds=seconds,
            server_pids=(node.process.pid,),
        )
        outcome = generator.measure(job)
        if outcome.errors:
            raise CallFailed(f"Calls failed while a node was warmed up: {outcome.errors}.")
