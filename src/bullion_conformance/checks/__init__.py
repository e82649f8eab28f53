"""Every check: importing `CHECKS` from here registers them all."""

from bullion_conformance.check import CHECKS
from bullion_conformance.checks import (
    account,
    auth,
    errors,
    events,
    fields,
    idempotency,
    limits,
    lists,
    overview,
    placing,
    positions,
    production,
    rate_headers,
    responses,
    scenarios,
    streams,
    webhooks,
)

__all__ = [
    "CHECKS",
    "account",
    "auth",
    "errors",
    "events",
    "fields",
    "idempotency",
    "limits",
    "lists",
    "overview",
    "placing",
    "positions",
    "production",
    "rate_headers",
    "responses",
    "scenarios",
    "streams",
    "webhooks",
]
