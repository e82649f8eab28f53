"""The orders of the examples. They are the same ones wherever an order is shown.

Their ids begin with their time, as those of real orders do.
"""

from .schemas import Json, example_of

_SILVER: Json = {
    "symbol_code": "SILVER",
    "trade_type": "sell",
    "quantity": "2.0000",
    "unit": "kg",
    "price": "299854.00",
    "total": "599708.00",
    "client_order_id": None,
}

TEST_BUY = example_of("TestOrder")
TEST_SELL = TEST_BUY | {
    **_SILVER,
    "id": "01a1dd7c-8ad8-7e02-b7f6-30c2d5981e4a",
    "created_at": "2026-11-15T04:34:49.176902+00:00",
    "deal_label": "T-2",
}

OPEN_BUY = example_of("ProductionOrder") | {"id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90"}
_NOT_BOOKED: Json = {"price": None, "total": None, "deal_no": None}
PENDING_BUY = OPEN_BUY | _NOT_BOOKED | {"status": "pending", "status_detail": "HEDGE_WAIT"}
REJECTED_BUY = OPEN_BUY | _NOT_BOOKED | {"status": "rejected", "status_detail": "HEDGE_REFUSED"}
OPEN_SELL = OPEN_BUY | {
    **_SILVER,
    "id": "01a1dd91-ec62-7d15-9c48-07b3ea62f5d1",
    "created_at": "2026-11-15T04:58:10.402771+00:00",
    "deal_no": 48212,
    "source": "web",
}
CLOSED_SELL = OPEN_BUY | {
    "id": "01a1dd4e-3337-7a86-b2e9-c40d915f7e28",
    "trade_type": "sell",
    "quantity": "50.0000",
    "price": "150313.00",
    "total": "751565.00",
    "status": "closed",
    "client_order_id": None,
    "created_at": "2026-11-15T03:44:12.087129+00:00",
    "deal_no": 48190,
    "status_detail": "SETTLED",
    "source": "mobile",
    "close_price": "150263.00",
    "realized_pnl": "250.00",
    "closed_at": "2026-11-15T04:26:55.310842+00:00",
}
