"""Every check: whoever takes `CHECKS` from here has them all."""

from bullion_conformance.check import CHECKS
from bullion_conformance.checks import (
    account,
    allocation,
    answers,
    auth,
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
    rulings_of_answers,
    rulings_of_keys,
    rulings_of_orders,
)

__all__ = [
    "CHECKS",
    "account",
    "allocation",
    "answers",
    "auth",
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
    "rulings_of_answers",
    "rulings_of_keys",
    "rulings_of_orders",
]
