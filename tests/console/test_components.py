"""The console's small parts: numbers, times, markup, and reads that are shared."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bullion.console import shared_read as shared_read_module
from bullion.console.assets import FILES
from bullion.console.html import Html, el, join
from bullion.console.shared_read import ReadPending, SharedRead
from bullion.console.widgets.charts import bar_chart, line_chart
from bullion.console.widgets.formatting import (
    age,
    clock,
    grouped,
    moment,
    moment_in_column,
    rate,
    rupees,
    signed_weight,
    weight,
)
from bullion.faults import StoreUnavailable
from bullion.records.token import Actor, Role
from bullion.refusals.refusal import RefusalError

INDIA = ZoneInfo("Asia/Kolkata")
SOMEBODY = Actor("somebody", Role.VIEWER, "main")


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("0", "0"),
        ("0.00", "0.00"),
        ("999.00", "999.00"),
        ("1000.00", "1,000.00"),
        ("99999", "99,999"),
        ("100000", "1,00,000"),
        ("1234567.50", "12,34,567.50"),
        ("12345678901234.99", "1,23,45,67,89,01,234.99"),
        ("-100000.00", "−1,00,000.00"),
    ],
)
def test_digits_are_grouped_the_indian_way(plain: str, shown: str) -> None:
    assert grouped(plain) == shown


def test_money_and_weights_have_their_signs_and_units() -> None:
    assert rupees("123456.00") == "₹1,23,456.00"
    assert rupees("-5.00") == "−₹5.00"
    assert weight("5.0000", "g") == "5\N{NO-BREAK SPACE}g"
    assert weight("1500.2500", "kg") == "1,500.25\N{NO-BREAK SPACE}kg"
    assert weight("100", "g") == "100\N{NO-BREAK SPACE}g"
    assert signed_weight("0.0000", "g") == "0\N{NO-BREAK SPACE}g"
    assert signed_weight("-0.0000", "g") == "0\N{NO-BREAK SPACE}g"
    assert signed_weight("12.5000", "g") == "+12.5\N{NO-BREAK SPACE}g"
    assert signed_weight("-100000.0000", "g") == "−1,00,000\N{NO-BREAK SPACE}g"


def test_times_are_the_brokers_and_say_so() -> None:
    at = datetime(2026, 11, 15, 11, 2, 5, tzinfo=UTC)
    assert clock(at, INDIA) == "16:32:05\N{NO-BREAK SPACE}IST"
    assert clock(at, ZoneInfo("Asia/Dubai")) == "15:02:05\N{NO-BREAK SPACE}UTC+04"
    text = "2026-11-15T11:02:05.000000+00:00"
    assert ">16:32:05" in moment(text, INDIA, at)
    later = datetime(2026, 11, 15, 19, 0, tzinfo=UTC)
    assert ">15 Nov 2026 16:32:05" in moment(text, INDIA, later)
    # In a column the head names the zone, once.
    assert moment(text, INDIA, at).endswith(">16:32:05\N{NO-BREAK SPACE}IST</time>")
    assert moment_in_column(text, INDIA, at).endswith(">16:32:05</time>")
    assert 'title="Sun 15 Nov 2026, 16:32:05.000000\N{NO-BREAK SPACE}IST"' in moment(text, INDIA, later)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (400_000, "4 days"),
    ],
)
def test_an_age_is_told_in_two_parts_at_the_most(seconds: int, words: str) -> None:
    assert age(seconds).replace("\N{NO-BREAK SPACE}", " ") == words


def test_dark_is_the_same_whether_the_machine_or_the_user_chooses_it() -> None:
    tokens = FILES["tokens.css"][1].decode()
    blocks = re.findall(r"color-scheme: dark;([^}]*)}", tokens)
    by_machine, by_user = (sorted(re.findall(r"(--[\w-]+): ([^;]+);", each)) for each in blocks)
    assert by_machine == by_user
    light = re.findall(r"(--[\w-]+):", tokens.partition("--sans")[0])
    assert sorted(light) == [name for name, _ in by_user]


def test_text_never_becomes_markup() -> None:
    assert el("b", "<i>", class_='"x') == '<b class="&quot;x">&lt;i&gt;</b>'
    assert el("p", [el("b", 1), None, "&"]) == "<p><b>1</b>&amp;</p>"
    assert el("input", name="n", required=True, disabled=False, value=None) == '<input name="n" required>'
    assert isinstance(join(["<"]), Html)
    assert el("svg", viewBox="0 0 1 1", data_key="k") == '<svg viewBox="0 0 1 1" data-key="k"></svg>'


def test_charts_draw_what_they_are_given() -> None:
    size = {"width": 100, "height": 20}
    assert "polyline" not in line_chart([(1, 5)], until=10, span=10, label="x", **size)
    drawn = line_chart([(0, 10), (5, 20), (10, 10)], until=10, span=10, label="x", **size)
    assert 'points="0,18 50,2 100,18"' in drawn
    assert 'class="line-chart level"' in drawn
    # A short course does not fill the time, and minutes that were not sampled are not drawn.
    minutes = [(4800, 10), (4920, 20), (5880, 20), (6000, 10)]
    drawn = line_chart(minutes, until=6000, span=6000, label="x", **size)
    assert 'points="80,18 82,2"' in drawn
    assert 'points="98,2 100,18"' in drawn
    bars = bar_chart(
        [("first", [("taken", 3), ("refused", 1)]), ("second", [])], width=20, height=42, label="x"
    )
    assert '<rect x="1" y="12" width="8" height="30" class="taken">' in bars
    assert '<rect x="1" y="2" width="8" height="10" class="refused">' in bars


# --- Shared reads ---------------------------------------------------------------------------------------


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock_ = [1000.0]
    monkeypatch.setattr(shared_read_module, "monotonic", lambda: clock_[0])
    return clock_


class Source:
    def __init__(self) -> None:
        self.reads = 0
        self.answer: Callable[[], Awaitable[int]] = self._plain

    async def _plain(self) -> int:
        return self.reads

    async def read(self, _actor: Actor) -> int:
        self.reads += 1
        return await self.answer()


@pytest.mark.anyio
async def test_ten_pages_cost_what_one_does(now: list[float]) -> None:
    source = Source()
    shared = SharedRead(source.read)
    for _ in range(5):
        readings = await asyncio.gather(*(shared.get(SOMEBODY) for _ in range(10)))
        assert {reading.value for reading in readings} == {source.reads}
        now[0] += 0.5
    assert source.reads == 3
    shared.expire()
    assert (await shared.get(SOMEBODY)).value == 4


@pytest.mark.anyio
async def test_a_change_during_a_read_is_shown_at_once(now: list[float]) -> None:
    stored = ["before"]
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def read(_actor: Actor) -> str:
        found = stored[0]
        begun.set()
        await go_on.wait()
        return found

    shared = SharedRead(read)
    page = asyncio.create_task(shared.get(SOMEBODY))
    await begun.wait()
    stored[0] = "after"
    shared.expire()
    next_page = asyncio.create_task(shared.get(SOMEBODY))
    await asyncio.sleep(0)
    go_on.set()
    assert (await page).value == "before"
    assert (await next_page).value == "after"


@pytest.mark.anyio
async def test_a_change_during_a_read_is_read_by_the_next_page(now: list[float]) -> None:
    source = Source()

    async def changes() -> int:
        shared.expire()
        return source.reads

    source.answer = changes
    shared = SharedRead(source.read)
    assert (await shared.get(SOMEBODY)).value == 1
    source.answer = source._plain
    assert (await shared.get(SOMEBODY)).value == 2
    assert (await shared.get(SOMEBODY)).value == 2


@pytest.mark.anyio
async def test_a_slow_read_is_done_more_seldom(now: list[float]) -> None:
    source = Source()

    async def slow() -> int:
        now[0] += 0.2
        return 7

    source.answer = slow
    shared = SharedRead(source.read)
    await shared.get(SOMEBODY)
    now[0] += 3.7
    await shared.get(SOMEBODY)
    assert source.reads == 1
    now[0] += 0.2
    await shared.get(SOMEBODY)
    assert source.reads == 2


@pytest.mark.anyio
async def test_what_was_known_stays_while_the_store_is_away(now: list[float]) -> None:
    source = Source()
    shared = SharedRead(source.read)
    assert (await shared.get(SOMEBODY)).value == 1

    async def away() -> int:
        raise StoreUnavailable("gone")

    source.answer = away
    for _ in range(3):
        now[0] += 2
        reading = await shared.get(SOMEBODY)
    assert (reading.value, reading.error) == (1, "The store cannot be reached.")
    assert (reading.age_s, reading.error_age_s) == (6, 4)
    source.answer = source._plain
    now[0] += 2
    reading = await shared.get(SOMEBODY)
    assert (reading.value, reading.error) == (5, None)


@pytest.mark.anyio
async def test_a_page_does_not_wait_for_a_store_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_read_module, "_PATIENCE_S", 0.05)
    source = Source()
    hanging = asyncio.Event()

    async def hangs() -> int:
        await hanging.wait()
        return 9

    source.answer = hangs
    shared = SharedRead(source.read)
    reading = await shared.get(SOMEBODY)
    assert (reading.value, reading.error) == (None, "The store is slow to answer.")
    with pytest.raises(ReadPending, match="slow"):
        reading.require()
    monkeypatch.setattr(shared_read_module, "_SLOW_S", 0.0)
    reading = await shared.get(SOMEBODY)
    assert (reading.value, reading.error) == (None, "The store cannot be reached.")
    with pytest.raises(RefusalError) as away:
        reading.require()
    assert away.value.refusal.status == 503
    assert source.reads == 1
    hanging.set()
    reading = await shared.get(SOMEBODY)
    assert (reading.value, reading.error) == (9, None)
    await shared.stop()


def test_both_sides_of_a_quote_have_as_many_decimals() -> None:
    assert (rate("95.680000", "95.657000"), rate("95.657000", "95.680000")) == ("95.680", "95.657")
    assert (rate("150463", ""), rate("92.0008", "92.1")) == ("1,50,463.00", "92.0008")
