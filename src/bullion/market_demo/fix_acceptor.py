"""A venue that speaks FIX 4.4, for tests and the demo: `python -m bullion.market_demo.fix_acceptor`."""

import asyncio
import sqlite3
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

import msgspec

from bullion.hedge.fix.session_effects import SessionSettings
from bullion.metals.scaled import NotAnAmount, scaled

from .exchange import Behaviour, Exchange, Mode
from .faults import Fault, FaultPlan, Faults
from .fix_quotes import QuoteAcceptor, QuoteEngine, QuoteFault
from .prices import Prices
from .session_acceptor import SessionAcceptor, acceptor_settings, clock_us


def open_book(path: str) -> sqlite3.Connection:
    book = sqlite3.connect(path, isolation_level="DEFERRED")
    if path != ":memory:":
        book.execute("PRAGMA journal_mode = WAL")
        book.execute("PRAGMA synchronous = NORMAL")
    return book


class FixAcceptor(SessionAcceptor):
    """Takes orders."""

    def __init__(
        self,
        exchange: Exchange,
        faults: Faults,
        settings: SessionSettings,
        now_us: Callable[[], int] = clock_us,
    ) -> None:
        super().__init__(exchange, faults, settings, now_us)
        self.exchange = exchange

    def decide_all(self) -> None:
        self.send(self.exchange.decide_all(self._now_us()))


def _arguments() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m bullion.market_demo.fix_acceptor", description=__doc__)
    parser.add_argument("--book", required=True, help="the SQLite file of its orders and executions")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free port, which is printed")
    parser.add_argument("--sender", default="VENUE", help="its SenderCompID")
    parser.add_argument("--target", default="BULLION", help="the SenderCompID of the other side")
    parser.add_argument("--mode", choices=[each.value for each in Mode], default=Mode.FILL.value)
    parser.add_argument("--accept-doubles", action="store_true", help="execute a ClOrdID again")
    parser.add_argument("--faults", default="{}", help='such as {"seed": 7, "chances": {"lost": 0.01}}')
    parser.add_argument("--fault-log", help="append a line to this file for each fault that happens")
    parser.add_argument(
        "--quote", type=_symbol_price, action="append", default=[], metavar="SYMBOL=PRICE",
        help="quote this symbol around this price, and fill its orders there; may be given several times",
    )  # fmt: skip
    parser.add_argument("--quotes-port", type=int, help="serve market data here; 0: any free port")
    parser.add_argument("--quotes-every-ms", type=int, default=250)
    parser.add_argument("--quotes-fault", choices=[each.value for each in QuoteFault], default="none")
    parser.add_argument(
        "--statement", action="store_true", help="print the trades of the book as CSV, and end"
    )
    return parser


def _symbol_price(text: str) -> tuple[str, int]:
    symbol, _, price = text.rpartition("=")
    try:
        price_e6 = scaled(price, 6)
    except NotAnAmount:
        price_e6 = 0
    if not symbol or price_e6 <= 0:
        raise ArgumentTypeError(f"{text!r} is not a symbol and its price, such as XAU/USD=4000")
    return symbol, price_e6


def _noted_in(path: str | None) -> Callable[[Fault], object]:
    """Written at once: the process may be killed at any moment."""
    if path is None:
        return lambda _: None
    log = Path(path).open("ab", buffering=0)  # noqa: SIM115 - as long as the process runs
    return lambda fault: log.write(f"{fault.value}\n".encode())


async def _serve(given: Namespace, acceptor: FixAcceptor, prices: Prices) -> None:
    await acceptor.start(given.host, given.port)
    said = [f"listening on {acceptor.port}"]
    if given.quotes_port is not None:
        settings = acceptor_settings(given.sender, given.target)
        quotes = QuoteAcceptor(QuoteEngine(prices, given.quotes_every_ms), settings)
        quotes.set_fault(QuoteFault(given.quotes_fault))
        await quotes.start(given.host, given.quotes_port)
        said.append(f"quotes on {quotes.port}")
    print("\n".join(said), flush=True)  # noqa: T201 - the process that started it reads this
    await asyncio.Event().wait()


def main() -> None:
    given = _arguments().parse_args()
    if given.book != ":memory:":
        Path(given.book).parent.mkdir(parents=True, exist_ok=True)
    plan = msgspec.json.decode(given.faults, type=FaultPlan)
    faults = Faults(plan.seed, plan.chances, plan.at, _noted_in(given.fault_log))
    prices = Prices(dict(given.quote), plan.seed)
    behaviour = Behaviour(mode=Mode(given.mode), refuses_doubles=not given.accept_doubles)
    exchange = Exchange(open_book(given.book), faults, behaviour, prices)
    if given.statement:
        sys.stdout.write(exchange.statement())
        return
    acceptor = FixAcceptor(exchange, faults, acceptor_settings(given.sender, given.target))
    asyncio.run(_serve(given, acceptor, prices))


if __name__ == "__main__":
    main()
