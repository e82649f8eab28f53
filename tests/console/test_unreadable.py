"""Rows that cannot be read: each page says what is wrong and what to do, and the desk does it there."""

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.console import ConsoleProcess
from tests.support.console_client import ConsoleClient, console_client
from tests.support.dealing import Dealing
from tests.support.node import Node, until
from tests.support.production import store_says

SPOILED = {
    "symbol": "UPDATE symbols SET pricing = 'rubbish' WHERE broker = 'TAG' AND code = 'GOLD'",
    "group": "UPDATE group_terms SET minimum_e4 = 2, maximum_e4 = 1 WHERE broker = 'TAG'",
    "rate": "UPDATE ticks SET at_us = -1 WHERE broker = 'TAG'",
    "duty": "UPDATE duties SET from_date = 'someday' WHERE broker = 'TAG'",
    "switches": "UPDATE switches SET trading_hours = 'rubbish' WHERE broker = 'TAG'",
    "venue": "UPDATE venues SET instruments = 'rubbish' WHERE broker = 'TAG'",
    "broker": "UPDATE brokers SET created_at_us = -1 WHERE tag = 'TAG'",
    "account": "UPDATE accounts SET created_at_us = -1 WHERE broker = 'TAG' AND login_id = 'usher'",
    "key": "UPDATE keys SET scopes = 'everything' WHERE key_id = 'KEY_ID'",
}
TABS = {
    "symbols": "PUT /symbols/GOLD with the whole symbol, or New symbol with this code.",
    "groups": "PUT /groups/retail with the whole group, or New group with this code.",
    "rates": "PUT /rates/SPOT",
    "duty": "PUT /duties/customs with the whole table, or New duty table with this name.",
    "hours": "PATCH /switches with trading_hours",
    "limits": "PATCH /switches with trading_hours",
    "venue": "PATCH /hedge with mode and instruments",
}


REPAIRS: dict[str, dict[str, str]] = {
    "market/new-symbol": {
        "code": "GOLD",
        "metal": "gold",
        "quoted_weight": "10",
        "minimum": "1",
        "maximum": "100",
        "step": "1",
        "kind": "fixed",
        "buy": "70000",
    },
    "market/new-group": {"code": "retail"},
    "market/set-rate?instrument=SPOT": {"bid": "2000", "ask": "2001"},
    "market/new-duty": {"name": "customs", "rupees": "200"},
    "market/hours": {"kind": "always"},
    "market/venue": {"mode": "fill"},
    "accounts/create": {"login_id": "usher", "group": "retail", "gold": "5", "silver": "6", "active": "yes"},
}
"""What somebody does at the console about each of them."""


@pytest.fixture
def at(console: ConsoleProcess, dealing: Dealing, node: Node) -> Iterator[ConsoleClient]:
    desk = dealing.desk
    desk.do("PUT", "/rates/SPOT", {"bid": "2000", "ask": "2001"})
    desk.do("PUT", "/duties/customs", [{"from": "2020-01-01", "rupees": "100"}])
    desk.do("PATCH", "/hedge", {"mode": "fill"})
    key_id = desk.key("client")["key_id"]
    for statement in SPOILED.values():
        store_says(node, statement.replace("TAG", dealing.office.broker).replace("KEY_ID", key_id))
    with console_client(console, dealing.office) as at:
        yield at


def words(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def unreadable(dealing: Dealing, path: str) -> list[dict[str, Any]]:
    found = dealing.desk.do("GET", path)
    return [each for each in found.get("items", [found]) if "unreadable" in each]


def test_the_overview_tells_what_of_the_market_cannot_be_read(at: ConsoleClient, dealing: Dealing) -> None:
    broker = dealing.office.broker

    def told() -> bool:
        shown = words(at.see("overview"))
        names = ("symbol GOLD", "group retail", "rate SPOT", "duty customs", f"broker {broker}")
        return all(name in shown for name in names) and "7 not traded" in shown

    until(told, within_s=15)


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_of_the_market_tells_what_to_do(at: ConsoleClient, tab: str) -> None:
    shown = words(at.see(f"market/{tab}"))
    assert "Cannot be read" in shown
    assert TABS[tab] in shown


def test_other_pages_are_there(at: ConsoleClient) -> None:
    for path in ("orders", "audit"):
        at.see(path)


def test_an_account_tells_what_to_do(at: ConsoleClient) -> None:
    shown = words(at.see("accounts"))
    assert "account usher" in shown
    assert "POST /accounts with this login_id, or New account." in shown
    answer = at.client.get("/accounts/usher")
    assert answer.status_code == httpx.codes.CONFLICT
    assert "POST /accounts with this login_id" in answer.text


def test_a_key_is_shown_and_revoked(at: ConsoleClient, dealing: Dealing) -> None:
    assert "cannot be read" in words(at.see("accounts/client"))
    (key,) = unreadable(dealing, "/accounts/client/keys")
    told = at.do(f"accounts/revoke-key?key={key['key_id']}")
    assert "is revoked" in told["done"]
    assert unreadable(dealing, "/accounts/client/keys") == []


def test_everything_is_replaced_at_the_console(at: ConsoleClient, dealing: Dealing) -> None:
    for action, typed in REPAIRS.items():
        at.do(action, **typed)
    for path in ("/symbols", "/groups", "/rates", "/duties", "/accounts", "/switches", "/hedge"):
        assert unreadable(dealing, path) == [], path
    made = dealing.desk.do("GET", "/accounts/usher")
    assert made["allocation"] == {"gold": "5.0000", "silver": "6.0000"}
    trail = dealing.desk.do("GET", f"/audit?limit={len(REPAIRS)}")["items"]
    before = {entry["action"]: entry["before"] for entry in trail}
    assert before["put_symbol"]["unreadable"]
    assert before["create_account"]["unreadable"]
