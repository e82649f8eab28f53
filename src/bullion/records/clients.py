"""Accounts and keys as the desk reads and changes them."""

from dataclasses import dataclass

from bullion.accounts.account import Account
from bullion.allocation.book import Book
from bullion.environment import Environment
from bullion.keys.key import Key


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """The times by which valid and expiring keys are counted."""

    now_us: int
    soon_us: int
    """A key that expires until then expires soon."""


@dataclass(frozen=True, slots=True)
class AccountSummary:
    """An account with its books and the number of its valid keys."""

    account: Account
    created_at_us: int
    books: dict[Environment, Book]
    keys: int
    keys_expiring: int
    """How many of them expire soon."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The limit of a client's open position, per metal."""

    gold_e4: int
    silver_e4: int


@dataclass(frozen=True, slots=True)
class Client:
    """An account with its allocation and creation time."""

    account: Account
    allocation: Allocation
    created_at_us: int


@dataclass(frozen=True, slots=True)
class UsedKey:
    key: Key
    login_id: str
    last_used_at_us: int | None
