"""What a node asks for several times a second costs no transaction while there is nothing to do."""

from unittest.mock import patch

import pytest

from bullion.store.cover_planning import StoredCoverPlans
from bullion.store.cover_sending import StoredSentCovers
from bullion.store.engine import Engine
from bullion.store.hedge_requests import StoredHedgeRequests
from bullion.store.house_book import StoredHouseBook
from bullion.store.webhook_queue import StoredWebhookQueue

pytestmark = pytest.mark.anyio

NOW_US = 1_000_000


async def test_nothing_to_do_is_found_without_a_transaction(engine: Engine) -> None:
    def now_us() -> int:
        return NOW_US

    with (
        patch.object(engine, "read", side_effect=AssertionError("a transaction")),
        patch.object(engine, "write", side_effect=AssertionError("a transaction")),
    ):
        assert not await StoredHedgeRequests(engine, "a node", now_us).claim(NOW_US, 10)
        assert not await StoredSentCovers(engine, "a node", now_us, "simulated").claim(NOW_US, 10)
        assert not await StoredHouseBook(engine, now_us).review()
        assert not await StoredCoverPlans(engine, "a node").books()
        assert not await StoredWebhookQueue(engine).claim(10, 60)
