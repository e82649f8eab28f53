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
    "price": "71250.50",
    "total": "712505.00",
    "status": "filled",
    "client_order_id": "desk-7-0042",
    "created_at": "2026-11-15T04:31:21.250417+00:00",
    "deal_label": "T-1",
}
TEST_SELL: Json = TEST_BUY | {
    "id": "01a1dd7c-8ad8-7e02-b7f6-30c2d5981e4a",
    "symbol_code": "SILVER",
    "trade_type": "sell",
    "quantity": "2.5000",
    "unit": "kg",
    "price": "84120.00",
    "total": "210300.00",
    "client_order_id": None,
    "created_at": "2026-11-15T04:34:49.176902+00:00",
    "deal_label": "T-2",
}
