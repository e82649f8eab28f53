"""The charts can be read: by a browser, in both colour schemes, and by whoever cannot see them."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.charts import write_charts
from bench.figures import Run
from bench.findings import Findings
from bench.growth import Growth, Pair
from bench.load import Outcome
from bench.picture import Bar, Chart, svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def findings() -> Findings:
    run = Run(rounds=3, seconds=1)
    rates = {("get_floor", 64): 20_000, ("me_sqlite", 64): 15_000, ("pgbench", 2): 3000, ("pgbench", 8): 4000}
    for (call, connections), rate in rates.items():
        for number in (1, 2, 3):
            run.note(call, connections, number, Outcome(requests=rate + number, seconds=1))
    pairs = {"list <deep>": Pair(100, 150, 1.5), "place": Pair(300, 310, 1.03)}
    return Findings(run, growths=[Growth("sqlite", 1_300_000, pairs, pairs)])


def test_charts_are_whole(tmp_path: Path, findings: Findings) -> None:
    write_charts(tmp_path, findings)

    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "bench-ratios.svg",
        "bench-orders.svg",
        "bench-reads.svg",
        "bench-growth.svg",
        "bench-growth-account.svg",
    }
    for name in names:
        root = ET.parse(tmp_path / name).getroot()  # noqa: S314 - written a moment ago
        assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")
        assert root.findtext(f"{SVG}title")
    told = (tmp_path / "bench-growth.svg").read_text("utf-8")
    assert "list &lt;deep&gt;: 1.50 (100 → 150 µs)" in told
    assert "pgbench, best client count: 4,002" in (tmp_path / "bench-orders.svg").read_text("utf-8")


def test_bars_end_where_the_chart_does() -> None:
    chart = Chart("h", "n", [("g", [Bar("a", 1, "1"), Bar("b", 90, "90", low=80, high=100)])], mark=1, most=3)

    root = ET.fromstring(svg(chart))  # noqa: S314

    _ground, one, other = root.findall(f"{SVG}rect")
    assert float(other.attrib["width"]) == pytest.approx(3 * float(one.attrib["width"]), abs=0.5)
