"""Counts are summed behind bookings: a store that fails is told of, and keeps nobody else's counts back."""

from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from bullion.faults import StoreUnavailable
from bullion.store.engine import Engine
from bullion.store.order_sums import BlockSums

pytestmark = pytest.mark.anyio


class FailsOnce:
    """An engine whose first transaction fails."""

    def __init__(self) -> None:
        self.written: list[str] = []

    async def write(self, name: str, _body: Any, **_options: Any) -> None:
        self.written.append(name)
        if len(self.written) == 1:
            raise StoreUnavailable("away")


async def test_a_store_that_fails_is_told_of_and_the_next_book_is_summed() -> None:
    engine = FailsOnce()
    sums = BlockSums(cast("Engine", engine))
    with capture_logs() as logs:
        sums.add([2, 4])
        await sums.done()
        sums.add([])
        await sums.done()
        sums.add([2])
        await sums.done()
    assert engine.written == ["sum_blocks"] * 3
    (told,) = logs
    assert (told["event"], told["log_level"]) == ("blocks_not_summed", "warning")
    assert told["book_id"] in (2, 4)
    assert "away" in told["fault"]
