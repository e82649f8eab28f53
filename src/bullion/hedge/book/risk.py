"""Value at risk: what the residual may lose in a day, with 99 % probability. An indicator, not a limit."""

from bullion.metals.rounding import half_up

from .profit import Mark

_QUANTILE_E2 = 233
"""2.33 standard deviations: 99 % of the days of a normal distribution."""
_E2, _E6 = 100, 1_000_000


def value_paise(residual_mg: int, mark: Mark) -> int:
    """What the residual costs at the side one would deal at, without its sign."""
    return abs(mark.metal_paise(residual_mg))


def value_at_risk_paise(residual_mg: int, mark: Mark, volatility_e6: int) -> int:
    """`volatility_e6` is the standard deviation of a day: 12000 is 1.2 %. Rounded half up."""
    return half_up(value_paise(residual_mg, mark) * volatility_e6 * _QUANTILE_E2, _E6 * _E2)
