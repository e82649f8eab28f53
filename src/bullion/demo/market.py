"""The market demo: the demo's broker covers over FIX at live rates, with counterparties on this machine."""

import asyncio
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import httpx

from bullion.desk.actions import accounts, covers, hedge_book, switches
from bullion.desk.bodies import AccountBody, ContractBody, HedgeBookBody, SwitchesBody
from bullion.desk.conversion import Changes
from bullion.environment import Environment
from bullion.market_demo.counterparty import Counterparty, NotStarted
from bullion.metals.metal import Metal
from bullion.settings import WrongSetting
from bullion.wiring.node import Node

from .broker import CURL, Addresses, Demo, DemoKey, heading

FOLDER = Path("var/market-demo")
_MARKET_FILE = FOLDER / "market.toml"
_VENUE_BOOK = FOLDER / "venue.db"
_MESSAGES = FOLDER / "fix"
_BROKER = "demo"
_LINE = "spot"
_SYMBOL = "GOLDLANDED"
_GRAMS = 100
_READY_S = 30.0
_LOOK_S = 0.25

_CONTRACTS = {
    "XAU": ContractBody(
        metal="gold",
        venue=_LINE,
        venue_symbol="XAU/USD",
        instrument="XAUUSD",
        lot="31.1034768",
        fineness="1000",
        step="0.01",
        price_weight="31.1034768",
        currency="USD",
        tick="0.01",
    ),
    **{
        code: ContractBody(
            metal="gold",
            venue=_LINE,
            venue_symbol=f"{code}/INR",
            instrument=code,
            lot="10",
            fineness=fineness,
            step="0.1",
            price_weight="10",
        )
        for code, fineness in (("GOLD", "999.0"), ("GOLD995", "995.0"))
    },
    "SILVER": ContractBody(
        metal="silver",
        venue=_LINE,
        venue_symbol="SILVER/INR",
        instrument="SILVER",
        lot="1000",
        step="1",
        price_weight="1000",
    ),
}
"""One for each instrument that the demo's symbols are hedged in. An ounce in hundredths leaves a rest."""
_FILLED_AT = {"XAU/USD": "4800", "GOLD/INR": "150499", "GOLD995/INR": "149896", "SILVER/INR": "300053"}
"""The venue's prices by its symbol: where the quote server begins."""
_BOOK_LIMITS = {Metal.GOLD: "2000", Metal.SILVER: "100000"}

_BOUNDS = {
    "XAUUSD": ("1000", "20000"),
    "XAGUSD": ("10", "500"),
    "USDINR": ("50", "200"),
    "GOLD": ("50000", "500000"),
    "GOLD995": ("50000", "500000"),
    "SILVER": ("50000", "1000000"),
}
"""The lowest and the highest price that is believed, by instrument."""


@dataclass(frozen=True, slots=True)
class Counterparties:
    venue: Counterparty
    quotes: Counterparty

    def settings(self) -> dict[str, str]:
        """What the service is started with, whatever else the environment says."""
        return {
            "BULLION_DATABASE_URL": f"sqlite:///{FOLDER}/bullion.db",
            "BULLION_DATABASE_URL_FILE": "",
            "BULLION_BROKER": _BROKER,
            "BULLION_PRODUCTION": "on",
            "BULLION_HEDGE": "fix",
            "BULLION_FEED": "live",
            "BULLION_MARKET": str(_MARKET_FILE),
        }


@contextmanager
def counterparties(say: Callable[[str], None]) -> Iterator[Counterparties]:
    """Start the venue and the quote server, and write the market file that names them."""
    say("Starting a FIX venue and a quote server, as processes of their own.")
    FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
    running: list[Counterparty] = []
    try:
        try:
            prices = [f"--quote={symbol}={price}" for symbol, price in _FILLED_AT.items()]
            options = ["--book", str(_VENUE_BOOK), *prices]
            venue = Counterparty("The FIX venue", "fix_acceptor", *options, say=say)
            running.append(venue)
            quotes = Counterparty("The quote server", "quote_server", say=say)
            running.append(quotes)
        except NotStarted as error:
            raise WrongSetting(f"{error}.") from error
        _MARKET_FILE.write_text(market_file(venue.port, quotes.port), "utf-8")
        say(f"Starting the service with {_MARKET_FILE}.")
        yield Counterparties(venue, quotes)
    finally:
        for each in reversed(running):
            each.stop()


def market_file(venue_port: int, quotes_port: int) -> str:
    instruments = "\n".join(
        f'    {{ instrument = "{name}", symbol = "{name}", lowest = "{lowest}", highest = "{highest}" }},'
        for name, (lowest, highest) in _BOUNDS.items()
    )
    return f"""\
# Written by 'bullion market demo' at each start. docs/fix.md and docs/feeds.md describe all of it.

[lines.{_LINE}]                 # A FIX session with the demo's own venue.
broker = "{_BROKER}"
host = "127.0.0.1"
port = {venue_port}
tls = false                 # Only because the venue is on this machine.
sender = "BULLION"
target = "VENUE"
profile = "resetting"       # Numbers begin anew at every logon; orders are limits, all or nothing.

[sources.quotes]            # Live rates. HTTP needs no extra; a WebSocket needs the extra 'market'.
kind = "http"
url = "http://127.0.0.1:{quotes_port}/quotes"
poll_ms = 250
fields = {{ items = "/data", time = "/time" }}
instruments = [
{instruments}
]

[messages]                  # Every FIX message, with passwords masked.
folder = "{_MESSAGES}"
"""


async def create_market_data(node: Node) -> None:
    """At the first start: contracts, hedge books, and production opened. Later the desk's changes stay."""
    desk, actor = node.desk, node.first_actor
    if set(_CONTRACTS) <= {each["code"] for each in await covers.list_contracts(desk, actor)}:
        return
    for metal, limit in _BOOK_LIMITS.items():
        await hedge_book.patch_book(desk, actor, metal.value, Changes(HedgeBookBody, {"limit": limit}))
    await switches.patch_switches(desk, actor, Changes(SwitchesBody, {"production": True}))
    for login_id in ("aurum", "rajat"):
        changes = Changes(AccountBody, {"production_trading": True})
        await accounts.patch_account(desk, actor, login_id, changes)
    for (
        code,
        contract,
    ) in _CONTRACTS.items():  # The last step, so that a start that was interrupted does all again.
        await covers.put_contract(desk, actor, code, contract)


async def wait_until_traded(api_url: str, keys: list[DemoKey]) -> str | None:
    """Wait until a client can deal. After some time: why not."""
    give_up_at = time.monotonic() + _READY_S
    headers = {"X-API-Key": _live_key(keys)}
    address = f"{api_url}{Environment.PRODUCTION.base_path}/quotes?symbol_code={_SYMBOL}"
    async with httpx.AsyncClient(headers=headers, trust_env=False) as client:
        while True:
            answer = await client.get(address)
            if answer.is_success:
                (quote,) = answer.json()["items"]
                if quote["tradable"]:
                    return None
            if time.monotonic() > give_up_at:
                return str(quote["reason"]) if answer.is_success else answer.text
            await asyncio.sleep(_LOOK_S)


def _live_key(keys: list[DemoKey]) -> str:
    return next(each.text for each in keys if each.environment is Environment.PRODUCTION)


def banner(
    demo: Demo, keys: list[DemoKey], urls: Addresses, found: Counterparties, problem: str | None
) -> str:
    lines = heading(
        demo,
        keys,
        urls,
        "Bullion market demo: covers over FIX, live rates, all on this machine. No real metal.",
    )
    lines += [
        "",
        f"  FIX venue     127.0.0.1:{found.venue.port}   (process {found.venue.pid}, book {_VENUE_BOOK})",
        f"  Quotes        http://127.0.0.1:{found.quotes.port}/quotes   (process {found.quotes.pid})",
        f"  Market file   {_MARKET_FILE}",
        "",
    ]
    if problem is not None:
        lines += [f"{_SYMBOL} cannot be traded yet: {problem}. The log says more.", ""]
    lines += _steps(demo, _live_key(keys), urls, found)
    store = demo.settings.database_url
    lines += [
        "",
        "At the desk, from the same folder:",
        "",
        f"  BULLION_DATABASE_URL={store} BULLION_BROKER={_BROKER} .venv/bin/bullion desk hedge book",
        "",
        f"Data and keys stay for the next start, in {FOLDER}. Ctrl+C stops everything.",
        "",
    ]
    return "\n".join(lines)


def _steps(demo: Demo, live_key: str, urls: Addresses, found: Counterparties) -> list[str]:
    """What to paste, in this order."""
    client, base = f"-H 'X-API-Key: {live_key}'", f"{urls.api}{Environment.PRODUCTION.base_path}"
    desk, desk_base = f"-H 'Authorization: Bearer {demo.desk_token}'", f"{urls.desk}/desk/v1"
    body = f'{{"symbol_code": "{_SYMBOL}", "trade_type": "buy", "quantity": {_GRAMS}}}'
    # Another key for each start, or the first order of the next one would be a replay.
    order = (
        f"curl -sS {client} -H 'Content-Type: application/json' -H 'Idempotency-Key: market-{token_hex(4)}' "
        f"-d '{body}' {base}/orders"
    )
    show = "python3 -m json.tool"
    read_id = """python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'"""
    read_hedge = (
        """python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["hedge"], indent=2))'"""
    )
    log = shlex.quote(str(_MESSAGES))
    return [
        f"Paste into another terminal, in this folder. The price of gold, and an order for {_GRAMS} g:",
        "",
        f"  {CURL} -sS {client} '{base}/quotes?symbol_code={_SYMBOL}'",
        f"""  ORDER=$({order}); echo "$ORDER" | {show}""",
        "",
        "Status open and a deal_no: the venue has filled its cover. It has the venue's execution id,",
        f"ounces and a price in dollars. {_GRAMS} g of 999 are 3.2119 fine ounces; the venue deals in",
        "hundredths of an ounce, so the rest stays in the hedge book, as its residual:",
        "",
        f"""  ORDER_ID=$(echo "$ORDER" | {read_id})""",
        f"  curl -sS {desk} {desk_base}/orders/$ORDER_ID | {read_hedge}",
        f"  {CURL} -sS {desk} {desk_base}/hedge/book",
        "",
        "The line's own messages: the order out (35=D), the venue's reports in (35=8):",
        "",
        rf"""  sleep 1; grep -h "11=$ORDER_ID" {log}/{_LINE}-*.log | tr '\001' ' '""",
        "",
        "A price that jumps by 10 % is not believed: it is held until the desk releases it, or it is over:",
        "",
        f"  {CURL} -sS http://127.0.0.1:{found.quotes.port}/fault/jump; sleep 2",
        f"  curl -sS {desk} {desk_base}/feeds | {show}",
        f"  {CURL} -sS http://127.0.0.1:{found.quotes.port}/fault/none",
        "",
        "End the venue: orders get production_prerequisites_unmet until it is started again, in 10 seconds:",
        "",
        f"  kill {found.venue.pid}",
    ]
