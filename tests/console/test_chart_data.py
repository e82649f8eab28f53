"""What a chart of a symbol gets from its candles."""

import json
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from bullion.console.page import Visit
from bullion.console.pages.rates import rate_chart
from bullion.console.pages.rates.rate_chart import chart_points, chart_sentence
from bullion.console.watch import BrokerWatch
from bullion.records.token import Actor, Role

HISTORY = {
    "symbol_code": "GOLD",
    "span": "1d",
    "items": [
        {
            "begins_at": "2026-06-10T06:00:00+00:00",
            "open": "100.00",
            "high": "120",
            "low": "90",
            "close": "110",
        },
        {
            "begins_at": "2026-06-10T06:05:00+00:00",
            "open": "110",
            "high": "111",
            "low": "95",
            "close": "95.005",
        },
    ],
}


def test_points_have_the_time_of_the_zones_clocks_as_if_it_were_utc() -> None:
    # 11:30 in India on that day.
    points = "[[1781091000,100.00,120,90,110],[1781091300,110,111,95,95.005]]"
    assert chart_points(ZoneInfo("Asia/Kolkata"), HISTORY) == points


def test_a_sentence_says_what_the_chart_shows() -> None:
    assert (
        chart_sentence(HISTORY)
        == "GOLD over 1 day: from 100.00 to 95.005, down 5.00 %. Highest 120, lowest 90."
    )
    assert chart_sentence({**HISTORY, "items": []}) == ""


@pytest.mark.anyio
async def test_a_chart_follows_when_the_zone_of_the_trading_hours_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def history(*_: Any) -> Any:
        return HISTORY

    monkeypatch.setattr(rate_chart, "price_history", history)
    watch, actor = BrokerWatch(cast("Any", None), cast("Any", None)), Actor("somebody", Role.VIEWER, "main")

    def read(*given: Any) -> Any:
        return watch.shared(*given).get(actor)

    first_times = []
    for zone in (ZoneInfo("Asia/Kolkata"), ZoneInfo("Asia/Dubai")):
        visit = cast("Visit", SimpleNamespace(zone=zone, read=read))
        found = (await rate_chart._read(visit, "GOLD", "1d")).require()
        first_times.append(json.loads(found.points)[0][0])
    assert first_times == [1781091000, 1781091000 - 5400]
