"""Places orders with the Python client that openapi-generator made of the description."""

import json
import sys

from bullion_generated import ApiClient, ApiException, Configuration, OrdersApi, PlaceOrder

address, key = sys.argv[1:]
orders = OrdersApi(ApiClient(Configuration(host=address, api_key={"ApiKey": key})))


def place(order_key: str, symbol_code: str, quantity: float) -> object:
    body = PlaceOrder(symbol_code=symbol_code, trade_type="buy", quantity=quantity)
    try:
        return orders.place_order_test(order_key, body).status
    except ApiException as refused:
        # Where a status has more than one body, the client wraps the one that it found.
        found = getattr(refused.data, "actual_instance", refused.data)
        return found.detail.code


print(
    json.dumps([place("1", "GOLD", 1), place("2", "TIN", 1), place("3", "GOLD", 1.5), place("1", "GOLD", 2)])
)
