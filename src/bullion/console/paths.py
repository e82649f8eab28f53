"""Addresses of the console's pages, so that each can link to the others."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

OVERVIEW, ORDERS, ACCOUNTS, MARKET, AUDIT = "overview", "orders", "accounts", "market", "audit"
USERS = "users"
RATES, FIND, TICKET, REFUSALS = "rates", "find", "ticket", "refusals"
SECOND_FACTOR = "/second-factor"
DECISION = "decision"
"""Precedes the id of a request in the address of the decision on it."""


def page_path(page: str, query: Mapping[str, str] | None = None) -> str:
    """Empty values are left out of the address."""
    chosen = urlencode({name: value for name, value in (query or {}).items() if value})
    return f"/{page}?{chosen}" if chosen else f"/{page}"


def order_path(order_id: str) -> str:
    return f"/{ORDERS}/{quote(order_id, safe='')}"


def decision_path(request_id: str) -> str:
    return f"/{ORDERS}/{DECISION}/{quote(request_id, safe='')}"


def account_path(login_id: str) -> str:
    return f"/{ACCOUNTS}/{quote(login_id, safe='')}"


def rate_path(symbol_code: str, query: Mapping[str, str] | None = None) -> str:
    """The chart of a symbol."""
    return page_path(f"{RATES}/{quote(symbol_code, safe='')}", query)


def audit_path(ordinal: int) -> str:
    """The audit trail from this entry down."""
    return page_path(AUDIT, {"below": str(ordinal + 1)})


def webhook_path(login_id: str, webhook_id: str) -> str:
    return f"{account_path(login_id)}/webhooks/{quote(webhook_id, safe='')}"
