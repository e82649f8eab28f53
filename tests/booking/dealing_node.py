"""What one node has of the way of a production order, without its sockets: the queue that verifies."""

from typing import Any

from bullion.booking.queue import BookingQueue
from bullion.hedge.venue import Tradeability
from bullion.orders.market import Market
from bullion.rates.board import Board
from bullion.store.engine import Engine
from bullion.store.ledger_postgres import PostgresLedger
from bullion.store.ledger_sqlite import SqliteLedger
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine

from .fixtures import Between, Node, rows


class DealingNode(Node):
    """Its orders are production's: of a book with an odd number, hedged, and verified after a lost answer."""

    def __init__(
        self, engine: Engine, *, holder: str = "this node", batch_max: int = 32, locks_first: bool = False
    ) -> None:
        super().__init__(engine, batch_max=batch_max)
        board = Board()
        board.apply([], 1)
        self.holder = holder
        self.market = Market(self.catalogue, board, lambda _broker, _instrument: Tradeability.TRADABLE)
        on_postgres = isinstance(engine, PostgresEngine)
        if isinstance(engine, PostgresEngine):
            self.ledger = Between(PostgresLedger(engine, holder))
        else:
            assert isinstance(engine, SqliteEngine)
            self.ledger = Between(SqliteLedger(engine, holder))
        self.queue = BookingQueue(
            self.ledger,
            self.catalogue,
            self.catalogue_follower,
            slots=2 if on_postgres else 1,
            batch_max=batch_max,
            verifies=True,
            locks_first=locks_first,
        )


async def orders_of(engine: Engine, book: int, key: str) -> list[dict[str, Any]]:
    """What the store holds under a key."""
    found = await rows(
        engine, "SELECT * FROM orders WHERE book_id = $1 AND idempotency_key = $2 ORDER BY ordinal", book, key
    )
    return [dict(row) for row in found]
