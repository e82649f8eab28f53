"""The seconds of a store that fills, what was written in each, and what PostgreSQL's log tells of them."""

from xml.etree import ElementTree as ET

import pytest

from bench.extent import QUICK
from bench.filling import WalSample, measure_filling, seconds_of
from bench.filling_chart import filling_svg
from bench.filling_results import Filling, Second, ServerEvent, filling_ratios, filling_results
from bench.load import Outcome, SecondOutcome
from bench.postgres_log import events_in

BEGAN_AT_S = 1_794_956_400.0
LOG = """\
2026-11-17 22:59:00.000 UTC [1] LOG:  checkpoint starting: immediate force wait
2026-11-17 22:59:01.000 UTC [1] LOG:  checkpoint complete: wrote 1 buffers; write=1 s, total=1.000 s; a=b
2026-11-17 23:00:04.500 UTC [2] LOG:  automatic vacuum of table "test1.public.books": index scans: 0
\tpages: 0 removed
\tsystem usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 1.25 s
2026-11-17 23:00:05.000 UTC [2] LOG:  automatic vacuum of table "test2.public.books": index scans: 0
\tsystem usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.25 s
2026-11-17 23:00:06.000 UTC [2] LOG:  automatic analyze of table "test1.public.orders"
\tsystem usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.50 s
2026-11-17 23:00:07.000 UTC [2] ERROR:  something else
2026-11-17 23:00:08.000 UTC [1] LOG:  checkpoint starting: wal
"""


def filling(rates: list[float], events: list[ServerEvent] | None = None) -> Filling:
    seconds = [Second(rate, 10_000, 20_000, 2_000 * rate, 100) for rate in rates]
    return Filling(2_000, 64, 1, round(sum(rates)), 10_000, 25_000, seconds, events or [])


def test_the_log_tells_what_fell_into_the_run() -> None:
    found = events_in(LOG, "test1", BEGAN_AT_S, 10)

    assert [(each.what, round(each.from_s, 2), round(each.to_s, 2)) for each in found] == [
        ("vacuum of books", 3.25, 4.5),
        ("analyze of orders", 5.5, 6.0),
        ("checkpoint", 8.0, 10.0),
    ]


def test_what_was_written_in_a_second_lies_between_samples() -> None:
    samples = [WalSample(99.5, 0, 0), WalSample(100.5, 1_000, 10), WalSample(102.5, 9_000, 30)]
    told = [SecondOutcome(500, 1, 2), SecondOutcome(600, 3, 4)]
    outcome = Outcome(requests=1100, seconds=2, began_at_s=100, by_second=told)

    first, second = seconds_of(outcome, samples)

    assert (first.orders_per_s, first.p50_us, first.p99_us) == (500, 1, 2)
    assert (first.wal_bytes, first.sync_ms) == (2_500, 10)
    assert (second.wal_bytes, second.sync_ms) == (4_000, 10)


def test_the_end_is_compared_with_the_beginning() -> None:
    last, slowest, tail = filling_ratios(filling([100.0] * 20 + [10.0] + [80.0] * 19))

    assert (last.name, last.spread.value) == ("filling_last_vs_first", 0.8)
    assert slowest.spread.value == pytest.approx(10 / 90)
    assert (tail.spread.value, tail.spread.low, tail.spread.high) == (2.5, 2, 2)
    assert filling_ratios(None) == []


def test_results_tell_what_fell_into_the_slowest_second() -> None:
    found = filling_results(filling([100.0, 20.0, 100.0, 90.0], [ServerEvent("checkpoint", 1.5, 1.9)]))

    assert found is not None
    assert found["orders_per_s"] == [100, 20, 100, 90]
    assert found["slowest"][0] == {"second": 2, "events": ["checkpoint"]}
    assert found["slowest"][1] == {"second": 4, "events": []}


def test_of_many_events_those_that_took_longest_are_named() -> None:
    events = [ServerEvent(f"vacuum of {number}", 1, 1 + number / 10) for number in range(1, 6)]

    assert filling([1.0, 1.0], events).during(1) == ["vacuum of 5", "vacuum of 4", "vacuum of 3", "2 more"]


def test_the_chart_has_every_second_and_event() -> None:
    root = ET.fromstring(filling_svg(filling([50.0, 25.0], [ServerEvent("vacuum of <books>", 0, 1)])))  # noqa: S314

    svg = "{http://www.w3.org/2000/svg}"
    (line,) = root.findall(f"{svg}polyline")
    assert len(line.attrib["points"].split()) == 2
    assert "vacuum of <books> at 0 s" in (root.findtext(f"{svg}desc") or "")
    assert len(root.findall(f"{svg}rect")) == 2  # the ground and the event


def test_a_quick_run_has_none() -> None:
    assert measure_filling(QUICK, lambda _said: None) is None
