"""The figures of covers over FIX and of quotes can be taken. How good they are, is not for a test to say."""

import pytest

from bench import market_lines
from bench.extent import QUICK
from tests.bench.test_bench import MARKET_LINES


@pytest.mark.slow
def test_every_figure_is_told() -> None:
    found = {each.name: each for each in market_lines.measure_market_lines(QUICK, lambda _: None)}
    assert found.keys() == MARKET_LINES
    assert all(0 < each.spread.low <= each.spread.value <= each.spread.high for each in found.values())
    assert {name for name, each in found.items() if each.target is None} == {"cover_p50_vs_echo"}
