"""Division of whole numbers with rounding. The denominator must be above 0."""


def half_up(numerator: int, denominator: int) -> int:
    """The nearest whole number; a half goes up, towards plus infinity."""
    return (2 * numerator + denominator) // (2 * denominator)


def towards_zero(numerator: int, denominator: int) -> int:
    return numerator // denominator if numerator >= 0 else -(-numerator // denominator)
