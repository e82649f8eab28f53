"""What the pages about orders are made of: the waterfall of a price, and the stages of a decision."""

import asyncio
import re
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from bullion.console.html import Html, el
from bullion.console.page import Visit
from bullion.console.pages.orders import order_list
from bullion.console.pages.orders.blotter_columns import Shown
from bullion.console.pages.orders.comparison import comparison_sentences
from bullion.console.pages.orders.decision_page import STAGES, stages
from bullion.console.pages.orders.order_actions import buttons, queue_actions
from bullion.console.pages.orders.order_list import recent_orders_card
from bullion.console.pages.orders.price_breakdown import price_steps
from bullion.console.shared_read import Reading, SharedRead
from bullion.console.watch import BrokerWatch
from bullion.console.widgets.charts import Step, waterfall
from bullion.desk.actions import order_sorting
from bullion.desk.desk import Desk, View
from bullion.hedge.venues import abilities_of
from bullion.records.orders import OrderFilter, OrderTotal
from bullion.records.page import Page as RecordPage
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import CATALOGUE, INTERNAL_ERROR, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.store.records import Records


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


def test_an_expired_lock_is_not_said_to_be_recorded() -> None:
    assert stages(trace("price_lock_expired")) is None


QUEUED = {
    "order_id": "01a1de14-d0ac-74ff-b60f-dff545fade43",
    "login_id": "client",
    "firm_name": "Kalyani Jewellers",
    "symbol_code": "GOLD",
    "trade_type": "sell",
    "quantity": "5.0000",
    "unit": "g",
    "status": "pending",
    "venue": "simulated",
    "rest": None,
}


@pytest.mark.parametrize(
    ("hedge", "row", "role", "offered"),
    [
        ("desk", {}, Role.DEALER, True),
        ("desk", {}, Role.VIEWER, False),
        ("desk", {"status": "deleted"}, Role.DEALER, False),
        ("simulated", {}, Role.DEALER, False),
        ("simulated", {"venue": "desk"}, Role.DEALER, True),
    ],
)
def test_a_row_of_the_queue_is_answered_with_one_press(
    hedge: str, row: View, role: Role, *, offered: bool
) -> None:
    visit = SimpleNamespace(has_role=role.includes, desk=SimpleNamespace(venue=abilities_of(hedge)))
    shown = queue_actions(cast("Visit", visit), {**QUEUED, **row})
    if not offered:
        assert shown is None
        return
    buttons = re.findall(r"<button.*?</button>", str(shown))
    assert [re.sub(r"<.*?>", "", each) for each in buttons] == ["Confirm", "Refuse …", "Cover …"]
    assert f"/actions/orders/confirm?id={QUEUED['order_id']}" in buttons[0]
    assert 'data-left="5.0000"' in buttons[0]
    assert 'data-letter="c"' in buttons[0]
    assert 'data-letter="r"' in buttons[1]
    assert "data-letter" not in buttons[2]
    assert 'aria-label="Confirm SELL 5\N{NO-BREAK SPACE}g GOLD for Kalyani Jewellers"' in buttons[0]


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
    visit = SimpleNamespace(
        has_role=lambda _role: True, desk=SimpleNamespace(venue=abilities_of("simulated"))
    )
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


async def _recent(visit: Visit) -> Html:
    return el("div", await recent_orders_card(visit, rows=2))


def test_the_newest_orders_are_a_card_for_other_pages() -> None:
    """Production alone, with links and states; without orders it says so."""
    order = {
        "id": "01a1de14-d0ac-74ff-b60f-dff545fade43",
        "environment": "production",
        "login_id": "client",
        "firm_name": "Kalyani Jewellers",
        "symbol_code": "GOLD",
        "trade_type": "buy",
        "quantity": "5.0000",
        "unit": "g",
        "price": "71240.00",
        "total": "35620.00",
        "status": "open",
        "deal_no": 7,
        "deal_label": None,
        "realized_pnl": None,
        "created_at": "2026-11-15T04:31:21.924000+00:00",
        "source": "web",
    }
    asked: list[Any] = []

    def visit(orders: list[Any]) -> Visit:
        async def read(key: Any, _read: Any, _every_s: float = 1) -> Reading[Any]:
            asked.append(key)
            return Reading(orders, 1.0)

        made = SimpleNamespace(
            read=read,
            frame=SimpleNamespace(queue=Reading(([], 0))),
            desk=SimpleNamespace(venue=abilities_of("simulated")),
            has_role=Role.DEALER.includes,
            actor=Actor("a dealer", Role.DEALER, "main"),
            request=SimpleNamespace(first_part="overview", query={}),
            settings=SimpleNamespace(late_s=30),
            param=lambda _name: "",
            zone=ZoneInfo("Asia/Kolkata"),
            now=datetime.now(UTC),
        )
        return cast("Visit", made)

    shown = str(asyncio.run(_recent(visit([order]))))
    assert asked[0][1:] == ("newest", 2)
    assert 'id="blotter-table"' in shown
    assert f'href="/orders/{order["id"]}"' in shown
    assert "Kalyani Jewellers" in shown
    assert "<button" not in shown
    assert "There are no orders yet." in str(asyncio.run(_recent(visit([]))))
    # Rows are kept in memory, by all that changes them.
    closing = str(asyncio.run(_recent(visit([{**order, "status": "closing"}]))))
    assert "closing" in closing
    assert "closing" not in shown
    assert "Laxmi Coins" in str(asyncio.run(_recent(visit([{**order, "firm_name": "Laxmi Coins"}]))))


def test_a_list_that_is_not_counted_yet_says_so() -> None:
    visit = cast("Visit", SimpleNamespace(request=SimpleNamespace(query={"status": "open"})))

    def listed(number: int, orders: int, *, exact: bool) -> Reading[Any]:
        return Reading(order_list._Listed([{}] * orders, OrderTotal(number, exact=exact)), 0.0)

    many = listed(1_000, 50, exact=False)
    assert "at least 1,000 orders" in el("div", order_list._aside(many))
    first = el("div", order_list._pager(visit, many, 1))
    assert "1 to 50 of at least 1,000" in first
    assert "page=2" in first
    last = el("div", order_list._pager(visit, many, 20))
    assert "951 to 1,000 of at least 1,000" in last
    assert "page=21" not in last
    assert "1 to 50 of 1,234" in el("div", order_list._pager(visit, listed(1_234, 50, exact=True), 1))
    chosen = dict.fromkeys((*order_list._DESK_FILTERS, "since", "from"), "")
    for reading, words in (
        (listed(3, 0, exact=False), "No matching orders among the newest."),
        (listed(3, 0, exact=True), "There are not that many pages."),
    ):
        assert words in el("div", order_list._found(visit, reading, chosen, 9, cast("Shown", None)))


async def _at_once(
    monkeypatch: pytest.MonkeyPatch, total: OrderTotal, sort: str
) -> tuple[list[Any], OrderTotal]:
    async def orders_at_once(*_: object) -> tuple[list[Any], OrderTotal]:
        return [], total

    async def sorted_page(*_: object) -> tuple[list[Any], int]:
        return [], total.number

    monkeypatch.setattr(order_sorting, "sorted_page", sorted_page)
    records = cast("Records", SimpleNamespace(orders_at_once=orders_at_once))
    return await order_sorting.sorted_page_at_once(records, "main", OrderFilter(), RecordPage(50, 0), sort)


def test_a_list_is_sorted_once_it_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    some, all_of = OrderTotal(7, exact=False), OrderTotal(7)
    assert asyncio.run(_at_once(monkeypatch, some, "-time")) == ([], some)
    assert asyncio.run(_at_once(monkeypatch, all_of, "-weight")) == ([], all_of)
    for sort in ("time", "-weight"):
        with pytest.raises(RefusalError) as refused:
            asyncio.run(_at_once(monkeypatch, some, sort))
        assert refused.value.errors[0].loc == ("query", "sort")
        assert "until all orders are counted" in refused.value.errors[0].msg


@pytest.mark.parametrize(
    ("rate_at", "sentence"),
    [
        ("2026-06-10T11:59:15+05:30", "The rate of GOLD was 45 s old. The symbol allows 30 s."),
        ("2026-06-10T13:00:00+05:30", "The rate of GOLD is from before the clock was set back."),
    ],
)
def test_a_decision_says_how_old_the_rate_was(rate_at: str, sentence: str) -> None:
    compared = {"oldest": "GOLD", "rate_at": rate_at, "rate_age_s_max": 30}
    shown = comparison_sentences({"at": "2026-06-10T12:00:00+05:30", "compared": compared}, "g")
    assert [each.replace("\xa0", " ") for each in shown] == [sentence]
