"""The two metals and the unit each is weighed in."""

from enum import StrEnum


class Metal(StrEnum):
    GOLD = "gold"
    SILVER = "silver"

    @property
    def unit(self) -> str:
        return "g" if self is Metal.GOLD else "kg"
