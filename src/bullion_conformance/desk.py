"""Bullion's desk: what the kit sets up there to provoke refusals.

The kit creates its own broker. It changes no account, switch, price or venue of another broker.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from bullion_conformance.verdict import SetupError

BUY_PRICE, SELL_PRICE, QUOTED_WEIGHT = "71240.00", "71230.00", "10"
QUICK = {
    "reads_per_minute": 100_000,
    "orders_per_minute": 100_000,
    "orders_per_10_seconds": 100_000,
    "account_orders_per_minute": 100_000,
    "failed_auth_per_minute": 100_000,
}
ALL_SCOPES = ("account:read", "orders:read", "orders:write")
_ANY_SIZE = {"minimum": "0.0001", "maximum": "1000000", "step": "0.0001"}
_NO_AGE = {"rate_age_s_max": None, "freeze_after_s": None}
_FIXED = {"kind": "fixed", "buy": BUY_PRICE, "sell": SELL_PRICE}
_GOLD = {"metal": "gold", "quoted_weight": QUOTED_WEIGHT, "pricing": _FIXED, **_ANY_SIZE, **_NO_AGE}
_LANDED = {
    "kind": "landed",
    "spot": "CONFORMANCE-SPOT",
    "currency": "CONFORMANCE-UNQUOTED",
    "premium_usd": "0",
    "interbank": "0",
    "conversion": "1",
    "duty": "none",
    "margin": "0",
}
SYMBOLS: dict[str, dict[str, Any]] = {
    "GOLD": _GOLD,
    "SILVER": {**_GOLD, "metal": "silver", "quoted_weight": "1"},
    "CLOSED": {**_GOLD, "trading": False},
    "SELLONLY": {**_GOLD, "sides": ["sell"]},
    "UNQUOTED": {**_GOLD, "pricing": {"kind": "direct", "instrument": "CONFORMANCE-UNQUOTED"}},
    "UNPRICED": {**_GOLD, "pricing": _LANDED},
    "STALE": {**_GOLD, "rate_age_s_max": 30, "pricing": {"kind": "direct", "instrument": "CONFORMANCE-SPOT"}},
    "FROZEN": {**_GOLD, "frozen": True},
    "SIZED": {**_GOLD, "minimum": "2", "maximum": "10", "step": "0.5"},
    "SCARCE": {**_GOLD, "stock": "2"},
    "UNWATCHED": _GOLD,
    "SUSPENDED": _GOLD,
}
"""One for each refusal that depends on a symbol."""
_PLAIN_TERMS = {"buy_premium": "0", "sell_premium": "0"}
GROUPS: dict[str, dict[str, Any]] = {
    "plain": {"default_terms": _PLAIN_TERMS},
    "closed": {"default_terms": _PLAIN_TERMS, "trading": False},
    "sized": {"default_terms": {**_PLAIN_TERMS, "minimum": "4", "maximum": "8", "step": "1"}},
    "unpriced": {"terms": {"SILVER": _PLAIN_TERMS}},
}


class DeskRefused(Exception):
    """The desk refused a call of the kit."""


@dataclass(slots=True)
class Desk:
    """A client of the desk with one token."""

    http: httpx.Client
    url: str
    token: str = field(repr=False)
    steps: list[str] = field(default_factory=list)
    """Its calls, for the report; without responses, because some contain secrets."""

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        self.steps.append(f"{method} {path}" + ("" if body is None else f" {json.dumps(body)}"))
        return self.http.request(method, f"{self.url}/desk/v1{path}", headers=headers, json=body)

    def do(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.ask(method, path, body)
        if answer.status_code == httpx.codes.CONFLICT and "fingerprint" in answer.json()["detail"]:
            # The desk asks about prices. The kit's own broker has no client who could lose by them.
            answer = self.ask(method, f"{path}?confirm={answer.json()['detail']['fingerprint']}", body)
        if not answer.is_success:
            raise DeskRefused(f"{method} {path} was answered {answer.status_code}: {answer.text[:200]}")
        return answer.json()


@dataclass(frozen=True, slots=True)
class Issued:
    """A key that the desk issued."""

    key_id: str
    key: str = field(repr=False)


@dataclass(slots=True)
class Broker:
    """The kit's own broker."""

    tag: str
    host: str
    desk: Desk
    first: Desk
    token_id: str
    budgets: dict[str, int]
    """Those of a new broker."""
    usual: dict[str, int]
    """Those of this run."""
    venue: str
    _accounts: int = 0

    @classmethod
    def open(cls, first: Desk, *, quick: bool) -> "Broker":
        tag = f"conformance-{uuid4().hex[:8]}"
        host = f"{tag}.invalid"
        made = first.ask("PUT", f"/brokers/{tag}", {"name": "Conformance kit", "hosts": [host]})
        if not made.is_success:
            raise SetupError(
                f"The desk refused to create a broker for the kit ({made.status_code}). "
                "That needs the first token, which is in the service's settings."
            )
        desk, token_id = _admin_of(tag, first)
        budgets = desk.do("GET", "/switches")["budgets"]
        venue = desk.do("GET", "/hedge")["venue"]
        broker = cls(tag, host, desk, first, token_id, budgets, QUICK if quick else budgets, venue)
        broker._set_up()
        broker._create_second()
        return broker

    def _set_up(self) -> None:
        for code, group in GROUPS.items():
            self.desk.do("PUT", f"/groups/{code}", group)
        for code, symbol in SYMBOLS.items():
            self.desk.do("PUT", f"/symbols/{code}", symbol)
        old = "2020-01-01T00:00:00+00:00"
        self.desk.do("PUT", "/rates/CONFORMANCE-SPOT", {"bid": "100", "ask": "101", "at": old})
        self.switch(production=True, budgets=self.usual)
        if self.venue == "simulated":
            words = {"UNWATCHED": "unknown", "SUSPENDED": "suspended"}
            self.desk.do("PATCH", "/hedge", {"mode": "fill", "instruments": words})

    def _create_second(self) -> None:
        """Create a second broker, where the keys of this one are not accepted."""
        tag = f"{self.tag}-b"
        body = {"name": "Conformance kit", "hosts": [self.second_host]}
        self.first.do("PUT", f"/brokers/{tag}", body)
        desk, token_id = _admin_of(tag, self.first)
        desk.do("PATCH", "/switches", {"budgets": self.usual})
        desk.do("DELETE", f"/tokens/{token_id}")

    @property
    def second_host(self) -> str:
        return f"{self.tag}-b.invalid"

    def close(self) -> None:
        """Halt trading and remove the hosts of both brokers. Their audit trail stays."""
        self.switch(production=False, halted=True)
        for tag in (self.tag, f"{self.tag}-b"):
            self.first.do("PUT", f"/brokers/{tag}", {"name": "Conformance kit", "hosts": []})
        self.desk.do("DELETE", f"/tokens/{self.token_id}")

    def switch(self, **switches: Any) -> None:
        self.desk.do("PATCH", "/switches", switches)

    @contextmanager
    def switched(self, back: Mapping[str, Any], /, **switches: Any) -> Iterator[None]:
        """Set these switches temporarily, and then `back`."""
        self.switch(**switches)
        try:
            yield
        finally:
            self.switch(**back)

    def account(self, **fields: Any) -> str:
        """Create an account with everything open and an allocation of a million; return its login."""
        self._accounts += 1
        login_id = f"client{self._accounts}"
        body = {
            "login_id": login_id,
            "group": "plain",
            "production_trading": True,
            "allocation": {"gold": "1000000", "silver": "1000000"},
            **fields,
        }
        self.desk.do("POST", "/accounts", body)
        return login_id

    def change(self, login_id: str, **fields: Any) -> None:
        self.desk.do("PATCH", f"/accounts/{login_id}", fields)

    def key(self, login_id: str, environment: str = "test", **fields: Any) -> Issued:
        body = {"environment": environment, "name": "conformance kit", "scopes": list(ALL_SCOPES), **fields}
        made = self.desk.do("POST", f"/accounts/{login_id}/keys", body)
        return Issued(made["key_id"], made["key"])

    def rotate(self, issued: Issued, overlap_s: int) -> Issued:
        made = self.desk.do("POST", f"/keys/{issued.key_id}/rotate", {"overlap_s": overlap_s})
        return Issued(made["key_id"], made["key"])

    def revoke(self, issued: Issued) -> None:
        self.desk.do("POST", f"/keys/{issued.key_id}/revoke")

    def hedge(self, mode: str) -> None:
        self.desk.do("PATCH", "/hedge", {"mode": mode})

    def place_from_web(self, login_id: str, **fields: Any) -> httpx.Response:
        """Place an order from another channel: the web, unless a field says otherwise."""
        body = {
            "login_id": login_id,
            "source": "web",
            "idempotency_key": str(uuid4()),
            "symbol_code": "GOLD",
            "trade_type": "buy",
            "quantity": "1",
            **fields,
        }
        return self.desk.ask("POST", "/orders", body)

    def act(self, order_id: str, what: str, **body: Any) -> Any:
        """Close, complete or delete an order."""
        return self.desk.do("POST", f"/orders/{order_id}/{what}", body or None)


def _admin_of(tag: str, first: Desk) -> tuple[Desk, str]:
    """A desk client with the role admin in that broker, and the id of its token."""
    made = first.do("POST", "/tokens", {"name": "conformance kit", "role": "admin", "broker": tag})
    return Desk(first.http, first.url, made["token"]), made["token_id"]
