"""Puts the live feed together: its sources, their secrets, and what it needs of the store."""

import os
from importlib.util import find_spec

from bullion.market_file import MarketSettings
from bullion.rates.feeds.http_source import HttpSource
from bullion.rates.feeds.live_feed import LiveFeed
from bullion.rates.feeds.live_runner import LiveFeedRunner
from bullion.rates.feeds.quote import Source
from bullion.rates.feeds.secret_text import SecretMissing, secret_of
from bullion.rates.feeds.source_settings import FeedSettings, SourceSettings
from bullion.settings import WrongSetting
from bullion.store.feed_controls import StoredFeedControls

from .fix_source import make_fix_source
from .store import StoreEngine
from .trading import Trading


def make_live_feed(
    settings: FeedSettings | None, market: MarketSettings, trading: Trading, engine: StoreEngine
) -> LiveFeedRunner:
    """`market` has the lines of sources over FIX. Raises WrongSetting, with everything that is wrong."""
    if settings is None or not settings.sources:
        raise WrongSetting("BULLION_FEED is 'live', but there are no sources of live rates.")
    problems = list(settings.problems())
    if problems:
        raise WrongSetting("\n".join(f"Live rates: {each}." for each in problems))
    return LiveFeedRunner(
        LiveFeed(settings),
        [_source(each, market, trading) for each in settings.sources],
        trading.rates,
        StoredFeedControls(engine),
        trading.board,
        trading.catalogue.now_us,
        trading.holder,
    )


def _source(settings: SourceSettings, market: MarketSettings, trading: Trading) -> Source:
    try:
        secret = secret_of(settings, os.environ)
    except SecretMissing as missing:
        raise WrongSetting(str(missing)) from None
    now_us = trading.catalogue.now_us
    if settings.kind == "http":
        return HttpSource(settings, secret, now_us)
    if settings.kind == "websocket":
        if find_spec("websockets") is None:
            raise WrongSetting(
                f"Source {settings.name} needs the extra 'market': pip install 'bullion[market]'."
            )
        from bullion.rates.feeds.websocket_source import WebSocketSource

        return WebSocketSource(settings, secret, now_us)
    return make_fix_source(settings, market, now_us)
