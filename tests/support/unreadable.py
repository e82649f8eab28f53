"""Rows that are spoiled behind the service's back: one for each kind that nodes and the desk read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from .node import until
from .orders import GOLD, Trader
from .production import LiveMarket, store_says

FAR = 2**63 - 1
"""No date is so far away."""
LANDED = {
    "kind": "landed",
    "spot": "SPOT",
    "currency": "CURRENCY",
    "premium_usd": "0",
    "interbank": "0",
    "conversion": "1",
    "duty": "customs",
    "margin": "0",
}
PATIENCE_S = 10.0
"""A second is promised; the machine may be busy with other tests."""


@dataclass(frozen=True)
class Spoiled:
    """A way to spoil a row of a kind, and the refusal that orders then meet."""

    kind: str
    update: str
    """The statement, in which TAG, LOGIN and KEY_ID stand for those of the broker and its client."""
    refusal: str
    symbol: str = "GOLD"
    """The symbol that is ordered."""
    others: str | None = None
    """What orders of the same broker in another symbol, from another account, meet. None: they are taken."""
    subject: str = "TAG"

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.update[:60]}"


def _symbol(assignment: str) -> Spoiled:
    update = f"UPDATE symbols SET {assignment} WHERE broker = 'TAG' AND code = 'GOLD'"
    return Spoiled("symbol", update, "symbol_not_trading", subject="GOLD")


def _key(assignment: str) -> Spoiled:
    update = f"UPDATE keys SET {assignment} WHERE key_id = 'KEY_ID'"
    return Spoiled("key", update, "invalid_credential", subject="KEY_ID")


def _switches(hours: str) -> Spoiled:
    update = f"UPDATE switches SET trading_hours = '{hours}' WHERE broker = 'TAG'"
    return Spoiled("switches", update, "trading_halted", others="trading_halted")


def _account(assignment: str) -> Spoiled:
    update = f"UPDATE accounts SET {assignment} WHERE broker = 'TAG' AND login_id = 'LOGIN'"
    return Spoiled("account", update, "api_access_disabled", subject="LOGIN")


def _duty(assignment: str) -> Spoiled:
    update = f"UPDATE duties SET {assignment} WHERE broker = 'TAG' AND name = 'customs'"
    return Spoiled("duty", update, "unpriced", symbol="LANDED", subject="customs")


def _rate(assignment: str) -> Spoiled:
    update = f"UPDATE ticks SET {assignment} WHERE broker = 'TAG' AND instrument = 'SPOT'"
    return Spoiled("rate", update, "no_live_price", symbol="LANDED", subject="SPOT")


def _venue(assignment: str) -> Spoiled:
    update = f"UPDATE venues SET {assignment} WHERE broker = 'TAG'"
    return Spoiled("venue", update, "production_prerequisites_unmet", others="production_prerequisites_unmet")


WAYS = [
    _symbol("pricing = 'rubbish'"),
    _symbol("""pricing = '["sideways", "SPOT"]'"""),
    _symbol("""pricing = '["direct", ["SPOT"]]'"""),
    _symbol("""pricing = '["landed", "SPOT", "CURRENCY", "NaN", "0", "1", "customs", 0]'"""),
    _symbol("""pricing = '["fixed", -7100000, null]'"""),
    _symbol("buy_offered = 0, sell_offered = 0"),
    _symbol("step_e4 = maximum_e4 + 1"),
    Spoiled(
        "group",
        "UPDATE group_terms SET minimum_e4 = 2, maximum_e4 = 1 "
        "WHERE broker = 'TAG' AND group_code = 'retail'",
        "group_trading_disabled",
        subject="retail",
    ),
    _switches("rubbish"),
    _switches('{"zone": "Mars/Olympus", "week": [[], [], [], [], [], [], []], "holidays": []}'),
    _switches('{"zone": "UTC", "week": [[["00:00+01:00", null]], [], [], [], [], [], []], "holidays": []}'),
    _duty("from_date = 'someday'"),
    _duty("rupees_paise = -1"),
    _rate(f"at_us = {FAR}"),
    _rate("moved_at_us = -1"),
    _account(f"created_at_us = {FAR}"),
    _account("created_at_us = -1"),
    _key("scopes = 'orders:write everything'"),
    _key("allowed_addresses = '10.0.0.0/8 nowhere'"),
    _key(f"secret_hash = '{'z' * 64}'"),
    _key("expires_at_us = -1"),
    Spoiled(
        "broker",
        "UPDATE brokers SET created_at_us = -1 WHERE tag = 'TAG'",
        "trading_halted",
        others="trading_halted",
    ),
    _venue("instruments = 'rubbish'"),
    _venue("""instruments = '{"GOLD": "perhaps"}'"""),
    _venue(f"delay_ms = {FAR}"),
]
"""Metals, environments, modes, flags and sizes have a CHECK in the schema: those cannot be spoiled."""


@dataclass
class Victim:
    """A broker of its own whose row is spoiled, with a client who meets it and one who does not."""

    market: LiveMarket
    way: Spoiled
    client: Trader = field(init=False)
    neighbour: Trader = field(init=False)

    def __post_init__(self) -> None:
        desk = self.market.desk
        desk.do("PUT", "/rates/SPOT", {"bid": "2000", "ask": "2001"})
        desk.do("PUT", "/rates/CURRENCY", {"bid": "83", "ask": "84"})
        desk.do("PUT", "/duties/customs", [{"from": "2020-01-01", "rupees": "100"}])
        desk.do("PATCH", "/hedge", {"mode": "fill"})
        self.market.live("LANDED", pricing=LANDED)
        others = self.market.group()
        self.client, self.neighbour = self._trader(), self._trader(group=others)

    def _trader(self, **fields: Any) -> Trader:
        """For the venue, orders have to be real ones."""
        login_id = self.market.account(**fields)
        return self.market.trader(login_id) if self.way.kind == "venue" else self.market.tester(login_id)

    @property
    def subject(self) -> str:
        return self._filled(self.way.subject)

    def _filled(self, text: str) -> str:
        named = {"TAG": self.market.tag, "LOGIN": self.client.login_id, "KEY_ID": self.client.key_id}
        for word, name in named.items():
            text = text.replace(word, name)
        return text

    def spoil(self) -> None:
        store_says(self.market.node, self._filled(self.way.update))

    def notify_nodes(self) -> None:
        """As the desk does with every change."""
        node = self.market.node
        if self.way.kind == "rate":
            moved = "UPDATE ticks SET version = (SELECT version + 1 FROM rates) WHERE broker = "
            store_says(node, f"{moved}'{self.market.tag}' AND instrument = '{self.subject}'")
            store_says(node, "UPDATE rates SET version = version + 1")
            return
        if self.way.kind != "venue":
            noted = f"'{self.way.kind}', '{self.market.tag}', '{self.subject}'"
            store_says(
                node,
                "INSERT INTO changes (version, kind, broker, subject) "
                f"SELECT version + 1, {noted} FROM catalogue",
            )
        store_says(node, "UPDATE catalogue SET version = version + 1")

    def at(self, market: LiveMarket) -> "Victim":
        """The same, at a service that was started again."""
        moved = object.__new__(Victim)
        moved.market, moved.way = market, self.way
        moved.client, moved.neighbour = (market.back_at_work(each) for each in (self.client, self.neighbour))
        return moved

    def code(self) -> str | None:
        """What the client's order meets; None: it is taken."""
        return _code(self.client.place(symbol_code=self.way.symbol))

    def others_code(self) -> str | None:
        """What an order of the neighbour meets, in a symbol that has nothing to do with it."""
        return _code(self.neighbour.place(symbol_code="SILVER"))

    def until_code(self, code: str | None) -> None:
        until(lambda: self.code() == code, within_s=PATIENCE_S)

    def listed(self) -> dict[str, Any]:
        """How the desk's list shows it."""
        path, name = _LISTS[self.way.kind](self)
        found = self.market.desk.do("GET", path)
        items = found.get("items", [found])
        (item,) = [each for each in items if name is None or each[name] == self.subject]
        shown: dict[str, Any] = item
        return shown

    def repair(self) -> None:
        _REPAIRS[self.way.kind](self)


def _code(answer: httpx.Response) -> str | None:
    return None if answer.status_code in (201, 202) else str(answer.json()["detail"]["code"])


_LISTS: dict[str, Callable[[Victim], tuple[str, str | None]]] = {
    "symbol": lambda _: ("/symbols", "code"),
    "group": lambda _: ("/groups", "code"),
    "switches": lambda _: ("/switches", None),
    "duty": lambda _: ("/duties", "name"),
    "rate": lambda _: ("/rates", "instrument"),
    "account": lambda _: ("/accounts?limit=200", "login_id"),
    "key": lambda victim: (f"/accounts/{victim.client.login_id}/keys", "key_id"),
    "broker": lambda _: ("/brokers", "tag"),
    "venue": lambda _: ("/hedge", None),
}


def _repair_switches(victim: Victim) -> None:
    shown = victim.market.desk.do("PATCH", "/switches", {"trading_hours": None})
    closed = {"production": False, "paused": True, "halted": True}
    assert shown | closed == shown, "nothing opens by itself"
    victim.market.switch(halted=False, paused=False, production=True)


def _repair_key(victim: Victim) -> None:
    desk, client = victim.market.desk, victim.client
    revoked = desk.do("POST", f"/keys/{client.key_id}/revoke")
    assert revoked["revoked_at"] is not None
    victim.client = victim.market.tester(client.login_id)


def _repair_account(victim: Victim) -> None:
    allocation = {"gold": "1000", "silver": "1000"}
    victim.market.desk.account(victim.client.login_id, allocation=allocation, production_trading=True)


def _repair_broker(victim: Victim) -> None:
    tag = victim.market.tag
    with victim.market.node.desk() as first:
        first.do("PUT", f"/brokers/{tag}", {"name": "A Broker", "hosts": [victim.market.host]})


_REPAIRS: dict[str, Callable[[Victim], object]] = {
    "symbol": lambda victim: victim.market.desk.do("PUT", "/symbols/GOLD", GOLD),
    "group": lambda victim: victim.market.desk.add_group(),
    "switches": _repair_switches,
    "duty": lambda victim: victim.market.desk.do(
        "PUT", "/duties/customs", [{"from": "2020-01-01", "rupees": "200"}]
    ),
    "rate": lambda victim: victim.market.desk.do("PUT", "/rates/SPOT", {"bid": "2000", "ask": "2001"}),
    "account": _repair_account,
    "key": _repair_key,
    "broker": _repair_broker,
    "venue": lambda victim: victim.market.venue(mode="fill", instruments={}),
}
