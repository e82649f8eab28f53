"""The validated query of `GET /orders`."""

import msgspec

LIMIT_DEFAULT = 50
LIMIT_MAX = 200
ALL = "all"


class ListQuery(msgspec.Struct, frozen=True):
    """One page of the orders that match every filter. A filter that is None matches everything."""

    limit: int = LIMIT_DEFAULT
    offset: int = 0
    """At most `2**62`, so that every store accepts it."""
    symbol_code: str | None = None
    trade_type: str | None = None
    since_us: int | None = None
    """Microseconds since the epoch, below 0 for times before it. The instant itself is included."""
    client_order_id: str | None = None
    status: str | None = None
    """`ALL`: every order that the API shows, but the deleted ones. None in test, which has one status."""
