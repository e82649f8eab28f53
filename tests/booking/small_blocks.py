"""Blocks of a few orders, so that a test fills them with a few orders."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bullion.store import order_rows
from bullion.store.engine import Engine

from .fixtures import rows

SIZES = (4, 16, 64)
_WHOLE = 2**62


@asynccontextmanager
async def small_blocks(engine: Engine, sizes: tuple[int, int, int] = SIZES) -> AsyncIterator[None]:
    """The store and this process count in blocks of these sizes; the books are empty so far."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order_rows, "BLOCK_SIZES", sizes)
        await _have_levels(engine, sizes)
        yield
    # Others use the same store.
    await _have_levels(engine, order_rows.BLOCK_SIZES)


async def keep_small_blocks(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, int, int] = SIZES
) -> None:
    """The same for a store that is the test's own: it stays so."""
    monkeypatch.setattr(order_rows, "BLOCK_SIZES", sizes)
    await _have_levels(engine, sizes)


async def _have_levels(engine: Engine, sizes: tuple[int, ...]) -> None:
    levels = " UNION ALL ".join(
        f"SELECT {level} AS level, CAST({size} AS BIGINT) AS size"
        for level, size in enumerate((*sizes, _WHOLE))
    )
    await rows(engine, "DROP VIEW block_levels")
    await rows(engine, f"CREATE VIEW block_levels AS {levels}")
