"""What the pages about orders are made of: the waterfall of a price, and the stages of a decision."""

import asyncio
import re
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bullion.console.html import el
from bullion.console.page import Visit
from bullion.console.pages.orders.decision_page import STAGES, stages
from bullion.console.pages.orders.order_actions import buttons
from bullion.console.pages.orders.price_breakdown import price_steps
from bullion.console.shared_read import SharedRead
from bullion.console.watch import BrokerWatch
from bullion.console.widgets.charts import Step, waterfall
from bullion.desk.desk import Desk, View
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import CATALOGUE, INTERNAL_ERROR, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalCode


def trace(outcome: str, environment: str = "production") -> View:
    return {"outcome": outcome, "environment": environment}


def test_a_landed_price_is_told_step_by_step() -> None:
    parts = {
        "spot": "4799.92",
        "premium_usd": "1.5",
        "currency": "91.9985",
        "interbank": "0.05",
        "conversion": "0.321507",
        "metal": "142094.3591",
        "duty": "8350.00",
        "margin": "0.00",
        "symbol_price": "150444.3591",
    }
    anatomy = {"premium": "-40.00", "price": "150404.36"}
    steps = price_steps(parts, anatomy)
    names = [step.name for step in steps]
    assert names == [
        "Spot in rupees",
        "Premium on spot",
        "Interbank",
        "Duty",
        "Symbol's price",
        "Group premium",
        "Price",
    ]
    added = sum(step.amount for step in steps if not step.whole)
    assert abs(added - 15040436) <= 3  # Each is rounded to the paisa for the eye.
    assert steps[-1].text == "1,50,404.36"
    assert steps[-2].text == "−40.00"
    exact = Decimal("4799.92") * Decimal("91.9985") * Decimal("0.321507")
    assert steps[0].amount == int((exact * 100).to_integral_value())


def test_bars_of_a_waterfall_stand_where_the_last_one_ended() -> None:
    steps = [Step("a", 1000, "a"), Step("b", 50, "b"), Step("c", -20, "c"), Step("d", 1030, "d", whole=True)]
    drawn = waterfall(steps, label="<label>")
    assert "&lt;label&gt;" in drawn
    bars = [(int(x), int(width)) for x, width in re.findall(r'<rect x="(\d+)" y="\d+" width="(\d+)"', drawn)]
    ends = [x + width for x, width in bars]
    assert bars[1][0] == ends[0]
    assert ends[2] == ends[1]  # The third goes back from there.
    assert ends[3] == bars[2][0]
    assert bars[0][0] == bars[3][0]
    # Small steps are seen beside a large first one: the ground is not at 0, and says so.
    assert bars[1][1] > bars[0][1] // 2
    assert drawn.count('class="gap"') == 2
    assert 'class="gap"' not in waterfall([Step("a", 10, "a"), Step("b", 5, "b")], label="")


def test_steps_that_come_to_nothing_can_be_drawn() -> None:
    assert "<rect" in waterfall([Step("a", 0, "0"), Step("b", 0, "0", whole=True)], label="nothing")
    assert "<rect" not in waterfall([], label="none")


@pytest.mark.parametrize("refusal", CATALOGUE, ids=lambda refusal: refusal.code)
def test_each_refusal_fails_one_stage(refusal: RefusalCode) -> None:
    drawn = stages(trace(refusal.code))
    if refusal in (SERVICE_UNAVAILABLE, INTERNAL_ERROR):
        assert drawn is None
    else:
        assert drawn is not None
        assert drawn.count('class="failed"') == 1
        assert drawn.count("<li") == len(STAGES)


def test_an_order_that_was_taken_passed_them_all() -> None:
    real, test = stages(trace("open")), stages(trace("filled", "test"))
    assert real is not None
    assert test is not None
    assert real.count('class="passed"') == len(STAGES)
    assert test.count('class="passed"') == len(STAGES) - 2
    assert "venue" not in test


def test_who_looks_at_the_same_shares_a_read() -> None:
    """Once a second, and anew when something was changed; the reads that nobody looks at are let go."""
    reads: list[str] = []

    async def look() -> None:
        probe: SharedRead[str] = cast("Any", None)
        watch, somebody = BrokerWatch(cast("Desk", None), probe), Actor("somebody", Role.VIEWER, "main")

        async def read(_desk: Desk, _actor: Actor) -> int:
            reads.append("read")
            return len(reads)

        for _ in range(3):
            assert (await watch.shared(("orders", "a"), read).get(somebody)).value == 1
        watch.expire()
        assert (await watch.shared(("orders", "a"), read).get(somebody)).value == 2
        first = watch.shared(("orders", "a"), read)
        for number in range(500):
            watch.shared(("orders", number), read)
        assert watch.shared(("orders", "a"), read) is not first
        assert watch.shared(("orders", 499), read) is watch.shared(("orders", 499), read)

    asyncio.run(look())
    assert len(reads) == 2


@pytest.mark.parametrize(
    ("status", "left"),
    [("open", ["Settle the break", "Close", "Delete"]), ("deleted", ["Settle the break"])],
)
def test_a_break_takes_nothing_else_away(status: str, left: list[str]) -> None:
    visit = SimpleNamespace(has_role=lambda _role: True, desk=SimpleNamespace(hedge="simulated"))
    order = {
        "id": "1",
        "environment": "production",
        "status": status,
        "archived": False,
        "hedge": {"state": "broken", "venue": "simulated"},
    }
    shown = str(el("div", buttons(cast("Visit", visit), order)))
    assert re.findall(r"<button[^>]*>([^<]+)</button>", shown) == left
    assert "there is nothing to do" not in shown
