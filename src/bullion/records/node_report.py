"""What each node says about itself in the store, for the desk: consoles and commands are other processes."""

import msgspec

FRESH_US = 6_000_000
"""A node that has said nothing for this long does not answer calls, or cannot reach the store."""
FORGOTTEN_US = 600_000_000
"""After this time nobody expects the node to come back."""


class NodeReport(msgspec.Struct, frozen=True, kw_only=True):
    """Times are those of the store's clock. A time says since when something is wrong; None: it is well."""

    at_us: int
    place: str
    """Where it serves: the workers of one node have the same."""
    workers: int
    """How many serve there when all is well."""
    venue_down_us: dict[str, int]
    """By broker whose venue cannot be reached."""
    not_tradable_us: dict[str, dict[str, int]] = {}
    """By broker, the instruments that its venue does not trade now."""
    limiter: str
    """Where calls are counted: `memory` or `redis`."""
    limiter_down_us: int | None
    schema_unfit_us: int | None

    def is_fresh(self, now_us: int) -> bool:
        return now_us - self.at_us <= FRESH_US
