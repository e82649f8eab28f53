"""What a broker has in the middle of a morning: clients, keys, deals, a hedge book, and a day of rates."""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.hook_server import HookServer
from tests.support.node import until

from .demo import Demo

_ROUNDS = 24
_BETWEEN_ROUNDS_S = 0.5
_CLIENTS = {
    "kalyani": ("Kalyani Jewels", "retail"),
    "shubham": ("Shubham & Sons", "trade"),
    "meenakshi": ("Meenakshi Gold Palace", "trade"),
}
_USERS = {"Meera Nair": "dealer", "Arjun Shah": "admin", "Back office": "viewer"}
_BEFORE_THE_FIRST_MINUTE = {"GOLD": 150_450, "GOLD995": 149_850, "GOLDLANDED": 150_560, "SILVER": 299_900}


def pass_morning(demo: Demo) -> dict[str, str]:
    """Returns the names of single things that have a page of their own, and the token of a dealer."""
    _store_past_rates(demo)
    keys = _open_accounts(demo)
    webhook_id = _set_up_webhook(demo)
    tokens = {name: _made(demo, "/tokens", name=name, role=role) for name, role in _USERS.items()}
    for number in range(_ROUNDS // 2):
        _trade(demo, keys, number)
    _let_the_house_confirm(demo)
    for number in range(_ROUNDS // 2, _ROUNDS):
        _trade(demo, keys, number)
    _cover(demo)
    for key, quantity in ((keys[4], 40), (keys[0], 900), (keys[4], 60)):  # The limit holds some of them back.
        demo.order(key, "GOLD", "buy", quantity)
    return {**_single_things(demo), "webhook_id": webhook_id, "dealer": tokens["Meera Nair"]["token"]}


def _made(demo: Demo, path: str, **body: Any) -> Any:
    return demo.desk("POST", path, body)


def _open_accounts(demo: Demo) -> list[str]:
    """The keys of the clients, live and test in turn."""
    budgets = {
        "orders_per_minute": 6000,
        "orders_per_10_seconds": 1000,
        "account_orders_per_minute": 6000,
    }
    public = {"group": "retail", "title": "Demo Bullion: live rates"}
    demo.desk("PATCH", "/switches", {"production": True, "budgets": budgets, "public_rates": public})
    keys = []
    for login_id, (firm, group) in _CLIENTS.items():
        body = {"login_id": login_id, "firm_name": firm, "group": group, "production_trading": True}
        _made(demo, "/accounts", **body, allocation={"gold": "5000", "silver": "400"})
        for kind in ("production", "test"):
            scopes = ["account:read", "orders:read", "orders:write"]
            name = "trading program"
            key = _made(demo, f"/accounts/{login_id}/keys", environment=kind, name=name, scopes=scopes)
            keys.append(key["key"])
    _hand_out_more_keys(demo)
    gold = demo.desk("GET", "/symbols")["items"][0]
    kept = {name: gold[name] for name in ("metal", "quoted_weight", "minimum", "maximum", "step")}
    fixed = {"kind": "fixed", "buy": "154200.00", "sell": "149800.00"}
    demo.desk("PUT", "/symbols/COIN10", {**kept, "pricing": fixed, "frozen": True})
    missing = {"kind": "direct", "instrument": "MUMBAI"}
    demo.desk("PUT", "/symbols/GOLDMUMBAI", {**kept, "pricing": missing})
    return keys


def _hand_out_more_keys(demo: Demo) -> None:
    """Keys in every state that a desk meets, and accounts that are not like the others."""
    soon = (datetime.now(UTC) + timedelta(days=6)).isoformat()
    scopes = ["account:read", "orders:read"]
    old = {"environment": "production", "name": "back office", "scopes": scopes}
    rotated = _made(demo, "/accounts/kalyani/keys", **old)["key_id"]
    _made(demo, f"/keys/{rotated}/rotate", allowed_addresses=["203.0.113.0/24"])
    old = {**old, "name": "price board", "expires_at": soon}
    _made(demo, "/accounts/kalyani/keys", **old)
    lost = _made(demo, "/accounts/kalyani/keys", **{**old, "name": "lost laptop"})["key_id"]
    demo.desk("POST", f"/keys/{lost}/revoke")
    demo.desk("PATCH", "/accounts/shubham", {"allocation": {"gold": "430", "silver": "30"}})
    demo.desk("PATCH", "/accounts/meenakshi", {"allocation": {"gold": "1200"}})
    body = {"login_id": "navrang", "firm_name": "Navrang Bullion", "group": "retail", "scenarios": True}
    _made(demo, "/accounts", **body, allocation={"gold": "500"})
    demo.desk("PATCH", "/accounts/navrang", {"active": False, "allocation": {"silver": "25"}})


def _trade(demo: Demo, keys: list[str], number: int) -> None:
    """What comes within a moment; the number tells one moment from another."""
    for each, key in enumerate(keys):
        side = "sell" if (number + each) % 3 == 0 else "buy"
        demo.order(key, ("GOLD", "GOLD995", "GOLDLANDED")[number % 3], side, 5 + 5 * (number % 7))
    demo.order(keys[0], "SILVER", "sell" if number % 2 else "buy", 2 + number % 3)
    if number % 4 == 0:
        demo.order(keys[2], "GOLD", "buy", 9000)
        demo.order(keys[1], "COIN10", "buy", 10)
        demo.order(keys[4], "GOLDMUMBAI", "buy", 10)
    time.sleep(_BETWEEN_ROUNDS_S)


def _let_the_house_confirm(demo: Demo) -> None:
    book = "/hedge/book/gold"
    demo.desk("PATCH", book, {"policy": "book", "limit": "1000", "volatility_percent": "1.2"})
    demo.desk("PATCH", "/hedge/book/silver", {"volatility_percent": "1.8"})
    demo.desk("PUT", f"{book}/rules/net", {"kind": "over", "threshold": "150", "contracts": ["GOLD"]})
    demo.desk("PUT", f"{book}/rules/stale", {"kind": "age", "threshold": "5400", "contracts": ["GOLD"]})
    evening = {"kind": "close", "threshold": "1800", "contracts": ["XAU"], "side": "buy"}
    demo.desk("PUT", f"{book}/rules/evening", evening)


def _cover(demo: Demo) -> None:
    """Covers in every state, and dollars that were bought for one of them."""
    covers = {}
    for contract, quantity in (("XAU", "2.5"), ("GOLD995", "4"), ("GOLD", "6")):
        body = {"contract": contract, "side": "buy", "quantity": quantity, "idempotency_key": contract}
        covers[contract] = _made(demo, "/hedge/covers", **body)["id"]
    sent = [covers["XAU"], covers["GOLD"]]
    for each in sent:
        demo.desk("POST", f"/hedge/covers/{each}/send")
    until(lambda: all(_states(demo)[each] == "filled" for each in sent), within_s=30)
    _made(demo, f"/hedge/covers/{covers['GOLD995']}/drop", reason="dealt with a neighbour")
    bank = {"rate": "92.05", "reference": "FX-2071", "metal": "gold", "idempotency_key": "bank"}
    _made(demo, "/hedge/currency", side="buy", dollars="9000", fee="250", **bank)


def _states(demo: Demo) -> dict[str, str]:
    return {each["id"]: each["state"] for each in demo.desk("GET", "/hedge/covers")["items"]}


def _set_up_webhook(demo: Demo) -> str:
    """With a receiver that takes everything, for as long as this process runs."""
    receiver = HookServer().__enter__()
    body = {"environment": "production", "url": receiver.url, "description": "back office"}
    webhook_id: str = _made(demo, "/accounts/kalyani/webhooks", **body)["webhook_id"]
    return webhook_id


def _single_things(demo: Demo) -> dict[str, str]:
    about = "/orders?environment=production&symbol_code=GOLDLANDED&status=open&limit=100"
    order_id = demo.desk("GET", about)["items"][-1]["id"]  # The oldest, which the venue covered.
    demo.desk("POST", f"/orders/{order_id}/close")
    refused = demo.desk("GET", "/traces?outcome=limit_exceeded&limit=1")["items"][0]["request_id"]
    return {"order_id": order_id, "request_id": refused, "login_id": "kalyani"}


def _store_past_rates(demo: Demo) -> None:
    """A day of made-up minutes for the charts, in the demo's store. The demo itself has just begun."""
    (store,) = demo.folder.rglob("bullion.db")
    steps = random.Random(1)  # noqa: S311 - no secret
    now_s = int(time.time()) // 60 * 60
    rows = []
    for symbol, price in _BEFORE_THE_FIRST_MINUTE.items():
        close = price
        for minute in range(1, 24 * 60):
            opened = close + steps.randint(-30, 30)
            high, low = max(opened, close) + steps.randint(0, 9), min(opened, close) - steps.randint(0, 9)
            begins_s = now_s - minute * 60
            prices = [10_000 * each for each in (opened, high, low, close)]
            rows.append(("demo", symbol, "minute", begins_s, *prices, begins_s * 10**6, begins_s * 10**6 + 1))
            close = opened
    with closing(sqlite3.connect(store, timeout=30)) as connection, connection:
        connection.executemany(
            "INSERT OR IGNORE INTO rate_candles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
        )


@contextmanager
def trading_hours(demo: Demo) -> Iterator[None]:
    """Not for long: outside of them nothing is traded."""
    week = {day: [["09:00", "23:30"]] for day in ("mon", "tue", "wed", "thu", "fri")}
    hours = {
        "zone": "Asia/Kolkata",
        "week": {**week, "sat": [["10:00", "14:00"]]},
        "holidays": ["2027-01-26"],
    }
    demo.desk("PATCH", "/switches", {"trading_hours": hours})
    yield
    demo.desk("PATCH", "/switches", {"trading_hours": None})


@contextmanager
def held_quotes(demo: Demo) -> Iterator[None]:
    """Rates that jump by a tenth, and are not believed."""
    demo.set_quote_fault("jump")
    until(lambda: any(each["held"] for each in demo.desk("GET", "/feeds")["items"]), within_s=30)
    yield
    demo.set_quote_fault("none")
    until(lambda: not any(each["held"] for each in demo.desk("GET", "/feeds")["items"]), within_s=30)
