"""The two metals and the unit each is weighed in."""

from enum import StrEnum


class Metal(StrEnum):
    GOLD = "gold"
    SILVER = "silver"

    @property
    def unit(self) -> str:
        return "g" if self is GOLD else "kg"


GOLD, SILVER = Metal
"""For code that every order runs: to look a member up in its class costs more than a call of a function."""
