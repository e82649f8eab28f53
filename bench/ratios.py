"""The targets of the design."""

from .figures import PairRatio, Ratio, TailRatio

RATIOS: tuple[Ratio, ...] = (
    PairRatio("me_vs_get_floor", work="me", floor="get_floor", connections=64, target=0.65, least=0.5),
    PairRatio("orders_pg_vs_post_floor", "orders_pg", "post_floor", 64, target=0.60, least=0.40),
    PairRatio("orders_sqlite_vs_post_floor", "orders_sqlite", "post_floor", 64, target=0.60, least=0.40),
    PairRatio("orders_c1_vs_plain", "orders_pg", "plain_pg", 1, target=1.0, least=1.0),
    PairRatio("orders_sqlite_c1_vs_plain", "orders_sqlite", "plain_sqlite", 1, target=1.0, least=1.0),
    PairRatio("orders_pg_c64_vs_plain", "orders_pg", "plain_pg", 64, target=1.5, least=1.0),
    PairRatio("orders_sqlite_c64_vs_plain", "orders_sqlite", "plain_sqlite", 64, target=1.5, least=1.0),
    PairRatio("positions_pg_vs_get_floor", "positions_pg", "get_floor", 64, target=0.30, least=0.30),
    PairRatio("positions_sqlite_vs_get_floor", "positions_sqlite", "get_floor", 64, target=0.40, least=0.40),
    PairRatio("order_pg_vs_get_floor", "order_pg", "get_floor", 64, target=0.30, least=0.30),
    PairRatio("order_sqlite_vs_get_floor", "order_sqlite", "get_floor", 64, target=0.40, least=0.40),
    PairRatio("list_pg_vs_get_floor", "list_pg", "list_floor", 64, target=0.12, least=0.12),
    PairRatio("list_sqlite_vs_get_floor", "list_sqlite", "list_floor", 64, target=0.15, least=0.15),
    TailRatio("p99_over_p50_c64", "orders_pg", 64, most=3.0),
)
