"""An independent look at the books: what was answered, and what is stored, told by nobody but the rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tests.support.servers import Postgres

from .crowd import Answered

_BLOCK = 256


@dataclass
class Row:
    login_id: str
    ordinal: int
    order_id: str
    idempotency_key: str
    metal: str
    change_e4: int


@dataclass
class Book:
    gold_net_e4: int
    silver_net_e4: int
    gold_limit_e4: int
    silver_limit_e4: int
    order_count: int
    unsummed_from: int


class Ledger:
    """Of the test environment, as the store has it at one moment."""

    def __init__(self, postgres: Postgres, database_url: str) -> None:
        database = database_url.rpartition("/")[2]
        self.rows: dict[str, list[Row]] = defaultdict(list)
        for login, ordinal, order_id, key, metal, side, quantity in _read(postgres, database, _ORDERS):
            change = int(quantity) if side == "buy" else -int(quantity)
            self.rows[login].append(Row(login, int(ordinal), order_id, key, metal, change))
        self.books = {
            login: Book(*map(int, numbers)) for login, *numbers in _read(postgres, database, _BOOKS)
        }
        self._counted = {
            (login, int(block)): int(orders) for login, block, orders in _read(postgres, database, _COUNTS)
        }

    def check(self) -> None:
        """Whatever was done to the books, this has to be true of them."""
        for login, book in self.books.items():
            rows = self.rows[login]
            assert [row.ordinal for row in rows] == list(range(1, len(rows) + 1)), "every number once"
            assert book.order_count == len(rows)
            assert len({row.idempotency_key for row in rows}) == len(rows), "one order for a key"
            assert len({row.order_id for row in rows}) == len(rows)
            blocks = Counter(row.ordinal // _BLOCK for row in rows if row.ordinal < book.unsummed_from)
            # At most what the last batches filled is still to be summed.
            assert len(rows) - 6 * _BLOCK < book.unsummed_from <= len(rows) + 1
            assert {block: n for (of, block), n in self._counted.items() if of == login} == dict(blocks)
            nets = {"gold": 0, "silver": 0}
            limits = {"gold": book.gold_limit_e4, "silver": book.silver_limit_e4}
            for row in rows:
                before = nets[row.metal]
                nets[row.metal] += row.change_e4
                after = nets[row.metal]
                assert abs(after) <= limits[row.metal] or abs(after) < abs(before), "past the allocation"
            assert nets == {"gold": book.gold_net_e4, "silver": book.silver_net_e4}

    def check_answers(self, answers: Iterable[Answered]) -> None:
        """Who was told of an order has it, once; and there is none that nobody was told of."""
        told: dict[tuple[str, str], str] = {}
        first = Counter[tuple[str, str]]()
        for each in answers:
            if each.status in (200, 201):
                name = (each.login_id, each.idempotency_key)
                assert told.setdefault(name, each.body["id"]) == each.body["id"], "two orders for one key"
                first[name] += each.status == 201
        stored = {
            (login, row.idempotency_key): row.order_id for login, rows in self.rows.items() for row in rows
        }
        assert told == stored
        assert set(first.values()) <= {1}, "placed for the first time, once"


_ORDERS = """
SELECT a.login_id, o.ordinal, o.id, o.idempotency_key, o.metal, o.trade_type, o.quantity_e4
FROM orders o JOIN books b ON b.id = o.book_id JOIN accounts a ON a.id = b.account_id
WHERE b.environment = 'test' ORDER BY o.book_id, o.ordinal
"""
_BOOKS = """
SELECT a.login_id, b.gold_net_e4, b.silver_net_e4, b.gold_limit_e4, b.silver_limit_e4,
    b.order_count, b.unsummed_from
FROM books b JOIN accounts a ON a.id = b.account_id WHERE b.environment = 'test'
"""
_COUNTS = """
SELECT a.login_id, c.block, sum(c.orders)
FROM block_counts c JOIN books b ON b.id = c.book_id JOIN accounts a ON a.id = b.account_id
WHERE b.environment = 'test' AND c.level = 0 AND c.symbol_code <> '' GROUP BY 1, 2
"""


def _read(postgres: Postgres, database: str, query: str) -> list[list[str]]:
    return [line.split("|") for line in postgres.sql(query, database).splitlines() if line]
