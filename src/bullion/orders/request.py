"""The validated body of `POST /orders`."""

import msgspec


class PlaceOrder(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Equivalent bodies are equal: `1` and `1.0`, an absent field and `null`."""

    symbol_code: str
    trade_type: str
    """As sent. The checks refuse an invalid side, after the idempotency key was looked up."""
    quantity_e4: int
    expected_price: str | None
    """A plain decimal in its shortest form: no exponent, no redundant zeros."""
    client_order_id: str | None
