"""Rows of the archive to values and back."""

from typing import Any

from bullion.orders.packed_orders import PackedOrders

from .engine import Row


def packed_orders(row: Row) -> PackedOrders:
    return PackedOrders(
        book_id=row["book_id"],
        first_ordinal=row["first_ordinal"],
        last_ordinal=row["last_ordinal"],
        from_us=row["from_us"],
        to_us=row["to_us"],
        plain_bytes=row["plain_bytes"],
        packed=row["packed"],
    )


def packed_values(of: PackedOrders) -> tuple[Any, ...]:
    """In the order of the columns of the insert."""
    return (
        of.book_id,
        of.first_ordinal,
        of.last_ordinal,
        of.from_us,
        of.to_us,
        of.plain_bytes,
        len(of.packed),
        of.packed,
    )
