"""A simulated feed with realistic prices, for the demo and for tests.

Spot metals and the dollar follow a mean-reverting random walk; the Indian contracts follow them at parity. It
uses integers and one random generator: the same seed and number of steps give the same prices.
"""

from collections.abc import Iterable
from random import Random

from bullion.rates.tick import Tick

INSTRUMENTS = ("XAUUSD", "XAGUSD", "USDINR", "GOLD", "GOLD995", "SILVER")
STEP_US = 500_000
"""The time between two steps."""

_E9 = 10**9
_E9_PER_E6 = 1000
_TOSSES = 64
_PULL_SHIFT = 20
"""A level returns to its anchor by 1/2^20 of the distance each step: over about six days."""
_BASIS_PULL_SHIFT = 8
"""A contract returns to parity within minutes."""
_BASIS_TOSS_E9 = 1250

# Rupees for the contract's weight, from dollars an ounce of 31.1035 g: 6 % for duty and costs are in it.
_GOLD_10G = (10 * 10_000 * 106, 311_035 * 100)
_SILVER_KG = (1000 * 10_000 * 106, 311_035 * 100)


class SimulatedFeed:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - simulated prices, not a secret
        chance = self._random
        # 64 tosses deviate by 4 from the middle, and a day has 172,800 steps, so that 3608 billionths
        # a toss make about 0.6 % a day; the dollar has a third of that.
        self._gold = _Spot(chance, "XAUUSD", anchor_e9=4_800 * _E9, toss_e9=3608, unit_e6=10_000)
        self._silver = _Spot(chance, "XAGUSD", anchor_e9=95_700_000_000, toss_e9=3608, unit_e6=1_000)
        self._dollar = _Spot(chance, "USDINR", anchor_e9=92 * _E9, toss_e9=1203, unit_e6=100)
        self._gold_10g = _Contract(chance, "GOLD", self._gold, self._dollar, _GOLD_10G)
        self._silver_kg = _Contract(chance, "SILVER", self._silver, self._dollar, _SILVER_KG)
        self._last: dict[str, Tick] = {}

    def step(self, now_us: int) -> list[Tick]:
        """The next tick of every instrument."""
        gold = self._gold.step()
        silver = self._silver.step()
        dollar = self._dollar.step()
        gold_10g = self._gold_10g.step()
        silver_kg = self._silver_kg.step()
        pairs = (gold, silver, dollar, gold_10g, _of_fineness_995(gold_10g), silver_kg)
        return [
            self._tick(name, bid_e6, ask_e6, now_us)
            for name, (bid_e6, ask_e6) in zip(INSTRUMENTS, pairs, strict=True)
        ]

    def resume(self, ticks: Iterable[Tick]) -> None:
        """Continue from the last levels of another node's feed, so that prices do not jump."""
        known = {tick.instrument: tick for tick in ticks if tick.instrument in INSTRUMENTS}
        self._last.update(known)
        for part in (self._gold, self._silver, self._dollar, self._gold_10g, self._silver_kg):
            if part.name in known:
                part.resume(known[part.name])

    def _tick(self, name: str, bid_e6: int, ask_e6: int, now_us: int) -> Tick:
        last = self._last.get(name)
        unmoved = last is not None and last.bid_e6 == bid_e6 and last.ask_e6 == ask_e6
        tick = Tick(name, bid_e6, ask_e6, now_us, last.moved_at_us if last and unmoved else now_us)
        self._last[name] = tick
        return tick


class _Spot:
    """A mean-reverting random walk, quoted with a spread in whole units."""

    def __init__(self, chance: Random, name: str, anchor_e9: int, toss_e9: int, unit_e6: int) -> None:
        self.name = name
        self.level_e9 = anchor_e9
        self._chance = chance
        self._anchor_e9 = anchor_e9
        self._toss_e9 = toss_e9
        self._unit_e6 = unit_e6

    def step(self) -> tuple[int, int]:
        toss = _tosses(self._chance) * self._toss_e9
        pull_e9 = (self._anchor_e9 - self.level_e9) >> _PULL_SHIFT
        self.level_e9 += self.level_e9 * toss // _E9 + pull_e9
        return _quote(self._chance, self.level_e9, self._unit_e6)

    def resume(self, tick: Tick) -> None:
        """Ignore a level far from the anchor: it comes from the desk or another feed."""
        level_e9 = _middle_e9(tick)
        if self._anchor_e9 < 2 * level_e9 < 4 * self._anchor_e9:
            self.level_e9 = level_e9


class _Contract:
    """A contract in rupees: metal times dollar, plus a small basis."""

    def __init__(
        self, chance: Random, name: str, metal: _Spot, dollar: _Spot, conversion: tuple[int, int]
    ) -> None:
        self.name = name
        self._chance = chance
        self._metal = metal
        self._dollar = dollar
        self._times, self._parts = conversion
        self._basis_e9 = 0

    def step(self) -> tuple[int, int]:
        self._basis_e9 += _tosses(self._chance) * _BASIS_TOSS_E9 - (self._basis_e9 >> _BASIS_PULL_SHIFT)
        level_e9 = self._parity_e9() * (_E9 + self._basis_e9) // _E9
        return _quote(self._chance, level_e9, unit_e6=1_000_000)

    def resume(self, tick: Tick) -> None:
        """Continue with the same basis, unless it is implausibly large."""
        basis_e9 = _middle_e9(tick) * _E9 // self._parity_e9() - _E9
        if abs(basis_e9) < _E9 // 100:
            self._basis_e9 = basis_e9

    def _parity_e9(self) -> int:
        return self._metal.level_e9 * self._dollar.level_e9 * self._times // (self._parts * _E9)


def _tosses(chance: Random) -> int:
    """The number of heads minus half of the tosses: a symmetric binomial distribution."""
    return chance.getrandbits(_TOSSES).bit_count() - _TOSSES // 2


def _quote(chance: Random, level_e9: int, unit_e6: int) -> tuple[int, int]:
    """Bid and ask in whole units, 8 to 15 of them on either side of the level."""
    unit_e9 = unit_e6 * _E9_PER_E6
    half_e9 = unit_e9 * (8 + chance.getrandbits(3))
    return (level_e9 - half_e9) // unit_e9 * unit_e6, -((-level_e9 - half_e9) // unit_e9) * unit_e6


def _of_fineness_995(pair_e6: tuple[int, int]) -> tuple[int, int]:
    """The rate of 995 gold from that of 999 gold, in proportion to the fineness, in whole rupees."""
    bid, ask = (side_e6 // 1_000_000 for side_e6 in pair_e6)
    return _nearest(bid * 995, 999) * 1_000_000, _nearest(ask * 995, 999) * 1_000_000


def _nearest(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)


def _middle_e9(tick: Tick) -> int:
    return (tick.bid_e6 + tick.ask_e6) * _E9_PER_E6 // 2
