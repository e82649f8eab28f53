"""Paths of the trading API with their parameters."""

from datetime import datetime
from urllib.parse import quote, urlencode

from bullion_client.enums import Environment, OrderStatus, TradeType

_EVERY_STATUS = "all"
EVENT_LIMIT_MAX = 200
EVENT_WAIT_S_MAX = 30


def order_filters(
    environment: Environment,
    symbol_code: str | None,
    trade_type: TradeType | str | None,
    since: datetime | None,
    status: OrderStatus | str | None,
    client_order_id: str | None,
) -> dict[str, str | None]:
    """The filters of a list of orders as query parameters, or a `ValueError`."""
    if since is not None and since.tzinfo is None:
        raise ValueError(
            "since must have a time zone: the service would read it as UTC, whatever your clock shows"
        )
    if status not in (None, _EVERY_STATUS) and environment == Environment.TEST:
        raise ValueError(
            "status is for production only: test orders are always filled, and the service does not "
            f"filter them. Leave it out, give {_EVERY_STATUS!r}, or use a live key"
        )
    return {
        "symbol_code": symbol_code,
        "trade_type": None if trade_type is None else str(trade_type),
        "since": None if since is None else since.isoformat(),
        "status": None if status is None else str(status),
        "client_order_id": client_order_id,
    }


def order_path(order_id: str) -> str:
    """The path of one order."""
    if not isinstance(order_id, str):
        raise TypeError(f"an order's id is a string, not {type(order_id).__name__}")
    if not order_id:
        raise ValueError("order_id is empty")
    return f"/orders/{quote(order_id, safe='')}"


def events_path(after: int | None, limit: int, wait: int) -> str:
    """The path of a page of events, or a `ValueError`."""
    if not 1 <= limit <= EVENT_LIMIT_MAX:
        raise ValueError(f"limit must be from 1 to {EVENT_LIMIT_MAX}")
    if wait not in range(EVENT_WAIT_S_MAX + 1):
        raise ValueError(f"wait must be a whole number of seconds from 0 to {EVENT_WAIT_S_MAX}")
    return with_query(
        "/events", after=event_number(after), limit=str(limit), wait=str(int(wait)) if wait else None
    )


def event_number(after: int | None) -> str | None:
    """The number of an event as a query parameter, or an error if there can be no such event."""
    if after is None:
        return None
    if isinstance(after, bool) or not isinstance(after, int):
        raise TypeError(f"after must be the number of an event, not {type(after).__name__}")
    if after < 0:
        raise ValueError("after must be the number of an event, or 0 for all events")
    return str(after)


def with_query(path: str, **parameters: str | None) -> str:
    """A path with those of the query parameters that are given."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
