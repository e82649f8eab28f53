"""Every check: whoever takes `CHECKS` from here has them all."""

from bullion_conformance.check import CHECKS
from bullion_conformance.checks import (
    account,
    allocation,
    answers,
    auth,
    bullion_keys,
    bullion_orders,
    bullion_responses,
    errors,
    fields,
    idempotency,
    limits,
    lists,
    market,
    overview,
    placing,
    positions,
    production,
)

__all__ = [
    "CHECKS",
    "account",
    "allocation",
    "answers",
    "auth",
    "bullion_keys",
    "bullion_orders",
    "bullion_responses",
    "errors",
    "fields",
    "idempotency",
    "limits",
    "lists",
    "market",
    "overview",
    "placing",
    "positions",
    "production",
]
