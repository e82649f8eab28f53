"""A store with counts of before step 11 has, after step 13, those of its full blocks and of no others."""

import pytest

from bullion.store import schema
from bullion.store.postgres import PostgresEngine
from tests.booking.house import rows, store_of
from tests.model import invariants

from .conftest import MakeEngine

pytestmark = pytest.mark.anyio

# Of each book: how many orders it has, how many of them are archived, and where what is not summed begins.
BOOKS = {
    2: (0, 0, 1),
    3: (254, 0, 1),
    4: (255, 0, 256),
    5: (1_500, 0, 1_280),
    6: (1_500, 1_300, 1_301),
    7: (9_000, 0, 8_960),
    8: (600, 300, 512),
}
_NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9000)"
_ORDERS = """
INSERT INTO orders (
    book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, metal, price_paise,
    total_paise, status, request_id, created_at_us, price_anatomy
)
SELECT $1, n, 'id-' || $1 || '-' || n, CASE n % 4 WHEN 0 THEN 'web' ELSE 'api' END, 'k' || n,
    CASE n % 3 WHEN 0 THEN 'SILVER' ELSE 'GOLD' END, CASE n % 2 WHEN 0 THEN 'buy' ELSE 'sell' END, 1,
    'gold', 1, 1,
    CASE n % 5 WHEN 0 THEN 'pending' WHEN 1 THEN 'rejected' WHEN 2 THEN 'deleted' ELSE 'open' END,
    'r', n, '{}'
FROM numbers WHERE n <= $2
"""
_COUNTS = """
INSERT INTO order_counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT book_id, level, ordinal / size, symbol_code, trade_type,
    CASE WHEN source <> 'api' AND status IN ('pending', 'rejected')
        THEN status || ' elsewhere' ELSE status END,
    count(*)
FROM orders
CROSS JOIN (SELECT 0 AS level, 512 AS size UNION ALL SELECT 1, 65536) AS sizes
WHERE book_id = $1 AND ordinal > $2
GROUP BY 1, 2, 3, 4, 5, 6
"""


_HOUSE = (
    "INSERT INTO brokers VALUES ('main', 'Main', 1)",
    "INSERT INTO groups VALUES ('main', 'retail', 1)",
    *(
        f"INSERT INTO accounts VALUES ({number}, 'main', 'login {number}', NULL, 'retail', 1, 1, 1, 1)"
        for number in range(1, 5)
    ),
)
_BOOK = """
INSERT INTO books (
    id, account_id, environment, gold_limit_e4, silver_limit_e4, order_count, archived_count
)
VALUES ($1, $2, $3, 0, 0, $4, $5)
"""


async def test_counts_are_taken_over(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words of its own: the code of today knows columns that a store of step 10 has not."""
    engine, all_steps = make_engine(), schema.steps
    await engine.open()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(
                schema, "steps", lambda name: [each for each in all_steps(name) if each.number < 11]
            )
            await engine.migrate()
        if isinstance(engine, PostgresEngine):  # Nor are queries of today made ready on it.
            monkeypatch.setattr(engine, "_ready", ())
        for statement in _HOUSE:
            await rows(engine, statement)
        for book, (orders, archived, _) in BOOKS.items():
            await rows(engine, _BOOK, book, book // 2, ("test", "production")[book % 2], orders, archived)
            named = _ORDERS.replace("$1", f"CAST({book} AS BIGINT)").replace("$2", str(orders))
            await rows(engine, f"{_NUMBERS} {named}")
            await rows(engine, _COUNTS, book, archived)

        assert await engine.migrate() > 0

        tables = await invariants.read(store_of(engine))
    finally:
        await engine.close()
    assert invariants.counts(tables) == []
    found = {row["id"]: row["unsummed_from"] for row in tables["books"]}
    assert found == {book: unsummed_from for book, (_, _, unsummed_from) in BOOKS.items()}
    assert {row["book_id"] for row in tables["block_counts"]} == {4, 5, 7, 8}
