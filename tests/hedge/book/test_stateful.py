"""The hedge book under any sequence of steps that hypothesis finds. `test_day.py` checks every step."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.support.scale import SCALE

from .test_day import Day


class BookMachine(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32))
    def start(self, seed: int) -> None:
        self.day = Day(seed)

    @rule(times=st.integers(1, 5))
    def order(self, times: int) -> None:
        for _ in range(times):
            self.day.order()

    @rule()
    def end_a_deal(self) -> None:
        self.day.end_a_deal()

    @rule()
    def drop_a_waiting_order(self) -> None:
        self.day.drop_a_waiting_order()

    @rule()
    def plan(self) -> None:
        self.day.plan()

    @rule(kindly=st.booleans())
    def answer(self, kindly: bool) -> None:
        self.day.answer(kindly=kindly)

    @rule()
    def repeat_a_report(self) -> None:
        self.day.repeat_a_report()

    @rule()
    def move_prices(self) -> None:
        self.day.move_prices()

    @rule()
    def buy_dollars(self) -> None:
        self.day.buy_dollars()

    @rule()
    def confirm_waiting(self) -> None:
        self.day.confirm_waiting()
        assert self.day.confirmable() == []

    @invariant()
    def the_same_orders_wait(self) -> None:
        day = getattr(self, "day", None)
        assert day is None or list(day.position.waiting) == list(day.waiting)


@pytest.mark.slow
def test_any_sequence_of_steps() -> None:
    run_state_machine_as_test(
        BookMachine,
        settings=settings(
            max_examples=15 * SCALE, stateful_step_count=30, deadline=None, derandomize=SCALE == 1
        ),
    )
