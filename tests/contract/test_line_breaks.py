"""What a FIX line hears and no order accounts for: from its reports to the desk's exposure, on both engines.

Each execution counts once, however often it is told, also after another process got the line.
"""

from collections.abc import Iterator

import pytest

from bullion.booking.reconciliation import Reconciliation
from bullion.hedge.fix.codec import Pair, message_of
from bullion.hedge.fix.connection import Chunk
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


class Line:
    """A line that hears reports, over a store that keeps what it learns."""

    def __init__(self, dealings: Dealings, profile: Profile = RESETTING) -> None:
        self._dealings = dealings
        self._profile = profile
        self.records = StoredLineRecords(dealings.engine, "spot", contracts)
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
            line_of(1, self._profile), self.records, now_us, lambda: 1_000.0, keep_incoming=None
        )
        self._handler._tracker.logged_on(1, 0.0)

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


async def test_another_trade_of_the_day_with_the_same_execution_id_counts(line: Line) -> None:
    """A trading day may begin in the evening."""
    for _ in range(2):
        for terms in ({}, {"t54": "2", "t32": 2, "t14": 2}, {"t32": 3, "t14": 3}):
            await line.hear(**terms, t60=MONDAY.replace("09:", f"2{len(terms)}:"))
    assert await line.exposure() == hedged(6, 3)
