"""Sets up a run: the connection, keys that work, and the kit's own broker if there is a desk."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from statistics import median

import httpx

from bullion_conformance.client import CREATED, OK, Client, Symbol
from bullion_conformance.connection import Connection
from bullion_conformance.context import Context, Setup
from bullion_conformance.desk import Broker, Desk, DeskRefused
from bullion_conformance.pace import REFUSALS, Pace
from bullion_conformance.verdict import SetupError

_TIMEOUT_S = 30
_READY_WITHIN_S, _LOOK_AGAIN_S = 10, 0.2
_NO_SUCH_PATH = 404
_NO_WORD = "tradeability_unverified"
GOLD, SILVER = Symbol("GOLD", Decimal(10), "gold"), Symbol("SILVER", Decimal(1), "silver")
_NO_BOUND = ((1_000_000, 60.0),)


@dataclass(frozen=True, slots=True)
class Given:
    """The options of the user."""

    base_url: str
    key: str | None = field(default=None, repr=False)
    live_key: str | None = field(default=None, repr=False)
    desk_url: str | None = None
    desk_token: str | None = field(default=None, repr=False)
    gold: Symbol = GOLD
    silver: Symbol = SILVER
    burn: bool = False
    quick: bool = False


@contextmanager
def open_setup(given: Given) -> Iterator[Setup]:
    """Set up a run, and clean up after it. Raise `SetupError` if an option does not work."""
    with httpx.Client(base_url=given.base_url.rstrip("/"), timeout=_TIMEOUT_S) as http:
        connection = Connection(
            http, Pace(time.monotonic, time.sleep, refusals=_NO_BOUND if given.quick else REFUSALS)
        )
        try:
            if given.desk_url is None:
                yield _with_keys(given, connection)
            else:
                with _own_broker(given, given.desk_url, http, connection) as setup:
                    yield setup
        except httpx.HTTPError as error:
            raise SetupError(
                f"The service cannot be reached: {str(error) or type(error).__name__}."
            ) from error
        except DeskRefused as error:
            raise SetupError(f"The desk refused a call of the kit: {error}.") from error


def _with_keys(given: Given, connection: Connection) -> Setup:
    setup = Setup(connection, given.gold, given.silver, burn=given.burn)
    if given.key is not None:
        test = Client(connection, "test", given.key, "given", given.gold)
        _works(test, "--key")
        for symbol, option in ((given.gold, "gold"), (given.silver, "silver")):
            _trades(test, symbol, option)
        setup = replace(setup, test=test)
    if given.live_key is not None:
        live = Client(connection, "production", given.live_key, "given live", given.gold)
        _works(live, "--live-key")
        setup = replace(setup, live=live)
    return _measured(setup)


def _measured(setup: Setup) -> Setup:
    """Measure the latency from the calls of the setup, which are not part of the run."""
    seen = setup.connection.seen
    latency_s = median(exchange.seconds for exchange in seen) if seen else 0.0
    seen.clear()
    setup.connection.current.clear()
    return replace(setup, latency_s=latency_s)


def _works(client: Client, option: str) -> None:
    answer = client.me()
    if answer.status == _NO_SUCH_PATH:
        raise SetupError(
            f"GET {client.path}/me answered {answer.reply}. Is --base-url the address of the trading API?"
        )
    if answer.status != OK:
        raise SetupError(
            f"{option} does not work: GET {client.path}/me answered {answer.reply}. "
            "Is it a key for this service and environment, with all scopes?"
        )


def _trades(client: Client, symbol: Symbol, option: str) -> None:
    """Buy and sell once, so that a wrong symbol is one error and not a hundred failed checks."""
    for side in ("buy", "sell"):
        answer = client.place(symbol_code=symbol.code, quantity=symbol.quantity, trade_type=side)
        if answer.status != CREATED:
            raise SetupError(
                f"A test order to {side} {symbol.quantity} of {symbol.code} was answered {answer.reply}: "
                f"set a symbol and weight that trade with --{option}-symbol and --{option}-quantity."
            )


@contextmanager
def _own_broker(given: Given, desk_url: str, http: httpx.Client, connection: Connection) -> Iterator[Setup]:
    first = Desk(http, desk_url.rstrip("/"), given.desk_token or "")
    broker = Broker.open(first, quick=given.quick)
    try:
        connection.host = broker.host
        setup = Setup(connection, GOLD, SILVER, broker=broker, burn=given.burn)
        closed = _production_problem(setup)
        setup = replace(setup, production_open=closed is None, production_closed=closed or "")
        yield _measured(setup)
    finally:
        broker.close()


def _production_problem(setup: Setup) -> str | None:
    """Why the kit's broker cannot trade in production; None if an order was accepted."""
    if setup.broker is None or setup.broker.venue != "simulated":
        return "the venue of the deployment is not simulated, and the kit places no real orders"
    client = Context(setup).new_client("production")
    give_up_at = time.monotonic() + _READY_WITHIN_S
    for code in ("GOLD", "SILVER", "SCARCE"):
        # Quotes tell it too, and their budget is larger than that of orders.
        while _reason(client, code) == _NO_WORD and time.monotonic() < give_up_at:
            time.sleep(_LOOK_AGAIN_S)
    answer = client.place(trade_type="sell", quantity=1)
    return (
        None
        if answer.status == CREATED
        else f"production is closed here: an order was answered {answer.reply}"
    )


def _reason(client: Client, code: str) -> str | None:
    """The code that an order for the symbol would be refused with."""
    items = (client.call("GET", "/quotes", symbol_code=code).body or {}).get("items", [])
    return next((item.get("reason") for item in items), None)
