"""The card with a chart that other pages show."""

from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from bullion.console.page import Visit
from bullion.console.pages.rates import rate_chart
from bullion.console.shared_read import Reading
from bullion.desk.desk import View

pytestmark = pytest.mark.anyio

ITEMS = [
    {"begins_at": "2026-06-10T06:00:00+00:00", "open": "100.00", "high": "120", "low": "90", "close": "110"},
    {"begins_at": "2026-06-10T06:05:00+00:00", "open": "110", "high": "111", "low": "95", "close": "95.005"},
]


def visit(monkeypatch: pytest.MonkeyPatch, items: list[View] | None) -> Visit:
    """Somebody who looks at a symbol with these candles; None: they cannot be read."""

    async def history(_desk: Any, _actor: Any, code: str, span: str) -> View:
        return {"symbol_code": code, "span": span, "items": items}

    async def read(_key: Any, read: Any, _every_s: float) -> Reading[Any]:
        return (
            Reading(error="The store cannot be reached.")
            if items is None
            else Reading(await read(None, None))
        )

    monkeypatch.setattr(rate_chart, "price_history", history)
    return cast("Visit", SimpleNamespace(read=read, zone=ZoneInfo("Asia/Kolkata")))


async def test_it_has_the_chart_its_sentence_and_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = await rate_chart.chart_card(visit(monkeypatch, ITEMS), "GOLD")
    # The time of clocks in India, as if it were UTC: 11:30 on that day.
    assert 'data-points="[[1781091000,100.00,120,90,110],[1781091300,110,111,95,95.005]]"' in shown
    assert "GOLD over 1 day: from 100.00 to 95.005, down 5.00 %. Highest 120, lowest 90." in shown
    assert 'href="/rates/GOLD"' in shown


async def test_it_never_fails_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "The store cannot be reached." in await rate_chart.chart_card(visit(monkeypatch, None), "GOLD")
    assert "There are no samples of GOLD" in await rate_chart.chart_card(visit(monkeypatch, []), "GOLD")
