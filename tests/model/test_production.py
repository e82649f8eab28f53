"""Both environments on two nodes against a model: all channels, the venue's moods, the desk, lost calls.

Without sockets, so that time passes when the machine says so. After every step the tables must be sound, and
hold what the model says. `TEST_SCALE` multiplies the number of examples, for a campaign.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bullion.accounts.account import Account as ClientAccount
from bullion.accounts.broker import Broker as Tenant
from bullion.accounts.switches import Switches
from bullion.booking import hedging
from bullion.booking.attempt import Booked, Outcome
from bullion.environment import Environment
from bullion.hedge.simulated import Mode
from bullion.hedge.venue import VenueUnreachable
from bullion.metals.metal import Metal
from bullion.metals.pricing import Fixed
from bullion.orders import life
from bullion.orders.listing import ListQuery
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Event
from bullion.records.clients import Allocation
from bullion.records.hedge_book import BookPosition
from bullion.store import order_changes
from bullion.store.engine import Engine, Transaction
from bullion.store.order_reader import StoredOrders
from bullion.store.postgres import PostgresEngine
from bullion.store.records import Records, RecordStore
from bullion.store.sqlite import SqliteEngine
from tests.booking.fixtures import GOLD, GROUP, NOW_US
from tests.booking.small_blocks import keep_small_blocks
from tests.support.hedge_book_check import hedge_book_problems
from tests.support.scale import SCALE
from tests.support.servers import Postgres
from tests.support.venues import behave

from . import invariants, production_invariants
from .production_model import Account, Body, Broker, Order, Symbol
from .production_node import (
    DIED,
    HELD,
    LOST_ON_THE_WAY,
    LOST_ON_THE_WAY_BACK,
    NOT_WRITTEN,
    ProductionNode,
    told,
)

EXAMPLES, STEPS = (8 if SCALE == 1 else 12 * SCALE), 30
PATIENCE_US = 10_000_000
"""Longer than a lease, and than every pause between questions."""
EXAMPLE_US = 3_600_000_000
TOLERANCE_PERCENT = 1
SYMBOLS = {
    symbol.code: symbol
    for symbol in (
        Symbol("GOLD", "gold", 100_000, 7_000_013, 6_990_007),
        Symbol("COIN", "gold", 70_000, 7_100_000, 7_000_000, stock_kept=True),
        Symbol("SILVER", "silver", 10_000, 9_000_000, 8_900_000),
    )
}
LIMITS = [0, 10_000, 75_000, 1_000_000, 10**9]
STOCKS = [15_000, 100_000, 0]
_numbers = count(1)

T = TypeVar("T")

MET: Counter[str] = Counter()
"""What was told, and which states were seen."""
EVERY_KIND = {
    "booked",
    "replayed",
    "idempotency_key_reused",
    "price_moved",
    "price_moved again",
    "limit_exceeded",
    "out_of_stock",
    "unknown_symbol",
    "production_prerequisites_unmet",
    *(f"is {status}" for status in ("pending", "open", "closing", "closed", "rejected", "deleted")),
    *(f"request {state}" for state in ("waiting", "answered", "withdrawn", "broken")),
    *(f"late {outcome}" for outcome in ("confirmed", "refused", "waiting")),
    "hidden",
}

BODIES = st.builds(
    Body,
    st.sampled_from(["GOLD", "GOLD", "COIN", "COIN", "SILVER", "NONE"]),
    st.sampled_from(["buy", "buy", "sell"]),
    st.sampled_from([1, 7, 5_000, 10_000, 33_333, 75_000, 200_000]),
    st.sampled_from([None, None, None, None, 7_000_000, 5_000_000]),
)
WHO = NODE = st.integers(0, 1)
SOURCES = st.sampled_from(["api", "api", "web"])
LOST = st.sampled_from([None, None, None, LOST_ON_THE_WAY, LOST_ON_THE_WAY_BACK, NOT_WRITTEN, DIED, HELD])
PICK = st.integers(0, 10**6)


@dataclass
class Deployment:
    """A store with two nodes' engines on it, in one loop."""

    runner: asyncio.Runner
    engines: list[Engine]
    store: str | Path
    link: "asyncpg.Connection[Any] | None" = None

    def run(self, work: Awaitable[T]) -> T:
        async def body() -> T:
            return await work

        return self.runner.run(body())

    def read(self, tables: dict[str, str]) -> invariants.Rows:
        if isinstance(self.store, Path):
            return invariants._read_sqlite(self.store, tables)
        return self.run(self._read(tables))

    async def _read(self, tables: dict[str, str]) -> invariants.Rows:
        assert self.link is not None
        async with self.link.transaction(isolation="repeatable_read", readonly=True):
            return {name: [dict(row) for row in await self.link.fetch(sql)] for name, sql in tables.items()}


class Machine(RuleBasedStateMachine):
    deployment: Deployment

    @initialize(gold=st.sampled_from(LIMITS[2:]), coins=st.sampled_from(STOCKS))
    def open(self, gold: int, coins: int) -> None:
        self.broker = f"b{next(_numbers)}"
        limits = {"gold": gold, "silver": 100_000}
        self.model = Broker(
            SYMBOLS, TOLERANCE_PERCENT, [Account(dict(limits)) for _ in range(2)], {"COIN": coins}
        )
        self.stocks = {(self.broker, "COIN"): coins}
        self.test_orders = [0, 0]
        self.sent: list[tuple[int, str, str, Body]] = []
        self.dealt: dict[str, int] = {}
        self.deployment.run(self._set_up(limits, coins))

    async def _set_up(self, limits: dict[str, int], coins: int) -> None:
        async def body(records: Records) -> list[int]:
            await records.put_broker(Tenant(self.broker, self.broker))
            await records.put_group(replace(GROUP, broker=self.broker))
            await records.put_switches(self._switches(paused=False))
            for symbol in SYMBOLS.values():
                held = replace(
                    GOLD,
                    broker=self.broker,
                    code=symbol.code,
                    metal=Metal(symbol.metal),
                    quoted_weight_e4=symbol.quoted_weight_e4,
                    pricing=Fixed(symbol.buy_paise, symbol.sell_paise),
                    stock_kept=symbol.stock_kept,
                )
                await records.put_symbol(held)
            await records.put_stock(self.broker, "COIN", coins)
            for metal in Metal:
                await records.open_book(BookPosition(self.broker, metal, "each", 0, 0))
            ids = []
            for login in ("one", "two"):
                new = ClientAccount(
                    0,
                    self.broker,
                    login,
                    None,
                    "retail",
                    active=True,
                    api_access=True,
                    production_trading=True,
                )
                await records.insert_account(new, Allocation(limits["gold"], limits["silver"]))
                client = await records.client(self.broker, login)
                assert client is not None
                ids.append(client.account.id)
            return ids

        self.ids = await RecordStore(self.deployment.engines[0]).write("set_up", body)
        self.nodes = [
            ProductionNode(engine, f"{self.broker} {number}")
            for number, engine in enumerate(self.deployment.engines)
        ]
        # Each example at a time of its own: chance is the same in all of them, and ids are made of both.
        self._time_passes(next(_numbers) * EXAMPLE_US)
        self.readers = [_reader(engine) for engine in self.deployment.engines]
        await self._refresh()

    def _switches(self, *, paused: bool) -> Switches:
        tolerance = TOLERANCE_PERCENT * 10_000
        return Switches(self.broker, production=True, paused=paused, price_tolerance_percent_e4=tolerance)

    async def _refresh(self) -> None:
        for node in self.nodes:
            await node.catalogue_follower.catch_up()
            while node.clock.clients.fill_after is not None:  # A campaign makes more accounts than one page.
                await node.catalogue_follower.catch_up()

    def teardown(self) -> None:
        """With all faults gone, every order that waits comes to its end."""
        if hasattr(self, "nodes"):
            self.the_venue_is("fill")
            for order in self.model.orders:
                if order.held:
                    self._arrive(order, 0)
            self.time_passes_and_orders_are_settled(0, together=True)
            self.executions_are_reconciled(0, together=True)
            assert not [order for order in self.model.orders if order.status == "pending"]
            self.tables_are_sound()

    # --- Orders ---------------------------------------------------------------------------------------

    @rule(who=WHO, node=NODE, source=SOURCES, body=BODIES, lose=LOST)
    def place(self, who: int, node: int, source: str, body: Body, lose: str | None) -> None:
        key = f"k{len(self.sent)}"
        self.sent.append((who, source, key, body))
        self._place(who, node, source, key, body, lose)

    @precondition(lambda self: self.sent)
    @rule(pick=PICK, node=NODE)
    def again(self, pick: int, node: int) -> None:
        who, source, key, body = self.sent[pick % len(self.sent)]
        self._place(who, node, source, key, body)

    @precondition(lambda self: self.sent)
    @rule(pick=PICK, node=NODE, body=BODIES)
    def the_key_of_another_order(self, pick: int, node: int, body: Body) -> None:
        who, source, key, _ = self.sent[pick % len(self.sent)]
        self._place(who, node, source, key, body)

    @precondition(lambda self: self.sent)
    @rule(pick=PICK, node=NODE)
    def the_key_of_another_channel(self, pick: int, node: int) -> None:
        who, source, key, body = self.sent[pick % len(self.sent)]
        other = "web" if source == "api" else "api"
        self.sent.append((who, other, key, body))
        self._place(who, node, other, key, body)

    def _place(self, who: int, node: int, source: str, key: str, body: Body, lose: str | None = None) -> None:
        outcome = self.deployment.run(self.nodes[node].place(self.ids[who], source, key, _asked(body), lose))
        word, order = self.model.place(who, source, key, body)
        if word == "booked" and order is not None:
            arrived = lose not in (LOST_ON_THE_WAY, DIED, HELD)
            self.model.sent(order, arrived=arrived, heard=lose is None)
            order.held = lose == HELD
        self._check(outcome, word, order)

    def _time_passes(self, by_us: int) -> None:
        for node in self.nodes:
            node.clock.at_us += by_us

    def _check(self, outcome: Outcome, word: str, order: Order | None) -> None:
        assert told(outcome) == word, outcome
        MET[word] += 1
        if order is not None:
            assert isinstance(outcome, Booked)
            order.id = order.id or outcome.order.id
            assert (outcome.order.id, outcome.order.status) == (order.id, order.status)

    @rule(who=WHO, source=SOURCES, body=BODIES, times=st.integers(2, 6))
    def one_key_on_both_nodes_at_once(self, who: int, source: str, body: Body, times: int) -> None:
        key = f"k{len(self.sent)}"
        self.sent.append((who, source, key, body))

        async def all_at_once() -> list[Outcome]:
            calls = (
                self.nodes[number % 2].place(self.ids[who], source, key, _asked(body))
                for number in range(times)
            )
            return await asyncio.gather(*calls)

        outcomes = self.deployment.run(all_at_once())
        word, order = self.model.place(who, source, key, body)
        if order is not None:
            self.model.sent(order)
            (new,) = [each for each in outcomes if told(each) == "booked"]
            assert isinstance(new, Booked)
            order.id = new.order.id
            assert new.order.status == order.status
            assert all(isinstance(each, Booked) and each.order.id == order.id for each in outcomes)
        elif word == "price_moved":
            assert Counter(map(told, outcomes)) == {word: 1, "price_moved again": times - 1}
        else:
            assert set(map(told, outcomes)) == {word}
        MET[word] += 1

    @rule(who=WHO, node=NODE, body=BODIES, mode=st.sampled_from(["fill", "refuse", "hold"]))
    def one_that_is_deleted_before_the_venue_was_heard(
        self, who: int, node: int, body: Body, mode: str
    ) -> None:
        """Whether the venue has it, and what it makes of it, is found out in a later turn."""
        self.the_venue_is(mode)
        before = len(self.model.orders)
        self.place(who, node, "api", body, LOST_ON_THE_WAY_BACK if before % 2 else DIED)
        if len(self.model.orders) > before:
            order = self.model.accounts[who].orders[-1]
            self.model.change(order, "delete", 1)
            assert self.deployment.run(self._change(node, order, Event.DELETE, 1))

    @rule(who=WHO, node=NODE, side=st.sampled_from(["buy", "sell"]), off_by=st.sampled_from([0, 1]))
    def all_that_the_allocation_has_left_and_one_grain_more(
        self, who: int, node: int, side: str, off_by: int
    ) -> None:
        account = self.model.accounts[who]
        net = self.model.net_e4(account, "gold") * (1 if side == "buy" else -1)
        self.place(
            who, node, "api", Body("GOLD", side, max(1, account.limits_e4["gold"] - net + off_by)), None
        )

    @rule(who=WHO, node=NODE, off_by=st.sampled_from([0, 1]))
    def all_that_is_in_stock_and_one_grain_more(self, who: int, node: int, off_by: int) -> None:
        self.place(who, node, "api", Body("COIN", "buy", max(1, self.model.stock_e4["COIN"] + off_by)), None)

    @rule(who=WHO, node=NODE, body=BODIES)
    def a_moved_price_twice(self, who: int, node: int, body: Body) -> None:
        self.place(who, node, "api", replace(body, expected_paise=1), None)
        self.again(len(self.sent) - 1, 1 - node)

    @rule(sides=st.tuples(*[st.sampled_from(["buy", "sell"])] * 2), quantity=st.sampled_from([1, 5_000]))
    def both_accounts_at_once(self, sides: tuple[str, str], quantity: int) -> None:
        """Books do not wait for each other, and a batch of two is recorded as well as one."""
        bodies = [Body("GOLD", side, quantity) for side in sides]
        key = f"k{len(self.sent)}"
        self.sent += [(who, "api", key, body) for who, body in enumerate(bodies)]

        async def all_at_once() -> list[Outcome]:
            calls = (
                self.nodes[0].place(self.ids[who], "api", key, _asked(body))
                for who, body in enumerate(bodies)
            )
            return await asyncio.gather(*calls)

        for who, outcome in enumerate(self.deployment.run(all_at_once())):
            word, order = self.model.place(who, "api", key, bodies[who])
            if order is not None:
                self.model.sent(order)
            self._check(outcome, word, order)

    @rule(who=WHO, node=NODE, body=BODIES)
    def a_test_order(self, who: int, node: int, body: Body) -> None:
        """It meets neither venue nor stock, and touches nothing of production: the tables are compared."""
        asked = _asked(replace(body, symbol="SILVER", quantity_e4=1, side="buy", expected_paise=None))
        key = f"test {next(_numbers)}"
        outcome = self.deployment.run(self.nodes[node].place_test(self.ids[who], key, asked))
        fits = self.test_orders[who] < self.model.accounts[who].limits_e4["silver"]
        assert told(outcome) == ("booked" if fits else "limit_exceeded")
        self.test_orders[who] += fits

    # --- The venue and time ---------------------------------------------------------------------------

    @rule(mode=st.sampled_from(["fill", "fill", "refuse", "hold", "down"]))
    def the_venue_is(self, mode: str) -> None:
        self.model.mode = mode
        self.deployment.run(behave(self.deployment.engines[0], Mode(mode), broker=self.broker))

    @rule(node=NODE, together=st.booleans())
    def time_passes_and_orders_are_settled(self, node: int, together: bool) -> None:
        self._time_passes(PATIENCE_US)

        async def settle() -> None:
            if together:
                await asyncio.gather(*(each.hedging.settle() for each in self.nodes))
            else:
                await self.nodes[node].hedging.settle()

        self.deployment.run(settle())
        self.model.settle()

    @precondition(lambda self: any(order.held for order in self.model.orders))
    @rule(pick=PICK, node=NODE)
    def a_submission_that_was_held_arrives(self, pick: int, node: int) -> None:
        held = [order for order in self.model.orders if order.held]
        self._arrive(held[pick % len(held)], node)

    def _arrive(self, order: Order, node: int) -> None:
        venue = self.nodes[node].venue
        (request,) = [each for each in venue.held if each.order_id == order.id]
        if self.model.arrive(order):
            self.deployment.run(venue.release(request))

    @rule(node=NODE, together=st.booleans())
    def executions_are_reconciled(self, node: int, together: bool) -> None:
        async def reconcile() -> None:
            nodes = self.nodes if together else [self.nodes[node]]
            with suppress(VenueUnreachable):
                await asyncio.gather(*(each.reconciliation.reconcile(self.broker) for each in nodes))

        self.deployment.run(reconcile())
        self.model.reconcile()
        if self.model.mode == "down":
            return
        tables = self._read()
        wrong = production_invariants.problems(tables, by_venue=True, reconciled=True)
        assert not wrong, "\n".join(wrong)
        records = RecordStore(self.deployment.engines[node])
        exposure = self.deployment.run(records.read("exposure", lambda each: each.exposure(self.broker)))
        for metal in Metal:
            assert exposure[metal].hedged_e4 == self.model.hedged_e4(metal.value)

    @rule(who=WHO, node=NODE, body=BODIES, late=st.sampled_from(["fill", "fill", "refuse", "hold"]))
    def one_that_is_given_up_before_it_arrives(self, who: int, node: int, body: Body, late: str) -> None:
        """Deleted, asked for in vain, withdrawn; then its submission arrives at the venue."""
        self.the_venue_is("fill")
        before = len(self.model.orders)
        self.place(who, node, "api", body, HELD)
        if len(self.model.orders) == before:
            return
        order = self.model.accounts[who].orders[-1]
        self.model.change(order, "delete", 1)
        assert self.deployment.run(self._change(node, order, Event.DELETE, 1))
        self.time_passes_and_orders_are_settled(node, together=False)
        assert order.request == "withdrawn"
        self.the_venue_is(late)
        self._arrive(order, 1 - node)
        MET[f"late {order.at_venue}"] += 1

    # --- The desk -------------------------------------------------------------------------------------

    @precondition(lambda self: any(order.request == "broken" for order in self.model.orders))
    @rule(pick=PICK, node=NODE)
    def the_desk_resolves_a_break(self, pick: int, node: int) -> None:
        broken = [order for order in self.model.orders if order.request == "broken"]
        order = broken[pick % len(broken)]
        order.request = "answered"

        async def work(records: Records) -> None:
            found = await records.order(self.broker, order.id)
            assert found is not None
            assert await records.resolve_break(found.order, "dealer", "squared")

        records = RecordStore(self.deployment.engines[node])
        self.deployment.run(records.write("resolve", work, catalogue=False))

    @precondition(lambda self: self.model.orders)
    @rule(
        pick=PICK,
        node=NODE,
        event=st.sampled_from(["close", "complete", "delete"]),
        close=st.sampled_from([1, 6_990_007, 7_000_013, 7_000_014, 9_999_999]),
    )
    def the_desk_deals_with_an_order(self, pick: int, node: int, event: str, close: int) -> None:
        order = self.model.orders[pick % len(self.model.orders)]
        allowed = self.model.change(order, event, close)
        assert self.deployment.run(self._change(node, order, Event(event), close)) is allowed

    @precondition(lambda self: any(order.status == "open" for order in self.model.orders))
    @rule(pick=PICK, node=NODE, close=st.sampled_from([1, 7_000_014]))
    def the_desk_closes_an_order_for_good(self, pick: int, node: int, close: int) -> None:
        opened = [order for order in self.model.orders if order.status == "open"]
        order = opened[pick % len(opened)]
        for event in ("close", "complete"):
            assert self.model.change(order, event, close)
            assert self.deployment.run(self._change(node, order, Event(event), close))
            self.tables_are_sound()  # Also in between, while it is closing.

    async def _change(self, node: int, order: Order, event: Event, close: int) -> bool:
        book = 2 * self.ids[order.account] + 1

        async def body(transaction: Transaction) -> None:
            held = await order_changes.lock(transaction, book, order.ordinal)
            assert held is not None
            price = close if event is Event.COMPLETE else None
            now = life.after(held, event, NOW_US, close_price_paise=price)
            await order_changes.write(transaction, held, now, NOW_US, "dealer")

        try:
            await self.deployment.engines[node].write("change", body)
        except life.NotAllowed:
            return False
        return True

    @rule(who=WHO, metal=st.sampled_from(["gold", "silver"]), limit=st.sampled_from(LIMITS))
    def the_desk_changes_a_limit(self, who: int, metal: str, limit: int) -> None:
        limits = self.model.accounts[who].limits_e4
        limits[metal] = limit
        allocation = Allocation(limits["gold"], limits["silver"])
        self._by_desk(lambda records: records.set_allocation(self.ids[who], allocation))

    @rule(stock=st.sampled_from(STOCKS))
    def the_desk_counts_its_stock_anew(self, stock: int) -> None:
        self.model.stock_e4["COIN"] = stock
        held = sum(
            order.body.quantity_e4
            for order in self.model.orders
            if order.took_stock and order.status in ("pending", "open", "closing")
        )
        self.stocks = {(self.broker, "COIN"): stock + held}
        self._by_desk(lambda records: records.put_stock(self.broker, "COIN", stock))

    @rule(paused=st.sampled_from([False, False, True]))
    def the_desk_pauses_production_or_goes_on(self, paused: bool) -> None:
        self.model.paused = paused
        self._by_desk(lambda records: records.put_switches(self._switches(paused=paused)))

    def _by_desk(self, work: Callable[[Records], Awaitable[None]]) -> None:
        """The nodes are not told: whoever places the next order finds out."""
        self.deployment.run(RecordStore(self.deployment.engines[0]).write("desk", work))

    # --- What must be true ----------------------------------------------------------------------------

    @rule(
        who=WHO,
        node=NODE,
        status=st.sampled_from(["pending", "open", "closing", "closed", "rejected", "deleted", "all", "all"]),
        symbol=st.sampled_from([None, None, "GOLD", "COIN", "NONE"]),
        side=st.sampled_from([None, None, "buy"]),
        page=st.tuples(st.sampled_from([1, 3, 200]), st.integers(0, 4)),
    )
    def a_list(
        self, who: int, node: int, status: str, symbol: str | None, side: str | None, page: tuple[int, int]
    ) -> None:
        limit, offset = page
        query = ListQuery(limit, offset, symbol, side, status=status)
        found, total = self.deployment.run(self.readers[node].page_orders(2 * self.ids[who] + 1, query))
        wanted = self.model.listed(self.model.accounts[who], status, symbol, side)
        assert total == len(wanted)
        assert [(order.id, order.status) for order in found] == [
            (order.id, order.status) for order in wanted[offset : offset + limit]
        ]

    @rule(who=WHO, node=NODE)
    def positions(self, who: int, node: int) -> None:
        account = self.model.accounts[who]
        book, weights = self.deployment.run(self.readers[node].book_with_weights(2 * self.ids[who] + 1))
        assert (book.gold.net_e4, book.silver.net_e4) == (
            self.model.net_e4(account, "gold"),
            self.model.net_e4(account, "silver"),
        )
        assert {each.symbol_code: (each.buy_e4, each.sell_e4) for each in weights} == (
            self.model.open_weights(account)
        )

    @invariant()
    def tables_are_sound(self) -> None:
        if not hasattr(self, "nodes"):
            return
        self._time_passes(1_000)
        tables = self._read()
        wrong = production_invariants.problems(tables, stocks_e4=self.stocks, by_venue=True)
        assert not wrong, "\n".join(wrong)
        (stock,) = tables["stocks"]
        assert stock["weight_e4"] == self.model.stock_e4["COIN"]
        rows = {(row["book_id"], row["ordinal"]): row for row in tables["orders"] if row["book_id"] % 2}
        requests = {row["order_id"]: row["state"] for row in tables["hedge_requests"]}
        at_venue = {row["order_id"]: row["outcome"] or "waiting" for row in tables["venue_orders"]}
        assert len(rows) == len(self.model.orders)
        for order in self.model.orders:
            row = rows[2 * self.ids[order.account] + 1, order.ordinal]
            wanted = self.model.row(order)
            assert {name: row[name] for name in wanted} == wanted
            assert (row["deal_no"] is not None) is order.dealt
            assert requests[order.id] == order.request
            assert at_venue.get(order.id) == order.at_venue
            MET[f"is {order.status}"] += 1
            MET[f"request {order.request}"] += 1
            MET["hidden"] += order.hidden
        self._deal_numbers_rise(tables)
        assert [sum(row["book_id"] == 2 * each for row in tables["orders"]) for each in self.ids] == (
            self.test_orders
        )

    def _deal_numbers_rise(self, tables: invariants.Rows) -> None:
        numbers = {row["id"]: row["deal_no"] for row in tables["orders"] if row["deal_no"] is not None}
        assert numbers.items() >= self.dealt.items(), "a deal number never changes"
        last = max(self.dealt.values(), default=0)
        assert all(number > last for order_id, number in numbers.items() if order_id not in self.dealt)
        self.dealt = numbers

    def _read(self) -> invariants.Rows:
        """What belongs to this example."""
        books = f"IN ({', '.join(str(2 * each + more) for each in self.ids for more in (0, 1))})"
        ids = f"IN ({', '.join(map(str, self.ids))})"
        own = f"broker = '{self.broker}'"
        where = {
            "books": f"id {books}",
            "accounts": f"id {ids}",
            "keys": f"account_id {ids}",
            **dict.fromkeys(("hedge_requests", "deals", "stocks", "venue_orders"), own),
            **dict.fromkeys(("unmatched_executions", "execution_cursors"), own),
            "block_levels": "size > 0",
        }
        return self.deployment.read(
            {
                name: f"SELECT * FROM {name} WHERE {where.get(name, f'book_id {books}')} ORDER BY 1, 2"
                for name in production_invariants.TABLES
            }
        )


def _asked(body: Body) -> PlaceOrder:
    expected = None
    if body.expected_paise is not None:
        expected = f"{body.expected_paise / 100:.2f}".rstrip("0").rstrip(".")
    return PlaceOrder(body.symbol, body.side, body.quantity_e4, expected, None)


def _reader(engine: Engine) -> StoredOrders:
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    return StoredOrders(engine)


@pytest.fixture(params=["sqlite", "postgres"])
def deployment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Deployment]:
    engines: list[Engine]
    store: str | Path
    if request.param == "sqlite":
        store = tmp_path / "bullion.db"
        engines = [SqliteEngine(store) for _ in range(2)]
    else:
        server: Postgres = request.getfixturevalue("postgres")
        store = server.new_database()
        engines = [PostgresEngine(store) for _ in range(2)]

    async def open_all() -> "asyncpg.Connection[Any] | None":
        for engine in engines:
            await engine.open()
        await engines[0].migrate()
        return await asyncpg.connect(store) if isinstance(store, str) else None

    async def close_all(link: "asyncpg.Connection[Any] | None") -> None:
        for engine in engines:
            await engine.close()
        if link is not None:
            await link.close()

    with asyncio.Runner() as runner:
        link = runner.run(open_all())
        yield Deployment(runner, engines, store, link)
        runner.run(close_all(link))


@pytest.mark.slow
def test_production_does_what_the_model_does(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    MET.clear()
    monkeypatch.setattr(hedging, "LATE_US", 0)  # Calls here are over when they are over.
    monkeypatch.setattr(hedging, "WAIT_S", 60.0)  # However busy the machine: time passes by the clock alone.

    # Blocks are filled by a few orders, so that what becomes of an order meets counts of it.
    deployment.run(keep_small_blocks(deployment.engines[0], monkeypatch, (2, 8, 32)))

    class OnThisStore(Machine):
        pass

    OnThisStore.deployment = deployment
    run_state_machine_as_test(
        OnThisStore,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=SCALE == 1,
            database=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    # Few examples may miss a kind or two, by chance; many must meet them all.
    missed = EVERY_KIND - set(+MET)
    assert len(missed) <= (2 if SCALE == 1 else 0), missed
    assert set(+MET) <= EVERY_KIND
    tables = asyncio.run(production_invariants.read(deployment.store))
    assert production_invariants.problems(tables, by_venue=True) == []
    assert deployment.run(hedge_book_problems(deployment.engines[0])) == []
    assert len(tables["orders"]) > EXAMPLES
    assert {row["environment"] for row in tables["books"]} == {each.value for each in Environment}
