"""Every call of the trading API, in the order in which it is shown."""

from .account import ME

ENDPOINTS = (ME,)
