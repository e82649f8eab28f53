"""Events as a service writes them."""

from typing import Any

from tests.client.scripted_network import LIVE_ORDER, TEST_ORDER

METAL = {"net": "0.0000", "limit": "1000.0000", "used": "0.0000", "free": "1000.0000", "unit": "g"}
DATA: dict[str, Any] = {
    "order.created": TEST_ORDER,
    "order.opened": LIVE_ORDER,
    "order.rejected": LIVE_ORDER | {"status": "rejected"},
    "order.closing": LIVE_ORDER | {"status": "closing"},
    "order.closed": LIVE_ORDER | {"status": "closed"},
    "order.deleted": LIVE_ORDER | {"status": "deleted"},
    "allocation.changed": {"gold": METAL, "silver": METAL | {"unit": "kg"}, "symbols": []},
    "key.rotated": {
        "key_id": "k7",
        "key_name": "till",
        "environment": "test",
        "scopes": ["orders:read"],
        "replaced_by": "k8",
        "overlap_ends_at": "2026-11-18T10:00:00.000000+00:00",
    },
    "key.revoked": {
        "key_id": "k7",
        "key_name": "till",
        "environment": "test",
        "scopes": [],
        "replaced_by": None,
        "overlap_ends_at": None,
    },
    "trading.halted": {"halted": True},
    "trading.resumed": {"halted": False},
    "symbol.frozen": {"symbol_code": "GOLD", "metal": "gold", "unit": "g", "frozen": True},
    "symbol.resumed": {"symbol_code": "GOLD", "metal": "gold", "unit": "g", "frozen": False},
}


def event(number: int, type_: str = "trading.halted", **fields: Any) -> dict[str, Any]:
    """An event with that number."""
    data = fields.pop("data", DATA.get(type_, {}))
    return {
        "id": f"evt_{number:032x}",
        "number": number,
        "type": type_,
        "timestamp": "2026-11-17T10:00:00.123456+00:00",
        "environment": data.get("environment", "test"),
        "data": data,
        **fields,
    }


def page(first: int, last: int, *, more: bool = False, after: int | None = None) -> dict[str, Any]:
    """A page of the list with the events from `first` to `last`; none if `last` comes before `first`."""
    items = [event(number) for number in range(first, last + 1)]
    return {"items": items, "next_after": last if after is None else after, "has_more": more}
