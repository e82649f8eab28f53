"""What a FIX line hears and no order accounts for: from its reports to the desk's exposure, on both engines.

Each execution counts once, however often it is told, also after another process got the line.
"""

from collections.abc import Iterator
from itertools import permutations
from uuid import UUID

import msgspec
import pytest

from bullion.booking.reconciliation import Reconciliation
from bullion.hedge.contract import ONE_E8
from bullion.hedge.fix.codec import Pair, message_of
from bullion.hedge.fix.connection import Chunk
from bullion.hedge.fix.order_effects import LineOrder
from bullion.hedge.fix.orders import FILLS_WAIT_S
from bullion.hedge.fix.profile import RESETTING, Profile
from bullion.hedge.fix.report_handler import ReportHandler
from bullion.metals.metal import Metal
from bullion.records.hedges import Exposure
from bullion.store.engine import Engine
from bullion.store.execution_records import StoredExecutionRecords
from bullion.store.line_records import StoredLineRecords
from bullion.store.records import RecordStore
from tests.support.fix_venue import GRAMS, contracts, line_of

from .dealings import Dealings
from .test_reconciliation import LineVenue

pytestmark = pytest.mark.anyio

MONDAY, TUESDAY = "20261116-09:00:00.000", "20261117-09:00:00.000"
SENT_AGAIN = [(43, "Y"), (97, "Y")]
"""PossDupFlag, PossResend."""


OTHERS = tuple(
    msgspec.structs.replace(GRAMS, **differing)
    for differing in (
        {"code": "ELSEWHERE", "venue": "other", "lot_ng": 1, "security_id": "4001"},
        {"code": "KILO", "venue_symbol": "", "security_id": "4001", "lot_ng": 1_000_000_000_000},
        {"code": "SILVER", "venue_symbol": "XAG/g", "instrument": "SILVER", "metal": "silver"},
    )
)
"""Contracts of the broker besides `GRAMS`."""


class Line:
    """A line that hears reports, over a store that keeps what it learns."""

    def __init__(self, dealings: Dealings, profile: Profile = RESETTING) -> None:
        self._dealings = dealings
        self._now = 1_000.0
        self._profile = profile
        self.records = StoredLineRecords(dealings.engine, "spot", lambda: (*OTHERS, *contracts()))
        self.reconciliation = Reconciliation(
            LineVenue(self.records),
            dealings.requests,
            StoredExecutionRecords(dealings.engine, "simulated", lambda: dealings.now_us),
            lambda: ["main"],
            lambda broker, instrument: Metal.GOLD if instrument == GRAMS.instrument else None,
        )
        self.begin()

    def begin(self) -> None:
        """Another process gets the line."""
        now_us = lambda: self._dealings.now_us  # noqa: E731
        self._handler = ReportHandler(
            line_of(1, self._profile), self.records, now_us, lambda: self._now, keep_incoming=None
        )
        self._handler._tracker.logged_on(1, 0.0)

    async def send(self, number: int = 1, grams: int = 100) -> str:
        """An order to buy; its ClOrdID."""
        order_id = str(UUID(int=number))
        weights = (grams * 10_000, grams * 1_000, grams * ONE_E8)
        await self.records.claim(
            LineOrder(order_id, order_id, "main", GRAMS.instrument, "buy", *weights, GRAMS), 5
        )
        return order_id

    async def settle(self) -> None:
        """The line has waited long enough for the reports of fills."""
        self._now += FILLS_WAIT_S
        await self._handler._tick()

    async def beyond(self) -> int:
        """In grams, what was listed as no execution of an order."""
        listed = await self.records.executions(0, 1_000)
        signed = (
            each.quantity_e4 if each.trade_type == "buy" else -each.quantity_e4
            for each in listed
            if each.order_id.startswith("ClOrdID")
        )
        return sum(signed) // 10_000

    async def hear(self, *pairs: Pair, **fields: object) -> None:
        """An ExecutionReport: a trade of 5 g, where `fields` say nothing else."""
        tags: dict[int, object] = {
            37: "NONE", 17: "E1", 150: "F", 39: "2", 55: "XAU/g", 54: "1", 38: 5, 14: 5, 6: 2000, 32: 5,
            31: 2000, 60: MONDAY,
        }  # fmt: skip
        tags |= {int(tag[1:]): value for tag, value in fields.items()} | dict(pairs)
        told: Iterator[Pair] = ((tag, str(value)) for tag, value in tags.items() if value is not None)
        await self._handler._take(1, Chunk([message_of([(35, "8"), *told])], 2))

    async def exposure(self) -> Exposure:
        """The desk's, with everything compared."""
        while await self.reconciliation.reconcile("main"):
            pass
        records = RecordStore(self._dealings.engine)
        return (await records.read("exposure", lambda each: each.exposure("main")))[Metal.GOLD]


@pytest.fixture
async def line(engine: Engine) -> Line:
    return Line(await Dealings.open(engine))


def hedged(grams: int, breaks: int) -> Exposure:
    return Exposure(hedged_e4=grams * 10_000, breaks=breaks)


# --- Trades that are not of our orders ----------------------------------------------------------------


@pytest.mark.parametrize("named", [{}, {"t11": "1", "t37": "1"}], ids=["without-ids", "with-theirs"])
async def test_a_trade_whose_execution_id_was_used_on_another_day_counts(
    line: Line, named: dict[str, object]
) -> None:
    await line.hear(**named)
    await line.hear(**named, t60=TUESDAY)
    assert await line.exposure() == hedged(10, 2)
    for again in SENT_AGAIN:
        for day in (TUESDAY, MONDAY):
            line.begin()
            await line.hear(again, **named, t60=day)
    assert await line.exposure() == hedged(10, 2)
    await line.hear(**named, t60="20261118-09:00:00.000")
    assert await line.exposure() == hedged(15, 3)


async def test_a_trade_that_is_sent_again_later_counts_once(line: Line) -> None:
    """Such a message may say nothing but when it was sent, then and now."""
    sent = {"t60": None, "t52": MONDAY}
    await line.hear(**sent)
    await line.hear((43, "Y"), t60=None, t122=MONDAY, t52=TUESDAY)
    await line.hear((97, "Y"), t60=None, t52=TUESDAY)
    assert await line.exposure() == hedged(5, 1)


async def test_a_report_that_cannot_be_read_is_a_break_for_each_day(line: Line) -> None:
    for day in (MONDAY, TUESDAY, TUESDAY):
        await line.hear(t32="much", t60=day)
    listed = [each.execution_id for each in await line.records.executions(0, 10)]
    assert listed == ["unreadable:E1", "unreadable:E1~20261117"]


async def test_another_trade_of_the_day_with_the_same_execution_id_counts(line: Line) -> None:
    """A trading day may begin in the evening."""
    for _ in range(2):
        for terms in ({}, {"t54": "2", "t32": 2, "t14": 2}, {"t32": 3, "t14": 3}):
            await line.hear(**terms, t60=MONDAY.replace("09:", f"2{len(terms)}:"))
    assert await line.exposure() == hedged(6, 3)


@pytest.mark.parametrize("named", [{"t37": "V9"}, {"t11": "1"}, {"t11": "1", "t37": "V9"}])
async def test_a_total_of_an_order_that_is_not_ours_counts_its_trades_once(
    line: Line, named: dict[str, object]
) -> None:
    """The venue says that it is canceled or done for the day, with the total of the trades that it told."""
    trades: list[dict[str, object]] = [
        {"t17": "E1", "t39": "1", "t32": 2, "t14": 2},
        {"t17": "E2", "t39": "1", "t32": 1, "t14": 3},
    ]
    reports = [{"t17": f"R{kind}", "t150": kind, "t39": kind, "t32": 0, "t14": 3} for kind in "43"]
    for each in (*trades, *reports, *trades):
        line.begin()
        await line.hear(**named, **each)
    assert await line.exposure() == hedged(3, 2)
    await line.hear(**named, t17="R5", t150="3", t39="3", t32=0, t14=4)
    assert await line.exposure() == hedged(4, 3), "a trade that was not heard of is in the total"
    line.begin()
    await line.hear(**named, t17="E3", t32=1, t14=4)
    assert await line.exposure() == hedged(4, 3)


@pytest.mark.parametrize("named", [{}, {"t11": "1", "t37": "V9"}], ids=["without-ids", "with-theirs"])
async def test_a_trade_that_is_not_of_our_orders_counts_as_it_was_changed(
    line: Line, named: dict[str, object]
) -> None:
    await line.hear(**named)
    line.begin()
    for _ in range(2):
        await line.hear(**named, t17="E2", t19="E1", t150="G", t32=7, t14=7)
    assert await line.exposure() == hedged(7, 2)
    line.begin()
    await line.hear((43, "Y"), **named)
    for _ in range(2):
        await line.hear(**named, t17="E3", t19="E1", t150="H", t39="4", t32=None, t14=0)
    assert await line.exposure() == hedged(0, 3)


@pytest.mark.parametrize(
    ("named", "grams"),
    [
        ({"t48": "4001", "t55": "[N/A]"}, 5_000),
        ({"t48": "4001"}, 5_000),
        ({"t48": "77"}, 5),
        ({"t55": None}, 0),
    ],
)
async def test_a_trade_that_is_not_of_our_orders_weighs_what_its_contract_says(
    line: Line, named: dict[str, object], grams: int
) -> None:
    """Contracts of another venue may have the same ids."""
    await line.hear(**named)
    assert (await line.exposure()).hedged_e4 == grams * 10_000


async def test_a_trade_in_another_symbol_than_the_orders_is_listed_in_its_own(line: Line) -> None:
    order_id = await line.send()
    await line.hear(**{**our_fill(order_id, "E1", 100, 100), "t55": "XAG/g"})
    (listed,) = await line.records.executions(0, 10)
    assert (listed.instrument, listed.quantity_e4) == ("SILVER", 1_000), "0.1 kg"
    assert await line.exposure() == Exposure()


# --- What the venue executed beyond our orders --------------------------------------------------------


def our_fill(order_id: str, execution_id: str, quantity: int, total: int) -> dict[str, object]:
    state = "2" if total >= 100 else "1"
    return {
        "t11": order_id,
        "t37": "V1",
        "t38": 100,
        "t17": execution_id,
        "t32": quantity,
        "t14": total,
        "t39": state,
    }


def our_total(order_id: str, total: int, venue_order_id: str = "V1") -> dict[str, object]:
    terms = {"t11": order_id, "t37": venue_order_id, "t38": 100, "t17": "0", "t150": "I"}
    return {**terms, "t39": "2", "t32": None, "t14": total}


async def test_what_is_beyond_an_order_is_listed_once_whatever_process_hears_of_it(line: Line) -> None:
    for number, places in enumerate(permutations(range(4)), 1):
        order_id, before = await line.send(number), await line.beyond()
        told = [
            our_fill(order_id, "E1", 60, 60),
            our_fill(order_id, "E2", 50, 110),
            our_fill(order_id, "E3", 50, 160),
            our_total(order_id, 160),
        ]
        for place in places:
            line.begin()
            await line.hear(**told[place])
            await line.hear(**told[place])
            await line.settle()
        assert await line.beyond() - before == 60, places


async def test_what_is_executed_later_is_listed_beside_what_another_process_listed(line: Line) -> None:
    order_id = await line.send()
    await line.hear(**our_fill(order_id, "E1", 100, 100))
    await line.hear(**our_total(order_id, 110))
    line.begin()
    await line.hear(**our_fill(order_id, "E2", 10, 110))
    assert await line.beyond() == 10
    line.begin()
    await line.hear(**our_fill(order_id, "E3", 50, 160))
    assert await line.beyond() == 60
    line.begin()
    await line.hear(**{**our_fill(order_id, "E4", 10, 150), "t150": "H", "t19": "E2"})
    assert await line.beyond() == 50


async def test_an_answer_about_all_orders_tells_of_one_that_had_its_outcome(line: Line) -> None:
    order_id = await line.send()
    await line.hear(**our_fill(order_id, "E1", 100, 100))
    for total, beyond in ((100, 0), (110, 10), (110, 10)):
        line.begin()
        await line.hear(**our_total(order_id, total), t584="1-1", t911=1)
        assert await line.beyond() == beyond
    await line.hear(**our_total(order_id, 120), t584="1-2", t911=1)
    assert await line.beyond() == 20


async def test_a_correction_is_listed_as_the_difference_by_whatever_process_hears_of_it(line: Line) -> None:
    order_id = await line.send()
    await line.hear(**our_fill(order_id, "E1", 100, 100))
    changes = [("G", "E2", "E1", 150, 50), ("G", "E3", "E2", 160, 60), ("H", "E4", "E3", 160, -100)]
    for kind, execution_id, changed, quantity, beyond in changes:
        line.begin()
        report = {**our_fill(order_id, execution_id, quantity, quantity), "t150": kind, "t19": changed}
        await line.hear(**report)
        await line.hear(**our_total(order_id, quantity))
        line.begin()
        await line.hear(**report)
        await line.hear(**our_total(order_id, quantity))
        assert await line.beyond() == beyond


async def test_a_second_order_with_our_id_is_listed_once_by_whatever_process_hears_of_it(line: Line) -> None:
    order_id = await line.send()
    await line.hear(**our_fill(order_id, "E1", 40, 40))
    await line.hear(**{**our_fill(order_id, "E2", 100, 100), "t37": "V2"})
    assert await line.beyond() == 100
    for total, beyond in ((100, 100), (120, 120)):
        line.begin()
        await line.hear(**our_total(order_id, total, "V2"))
        assert await line.beyond() == beyond
    line.begin()
    await line.hear(**our_fill(order_id, "E3", 60, 100))
    assert await line.beyond() == 120
    line.begin()
    await line.hear(**our_total(order_id, 130, "V2"))
    assert await line.beyond() == 130


async def test_a_total_of_other_terms_counts_its_trades_once(line: Line) -> None:
    order_id = await line.send()
    await line.hear(**our_fill(order_id, "E1", 100, 100))
    line.begin()
    await line.hear(**our_fill(order_id, "E2", 40, 40) | {"t37": "V2", "t54": "2"})
    line.begin()
    await line.hear(**our_total(order_id, 40, "V2") | {"t54": "2", "t150": "4", "t39": "4", "t17": "R1"})
    assert await line.beyond() == -40
