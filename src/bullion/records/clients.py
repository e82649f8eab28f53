"""Accounts and keys as the desk reads and changes them."""

from dataclasses import dataclass

from bullion.accounts.account import Account
from bullion.allocation.book import Book
from bullion.environment import Environment
from bullion.keys.key import Key


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """Which keys work, and which of them will not for much longer."""

    now_us: int
    soon_us: int
    """A key that expires until then expires soon."""


@dataclass(frozen=True, slots=True)
class AccountSummary:
    """An account with its books, and how many keys it has that work."""

    account: Account
    created_at_us: int
    books: dict[Environment, Book]
    keys: int
    keys_expiring: int
    """Those of them that expire soon."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """How far a client's open position may go, per metal."""

    gold_e4: int
    silver_e4: int


@dataclass(frozen=True, slots=True)
class Client:
    """An account with what the desk keeps beside it."""

    account: Account
    allocation: Allocation
    created_at_us: int


@dataclass(frozen=True, slots=True)
class UsedKey:
    key: Key
    login_id: str
    last_used_at_us: int | None
