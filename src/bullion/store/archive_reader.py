"""Archived orders: conversion of rows, and look-up of single orders.

Readers search the working tables first and then the archive: orders only ever move into the archive, so none
is missed.
"""

from collections.abc import Sequence
from typing import Any

from bullion.allocation.book import environment_of
from bullion.environment import Environment
from bullion.orders.order import Order
from bullion.orders.order_id import made_at_us, ordinal_of
from bullion.orders.packed_orders import PackedOrders
from bullion.records.orders import AccountOrder

from .engine import Row, Transaction


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


def may_be_archived(book_id: int) -> bool:
    """Production orders are never archived."""
    return environment_of(book_id) is Environment.TEST


def order_of_pack(rows: Sequence[Row], ordinal: int, order_id: str | None = None) -> Order | None:
    """The order in the rows of `archived_pack`. If an id is given, it has to match."""
    for row in rows:
        order = packed_orders(row).order(ordinal)
        if order is not None and order_id in (None, order.id):
            return order
    return None


def order_of_key(rows: Sequence[Row]) -> Order | None:
    """The order in the rows of `archived_by_key`."""
    return order_of_pack(rows, rows[0]["ordinal"]) if rows else None


async def order_of_id(transaction: Transaction, broker: str, order_id: str) -> AccountOrder | None:
    """For the desk, which looks up orders without their account."""
    try:
        ordinal, at_ms = ordinal_of(order_id), made_at_us(order_id) // 1000
    except ValueError:  # No order has such an id.
        return None
    for row in await transaction.all("desk_archived_packs", at_ms, ordinal, broker):
        order = order_of_pack([row], ordinal, order_id)
        if order is not None:
            return AccountOrder(order, row["login_id"], archived=True)
    return None
