"""The store's floor on SQLite: plain `sqlite3`, which writes the rows of an order, one order per transaction.

There is one writer at a time, so there is one client. Every commit is on disk before the next order begins.
"""

from dataclasses import dataclass
from pathlib import Path
from random import getrandbits
from time import perf_counter_ns, time_ns

from .load import Outcome
from .rows import RowSizes
from .store import opened

_BOOK_BITS = 5
BOOKS = 2**_BOOK_BITS

_BOOK = "SELECT order_count, gold_net_e4, gold_limit_e4, version FROM books WHERE id = ?"
_KEY = "SELECT id FROM orders WHERE book_id = ? AND source = 'api' AND idempotency_key = ?"
_ORDER = """
INSERT INTO orders (
    book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, client_order_id,
    metal, price_paise, total_paise, status, key_id, request_id, created_at_us, price_anatomy
) VALUES (
    ?, ?, ?, 'api', ?, 'GOLD', 'buy', 10000, 'ref-0001', 'gold', 15050900, 1505090, 'filled', ?, ?, ?, ?
)
"""
_MOVE = """
UPDATE books
SET gold_net_e4 = ?2, order_count = ?3, last_order_at_us = ?4, version = version + 1
WHERE id = ?1
"""


@dataclass(frozen=True, slots=True)
class SqliteFloor:
    """A store of its own, made with `BOOKS` accounts, where nothing else runs."""

    path: Path
    sizes: RowSizes

    def measure(self, seconds: float) -> Outcome:
        key_id, anatomy = "k" * self.sizes.key_id, "a" * self.sizes.price_anatomy
        took_ns: list[int] = []
        with opened(self.path) as connection:
            run = connection.execute
            started_ns = perf_counter_ns()
            now_ns, ends_ns = started_ns, started_ns + int(seconds * 1e9)
            while now_ns < ends_ns:
                before_ns = now_ns
                book, key, now_us = (
                    2 * (getrandbits(_BOOK_BITS) + 1),
                    f"{getrandbits(144):036x}",
                    time_ns() // 1000,
                )
                number = f"{now_us}"
                run("BEGIN IMMEDIATE")
                count, net_e4, _limit_e4, _version = run(_BOOK, (book,)).fetchone()
                assert run(_KEY, (book, key)).fetchone() is None
                order = (book, count + 1, f"{number:x<36}", key, key_id)
                run(_ORDER, (*order, number.ljust(self.sizes.request_id, "x"), now_us, anatomy))
                run(_MOVE, (book, net_e4 + 10_000, count + 1, now_us))
                run("COMMIT")
                now_ns = perf_counter_ns()
                took_ns.append(now_ns - before_ns)
        return Outcome.of(took_ns, seconds=(now_ns - started_ns) / 1e9)
