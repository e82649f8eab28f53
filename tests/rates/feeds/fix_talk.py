"""Talks with market data over FIX as a source would."""

from collections.abc import Sequence

import msgspec

from bullion.hedge.fix.codec import Pair, message_of, time_text
from bullion.rates.feeds.fix_market_data import MarketData, Request
from bullion.rates.feeds.quote import Item, Quote
from bullion.rates.feeds.source_settings import SourceInstrument, SourceSettings

S = 1_000_000
NOW_US = 1_800_000_000 * S
GOLD = SourceInstrument(instrument="GOLD", symbol="XAU/USD", scale="10")


class Talk:
    """Market data of a source, its clock, and what was sent."""

    def __init__(self, *instruments: SourceInstrument, by_id: bool = False, **settings: bool) -> None:
        source = SourceSettings(name="venue", kind="fix", instruments=instruments or (GOLD,))
        source = msgspec.structs.replace(source, **settings)
        self.now_us = NOW_US
        self.data = MarketData(source, NOW_US, "8" if by_id else None)
        self.sent: list[Request] = []
        self._number = 1

    def step(self, seconds: float = 0) -> list[Request]:
        """Time passes, and what is due is sent."""
        self.now_us += round(seconds * S)
        found = self.data.due(self.now_us)
        for each in found:
            self._number += 1
            self.data.sent(each, self._number)
        self.sent += found
        return found

    def tell(self, kind: str, *pairs: Pair) -> list[Item]:
        sent_at: list[Pair] = [(35, kind), (34, 9), (52, time_text(self.now_us))]
        return self.data.received(message_of([*sent_at, *pairs]), self.now_us)

    def snapshot(self, bid: str = "100", ask: str = "101", *, ids: Sequence[str] = ("b", "a")) -> list[Item]:
        named = [[(278, each)] if each else [] for each in ids]
        return self.tell(
            "W", (262, self.sent[-1].request_id), (55, "XAU/USD"), (268, 2),
            (269, "0"), *named[0], (270, bid), (271, "5"), (269, "1"), *named[1], (270, ask), (271, "5"),
        )  # fmt: skip

    def change(self, *entries: Sequence[Pair]) -> list[Item]:
        pairs = [pair for entry in entries for pair in entry]
        return self.tell("X", (262, self.sent[-1].request_id), (268, len(entries)), *pairs)


def prices(items: Sequence[Item]) -> tuple[int | None, int | None]:
    (item,) = items
    assert isinstance(item, Quote)
    return item.bid_e6, item.ask_e6
