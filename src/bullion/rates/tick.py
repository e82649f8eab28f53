"""A tick: what an instrument was quoted at, and when."""

import msgspec

PLACES = 6


class Tick(msgspec.Struct, frozen=True):
    """Bid and ask in millionths: rupees for what is traded here, dollars or rupees a dollar for the rest."""

    instrument: str
    bid_e6: int
    ask_e6: int
    at_us: int
    moved_at_us: int
    """When bid or ask last changed."""
