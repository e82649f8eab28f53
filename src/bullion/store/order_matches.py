"""How many orders of a book match, of which kinds, and where a page of them begins: by the counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from bullion.orders.life import SHOWN
from bullion.orders.listing import ALL

from . import order_rows
from .engine import Transaction, one_row

Kind = tuple[str | None, str | None, str | None]
"""Symbol, side and status; each may be anything."""

_ALL_SHOWN = (None, None, ALL)
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Range:
    """The ordinals of a book among which to look."""

    book_id: int
    first: int
    """The first that is not archived: those before it are not counted."""
    low: int
    high: int
    unsummed: int
    """The first whose block is not summed: from here on the counts know nothing."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The orders of some kinds within a range."""

    within: Range
    total: int
    unsummed: int
    """How many of them are among those that no block is summed of."""
    kinds: str
    """Those that there are, as JSON: status, symbol and side of each."""
    almost_all: bool
    """Then the kinds would be many ways to the same orders, which are sooner found by their ordinals."""


async def matches_of(transaction: Transaction, within: Range, kind: Kind) -> Matches:
    almost_all = kind == _ALL_SHOWN
    unsummed_from = (within.book_id, max(within.low, within.unsummed))
    if almost_all:
        rows = [await one_row(transaction, "shown_orders", *unsummed_from)]
        kinds = _encode([(SHOWN, "", "")]).decode()
    else:
        rows = list(await transaction.all("order_kinds", *unsummed_from, *kind))
        found = [(row["status"], row["symbol_code"], row["trade_type"]) for row in rows]
        kinds = _encode(sorted(found)).decode()
    summed, unsummed = sum(row["summed"] for row in rows), sum(row["unsummed"] for row in rows)
    if within.low >= within.unsummed:
        summed = 0
    elif summed and within.low > within.first:
        summed = await _summed_since(transaction, within, kinds, almost_all=almost_all)
    return Matches(within, summed + unsummed, unsummed, kinds, almost_all)


async def _summed_since(transaction: Transaction, within: Range, kinds: str, *, almost_all: bool) -> int:
    """How many there are in summed blocks from the low end of a range on, which may be amid a block."""
    small = order_rows.BLOCK_SIZES[0]
    block_end = within.low // small * small + small - 1
    spans = _encode(list(_later_blocks(within.low))).decode()
    shown_end = block_end if almost_all else within.low - 1
    about = (within.book_id, kinds, spans, within.low, block_end, shown_end)
    return int((await one_row(transaction, "count_since", *about))["total"])


def _later_blocks(ordinal: int) -> Iterator[Sequence[int]]:
    """All blocks behind the small one of an ordinal, as large as they can be: level, first and last."""
    sizes = order_rows.BLOCK_SIZES
    for level, (size, larger) in enumerate(zip(sizes, (*sizes[1:], 0), strict=True)):
        first = ordinal // size + 1
        last = (ordinal // larger + 1) * (larger // size) - 1 if larger else 1 << 62
        yield level, first, last
