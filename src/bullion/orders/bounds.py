"""Limits on what a client sends, and on prices and totals."""

KEY_LENGTH_MAX = 64
SYMBOL_CODE_LENGTH_MAX = 32
CLIENT_ORDER_ID_LENGTH_MAX = 64
QUANTITY_MAX = 1_000_000
PRICE_DIGITS_MAX = 20
"""Significant ones: zeros before and after them do not count."""
PRICE_MIN = 1e-100
"""Far below a paisa. In a request alone, where a price is only compared."""
PAISE_MAX = 2**63 - 1
"""The largest price and total that a store can keep."""
