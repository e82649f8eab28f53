"""Executions that no order of ours accounts for are breaks, however late the venue makes them."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.held_venue import HELD
from tests.support.node import Node, running, start, until
from tests.support.production import (
    PATIENCE_S,
    LiveMarket,
    execute_behind_its_back,
    opened,
    pending,
    store_says,
)
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

on_both = pytest.mark.parametrize("name", STACKS)
if SCALE == 1:  # What differs between the stores is told by the tests of the store's contract.
    pytestmark = pytest.mark.stacks_in_turn


@pytest.fixture
def node(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Node]:
    settings = {"BULLION_PRODUCTION": "on", "LATE_S": "3", **stack(name, request)}
    with running(tmp_path, "tests.support.held_venue", **settings) as node:
        yield node


@pytest.fixture
def market(node: Node) -> Iterator[LiveMarket]:
    with LiveMarket.open(node) as market:
        yield market


def breaks(market: LiveMarket) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = market.desk.do("GET", "/hedge/breaks")["items"]
    return found


def gold(market: LiveMarket) -> dict[str, Any]:
    exposures = market.desk.do("GET", "/hedge/exposure")["items"]
    (found,) = (each for each in exposures if each["metal"] == "gold")
    return {name: found[name] for name in ("net", "hedged", "unhedged", "breaks")}


def broken_metric(market: LiveMarket) -> str:
    lines = market.desk.get(f"{market.node.desk_url}/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith("bullion_hedges_broken "))
    return line.split()[1]


def request_state(market: LiveMarket, order_id: str) -> str:
    ((state,),) = store_says(market.node, f"SELECT state FROM hedge_requests WHERE order_id = '{order_id}'")
    return state


def resolve(market: LiveMarket, break_id: str) -> dict[str, Any]:
    done: dict[str, Any] = market.desk.do("POST", f"/hedge/breaks/{break_id}/resolve", {"note": "sold back"})
    return done


def cursor(market: LiveMarket) -> int:
    """How many executions were compared so far."""
    found = store_says(market.node, f"SELECT position FROM execution_cursors WHERE broker = '{market.tag}'")
    return int(found[0][0]) if found else 0


FLAT = {"net": "0.0000", "hedged": "0.0000", "unhedged": "0.0000", "breaks": 0}


@on_both
def test_a_fill_of_an_order_that_is_no_longer_asked_for_is_a_break(market: LiveMarket) -> None:
    trader = market.trader()
    held = market.node.folder / HELD
    held.touch()
    order = pending(trader.place())
    market.act(order["id"], "delete")
    until(lambda: request_state(market, order["id"]) == "withdrawn", within_s=PATIENCE_S)
    assert gold(market) == FLAT
    held.unlink()
    until(lambda: len(market.executions()) == 1, within_s=PATIENCE_S)
    until(lambda: len(breaks(market)) == 1, within_s=PATIENCE_S)
    (broken,) = breaks(market)
    (execution,) = market.executions()
    assert (broken["order_id"], broken["execution_id"]) == (order["id"], execution["execution_id"])
    assert (broken["status"], broken["outcome"]) == ("deleted", "confirmed")
    assert gold(market) == {"net": "0.0000", "hedged": "1.0000", "unhedged": "-1.0000", "breaks": 1}
    until(lambda: float(broken_metric(market)) == 1, within_s=PATIENCE_S)
    assert trader.read(order["id"])["status"] == "deleted"
    resolve(market, order["id"])
    assert (breaks(market), gold(market)) == ([], FLAT)


@on_both
def test_a_resolved_break_stays_so_when_its_execution_is_seen_again(market: LiveMarket) -> None:
    """By another node that starts where the killed one had not yet noted how far it was."""
    market.trader().place()
    execute_behind_its_back(market.node, market.tag, "STRAY-1")
    until(lambda: len(breaks(market)) == 1, within_s=PATIENCE_S)
    resolve(market, "STRAY-1")
    node = market.node
    until(lambda: cursor(market) > 0, within_s=PATIENCE_S)
    before = cursor(market)
    node.stop(signal.SIGKILL)
    store_says(node, f"DELETE FROM execution_cursors WHERE broker = '{market.tag}'")
    again = start(node.folder, **{**node.settings, "BULLION_PORT": "0", "BULLION_DESK_PORT": "0"})
    try:
        with market.at(again) as later:
            until(lambda: cursor(later) == before, within_s=PATIENCE_S)
            assert breaks(later) == []
            assert gold(later) == {**FLAT, "net": "1.0000", "hedged": "1.0000"}
    finally:
        again.stop()


@on_both
def test_an_execution_of_no_order_of_ours_is_a_break(market: LiveMarket) -> None:
    execute_behind_its_back(market.node, market.tag, "STRAY-1", trade_type="sell")
    execute_behind_its_back(market.node, market.tag, "STRAY-2", instrument="UNHEARD-OF")
    until(lambda: len(breaks(market)) == 2, within_s=PATIENCE_S)
    assert {each["reason"] for each in breaks(market)} == {"unknown_order"}
    assert gold(market) == {"net": "0.0000", "hedged": "-3.0000", "unhedged": "3.0000", "breaks": 1}
    until(lambda: float(broken_metric(market)) == 2, within_s=PATIENCE_S)
    for each in breaks(market):
        resolve(market, each["break_id"])
    assert (breaks(market), gold(market)) == ([], FLAT)


@on_both
def test_a_second_execution_and_another_weight_are_breaks(market: LiveMarket) -> None:
    trader = market.trader()
    twice, larger, _ = (opened(trader.place()) for _ in range(3))
    until(lambda: cursor(market) == 3, within_s=PATIENCE_S)
    for changed, order in (("execution_id = 'SECOND'", twice), ("quantity_e4 = 50000", larger)):
        anew = f"SET {changed}, execution_no = NULL WHERE order_id = '{order['id']}'"
        store_says(market.node, f"UPDATE venue_orders {anew} RETURNING 1")
    until(lambda: len(breaks(market)) == 2, within_s=PATIENCE_S)
    found = {each["reason"]: each for each in breaks(market)}
    assert found.keys() == {"second_execution", "differs"}
    assert (found["second_execution"]["order_id"], found["second_execution"]["break_id"]) == (
        twice["id"],
        "SECOND",
    )
    assert (found["differs"]["order_id"], found["differs"]["quantity"]) == (larger["id"], "5.0000")
    assert gold(market) == {"net": "3.0000", "hedged": "8.0000", "unhedged": "-5.0000", "breaks": 2}
    assert {order["status"] for order in trader.get("/api/trading/v1/orders")["items"]} == {"open"}
