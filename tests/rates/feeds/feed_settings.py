"""Settings and quotes for tests of live feeds."""

from bullion.rates.feeds.quote import Hours, Quote
from bullion.rates.feeds.source_settings import FeedSettings, Fields, SourceInstrument, SourceSettings

S = 1_000_000
T0 = 1_800_000_000 * S
GOLD = SourceInstrument(instrument="XAUUSD", symbol="GOLD-SPOT", lowest="1000", highest="20000")


def source(
    name: str = "one",
    *instruments: SourceInstrument,
    kind: str = "websocket",
    hours: Hours | None = None,
    poll_ms: int = 1000,
) -> SourceSettings:
    return SourceSettings(
        name=name,
        kind="http" if kind == "http" else "websocket",
        url=f"{'https' if kind == 'http' else 'wss'}://{name}.example/quotes",
        instruments=instruments or (GOLD,),
        fields=Fields(time="/time"),
        hours=hours,
        poll_ms=poll_ms,
    )


def feed_settings(*sources: SourceSettings) -> FeedSettings:
    settings = FeedSettings(sources=sources or (source(),))
    assert list(settings.problems()) == []
    return settings


def quote(
    middle: int | str,
    at_us: int,
    name: str = "one",
    *,
    spread_bps: int = 2,
    instrument: str = "XAUUSD",
    own_us: int | None = None,
) -> Quote:
    """Around a middle price in whole units, or in millionths if it is given as text."""
    middle_e6 = int(middle) if isinstance(middle, str) else middle * 1_000_000
    half_e6 = middle_e6 * spread_bps // 20_000
    return Quote(
        name, instrument, middle_e6 - half_e6, middle_e6 + half_e6, at_us if own_us is None else own_us, at_us
    )
