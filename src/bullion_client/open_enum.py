"""Enums that survive values which a later version of the service may add."""

from enum import StrEnum
from typing import Self


class OpenEnum(StrEnum):
    """A string enum that takes unknown values too, instead of failing on them.

    An unknown value becomes a member of the class that is not listed among its members: its `value` is the
    text as sent, its `name` is `UNKNOWN` and `known` is false. Compare with `==`, not with `is`: reading the
    same unknown text twice gives two objects.
    """

    @property
    def known(self) -> bool:
        """Whether this version of the client knows the value."""
        return any(self is member for member in type(self))

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        # Never registered with the class, so that what a server sends cannot grow the process.
        unknown = str.__new__(cls, value)
        unknown._name_ = "UNKNOWN"
        unknown._value_ = value
        return unknown
