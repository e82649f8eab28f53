"""The checker sees what it is there for: each rule broken once, in a copy of what a real node left."""

import shutil
import sqlite3
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest

from tests.support.hedge_book_check import check_hedge_books
from tests.support.node import running
from tests.support.production_invariants import Row, Rows, place, problems, production

from .fixtures import Deployment

Break = Callable[[Rows], object]


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Deployment, Rows]:
    deployment = Deployment(tmp_path_factory.mktemp("checker"), {})
    with running(deployment.folder, **deployment.settings) as node:
        deployment.set_up(node, ["filling", "refusing", "holding"])
        deployment.wishes(5)
        deployment.learn_all(node)
        return deployment, deployment.check()


def one(tables: Rows, status: str, **fields: object) -> Row:
    return next(
        order
        for order in production(tables)
        if order["status"] == status and all(order[name] == value for name, value in fields.items())
    )


def of(tables: Rows, table: str, order: Row) -> Row:
    return next(row for row in tables[table] if place(row) == place(order))


def count(tables: Rows, orders: int) -> Row:
    kind = {"symbol_code": "GOLD", "trade_type": "buy", "status": "open"}
    return {"book_id": tables["books"][-1]["id"], "level": 0, "block": 0, **kind, "orders": orders}


def at_venue(tables: Rows, order: Row) -> Row:
    return next(row for row in tables["venue_orders"] if row["order_id"] == order["id"])


def drop(tables: Rows, table: str, row: Row) -> None:
    tables[table].remove(row)


BREAKS: dict[str, Break] = {
    "a key twice": lambda t: t["orders"].append({**one(t, "open"), "ordinal": 99}),
    "a net moved": lambda t: t["books"][-1].update(gold_net_e4=123),
    "a weight moved": lambda t: t["open_weights"][0].update(buy_e4=123),
    "a weight lost": lambda t: t["open_weights"].clear(),
    "a count that no block has": lambda t: t["block_counts"].append(count(t, 123)),
    "a count below zero": lambda t: t["block_counts"].append(count(t, -1)),
    "summed beyond its orders": lambda t: t["books"][-1].update(unsummed_from=1_000),
    "a pending order with a deal number": lambda t: one(t, "pending").update(deal_no=1),
    "a rejected order with a deal number": lambda t: one(t, "rejected").update(deal_no=1),
    "a deal without a number": lambda t: one(t, "open").update(deal_no=None),
    "a deal number twice": lambda t: [order.update(deal_no=1) for order in t["orders"] if order["deal_no"]],
    "a deal number not given yet": lambda t: one(t, "open").update(deal_no=10_000),
    "a pending order without a request": lambda t: drop(
        t, "hedge_requests", of(t, "hedge_requests", one(t, "pending"))
    ),
    "a request without an order": lambda t: t["hedge_requests"].append(
        {**t["hedge_requests"][0], "ordinal": 999}
    ),
    "a deal whose request waits": lambda t: of(t, "hedge_requests", one(t, "open")).update(
        state="waiting", outcome=None
    ),
    "a pending order whose request is answered": lambda t: of(t, "hedge_requests", one(t, "pending")).update(
        state="answered", outcome="confirmed"
    ),
    "a break": lambda t: of(t, "hedge_requests", one(t, "open")).update(state="broken"),
    "a deal that was not executed": lambda t: drop(t, "venue_orders", at_venue(t, one(t, "open"))),
    "a deal that the venue refused": lambda t: at_venue(t, one(t, "open")).update(outcome="refused"),
    "a rejection that the venue filled": lambda t: at_venue(t, one(t, "rejected")).update(
        outcome="confirmed"
    ),
    "another execution": lambda t: at_venue(t, one(t, "open")).update(execution_id="another"),
    "an execution of no order": lambda t: t["venue_orders"].append(
        {**t["venue_orders"][0], "order_id": "none", "execution_id": "own"}
    ),
    "an execution of a test order": lambda t: t["venue_orders"].append(
        {**t["venue_orders"][0], "order_id": one_test(t)["id"], "execution_id": "own"}
    ),
    "a request for a test order": lambda t: t["hedge_requests"].append(
        {**t["hedge_requests"][0], "book_id": one_test(t)["book_id"], "ordinal": one_test(t)["ordinal"]}
    ),
    "a life that skips": lambda t: of(t, "order_events", one(t, "open")).update(status="closed"),
    "a life of a pending order": lambda t: t["order_events"].append(
        {**t["order_events"][0], **dict(zip(("book_id", "ordinal"), place(one(t, "pending")), strict=True))}
    ),
    "a change without a life": lambda t: drop(t, "order_events", of(t, "order_events", one(t, "rejected"))),
    "a stock moved": lambda t: t["stocks"][0].update(weight_e4=t["stocks"][0]["weight_e4"] + 1),
    "a stock not given back": lambda t: [
        row.update(took_stock=1 - row["took_stock"]) for row in t["hedge_requests"]
    ],
    "a poor client over its limit": lambda t: [
        book.update(gold_limit_e4=0, silver_limit_e4=0) for book in t["books"]
    ],
}


def one_test(tables: Rows) -> Row:
    return next(order for order in tables["orders"] if order["status"] == "filled")


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_rule_is_seen(left: tuple[Deployment, Rows], name: str) -> None:
    deployment, tables = left
    changed = deepcopy(tables)
    BREAKS[name](changed)
    assert problems(changed, stocks_e4=deployment.stocks_e4)


def test_an_order_that_waits_or_was_sent_twice_is_seen_where_it_must_not_be(
    left: tuple[Deployment, Rows],
) -> None:
    deployment, tables = left
    assert not problems(tables, stocks_e4=deployment.stocks_e4, submitted_once=True)
    assert problems(tables, settled=True)
    changed = deepcopy(tables)
    changed["venue_orders"][0]["submissions"] = 2
    assert not problems(changed)
    assert problems(changed, submitted_once=True)


def test_an_execution_of_no_order_is_right_where_the_desk_is_shown_it(left: tuple[Deployment, Rows]) -> None:
    _, tables = left
    changed = deepcopy(tables)
    stray = {**at_venue(changed, one(changed, "open")), "order_id": "none", "execution_id": "own"}
    changed["venue_orders"].append(stray)
    assert any("own" in each for each in problems(changed, settled=True))
    changed["unmatched_executions"].append({"order_id": "none", "execution_id": "own"})
    assert not problems(changed)
    assert not any("own" in each for each in problems(changed, settled=True))


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        ("UPDATE book_positions SET client_mg = client_mg + 1", "mg of clients by orders"),
        ("UPDATE book_entries SET cover_mg = 0 WHERE kind = 'deal'", "H7"),
    ],
    ids=["position", "limit"],
)
def test_a_lie_in_a_hedge_book_is_found(
    left: tuple[Deployment, Rows], tmp_path: Path, lie: str, words: str
) -> None:
    """What it can find is shown by `tests.contract.test_book_history`."""
    store = tmp_path / "bullion.db"
    shutil.copy(left[0].store, store)
    check_hedge_books(store)
    with sqlite3.connect(store) as copy:
        assert copy.execute(lie).rowcount > 0
    with pytest.raises(AssertionError, match=words):
        check_hedge_books(store)
