"""Where the pages about orders are found, so that each can lead to the others."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

PAGE_NAME = "orders"
DECISIONS = "decision"
"""Stands before the id of a request in the address of the decision on it."""


def order_path(order_id: str) -> str:
    return f"/{PAGE_NAME}/{quote(order_id, safe='')}"


def decision_path(request_id: str) -> str:
    return f"/{PAGE_NAME}/{DECISIONS}/{quote(request_id, safe='')}"


def list_path(chosen: Mapping[str, str]) -> str:
    """Of the list narrowed down so; what is not chosen is not in the address."""
    query = urlencode({name: value for name, value in chosen.items() if value})
    return f"/{PAGE_NAME}?{query}" if query else f"/{PAGE_NAME}"
