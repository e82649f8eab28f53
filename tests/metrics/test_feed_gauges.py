"""The gauges of the live feed, on the node that runs it and on the others."""

from math import isnan
from typing import cast

from prometheus_client import CollectorRegistry

from bullion.rates.feeds.live_feed import LiveFeed
from bullion.rates.feeds.live_runner import LiveFeedRunner
from bullion.rates.feeds.quote import Quote
from bullion.rates.feeds.source_settings import FeedSettings, SourceInstrument, SourceSettings
from bullion.rates.tick import Tick
from bullion.wiring.gauges import FeedGauges

S = 1_000_000
GOLD = SourceInstrument(instrument="GOLD", symbol="G")


class Runner:
    def __init__(self) -> None:
        source = SourceSettings(name="one", kind="websocket", url="wss://a.example", instruments=(GOLD,))
        self.feed = LiveFeed(FeedSettings(sources=(source,)))
        self.holding = True


def test_ages_drops_and_held_quotes() -> None:
    registry, runner = CollectorRegistry(), Runner()
    gauges = FeedGauges(registry)
    labels = {"source": "one", "instrument": "GOLD"}

    def value(name: str, **of: str) -> float | None:
        gauges.publish(cast("LiveFeedRunner", runner), lambda: 30 * S)
        return registry.get_sample_value(name, of or labels)

    runner.feed.resume([Tick("GOLD", 100 * S, 100 * S, 10 * S, 10 * S)])
    runner.feed.take(Quote("one", "GOLD", 100 * S, 100 * S, None, 20 * S))
    assert value("bullion_feed_age_seconds") == 10
    assert value("bullion_feed_held") == 0
    runner.feed.take(Quote("one", "GOLD", 200 * S, 200 * S, None, 21 * S))
    assert value("bullion_feed_held") == 1
    assert value("bullion_feed_dropped_total", source="one", reason="spike") == 1
    assert value("bullion_feed_dropped_total", source="one", reason="spike") == 1
    runner.holding = False
    assert isnan(value("bullion_feed_age_seconds") or 0)
    assert value("bullion_feed_held") == 0
