"""No sequence of desk changes without a second word lets a client buy and sell at a profit at one moment.

The desk's own actions over a real store. Every change is tried without a confirmation; what the price guard
refuses must leave everything as it was.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from bullion.accounts.broker import Broker
from bullion.accounts.switches import Switches
from bullion.desk.actions import duties, groups, quotes, rates, switches, symbols, undo
from bullion.desk.bodies import DutyBody, GroupBody, MarginStepBody, RateBody, SwitchesBody, SymbolBody
from bullion.desk.conversion import Changes, convert
from bullion.desk.price_snapshot import PriceSnapshot, read_snapshot
from bullion.orders.offer import make_offer
from bullion.records.page import Page
from bullion.refusals.refusal import RefusalError
from bullion.store.sqlite import SqliteEngine
from tests.contract.desk_over import ADMIN, desk_over
from tests.support.migrated_store import copy_migrated
from tests.support.scale import SCALE

SYMBOLS, GROUPS, INSTRUMENTS = ("GOLD", "COIN"), ("retail", "trade"), ("SPOT", "RUPEE")
PREMIUMS = st.sampled_from(["0", "5", "-5", "25", "-25", None])
PRICES = st.sampled_from(["1000", "1010", "990", "1020", None])
LANDED = {
    "kind": "landed",
    "spot": "SPOT",
    "currency": "RUPEE",
    "premium_usd": "0",
    "interbank": "0",
    "conversion": "0.01",
    "duty": "customs",
    "margin": "0",
}
PRICINGS = st.one_of(
    st.sampled_from(INSTRUMENTS).map(lambda name: {"kind": "direct", "instrument": name}),
    st.just(LANDED),
    st.tuples(PRICES, PRICES)
    .filter(lambda pair: pair != (None, None))
    .map(lambda pair: {"kind": "fixed", "buy": pair[0], "sell": pair[1]}),
)
SIDES = st.sampled_from([["buy", "sell"], ["buy"], ["sell"]])
WEIGHTS = st.sampled_from(["1", "10"])


class Prices(RuleBasedStateMachine):
    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        path = self.folder / uuid4().hex / "bullion.db"
        copy_migrated(path)
        self._engine = SqliteEngine(path)
        self._desk = desk_over(self._engine)
        self._changes: list[int] = []
        self._runner.run(self._open())

    async def _open(self) -> None:
        await self._engine.open()
        await self._desk.store.write("broker", lambda records: records.put_broker(Broker("main", "Main")))
        terms = {"default_terms": {"buy_premium": "0", "sell_premium": "0"}}
        await groups.put_group(self._desk, ADMIN, GROUPS[0], convert(terms, GroupBody))

    @initialize(percent_e4=st.sampled_from([30_000, 1_000_000]))
    def begin_with_limit(self, percent_e4: int) -> None:
        """A wider limit is one that somebody confirmed before."""
        wide = Switches("main", price_move_percent_max_e4=percent_e4)
        self._runner.run(self._desk.store.write("switches", lambda records: records.put_switches(wide)))

    def teardown(self) -> None:
        self._runner.run(self._engine.close())
        self._runner.close()

    def _snapshot(self) -> PriceSnapshot:
        return self._runner.run(self._desk.store.read("all", lambda records: read_snapshot(records, "main")))

    def _try(self, change: Callable[[], Awaitable[Any]]) -> None:
        before, done = self._snapshot(), None
        with suppress(RefusalError):
            done = self._runner.run(_awaited(change))
        if done is None:
            after = self._snapshot()
            assert replace(after, now_us=before.now_us) == before
        elif "undo" in done:
            self._changes.append(done["undo"]["number"])

    @rule(code=st.sampled_from(GROUPS), buy=PREMIUMS, sell=PREMIUMS, own=st.sampled_from([None, *SYMBOLS]))
    def set_premiums(self, code: str, buy: str | None, sell: str | None, own: str | None) -> None:
        terms = {"buy_premium": buy, "sell_premium": sell}
        fields = {"default_terms": terms} if own is None else {"terms": {own: terms}}
        self._try(lambda: groups.put_group(self._desk, ADMIN, code, convert(fields, GroupBody)))

    @rule(
        code=st.sampled_from(GROUPS),
        symbol=st.sampled_from(SYMBOLS),
        side=st.sampled_from(["buy", "sell"]),
        by=st.sampled_from(["1", "-1", "5", "-5", "-25"]),
    )
    def step_margin(self, code: str, symbol: str, side: Any, by: str) -> None:
        body = MarginStepBody(symbol=symbol, side=side, by=by)
        self._try(lambda: groups.step_margin(self._desk, ADMIN, code, body))

    @rule(code=st.sampled_from(SYMBOLS), pricing=PRICINGS, sides=SIDES, weight=WEIGHTS)
    def set_symbol(self, code: str, pricing: Any, sides: list[str], weight: str) -> None:
        fields = {"metal": "gold", "quoted_weight": weight, "minimum": "1", "maximum": "10", "step": "1"}
        body = convert({**fields, "pricing": pricing, "sides": sides, "rate_age_s_max": None}, SymbolBody)
        self._try(lambda: symbols.put_symbol(self._desk, ADMIN, code, body))

    @rule(
        code=st.sampled_from(SYMBOLS),
        fields=st.one_of(
            PRICINGS.map(lambda pricing: {"pricing": pricing}),
            SIDES.map(lambda sides: {"sides": sides}),
            WEIGHTS.map(lambda weight: {"quoted_weight": weight}),
            st.booleans().map(lambda trading: {"trading": trading}),
        ),
    )
    def change_symbol(self, code: str, fields: Any) -> None:
        if code in self._snapshot().symbols:
            changes = Changes(SymbolBody, fields)
            self._try(lambda: symbols.patch_symbol(self._desk, ADMIN, code, changes))

    @rule(name=st.sampled_from(INSTRUMENTS), bid=st.integers(980, 1020), spread=st.integers(0, 30))
    def set_rate(self, name: str, bid: int, spread: int) -> None:
        body = RateBody(bid=str(bid), ask=str(bid + spread))
        self._try(lambda: rates.put_rate(self._desk, ADMIN, name, body))

    @rule(rupees=st.integers(0, 50), days=st.integers(-1, 1))
    def set_duty(self, rupees: int, days: int) -> None:
        day = (datetime.now(UTC) + timedelta(days=days)).date().isoformat()
        rows = [DutyBody(from_date="2020-01-01", rupees="10"), DutyBody(from_date=day, rupees=str(rupees))]
        self._try(lambda: duties.put_duty(self._desk, ADMIN, "customs", rows))

    @rule(percent=st.sampled_from(["0", "3", "100"]))
    def set_limit(self, percent: str) -> None:
        changes = Changes(SwitchesBody, {"price_move_percent_max": percent})
        self._try(lambda: switches.patch_switches(self._desk, ADMIN, changes))

    @rule(refused=st.booleans())
    def set_protection(self, refused: bool) -> None:
        changes = Changes(SwitchesBody, {"refuse_crossed": refused})
        self._try(lambda: switches.patch_switches(self._desk, ADMIN, changes))

    @rule(data=st.data())
    def take_back(self, data: st.DataObject) -> None:
        if self._changes:
            number = str(data.draw(st.sampled_from(self._changes)))
            self._try(lambda: undo.undo_change(self._desk, ADMIN, number))

    @invariant()
    def nobody_can_sell_for_more_than_they_buy_for(self) -> None:
        held = self._snapshot()
        ticks = {name: each.tick for name, each in held.ticks.items()}
        for symbol in held.symbols.values():
            for group in held.groups.values():
                offer = make_offer(symbol, group, held.switches, ticks.get, held.duties.get, held.now_us)
                if len(offer.offered) == 2 and offer.buy is not None and offer.sell is not None:
                    assert offer.sell.price_paise <= offer.buy.price_paise
        shown, _ = self._runner.run(quotes.list_quotes(self._desk, ADMIN, Page(50, 0)))
        assert all(each["crossed"] == [] for each in shown)


async def _awaited(change: Callable[[], Awaitable[Any]]) -> Any:
    return await change()


def test_no_unconfirmed_sequence_of_changes_crosses_a_price(tmp_path: Path) -> None:
    class Machine(Prices):
        folder = tmp_path

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=12 * SCALE, stateful_step_count=25, deadline=None, derandomize=SCALE == 1
        ),
    )
