"""Counts the matching orders of a book by kind, from the counts per block."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from bullion.orders.life import SHOWN
from bullion.orders.listing import ALL

from . import order_rows
from .engine import Transaction

Kind = tuple[str | None, str | None, str | None]
"""Symbol, side and status; None matches everything."""

_ALL_SHOWN = (None, None, ALL)
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Range:
    """A range of ordinals of a book."""

    book_id: int
    first: int
    """The first ordinal that is not archived: earlier ones are not counted."""
    low: int
    high: int
    unsummed: int
    """The first ordinal whose block is not summed: there are no counts from here on."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The orders of some kinds within a range."""

    within: Range
    total: int
    unsummed: int
    """How many of them are in blocks that are not summed."""
    kinds: str
    """The kinds that exist, as JSON: status, symbol and side of each."""
    almost_all: bool
    """Whether nearly all orders match: then reading by ordinal is faster than reading kind by kind."""


async def matches_of(transaction: Transaction, within: Range, kind: Kind) -> Matches:
    almost_all = kind == _ALL_SHOWN
    about = (within.book_id, *kind, max(within.low, within.unsummed))
    if within.first < within.low < within.unsummed:
        query = "shown_orders_since" if almost_all else "order_kinds_since"
        rows = await transaction.all(query, *about, *_since(within.low))
    else:
        rows = await transaction.all("shown_orders" if almost_all else "order_kinds", *about)
    if almost_all:
        kinds = [(SHOWN, "", "")]
    else:
        kinds = sorted((row["status"], row["symbol_code"], row["trade_type"]) for row in rows)
    summed = 0 if within.low >= within.unsummed else sum(row["summed"] for row in rows)
    unsummed = sum(row["unsummed"] for row in rows)
    return Matches(within, summed + unsummed, unsummed, _encode(kinds).decode(), almost_all)


def _since(ordinal: int) -> Iterator[int]:
    """First and last block of each level after an ordinal's small block; the ordinal; that block's end."""
    sizes = order_rows.BLOCK_SIZES
    for size, larger in zip(sizes, (*sizes[1:], 0), strict=True):
        yield ordinal // size + 1
        yield (ordinal // larger + 1) * (larger // size) - 1 if larger else 1 << 62
    yield ordinal
    yield (ordinal // sizes[0] + 1) * sizes[0] - 1
