"""Accounts as the desk looks over many of them at once."""

from dataclasses import dataclass

from bullion.accounts.account import Account
from bullion.allocation.book import Book
from bullion.environment import Environment


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """Which keys work, and which of them will not for much longer."""

    now_us: int
    soon_us: int
    """A key that expires until then expires soon."""


@dataclass(frozen=True, slots=True)
class Overseen:
    """An account with its books, and how many keys it has that work."""

    account: Account
    created_at_us: int
    books: dict[Environment, Book]
    keys: int
    keys_expiring: int
    """Those of them that expire soon."""
