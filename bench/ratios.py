"""The targets of the design, and what else is worth dividing."""

from .figures import LOOP_US, WHOLE_US
from .pgbench import CLIENTS
from .ratio import CostRatio, PairRatio, Ratio, TailRatio, at_least, at_most

CROWD = 256

RATIOS: tuple[Ratio, ...] = (
    CostRatio(
        "orders_cpu_vs_post_floor",
        LOOP_US,
        [("post_floor", 64)],
        [("orders_pg", 64)],
        "loop CPU of post_floor ÷ that of orders_pg, at 64 connections",
        at_least(0.35, aim=0.45),
    ),
    CostRatio(
        "orders_sqlite_cpu_vs_post_floor",
        LOOP_US,
        [("post_floor", 64)],
        [("orders_sqlite", 64)],
        "loop CPU of post_floor ÷ that of orders_sqlite, at 64 connections",
        at_least(0.35, aim=0.45),
    ),
    CostRatio(
        "order_cpu_total_vs_pgbench",
        WHOLE_US,
        [("orders_pg", 64)],
        [("pgbench", clients) for clients in CLIENTS],
        "CPU of service, PostgreSQL and Redis for an order of orders_pg at 64 connections ÷ "
        "CPU of pgbench and PostgreSQL for one, with the clients that were best in the round",
        at_most(0.9),
    ),
    PairRatio(
        "orders_pg_vs_pgbench", "orders_pg", "pgbench", at_least(1.5, aim=2.0), floor_connections=CLIENTS
    ),
    PairRatio("orders_c256_vs_post_floor", "orders_pg", "post_floor", at_least(0.33), connections=CROWD),
    PairRatio("workers_two_vs_one", "orders_2000_pg_w2", "orders_2000_pg", at_least(1.0)),
    PairRatio("orders_c1_vs_plain", "orders_pg", "plain_pg", at_least(1.0), connections=1),
    PairRatio("production_vs_test", "production_pg", "orders_pg", at_least(0.45)),
    PairRatio("production_sqlite_vs_test", "production_sqlite", "orders_sqlite", at_least(0.45)),
    PairRatio("production_book_vs_each", "production_book_pg", "production_pg", at_least(0.95)),
    PairRatio("me_vs_get_floor", "me_sqlite", "get_floor", at_least(0.65)),
    PairRatio("positions_pg_vs_get_floor", "positions_pg", "get_floor", at_least(0.30)),
    PairRatio("positions_sqlite_vs_get_floor", "positions_sqlite", "get_floor", at_least(0.40)),
    PairRatio("order_pg_vs_get_floor", "order_pg", "get_floor", at_least(0.30)),
    PairRatio("order_sqlite_vs_get_floor", "order_sqlite", "get_floor", at_least(0.40)),
    PairRatio("list_pg_vs_get_floor", "list_pg", "list_floor", at_least(0.12)),
    PairRatio("list_sqlite_vs_get_floor", "list_sqlite", "list_floor", at_least(0.15)),
    TailRatio("p99_over_p50_c64", "orders_pg", 64, at_most(3.0)),
    TailRatio("p99_over_p50_c64_2000", "orders_2000_pg", 64, at_most(3.0)),
    # Without a target of the design: what the same is on the other stack, or beside another rival.
    PairRatio("orders_pg_vs_post_floor", "orders_pg", "post_floor", None),
    PairRatio("orders_sqlite_vs_post_floor", "orders_sqlite", "post_floor", None),
    PairRatio("orders_sqlite_vs_sqlite3", "orders_sqlite", "sqlite3", None, floor_connections=(1,)),
    PairRatio("orders_sqlite_c1_vs_plain", "orders_sqlite", "plain_sqlite", None, connections=1),
    PairRatio("orders_pg_c64_vs_plain", "orders_pg", "plain_pg", None),
    PairRatio("orders_sqlite_c64_vs_plain", "orders_sqlite", "plain_sqlite", None),
    # What the first two of these would be, if there were nothing but the way into the book.
    PairRatio("bookings_pg_vs_post_floor", "bookings_pg", "post_floor", None),
    PairRatio("bookings_sqlite_vs_post_floor", "bookings_sqlite", "post_floor", None),
    PairRatio("me_pg_vs_get_floor", "me_pg", "get_floor", None),
    PairRatio("workers_two_vs_one_mixed", "orders_mixed_pg_w2", "orders_mixed_pg", None),
    TailRatio("p99_over_p50_c64_sqlite", "orders_sqlite", 64, None),
)
