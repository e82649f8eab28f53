"""The error codes of the specification: status, when they are used, and in which environment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    name: str
    status: int
    when: str
    in_test: bool = True
    unchecked: str | None = None


_ONLY_AT_A_START = "it needs a service that has just started and has no rates yet"
_LIMITER = "it needs a rate limiter that fails, which cannot be caused from outside"
_STORE = "it needs a store that fails or is overloaded, which cannot be caused from outside"
_RACE = "it needs two bookings that collide, which a service may resolve without a refusal"

CODES = (
    Code("missing_credential", 401, "no X-API-Key was sent"),
    Code("malformed_credential", 401, "the key is malformed"),
    Code("wrong_tenant", 401, "the key belongs to another broker"),
    Code("wrong_environment", 401, "the key belongs to the other environment"),
    Code("invalid_credential", 401, "the key is unknown or its secret is wrong"),
    Code("credential_revoked", 401, "the key was revoked"),
    Code("credential_rotated", 401, "the key was rotated and its overlap has ended"),
    Code("credential_expired", 401, "the key has expired"),
    Code("api_access_disabled", 403, "the account's API access is off"),
    Code("account_inactive", 403, "the account is not active"),
    Code("insufficient_scope", 403, "the key lacks the scope"),
    Code("production_trading_disabled", 403, "production is not open to the account", in_test=False),
    Code("production_prerequisites_unmet", 503, "the operator has paused production", in_test=False),
    Code("auth_throttled", 429, "too many authentications from the address have failed"),
    Code("rate_limited", 429, "a budget is used up"),
    Code(
        "rate_limiter_unavailable",
        503,
        "calls cannot be counted, so no order is accepted",
        unchecked=_LIMITER,
    ),
    Code("invalid_request", 422, "a body or a parameter is invalid"),
    Code("idempotency_key_required", 400, "an order has no Idempotency-Key"),
    Code("idempotency_key_reused", 422, "the Idempotency-Key was used for another body"),
    Code("order_not_found", 404, "the account has no such visible order"),
    Code("order_rejected", 409, "the hedge refused the order", in_test=False),
    Code("unknown_symbol", 404, "there is no such symbol"),
    Code("symbol_not_trading", 400, "the symbol is not traded"),
    Code("invalid_side", 400, "the side is neither buy nor sell"),
    Code("side_not_offered", 403, "the broker does not offer that side"),
    Code("rates_not_ready", 503, "rates are not loaded yet", unchecked=_ONLY_AT_A_START),
    Code("no_live_price", 400, "the symbol has no live price"),
    Code("unpriced", 400, "the symbol's price cannot be computed"),
    Code("stale_rate", 503, "the rate is too old"),
    Code("trading_halted", 403, "the operator has halted trading"),
    Code("symbol_frozen", 400, "the symbol's price is frozen"),
    Code("quantity_rule", 400, "the quantity breaks the symbol's size rule"),
    Code("tradeability_unverified", 503, "it is unknown whether the symbol can be traded", in_test=False),
    Code("symbol_unavailable", 503, "the symbol is unavailable", in_test=False),
    Code("group_trading_disabled", 403, "trading is off for the account's group"),
    Code("group_quantity_rule", 400, "the quantity breaks the group's size terms"),
    Code("pricing_unavailable", 503, "the account's own price cannot be computed"),
    Code("limit_exceeded", 400, "the order would exceed the weight allocation"),
    Code("out_of_stock", 400, "a buy exceeds the stock", in_test=False),
    Code("price_moved", 409, "the price is too far from the expected price"),
    Code("booking_conflict", 409, "bookings on the account collided", in_test=False, unchecked=_RACE),
    Code("booking_unavailable", 503, "the order could not be recorded", in_test=False, unchecked=_STORE),
    Code("booking_busy", 503, "a booking waited too long", in_test=False, unchecked=_STORE),
    Code("booking_not_completed", 503, "a failed booking left no order", in_test=False, unchecked=_STORE),
    Code(
        "booking_outcome_unknown",
        503,
        "the outcome of a failed booking is unknown",
        in_test=False,
        unchecked=_STORE,
    ),
)

STATUS = {code.name: code.status for code in CODES}
WITH_RETRY_AFTER = {
    "auth_throttled",
    "rate_limited",
    "rate_limiter_unavailable",
    "booking_busy",
    "booking_not_completed",
    "booking_outcome_unknown",
}
