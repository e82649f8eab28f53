"""How much is measured, and for how long."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Extent:
    rounds: int
    """Of what the ratios are made of."""
    rounds_of_the_rest: int
    connections: tuple[int, ...]
    warm_up_s: float
    seconds: float
    store_floor_s: int | None
    """Whole seconds are all that pgbench knows. None: a few orders of each client."""
    starts: int
    clients: int
    """Accounts that trade, as in a busy hour."""
    many_clients: int
    """Accounts that trade where it matters that they are many."""
    footprint_stores: tuple[str, ...]
    accounts: int
    """In the catalogue, where its memory is measured."""
    growth_orders: int
    """Stored in all; 0 leaves growth out."""
    growth_rounds: int
    streams: int
    """Idle streams, whose memory is measured."""
    filling_s: int
    """For so long orders fill a new store; 0 leaves that out."""


# More rounds rather than longer ones: noise that lasts for seconds then spoils some of them, and the median
# leaves those out.
FULL = Extent(
    rounds=9,
    rounds_of_the_rest=3,
    connections=(1, 16, 64),
    warm_up_s=0.12,
    seconds=0.6,
    store_floor_s=1,
    starts=3,
    clients=32,
    many_clients=2_000,
    footprint_stores=("sqlite", "pg"),
    accounts=100_000,
    growth_orders=1_000_000,
    growth_rounds=20,
    streams=2_000 + 30,
    filling_s=120,
)
FULL_GROWTH = replace(FULL, growth_orders=10_000_000, growth_rounds=60)
QUICK = Extent(
    rounds=1,
    rounds_of_the_rest=0,
    connections=(1, 64),
    warm_up_s=0.02,
    seconds=0.08,
    store_floor_s=None,
    starts=1,
    clients=4,
    many_clients=200,
    footprint_stores=("sqlite",),
    accounts=200,
    growth_orders=0,
    growth_rounds=0,
    streams=60,
    filling_s=0,
)
