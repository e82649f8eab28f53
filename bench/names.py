"""The names of what is measured, in two orders."""

STORES = ("sqlite", "pg", "pg_w2")
"""SQLite; PostgreSQL with Redis; the same with two workers."""

MEASURED = (
    *("me_pg_w2", "positions_pg_w2"),
    *("me_pg", "me_sqlite", "positions_pg", "positions_sqlite", "get_floor", "order_sqlite", "order_pg"),
    *("order_pg_w2", "list_pg_w2"),
    *("list_pg", "list_floor", "list_sqlite"),
    *("sqlite3", "plain_sqlite", "production_sqlite", "orders_sqlite", "bookings_sqlite"),
    *("post_floor", "bookings_pg", "orders_pg"),
    *("production_pg", "production_book_pg", "pgbench", "plain_pg", "orders_pg_w2", "production_pg_w2"),
    *("orders_2000_pg", "orders_2000_pg_w2", "orders_mixed_pg_w2", "orders_mixed_pg"),
)
"""One after the other: a floor stands between those that are divided by it.

What slows this machine for some seconds then slows both sides of a ratio.
"""

SHOWN = (
    *("get_floor", "list_floor", "post_floor", "sqlite3", "pgbench", "plain_sqlite", "plain_pg"),
    *("bookings_sqlite", "bookings_pg"),
    *(f"{call}_{store}" for call in ("me", "positions", "order", "list") for store in STORES),
    *(f"{call}_{store}" for call in ("orders", "orders_2000", "orders_mixed") for store in STORES),
    *(f"{call}_{store}" for call in ("production", "production_book") for store in STORES),
)
