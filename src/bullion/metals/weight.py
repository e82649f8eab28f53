"""Weights, kept as whole ten-thousandths of the metal's unit."""

from .scaled import plain, scaled

PLACES = 4
ONE_E4 = 10**PLACES
WEIGHT_E4_MAX = 10**9 * ONE_E4
"""A thousand tonnes in grams: more is a typing error, and sums stay within 64 bits."""


def weight_e4(text: str) -> int:
    return scaled(text, PLACES)


def weight_text(e4: int) -> str:
    return plain(e4, PLACES)
