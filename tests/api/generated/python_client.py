"""Places orders with the client that openapi-python-client made of the description."""

import json
import sys

from bullion_generated import AuthenticatedClient
from bullion_generated.api.orders import place_order_test
from bullion_generated.models import InvalidRequest, PlaceOrder, PlaceOrderTradeType, Refusal, TestOrder

address, key = sys.argv[1:]
client = AuthenticatedClient(base_url=address, token=key, auth_header_name="X-API-Key", prefix="")


def place(order_key: str, symbol_code: str, quantity: float) -> object:
    body = PlaceOrder(symbol_code=symbol_code, trade_type=PlaceOrderTradeType.BUY, quantity=quantity)
    found = place_order_test.sync(client=client, body=body, idempotency_key=order_key)
    if isinstance(found, TestOrder):
        return found.status.value
    assert isinstance(found, Refusal | InvalidRequest), found
    return found.detail.code.value


print(
    json.dumps([place("1", "GOLD", 1), place("2", "TIN", 1), place("3", "GOLD", 1.5), place("1", "GOLD", 2)])
)
