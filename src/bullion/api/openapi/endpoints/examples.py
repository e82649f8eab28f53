"""The orders that examples tell of. They are the same ones wherever an order is shown.

Their ids begin with their time, as those of real orders do.
"""

from bullion.api.openapi.pieces import Json
from bullion.environment import Environment

ORDER_KEY = "5b0c1a52-6c1e-4f0e-9a53-0d9a7f3b2c11"
SINCE = "2026-11-15T09:00:00+05:30"

TEST_BUY: Json = {
    "id": "01a1dd79-5ea2-7c31-8d52-6e1f0b94a7c3",
    "environment": Environment.TEST.value,
    "symbol_code": "GOLD",
    "trade_type": "buy",
    "quantity": "100.0000",
    "unit": "g",
    "price": "150630.00",
    "total": "1506300.00",
    "status": "filled",
    "client_order_id": "desk-7-0042",
    "created_at": "2026-11-15T04:31:21.250417+00:00",
    "deal_label": "T-1",
}
TEST_SELL: Json = TEST_BUY | {
    "id": "01a1dd7c-8ad8-7e02-b7f6-30c2d5981e4a",
    "symbol_code": "SILVER",
    "trade_type": "sell",
    "quantity": "2.0000",
    "unit": "kg",
    "price": "299854.00",
    "total": "599708.00",
    "client_order_id": None,
    "created_at": "2026-11-15T04:34:49.176902+00:00",
    "deal_label": "T-2",
}

PENDING_BUY: Json = {
    "id": "01a1dd96-286e-74b9-a3d0-58e7c1f26b90",
    "environment": Environment.PRODUCTION.value,
    "symbol_code": "GOLD",
    "trade_type": "buy",
    "quantity": "100.0000",
    "unit": "g",
    "price": None,
    "total": None,
    "status": "pending",
    "client_order_id": "desk-7-0042",
    "created_at": "2026-11-15T05:02:47.918306+00:00",
    "deal_no": None,
    "status_detail": "HEDGE_WAIT",
    "source": "api",
    "close_price": None,
    "realized_pnl": None,
    "closed_at": None,
}
OPEN_BUY: Json = PENDING_BUY | {
    "price": "150630.00",
    "total": "1506300.00",
    "status": "open",
    "deal_no": 48213,
    "status_detail": "BOOKED",
}
REJECTED_BUY: Json = PENDING_BUY | {"status": "rejected", "status_detail": "HEDGE_REFUSED"}
OPEN_SELL: Json = OPEN_BUY | {
    "id": "01a1dd91-ec62-7d15-9c48-07b3ea62f5d1",
    "symbol_code": "SILVER",
    "trade_type": "sell",
    "quantity": "2.0000",
    "unit": "kg",
    "price": "299854.00",
    "total": "599708.00",
    "client_order_id": None,
    "created_at": "2026-11-15T04:58:10.402771+00:00",
    "deal_no": 48212,
    "source": "web",
}
CLOSED_SELL: Json = OPEN_BUY | {
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
