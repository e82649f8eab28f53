"""A store of before step 14: executions that its requests know are not listed, and all others are."""

import pytest

from bullion.store import schema
from bullion.store.postgres import PostgresEngine
from tests.booking.house import rows
from tests.support.venues import venue_book_of

from .conftest import MakeEngine

pytestmark = pytest.mark.anyio

# Of each order of the venue: its outcome and execution, and those that our request knows; None: no request.
ORDERS: dict[str, tuple[str | None, str | None, tuple[str, str | None] | None]] = {
    "a deal": ("confirmed", "E1", ("answered", "E1")),
    "a break": ("confirmed", "E2", ("broken", "E2")),
    "rejected": ("refused", "E3", ("answered", "E3")),
    "a late fill": ("confirmed", "E4", ("withdrawn", None)),
    "not answered yet": ("confirmed", "E5", ("waiting", None)),
    "another execution": ("confirmed", "E6", ("answered", "E7")),
    "undecided": (None, None, ("waiting", None)),
    "of nobody": ("confirmed", "E8", None),
}
_VENUE = """
INSERT INTO venue_orders (
    order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome, execution_id,
    executed_at_us
)
VALUES ($1, 'main', 'GOLD', 'buy', 1, 1, 1, $2, $3, $4)
"""
_REQUEST = """
INSERT INTO hedge_requests (
    book_id, ordinal, order_id, broker, instrument, took_stock, venue, state, holder, due_at_us, execution_id
)
VALUES (3, $1, $2, 'main', 'GOLD', 0, 'simulated', $3, 'a node', 1, $4)
"""


async def test_what_no_request_knows_is_listed(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, all_steps = make_engine(), schema.steps
    await engine.open()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(
                schema, "steps", lambda name: [each for each in all_steps(name) if each.number < 14]
            )
            await engine.migrate()
        if isinstance(engine, PostgresEngine):  # Queries of today cannot be made ready on it.
            monkeypatch.setattr(engine, "_ready", ())
        for number, (order_id, (outcome, execution_id, request)) in enumerate(ORDERS.items(), start=1):
            executed_at_us = None if outcome is None else number
            await rows(engine, _VENUE, order_id, outcome, execution_id, executed_at_us)
            if request is not None:
                await rows(engine, _REQUEST, number, order_id, *request)

        assert await engine.migrate() > 0

        book = venue_book_of(engine)
        listed = [each.order_id for each in await book.executions("main", 0, 100)]
        assert listed == ["a late fill", "not answered yet", "another execution", "of nobody"]
        await book.decide("undecided", "confirmed", 99)
        listed = [each.order_id for each in await book.executions("main", 0, 100)]
        assert listed[-1] == "undecided"
    finally:
        await engine.close()
