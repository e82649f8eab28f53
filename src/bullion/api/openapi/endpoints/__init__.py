"""Every call of the trading API, in the order in which it is shown."""

from .account import ME
from .market import QUOTES, SYMBOLS
from .place_order import PLACE_ORDER
from .positions import POSITIONS
from .read_orders import LIST_ORDERS, READ_ORDER

ENDPOINTS = (ME, PLACE_ORDER, LIST_ORDERS, READ_ORDER, POSITIONS, SYMBOLS, QUOTES)
