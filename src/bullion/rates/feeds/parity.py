"""Whether a contract is where spot, currency and duty say. It raises an alarm, no more."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from bullion.rates.tick import PLACES, Tick

from .source_settings import Parity

_FRESH_US = 10_000_000
"""Only rates of the same time are compared."""
_E6 = 10**PLACES


def off_parity(parities: Sequence[Parity], ticks: Mapping[str, Tick], now_us: int) -> frozenset[str]:
    """The contracts whose rate is too far from its parity."""
    return frozenset(each.instrument for each in parities if _is_off(each, ticks, now_us))


def _is_off(parity: Parity, ticks: Mapping[str, Tick], now_us: int) -> bool:
    found = [ticks.get(name) for name in (parity.instrument, parity.spot, parity.currency)]
    fresh = [tick for tick in found if tick is not None and now_us - tick.at_us <= _FRESH_US]
    if len(fresh) < len(found):
        return False
    contract, spot, currency = (Decimal(tick.bid_e6 + tick.ask_e6) / (2 * _E6) for tick in fresh)
    expected = spot * currency * Decimal(parity.factor) + Decimal(parity.plus)
    return bool(abs(contract - expected) * 10_000 > parity.bps * expected)
