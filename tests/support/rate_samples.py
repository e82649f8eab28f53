"""Stored candles for tests: written into a store behind the service's back."""

import time
from collections.abc import Sequence

from bullion.accounts.switches import DEFAULT_ZONE
from bullion.rates.candle import Step

from .node import Node
from .production import store_says

STEP_S = {Step.MINUTE: 60, Step.HOUR: 3600, Step.DAY: 86_400}


def put_candles(node: Node, broker: str, code: str, step: Step, closes: Sequence[int]) -> None:
    """One for each price in rupees, each opening at the close before; the last began one step ago."""
    now_s = int(time.time())
    rows = []
    for number, close in enumerate(closes):
        opened = closes[max(0, number - 1)]
        begins_s = step.begin_s(now_s - (len(closes) - number) * STEP_S[step], DEFAULT_ZONE)
        high, low = max(opened, close) + 5, min(opened, close) - 5
        prices = ", ".join(str(price * 10_000) for price in (opened, high, low, close))
        at_us = begins_s * 1_000_000
        rows.append(f"('{broker}', '{code}', '{step}', {begins_s}, {prices}, {at_us}, {at_us + 1})")
    store_says(
        node,
        "INSERT INTO rate_candles (broker, symbol_code, step, begins_s, open_e4, high_e4, low_e4, close_e4, "
        f"opened_at_us, closed_at_us) VALUES {', '.join(rows)} ON CONFLICT DO NOTHING",
    )
