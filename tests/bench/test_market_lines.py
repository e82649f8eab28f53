"""The figures of covers over FIX and of quotes can be taken. How good they are, is not for a test to say."""

import pytest

from bench import market_lines
from bench.cover_parts import PARTS, REST
from bench.extent import QUICK
from tests.bench.test_bench import MARKET_LINES


@pytest.mark.slow
def test_every_figure_is_told() -> None:
    measured = market_lines.measure_market_lines(QUICK, lambda _: None)
    found = {each.name: each for each in measured.ratios}
    assert found.keys() == MARKET_LINES
    assert all(0 < each.spread.low <= each.spread.value <= each.spread.high for each in found.values())
    assert {name for name, each in found.items() if each.target is None} == {
        "cover_cpu_vs_bare",
        "cover_p50_vs_bare",
    }
    assert list(measured.parts_us) == [*PARTS, REST]
    assert all(measured.parts_us[part] > 0 for part in PARTS)
