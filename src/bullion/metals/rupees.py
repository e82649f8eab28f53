"""Money, kept as whole paise."""

from .scaled import plain, scaled

PLACES = 2
RUPEES_PAISE_MAX = 10**12 * 100


def paise(text: str) -> int:
    return scaled(text, PLACES)


def rupees_text(value_paise: int) -> str:
    return plain(value_paise, PLACES)
