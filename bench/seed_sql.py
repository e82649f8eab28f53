"""The statements that fill a store: the same on both engines, but for a few words.

Everything about a seeded order follows from its book and its ordinal `n`. Orders come in pairs, a buy and a
sell of the same, so that no position grows. In every book four are `RARE`, and twenty share a reference; two
in 500 are `SPARSE`.
"""

from dataclasses import dataclass

from bullion.orders.order_id import order_id

QUANTITY_E4 = 10_000
PRICE_PAISE = 15_050_900
_TENTH_PAISE = PRICE_PAISE // 10
SMALL_BLOCK = 256

ANATOMY = (
    '{"components":[{"name":"instrument","value":"GOLD"},{"name":"ask","value":"150509.00"},'
    '{"name":"symbol_price","value":"150509.00"}],"premium":"0.00","price":"150509.00",'
    '"quoted_weight":"10.0000","unit":"g","tolerance_percent":"0.5000","ticks":[{"instrument":"GOLD",'
    '"bid":"150482.000000","ask":"150509.000000","at":"2026-11-15T13:13:48.710432+00:00"}]}'
)


@dataclass(frozen=True, slots=True)
class Dialect:
    hex_digits: str
    """A whole number as that many digits."""
    numbers: str
    """Joins the numbers between `low` and `high` as `n`."""

    def hex(self, number: str, digits: int) -> str:
        return self.hex_digits.format(number=number, digits=digits)


POSTGRES = Dialect(
    hex_digits="lpad(to_hex({number}), {digits}, '0')",
    numbers="CROSS JOIN LATERAL generate_series(low, high) AS numbers (n)",
)
SQLITE = Dialect(
    hex_digits="printf('%0{digits}x', {number})",
    numbers="CROSS JOIN seed_numbers ON seed_numbers.n BETWEEN low AND high",
)

BOOKS_TABLE = """
CREATE TEMPORARY TABLE seed_books (
    book_id BIGINT PRIMARY KEY, orders BIGINT NOT NULL, key_id TEXT, broker TEXT NOT NULL,
    deals_before BIGINT NOT NULL
)
"""
NUMBERS_TABLE = "CREATE TEMPORARY TABLE seed_numbers (n INTEGER PRIMARY KEY)"
PART_TABLE = """
CREATE TEMPORARY TABLE seed_part (
    book_id BIGINT, key_id TEXT, broker TEXT, deals_before BIGINT, n BIGINT, symbol_code TEXT,
    trade_type TEXT, status TEXT, at_us BIGINT, random_bits BIGINT, client_order_id TEXT
)
"""
_CLEAR_PART = "DELETE FROM seed_part"

# Of each book the same share of its orders, so that all of them grow side by side, as they would in life.
_SLICE = """
SELECT book_id, orders, key_id, broker, deals_before, orders * {part} / {parts} + 1 AS low,
    orders * ({part} + 1) / {parts} AS high
FROM seed_books
"""

_PART = """
INSERT INTO seed_part
SELECT
    book_id, key_id, broker, deals_before, n,
    CASE
        WHEN orders >= 8 AND (n - 1) / 2 % (orders / 4) = orders / 8 THEN 'RARE'
        WHEN (n - 1) / 2 % 250 = 10 THEN 'SPARSE'
        WHEN (n - 1) / 2 % 5 IN (1, 3) THEN 'SILVER'
        ELSE 'GOLD'
    END AS symbol_code,
    CASE WHEN n % 2 = 1 THEN 'buy' ELSE 'sell' END AS trade_type,
    CASE
        WHEN book_id % 2 = 0 THEN 'filled'
        WHEN (n - 1) / 2 % 20 = 0 THEN 'open'
        WHEN (n - 1) / 2 % 50 = 3 THEN 'deleted'
        WHEN (n - 1) / 2 % 50 = 7 THEN 'rejected'
        ELSE 'closed'
    END AS status,
    {start_us} + {span_us} / orders * (n - 1) + book_id AS at_us,
    ((n * 40503 + book_id * 30011) * 69069) % 17179869184 AS random_bits,
    CASE
        WHEN orders >= 40 AND n % (orders / 20) = 2 THEN 'shared'
        WHEN n % 3 = 0 THEN 'ref-' || n
    END AS client_order_id
FROM ({slice}) AS slices
{numbers}
ORDER BY at_us
"""

_ORDERS = """
INSERT INTO orders (
    book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, client_order_id,
    metal, price_paise, total_paise, status, key_id, request_id, created_at_us, price_anatomy, deal_no,
    close_price_paise, realized_pnl_paise, closed_at_us
)
SELECT
    book_id,
    n,
    {id},
    'api',
    {key},
    symbol_code,
    trade_type,
    {quantity_e4},
    client_order_id,
    CASE symbol_code WHEN 'SILVER' THEN 'silver' ELSE 'gold' END,
    {price_paise},
    {total_paise},
    status,
    key_id,
    {request_id},
    at_us,
    '{anatomy}',
    CASE WHEN status IN ('open', 'closed', 'deleted') THEN deals_before + n END,
    CASE status WHEN 'closed' THEN {price_paise} END,
    CASE status WHEN 'closed' THEN 0 END,
    CASE status WHEN 'closed' THEN at_us + 2000 END
FROM seed_part
"""

# The last orders of a book are in no count: their block is not full.
_COUNTS = """
INSERT INTO block_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT
    kinds.book_id,
    levels.level,
    kinds.small_block * {small} / levels.size,
    kinds.symbol_code,
    kinds.trade_type,
    kinds.status,
    sum(kinds.orders)
FROM (
    SELECT
        seed_part.book_id, n / {small} AS small_block, symbol_code, trade_type, status, count(*) AS orders
    FROM seed_part
    INNER JOIN seed_books ON seed_books.book_id = seed_part.book_id
    WHERE n < (seed_books.orders + 1) / {small} * {small}
    GROUP BY 1, 2, 3, 4, 5
    UNION ALL
    SELECT seed_part.book_id, n / {small}, '', '', 'shown', count(*)
    FROM seed_part
    INNER JOIN seed_books ON seed_books.book_id = seed_part.book_id
    WHERE n < (seed_books.orders + 1) / {small} * {small} AND status <> 'deleted'
    GROUP BY 1, 2
) AS kinds
CROSS JOIN block_levels AS levels
WHERE kinds.orders > 0
GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders
"""

_EVENTS = """
INSERT INTO order_events (book_id, ordinal, status, at_us, actor, words)
SELECT book_id, n, states.state, at_us + states.after_us, states.actor, NULL
FROM seed_part
CROSS JOIN (
    SELECT 'open' AS state, 'open' AS then_status, 1000 AS after_us, 'venue' AS actor UNION ALL
    SELECT 'rejected', 'rejected', 1000, 'venue' UNION ALL
    SELECT 'open', 'closed', 1000, 'venue' UNION ALL
    SELECT 'closing', 'closed', 1500, 'bench' UNION ALL
    SELECT 'closed', 'closed', 2000, 'bench' UNION ALL
    SELECT 'open', 'deleted', 1000, 'venue' UNION ALL
    SELECT 'deleted', 'deleted', 1500, 'bench'
) AS states
WHERE book_id % 2 = 1 AND states.then_status = seed_part.status
"""

_REQUESTS = """
INSERT INTO hedge_requests (
    book_id, ordinal, order_id, broker, instrument, took_stock, venue, state, holder, due_at_us, words,
    outcome, execution_id, answered_at_us
)
SELECT
    book_id, n, {id}, broker, 'GOLD', 0, 'simulated', 'answered', 'bench', at_us + 5000000,
    CASE status WHEN 'rejected' THEN 'no market' ELSE 'execution SIM-' || {id} END,
    CASE status WHEN 'rejected' THEN 'refused' ELSE 'confirmed' END,
    'SIM-' || {id}, at_us + 1000
FROM seed_part
WHERE book_id % 2 = 1
"""

_VENUE = """
INSERT INTO venue_orders (
    order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome, execution_id,
    executed_at_us, execution_no
)
SELECT
    {id}, broker, 'GOLD', trade_type, {quantity_e4}, 1, at_us + 500,
    CASE status WHEN 'rejected' THEN 'refused' ELSE 'confirmed' END, 'SIM-' || {id}, at_us + 900, 0
FROM seed_part
WHERE book_id % 2 = 1
"""

# By the counts of whole books: all orders are of the same weight, and there are few rows to read.
_HELD = """
SELECT
    counts.book_id,
    counts.symbol_code,
    CASE counts.symbol_code WHEN 'SILVER' THEN 'silver' ELSE 'gold' END AS metal,
    sum(CASE counts.trade_type WHEN 'buy' THEN counts.orders ELSE 0 END) * {quantity_e4} AS buy_e4,
    sum(CASE counts.trade_type WHEN 'sell' THEN counts.orders ELSE 0 END) * {quantity_e4} AS sell_e4
FROM (
    SELECT block_counts.book_id, symbol_code, trade_type, status, block_counts.orders
    FROM block_counts
    INNER JOIN seed_books ON seed_books.book_id = block_counts.book_id
    WHERE level = 3 AND symbol_code <> ''
    UNION ALL
    SELECT orders.book_id, symbol_code, trade_type, status, 1
    FROM seed_books
    INNER JOIN orders
        ON
            orders.book_id = seed_books.book_id
            AND orders.ordinal >= (seed_books.orders + 1) / {small} * {small}
) AS counts
WHERE counts.status IN ('filled', 'open')
GROUP BY 1, 2, 3
"""

_WEIGHTS = """
INSERT INTO open_weights (book_id, symbol_code, metal, buy_e4, sell_e4)
SELECT book_id, symbol_code, metal, buy_e4, sell_e4
FROM ({held}) AS held
WHERE book_id % 2 = 1
"""

_MOVED = """
UPDATE books
SET
    order_count = seed_books.orders,
    unsummed_from = CASE
        WHEN seed_books.orders + 1 < {small} THEN 1
        ELSE (seed_books.orders + 1) / {small} * {small}
    END,
    version = books.version + seed_books.orders,
    last_order_at_us =
        {start_us} + {span_us} / seed_books.orders * (seed_books.orders - 1) + seed_books.book_id,
    gold_net_e4 = (
        SELECT coalesce(sum(buy_e4 - sell_e4), 0) FROM ({held}) AS held
        WHERE held.book_id = books.id AND held.metal = 'gold'
    ),
    silver_net_e4 = (
        SELECT coalesce(sum(buy_e4 - sell_e4), 0) FROM ({held}) AS held
        WHERE held.book_id = books.id AND held.metal = 'silver'
    )
FROM seed_books
WHERE seed_books.book_id = books.id AND seed_books.orders > 0
"""

_DEALS = """
INSERT INTO deals (broker, last_deal_no)
SELECT broker, max(deals_before + orders)
FROM seed_books
WHERE book_id % 2 = 1
GROUP BY broker
"""

FOR_EVERY_PART = (_CLEAR_PART, _PART, _ORDERS, _COUNTS)
FOR_PRODUCTION = (_EVENTS, _REQUESTS, _VENUE)
AT_THE_END = (_MOVED, _WEIGHTS, _DEALS)


@dataclass(frozen=True, slots=True)
class Span:
    """The time over which the orders of every book are spread."""

    start_us: int
    span_us: int


def written(statement: str, dialect: Dialect, span: Span, part: int = 0, parts: int = 1) -> str:
    """A statement with everything in its place. The numbers are our own, so nothing needs to be bound."""
    times = {"start_us": span.start_us, "span_us": span.span_us}
    return statement.format(
        slice=_SLICE.format(part=part, parts=parts),
        numbers=dialect.numbers,
        held=_HELD.format(quantity_e4=QUANTITY_E4, small=SMALL_BLOCK),
        id=_order_id(dialect),
        key=_idempotency_key(dialect),
        request_id=f"{dialect.hex('at_us / 1000', 12)} || {dialect.hex('random_bits', 12)}",
        anatomy=ANATOMY,
        quantity_e4=QUANTITY_E4,
        price_paise=PRICE_PAISE,
        total_paise=_TENTH_PAISE,
        small=SMALL_BLOCK,
        **times,
    )


def _order_id(dialect: Dialect) -> str:
    """As `bullion.orders.order_id` makes them."""
    time = dialect.hex("at_us / 1000", 12)
    return " || ".join(
        (
            f"substr({time}, 1, 8) || '-' || substr({time}, 9, 4)",
            f"'-7' || {dialect.hex('random_bits / 4194304', 3)}",
            f"'-' || {dialect.hex('32768 + random_bits % 4194304 / 256', 4)}",
            f"'-' || {dialect.hex('random_bits % 256', 2)} || {dialect.hex('n', 10)}",
        )
    )


def _idempotency_key(dialect: Dialect) -> str:
    scattered = dialect.hex(f"n * {_SCATTER} % 4294967296", 8)
    return f"{scattered} || '-0000-4000-8000-' || {dialect.hex('n', 12)}"


_SCATTER = 2_654_435_761
"""Odd, so that no two ordinals meet: keys lie all over their index, as those of clients do."""


@dataclass(frozen=True, slots=True)
class SeededBook:
    """What its orders are called and when they were made, known without reading them."""

    id: int
    orders: int
    span: Span

    def made_at_us(self, ordinal: int) -> int:
        return self.span.start_us + self.span.span_us // self.orders * (ordinal - 1) + self.id

    def order_id(self, ordinal: int) -> str:
        random_bits = (ordinal * 40503 + self.id * 30011) * 69069 % 2**34
        return order_id(self.made_at_us(ordinal), ordinal, random_bits)

    def idempotency_key(self, ordinal: int) -> str:
        return f"{ordinal * _SCATTER % 2**32:08x}-0000-4000-8000-{ordinal:012x}"
