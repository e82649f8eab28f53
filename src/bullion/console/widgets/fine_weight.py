"""Fine weights of the hedge book: the desk writes grams, and people weigh silver in kilograms."""

from bullion.metals.metal import Metal
from bullion.metals.scaled import plain, scaled

from .formatting import weight

_MG, _MG_PER_KG = 3, 6
_PLACES = {"g": _MG, "kg": _MG_PER_KG}


def milligrams(grams: str) -> int:
    return scaled(grams, _MG)


def fine(grams: str, metal: str) -> str:
    """`1180.000` of gold is 1,180 g, and `42000.000` of silver is 42 kg."""
    return fine_mg(milligrams(grams), metal)


def fine_mg(weight_mg: int, metal: str) -> str:
    unit = Metal(metal).unit
    return weight(plain(weight_mg, _PLACES[unit]), unit)


def direction(weight_mg: int) -> str:
    """Whether the house has metal left over or owes some."""
    return "long" if weight_mg > 0 else "short" if weight_mg < 0 else "flat"


def position(grams: str, metal: str) -> str:
    """1,180 g short, 42 kg long, flat"""
    return position_mg(milligrams(grams), metal)


def position_mg(weight_mg: int, metal: str) -> str:
    return f"{fine_mg(abs(weight_mg), metal)} {direction(weight_mg)}" if weight_mg else "flat"
