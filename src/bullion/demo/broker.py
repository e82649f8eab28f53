"""The demo: a broker with symbols, clients and keys, set up through the same actions that the desk uses.

Its keys are derived from the demo's own secret rather than drawn at random, so that the next start can
print them again. The store has only their hashes.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex

from bullion.allocation.book import first_account_id
from bullion.desk.actions import accounts, brokers, duties, groups, keys, symbols
from bullion.desk.bodies import (
    AllocationBody,
    BrokerBody,
    DirectBody,
    DutyBody,
    GroupBody,
    KeyBody,
    LandedBody,
    NewAccountBody,
    SymbolBody,
    TermsBody,
)
from bullion.desk.unreadable import read_or_unreadable
from bullion.environment import Environment
from bullion.hedge.venues import abilities_of
from bullion.keys.hashing import Hasher
from bullion.keys.issuer import LANE_DIGITS, NewKey
from bullion.keys.key import DEFAULT_SCOPES
from bullion.keys.text import secret_from, write_key
from bullion.records.clients import UsedKey
from bullion.secret import deployment_secret
from bullion.settings import Settings
from bullion.store.records import Records
from bullion.unreadable import Unreadable
from bullion.wiring.node import Node

FOLDER = Path("var/demo")
CURL = r"curl -w '\n'"
"""An answer ends without a line break, and the shell's prompt would follow it on the same line."""


def _gold(pricing: DirectBody | LandedBody) -> SymbolBody:
    """Quoted per 10 g, from 1 g in steps of 1 g."""
    return SymbolBody(
        metal="gold", quoted_weight="10", minimum="1", maximum="10000", step="1", pricing=pricing
    )


_LANDED = LandedBody(
    spot="XAUUSD",
    currency="USDINR",
    premium_usd="1.50",
    interbank="0.05",
    conversion="0.321507",  # Troy ounces in 10 g.
    duty="gold",
    margin="150",
)


_SYMBOLS = {
    "GOLD": _gold(DirectBody(instrument="GOLD")),
    "GOLD995": _gold(DirectBody(instrument="GOLD995")),
    "GOLDLANDED": _gold(_LANDED),
    "SILVER": SymbolBody(
        metal="silver",
        quoted_weight="1",
        minimum="1",
        maximum="500",
        step="1",
        pricing=DirectBody(instrument="SILVER"),
    ),
}
_DUTIES = {
    "gold": [
        DutyBody(from_date="2024-07-24", rupees="4200.00"),
        DutyBody(from_date="2026-05-13", rupees="8350.00"),
    ]
}
_GROUPS = {
    "retail": GroupBody(default_terms=TermsBody(buy_premium="150", sell_premium="-150")),
    "trade": GroupBody(default_terms=TermsBody(buy_premium="40", sell_premium="-40")),
}
_ACCOUNTS = (
    NewAccountBody(
        login_id="aurum",
        firm_name="Aurum Jewellers",
        group="retail",
        scenarios=True,
        allocation=AllocationBody(gold="1000", silver="50"),
    ),
    NewAccountBody(
        login_id="rajat",
        firm_name="Rajat Silver House",
        group="trade",
        allocation=AllocationBody(gold="500", silver="300"),
    ),
)
_KEYS = (
    ("aurum", Environment.TEST),
    ("aurum", Environment.PRODUCTION),
    ("rajat", Environment.TEST),
    ("rajat", Environment.PRODUCTION),
)


@dataclass(frozen=True, slots=True)
class DemoKey:
    login_id: str
    environment: Environment
    text: str


@dataclass(frozen=True, slots=True)
class Demo:
    settings: Settings
    hasher: Hasher
    desk_token: str


def prepare(given: Settings, folder: Path = FOLDER) -> Demo:
    """The settings of the demo: its own store and secret, and a desk token that can be printed again."""
    settings, usual = given, Settings()
    if given.database_url == usual.database_url:
        settings = replace(settings, database_url=f"sqlite:///{folder}/bullion.db")
    if given.broker == usual.broker:
        settings = replace(settings, broker="demo")
    # A receiver of webhooks on this machine can be tried.
    settings = replace(settings, webhook_allow_private=True)
    secret = deployment_secret(settings.secret, folder, may_create=True)
    hasher = Hasher(secret, "demo")
    desk_token = settings.desk_token or f"desk-demo-{secret_from(hasher.hash(b'desk token'))}"
    return Demo(replace(settings, secret=secret.decode("ascii"), desk_token=desk_token), hasher, desk_token)


async def create_demo_data(node: Node, hasher: Hasher) -> list[DemoKey]:
    """Create what does not exist yet. What the desk has changed since then stays as it is."""
    desk, actor = node.desk, node.first_actor
    existing = await desk.read(actor, "demo", lambda records: _existing(records, actor.broker))
    if not existing:
        await brokers.put_broker(desk, actor, actor.broker, BrokerBody(name="Demo Bullion"))
    for name, duty in _DUTIES.items():
        if f"duty {name}" not in existing:
            await duties.put_duty(desk, actor, name, duty)
    for code, symbol in _SYMBOLS.items():
        if code not in existing:
            await symbols.put_symbol(desk, actor, code, symbol)
    for code, group in _GROUPS.items():
        if code not in existing:
            await groups.put_group(desk, actor, code, group)
    for account in _ACCOUNTS:
        if account.login_id not in existing:
            await accounts.create_account(desk, actor, account)
    return [await _key(node, hasher, login_id, environment) for login_id, environment in _KEYS]


async def _existing(records: Records, broker: str) -> set[str]:
    """The codes and logins that exist already: the first start may have been interrupted."""
    return (
        {code for code in _SYMBOLS if await read_or_unreadable(records.symbol(broker, code))}
        | {f"duty {name}" for name in _DUTIES if await read_or_unreadable(records.duty(broker, name))}
        | {code for code in _GROUPS if await read_or_unreadable(records.group(broker, code))}
        | {
            each.login_id
            for each in _ACCOUNTS
            if await read_or_unreadable(records.client(broker, each.login_id))
        }
    )


async def _key(node: Node, hasher: Hasher, login_id: str, environment: Environment) -> DemoKey:
    """The demo's key for an account; if the desk has revoked or rotated it, the next one."""
    desk, actor = node.desk, node.first_actor
    account_id = await desk.read(actor, "demo", lambda records: records.account_id(actor.broker, login_id))
    lane = desk.key_issuer.lane(first_account_id(account_id or 0))
    turn = 1
    while True:
        seed = f"{actor.broker} {login_id} {environment} {turn}".encode()
        random_digits = hasher.hash(b"id " + seed).hex()[: 16 - LANE_DIGITS]
        new = NewKey(f"{lane}{random_digits}", secret_from(hasher.hash(b"secret " + seed)))
        used = await desk.read(actor, "demo", partial(_find_key, broker=actor.broker, key_id=new.key_id))
        if used is None:
            body = KeyBody(
                environment=environment.value,
                name=f"demo {environment}",
                scopes=[scope.value for scope in DEFAULT_SCOPES],
            )
            await keys.issue_key(desk, actor, login_id, body, new=new)
        if used is None or _usable(used):
            return DemoKey(
                login_id, environment, write_key(environment, actor.broker, new.key_id, new.secret)
            )
        turn += 1


async def _find_key(records: Records, *, broker: str, key_id: str) -> UsedKey | Unreadable | None:
    return await read_or_unreadable(records.key(broker, key_id))


def _usable(used: UsedKey | Unreadable) -> bool:
    return (
        not isinstance(used, Unreadable) and used.key.revoked_at_us is None and used.key.replaced_by is None
    )


@dataclass(frozen=True, slots=True)
class Addresses:
    api: str
    desk: str
    console: str


def heading(demo: Demo, demo_keys: list[DemoKey], urls: Addresses, title: str) -> list[str]:
    """Where the demo is, and the keys to it."""
    names = {account.login_id: account.firm_name for account in _ACCOUNTS}
    lines = [
        "",
        title,
        "",
        f"  Trading API   {urls.api}   (described at {urls.api}/docs)",
        f"  Console       {urls.console}   (open it in a browser and log in with the desk token)",
        f"  Desk API      {urls.desk}/desk/v1",
        f"  Desk token    {demo.desk_token}",
        "",
    ]
    for key in demo_keys:
        kind = "test key" if key.environment is Environment.TEST else "live key"
        lines.append(f"  {names[key.login_id]:<20}{kind}   {key.text}")
    return lines


def banner(demo: Demo, demo_keys: list[DemoKey], urls: Addresses) -> str:
    store = demo.settings.database_url
    title = f"Bullion demo: two clients, {_rates(demo.settings)}, no real metal."
    lines = heading(demo, demo_keys, urls, title)
    lines += ["", "Paste into another terminal:", ""]
    lines += [f"  {line}" for line in _curl_lines(demo_keys[0].text, demo.desk_token, urls.api, urls.desk)]
    lines += ["", *_production_lines(demo, demo_keys[1].text, urls.api, urls.desk)]
    store_of_demo = f"BULLION_DATABASE_URL={store} " if "@" not in store else ""
    lines += [
        "",
        "At the desk, from the same folder:",
        "",
        f"  {store_of_demo}BULLION_BROKER={demo.settings.broker} .venv/bin/bullion desk orders list",
        "",
        f"The data and these keys stay for the next start, in {_location(store)}. Ctrl+C stops the demo.",
        "",
    ]
    return "\n".join(lines)


def _rates(settings: Settings) -> str:
    return "simulated rates" if settings.feed == "simulated" else "rates that you set at the desk"


def _curl_lines(key: str, desk_token: str, api_url: str, desk_url: str) -> list[str]:
    """A first order from the quote to the net position, and what the desk sees of it."""
    client, base = f"-H 'X-API-Key: {key}'", f"{api_url}{Environment.TEST.base_path}"
    desk, desk_base = f"-H 'Authorization: Bearer {desk_token}'", f"{desk_url}/desk/v1"
    # Another for each start, or the first order of the next one would be a replay.
    order = (
        f"{CURL} -sSi {client} -H 'Content-Type: application/json' -H 'Idempotency-Key: demo-{token_hex(4)}' "
        f"""-d '{{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 5}}' {base}/orders"""
    )
    return [
        f"{CURL} -sS {client} {base}/me",
        f"{CURL} -sS {client} '{base}/quotes?symbol_code=GOLD'",
        f"{order}   # an order",
        f"{order}   # the same again: a replay, not a second order",
        f"{CURL} -sS {client} {base}/orders",
        f"{CURL} -sS {client} {base}/positions",
        f"{CURL} -sS {desk} {desk_base}/rates",
        f"{CURL} -sS {desk} {desk_base}/orders",
        f"{CURL} -sS {desk} {desk_base}/accounts",
        f"{CURL} -sS {api_url}/health/ready",
    ]


def _hedged(settings: Settings) -> str:
    venue = abilities_of(settings.hedge)
    if venue.by_hand:
        return "hedged by the desk"
    return f"hedged at the venue {venue.name}" if venue.covers else "hedged at a simulated venue"


def _production_lines(demo: Demo, live_key: str, api_url: str, desk_url: str) -> list[str]:
    """How production is opened, switch by switch, and a first deal in it."""
    if not demo.settings.production:
        return [
            "Production is off, as it is by default. To try it with a simulated venue, stop the demo and",
            "start it with its outermost switch on:",
            "",
            "  BULLION_PRODUCTION=on make run",
        ]
    desk, desk_base = f"-H 'Authorization: Bearer {demo.desk_token}'", f"{desk_url}/desk/v1"
    client, base = f"-H 'X-API-Key: {live_key}'", f"{api_url}{Environment.PRODUCTION.base_path}"
    order = (
        f"{CURL} -sSi {client} -H 'Content-Type: application/json' -H 'Idempotency-Key: demo-{token_hex(4)}' "
        f"""-d '{{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 5}}' {base}/orders"""
    )
    covered = [f"  {CURL} -sS {desk} {desk_base}/hedge/executions"]
    if abilities_of(demo.settings.hedge).by_hand:
        covered = [
            f"  {CURL} -sS {desk} {desk_base}/hedge/queue",
            "",
            "It is pending until you answer for its cover, with the id that the queue shows:",
            "",
            f"  {CURL} -sS -X POST {desk} {desk_base}/orders/<order_id>/confirm",
        ]
    return [
        f"Production, {_hedged(demo.settings)}: the broker's switch, the account's, then an order:",
        "",
        f"""  {CURL} -sS -X PATCH {desk} -d '{{"production": true}}' {desk_base}/switches""",
        f"""  {CURL} -sS -X PATCH {desk} -d '{{"production_trading": true}}' {desk_base}/accounts/aurum""",
        f"  {order}",
        f"  {CURL} -sS {client} {base}/positions",
        *covered,
    ]


def _location(database_url: str) -> str:
    """Where the store is, without the password that an address may hold."""
    if str(FOLDER) in database_url:
        return str(FOLDER)
    return database_url.rpartition("@")[2].removeprefix("sqlite:///").rpartition("//")[2].partition("?")[0]
