"""An account's book in one environment: its positions, limits and number of orders."""

import msgspec

from bullion.environment import PRODUCTION, TEST, Environment
from bullion.metals.metal import GOLD, Metal

from .position import Position

_ENVIRONMENTS = (TEST, PRODUCTION)
_NUMBER = len(_ENVIRONMENTS)

ACCOUNTS_IN_RANGE = 1_000_000_000_000
"""A store numbers its accounts below this. Those of a broker that was moved to it have a range of their own:
each has the number it had first, plus a multiple of this."""


def book_id(account_id: int, environment: Environment) -> int:
    return account_id * _NUMBER + _ENVIRONMENTS.index(environment)


def account_of(of_book_id: int) -> int:
    return of_book_id // _NUMBER


def first_account_id(account_id: int) -> int:
    """The number that the account had in the store where it was created."""
    return account_id % ACCOUNTS_IN_RANGE


def first_book_id(of_book_id: int) -> int:
    """The id that the book had in the store where its account was created."""
    return of_book_id % (ACCOUNTS_IN_RANGE * _NUMBER)


def environment_of(of_book_id: int) -> Environment:
    return _ENVIRONMENTS[of_book_id % _NUMBER]


class Book(msgspec.Struct, frozen=True, gc=False):
    id: int
    gold: Position
    silver: Position
    order_count: int
    """Also the last order's ordinal: they have no gaps."""
    archived_count: int
    """Orders up to this ordinal were archived by a reset."""
    last_order_at_us: int
    version: int
    """Moves with every change, so that a decision on an older state is detected."""

    def position(self, metal: Metal) -> Position:
        return self.gold if metal is GOLD else self.silver


class OpenWeight(msgspec.Struct, frozen=True):
    """What is open of one symbol in a book."""

    symbol_code: str
    metal: Metal
    buy_e4: int
    sell_e4: int
