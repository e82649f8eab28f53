"""The part of a list that is asked for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    limit: int
    offset: int


FIRST_PAGE = Page(50, 0)
