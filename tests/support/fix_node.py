"""What tests of nodes on a FIX line need: a venue and a source of quotes as processes, and a market file."""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from bullion.hedge.fix.order_messages import quantity_text
from bullion.market_demo.exchange import Exchange
from bullion.market_demo.faults import Faults
from bullion.market_demo.fix_acceptor import open_book

from .command import environment
from .forked_process import Process, printing
from .node import Node
from .production import WIDE_OPEN, LiveMarket
from .servers import free_port

LINE = "spot"
BROKER = "gilt"
CONTRACT: dict[str, Any] = {
    "metal": "gold",
    "venue": LINE,
    "venue_symbol": "GOLD",
    "instrument": "GOLD",
    "lot": "10",
    "fineness": "999.0",
    "step": "0.01",
    "price_weight": "10",
}
"""A quantity of 1 is as much gold as an order of 10 grams of the symbol GOLD."""


class Execution(NamedTuple):
    order_id: str
    side: str
    quantity: str


class ServerProcess:
    """A server of `bullion.market_demo`, in a process of its own."""

    def __init__(self, module: str, *options: str) -> None:
        self._module = f"bullion.market_demo.{module}"
        self._options = options
        self._process: Process | None = None
        self._printed: IO[str] | None = None

    def start(self, *more: str) -> Self:
        """It listens when this returns."""
        self._process, self._printed = printing(self._module, [*self._options, *more], environment())
        assert self._printed.readline(), "it did not start"
        return self

    def send_signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        if self._process is not None and self._printed is not None:
            self._process.kill()
            self._process.wait()
            self._printed.close()
            self._process = self._printed = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class Acceptor(ServerProcess):
    """A venue that speaks FIX. Its book outlives it."""

    def __init__(self, folder: Path, *quotes: str) -> None:
        """`quotes`: such as GOLD=150000. It serves market data of these, too."""
        self.port = free_port()
        self.quotes_port = free_port()
        self._book = folder / "venue.db"
        options = ["--book", str(self._book), "--port", str(self.port)]
        if quotes:
            options += ["--quotes-port", str(self.quotes_port), *(f"--quote={each}" for each in quotes)]
        super().__init__("fix_acceptor", *options)

    def executions(self) -> list[Execution]:
        """By our order ids, which are the ClOrdIDs of the profile `resetting`."""
        with contextlib.closing(sqlite3.connect(self._book, timeout=10)) as book:
            found = book.execute(
                "SELECT client_order_id, side, quantity_e8 FROM executions ORDER BY execution_id"
            ).fetchall()
        return [Execution(name, side, quantity_text(quantity_e8)) for name, side, quantity_e8 in found]

    def statement(self) -> str:
        """Its trades as CSV, as a venue sends them after the day."""
        with contextlib.closing(open_book(str(self._book))) as book:
            return Exchange(book, Faults()).statement()

    def executions_of(self, order_id: str) -> list[Execution]:
        return [each for each in self.executions() if each.order_id == order_id]

    def counts(self) -> Counter[str]:
        return Counter(each.order_id for each in self.executions())


def market_file(folder: Path, port: int, **profile: str) -> Path:
    """A market file with one line to that port. `profile`: what differs from `resetting`, as TOML."""
    changes = "\n".join(f"{name} = {value}" for name, value in profile.items())
    path = folder / "market.toml"
    path.write_text(
        f"""\
[profiles.demo]
based_on = "resetting"
{changes}

[lines.{LINE}]
broker = "{BROKER}"
host = "127.0.0.1"
port = {port}
sender = "BULLION"
target = "VENUE"
profile = "demo"
tls = false
""",
        "utf-8",
    )
    return path


def add_source(market: Path, port: int, symbol: str = "GOLD") -> Path:
    """Add a source over FIX at that port, for the instrument GOLD, to a market file."""
    source = f"""
[sources.venue]
kind = "fix"
alive_s = 3
instruments = [{{ instrument = "GOLD", symbol = "{symbol}", lowest = "100000", highest = "200000" }}]
[sources.venue.line]
host = "127.0.0.1"
port = {port}
sender = "BULLION"
target = "VENUE"
tls = false
heartbeat_s = 1
"""
    market.write_text(market.read_text("utf-8") + source, "utf-8")
    return market


def fix_settings(market: Path) -> dict[str, str]:
    return {
        "BULLION_HEDGE": "fix",
        "BULLION_PRODUCTION": "on",
        "BULLION_MARKET": str(market),
        "BULLION_FEED": "simulated",
    }


@contextlib.contextmanager
def fix_market(node: Node) -> Iterator[LiveMarket]:
    """The broker of the line, whose production is open."""
    with node.desk() as first, contextlib.ExitStack() as clients:
        first.do("PUT", f"/brokers/{BROKER}", {"name": "A Broker", "hosts": [f"{BROKER}.example"]})
        token = first.do("POST", "/tokens", {"name": "an admin", "role": "admin", "broker": BROKER})
        market = LiveMarket(node, BROKER, clients.enter_context(node.desk(token["token"])), clients)
        market.desk.add_group()
        market.switch(production=True, budgets=WIDE_OPEN)
        market.symbol("GOLD")
        market.desk.do("PUT", "/hedge/contracts/GOLDG", CONTRACT)
        market.ready("GOLD")
        yield market


def venue_light(market: LiveMarket) -> str:
    """What the desk's health call says of the venue."""
    (light,) = (each for each in market.desk.do("GET", "/health")["items"] if each["part"] == "venue")
    return f"{light['state']}: {light['text']}"
