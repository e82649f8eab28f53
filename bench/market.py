"""What a broker of the bench has: a symbol or more, and budgets that nobody uses up."""

import time

import httpx

from tests.support.node import DeskClient

_READY_S = 15
_BUDGETS = {
    "reads_per_minute": 1_000_000,
    "orders_per_minute": 1_000_000,
    "orders_per_10_seconds": 1_000_000,
    "account_orders_per_minute": 1_000_000,
}
_GOLD = {
    "metal": "gold",
    "quoted_weight": "10",
    "minimum": "1",
    "maximum": "10000",
    "step": "1",
    "pricing": {"kind": "direct", "instrument": "GOLD"},
}


DIRECT = "TICKING{:02d}"
"""More symbols, each by an instrument of the same name."""


_BOOK = {"policy": "book", "limit": "100000000"}
"""No order waits for room in it."""


def open_market(desk: DeskClient, *, live: bool = False, book: bool = False, symbols: int = 0) -> None:
    """With `live` in production as well; the simulated venue then fills, and at once.

    With `book`, the house's own book confirms orders of production, and no venue.
    """
    desk.add_group()
    desk.do("PUT", "/symbols/GOLD", _GOLD)
    for name in map(DIRECT.format, range(symbols)):
        desk.do("PUT", f"/symbols/{name}", _GOLD | {"pricing": {"kind": "direct", "instrument": name}})
    desk.do("PATCH", "/switches", {"budgets": _BUDGETS, "production": live})
    if live:
        desk.do("PATCH", "/hedge", {"mode": "fill", "delay_ms": 0})
    if book:
        desk.do("PATCH", "/hedge/book/gold", _BOOK)


def await_tradable(api_url: str, base: str, key: str, workers: int = 1) -> None:
    """Until there are rates, and in production the venue's word as well. With several workers, from each."""
    give_up_at = time.monotonic() + _READY_S
    in_a_row = 0
    while in_a_row < 4 * workers - 3:
        answer = httpx.get(f"{api_url}{base}/quotes", headers={"X-API-Key": key})
        in_a_row = in_a_row + 1 if b'"tradable":true' in answer.content else 0
        if time.monotonic() > give_up_at:
            raise RuntimeError(f"the service has no quotes to trade at: {answer.text}")
        if not in_a_row:
            time.sleep(0.05)
