"""A page of a list: limit and offset."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    limit: int
    offset: int


FIRST_PAGE = Page(50, 0)
