"""Every refusal of the trading API, in the order in which the checks are made.

When a call fails several checks, the first row takes precedence. Status codes of refusals are defined only
here: responses, `docs/refusals.md` and the OpenAPI description use this table.
"""

from functools import partial

from .refusal import Env, Family, Proof, RefusalCode, Retry, family_of_status

_rows: list[RefusalCode] = []


def _row(
    code: str,
    status: int,
    when: str,
    message: str,
    *,
    env: Env = Env.BOTH,
    retry: Retry = Retry.NEVER,
    settles_key: bool = False,
    specified: bool = True,
    family: Family | None = None,
    proves: Proof = Proof.NOTHING,
    retry_after_s: int = 1,
) -> RefusalCode:
    family = family or family_of_status(status)
    row = RefusalCode(
        code, status, env, when, message, retry, settles_key, specified, family, proves, retry_after_s
    )
    _rows.append(row)
    return row


_row_after_look_up = partial(_row, proves=Proof.NOT_RECORDED)
"""A check that runs after the idempotency key was looked up, or that an existing order passes."""


# --- The connection and the route, before anything is known about the caller ---------------------

HEADERS_TOO_LARGE = _row(
    "headers_too_large",
    431,
    "The request line and headers are over 16 KiB.",
    "The request line and headers are over 16 KiB. Send fewer or shorter headers.",
    specified=False,
)
MALFORMED_HTTP = _row(
    "malformed_http",
    400,
    "The bytes received are not a well-formed HTTP request.",
    "This is not a well-formed HTTP/1.1 request. The connection is closed.",
    specified=False,
)
REQUEST_TIMEOUT = _row(
    "request_timeout",
    408,
    "The headers, or the body, did not arrive within 10 seconds.",
    "The request did not arrive in time. Send it again, in one go.",
    retry=Retry.SAME_KEY,
    specified=False,
    family=Family.UNAVAILABLE,
)
METHOD_NOT_ALLOWED = _row(
    "method_not_allowed",
    405,
    "The path exists, but not with this method; `Allow` names those it has.",
    "This path does not take this method. The Allow header names those it takes.",
    specified=False,
)

# --- The caller's address and key -----------------------------------------------------------------

AUTH_THROTTLED = _row(
    "auth_throttled",
    429,
    "Too many failed authentications came from the address in the last minute. A valid key does not help.",
    "Too many failed authentications from your address. Wait, then check the key before you send it again.",
    retry=Retry.SAME_KEY_AFTER,
)
MISSING_CREDENTIAL = _row(
    "missing_credential",
    401,
    "There is no `X-API-Key` header, or it is empty.",
    "Send your API key in the X-API-Key header.",
)
MALFORMED_CREDENTIAL = _row(
    "malformed_credential",
    401,
    "The value is not shaped like a key, its checksum does not match, or the header was sent twice.",
    "This is not shaped like an API key. Check that it was copied whole.",
)
WRONG_TENANT = _row(
    "wrong_tenant",
    401,
    "The key belongs to a different broker than the one this address serves.",
    "This key belongs to a different broker. Check the address you are calling.",
)
WRONG_ENVIRONMENT = _row(
    "wrong_environment",
    401,
    "A test key was sent to a production path, or a live key to a test path.",
    "A test key works only under /api/trading/test/v1, a live key only under /api/trading/v1.",
)
INVALID_CREDENTIAL = _row(
    "invalid_credential",
    401,
    "No such key, or its secret is wrong. Which of the two is not told.",
    "This API key is not valid.",
)
CREDENTIAL_REVOKED = _row(
    "credential_revoked",
    401,
    "The key was revoked.",
    "This API key was revoked. Ask the operator's desk for a new one.",
)
CREDENTIAL_ROTATED = _row(
    "credential_rotated",
    401,
    "The key was replaced, and the time in which both worked is over.",
    "This API key was replaced and no longer works. Use its successor.",
)
CREDENTIAL_EXPIRED = _row(
    "credential_expired",
    401,
    "The key's expiry has passed.",
    "This API key has expired. Ask the operator's desk for a new one.",
)
ADDRESS_NOT_ALLOWED = _row(
    "address_not_allowed",
    403,
    "The key has a list of allowed addresses, and the caller's is not on it.",
    "This API key may not be used from your address. Ask the operator's desk to allow it.",
    specified=False,
)

# --- The account ------------------------------------------------------------------------------------

API_ACCESS_DISABLED = _row(
    "api_access_disabled",
    403,
    "API access is off for the account.",
    "API access is off for this account. Ask the operator's desk to turn it on.",
)
ACCOUNT_INACTIVE = _row(
    "account_inactive",
    403,
    "The account is not active.",
    "This account is not active. Contact the operator's desk.",
)
INSUFFICIENT_SCOPE = _row(
    "insufficient_scope",
    403,
    "The key lacks the scope this call needs.",
    "This API key lacks the scope that this call needs.",
)

# --- Budgets ----------------------------------------------------------------------------------------

RATE_LIMITED = _row(
    "rate_limited",
    429,
    "The key's budget for this kind of call is used up (or, for production orders, the account's).",
    "The budget for these calls is used up. Wait as long as Retry-After says, then send the same request.",
    retry=Retry.SAME_KEY_AFTER,
)
RATE_LIMITER_UNAVAILABLE = _row(
    "rate_limiter_unavailable",
    503,
    "Orders cannot be counted against their budgets just now, so none is taken; reads still work.",
    "Orders cannot be taken for a moment. This call booked nothing; retry with the same Idempotency-Key.",
    retry=Retry.SAME_KEY_AFTER,
)

# --- Scenarios: answers that a client asks for, in the test environment alone ----------------------

SCENARIO_NOT_ALLOWED = _row(
    "scenario_not_allowed",
    403,
    "An `X-Bullion-Scenario` was sent, and the desk has not allowed scenarios for the account.",
    "Scenarios are not allowed for this account. Ask the operator's desk to allow them, or leave the "
    "X-Bullion-Scenario header out. Nothing was done.",
    env=Env.TEST,
    specified=False,
)
UNKNOWN_SCENARIO = _row(
    "unknown_scenario",
    400,
    "The `X-Bullion-Scenario` names none that this call has, or cannot be read.",
    "There is no such scenario of this call. /openapi.json lists them with the X-Bullion-Scenario header.",
    env=Env.TEST,
    specified=False,
)

# --- Streams ----------------------------------------------------------------------------------------

QUOTE_STREAM_DISABLED = _row(
    "quote_stream_disabled",
    403,
    "The broker does not stream prices.",
    "Prices are not streamed to clients. Read them with GET /quotes, or ask the operator's desk.",
    specified=False,
)
TOO_MANY_STREAMS = _row(
    "too_many_streams",
    429,
    "The key has as many streams open as it may.",
    "This API key has as many streams open as it may. Close one, or retry after Retry-After seconds.",
    retry=Retry.SAME_KEY_AFTER,
    specified=False,
)

# --- The size and encoding of the body --------------------------------------------------------------

REQUEST_TOO_LARGE = _row(
    "request_too_large",
    413,
    "The body is over 64 KiB. It is not read.",
    "The body is over 64 KiB.",
    specified=False,
)
UNSUPPORTED_ENCODING = _row(
    "unsupported_encoding",
    415,
    "The body is compressed.",
    "Send the body as it is: a Content-Encoding is not taken.",
    specified=False,
)

# --- Production's switches ------------------------------------------------------------------------

PRODUCTION_TRADING_DISABLED = _row_after_look_up(
    "production_trading_disabled",
    403,
    "Production trading is not open to the account now; `detail.reason` is `deploy`, `global` or `account`.",
    "Production trading is not open to this account now. This call booked nothing.",
    env=Env.PROD,
)
PRODUCTION_PREREQUISITES_UNMET = _row_after_look_up(
    "production_prerequisites_unmet",
    503,
    "The desk paused production, the hedge venue cannot be reached, or the store's schema is behind.",
    "Production is not available just now. This call booked nothing; retry later with the same key.",
    env=Env.PROD,
    retry=Retry.SAME_KEY_AFTER,
    retry_after_s=5,
)

# --- The request itself ---------------------------------------------------------------------------

IDEMPOTENCY_KEY_REQUIRED = _row(
    "idempotency_key_required",
    400,
    "`POST /orders` came without an `Idempotency-Key`.",
    "Send an Idempotency-Key header: a new UUID for each order, the same one on every retry of it.",
)
INVALID_REQUEST = _row(
    "invalid_request",
    422,
    "A header, parameter or the body is invalid; `detail.errors` lists every problem and where it is.",
    "The request is invalid. See errors for each problem and where it is.",
)
IDEMPOTENCY_KEY_REUSED = _row(
    "idempotency_key_reused",
    422,
    "The key was used before with a different body, and has its outcome. This call booked nothing.",
    "This Idempotency-Key was used with a different body; this call booked nothing. "
    "Send the first body again to learn what became of it.",
    family=Family.KEY_REUSED,
    proves=Proof.SETTLED,
)
ORDER_NOT_FOUND = _row(
    "order_not_found",
    404,
    "The account has no such order, or the API hides it.",
    "There is no such order on this account.",
    family=Family.NOT_FOUND,
)
EVENTS_GONE = _row(
    "events_gone",
    410,
    "Events after that number are not kept any more, or there never was one with it: `detail.oldest` and "
    "`detail.newest` are the first and the last that are.",
    "The events after that number are not kept. Read the orders again, then go on after detail.newest.",
    specified=False,
    family=Family.EVENTS_GONE,
)
WEBHOOK_NOT_FOUND = _row(
    "webhook_not_found",
    404,
    "The account has no such webhook in this environment.",
    "There is no such webhook on this account.",
    specified=False,
    family=Family.NOT_FOUND,
)
WEBHOOK_URL_REFUSED = _row(
    "webhook_url_refused",
    422,
    "The URL of a webhook is not allowed: it must be `https`, and lead to the public internet.",
    "This URL is not allowed for a webhook. Use one with https that leads to the public internet.",
    specified=False,
)
WEBHOOK_LIMIT = _row(
    "webhook_limit",
    409,
    "The account has as many webhooks in this environment as it may have.",
    "This account has as many webhooks as it may have. Delete one first.",
    specified=False,
)
WEBHOOK_OFF = _row(
    "webhook_off",
    409,
    "Events cannot be replayed to a webhook that is off.",
    "This webhook is off. Switch it on first.",
    specified=False,
)

# --- The market -----------------------------------------------------------------------------------

UNKNOWN_SYMBOL = _row_after_look_up(
    "unknown_symbol",
    404,
    "The broker has no such symbol.",
    "There is no such symbol.",
    family=Family.UNKNOWN_SYMBOL,
)
SYMBOL_NOT_TRADING = _row_after_look_up(
    "symbol_not_trading",
    400,
    "Trading is off for the symbol.",
    "Trading is off for this symbol.",
    family=Family.MARKET,
)
INVALID_SIDE = _row_after_look_up(
    "invalid_side",
    400,
    "`trade_type` is not `buy` or `sell`.",
    "trade_type must be buy or sell.",
)
SIDE_NOT_OFFERED = _row_after_look_up(
    "side_not_offered",
    403,
    "The broker does not offer this side for market orders in the symbol, or not to the account's group.",
    "This side is not offered for this symbol.",
    family=Family.MARKET,
)
RATES_NOT_READY = _row_after_look_up(
    "rates_not_ready",
    503,
    "The service has just started and has not yet taken its first set of rates.",
    "Rates are not loaded yet. Retry in a moment with the same Idempotency-Key.",
    retry=Retry.SAME_KEY_AFTER,
)
NO_LIVE_PRICE = _row_after_look_up(
    "no_live_price",
    400,
    "There is no rate for the instrument behind the symbol.",
    "This symbol has no live price.",
    family=Family.MARKET,
)
UNPRICED = _row_after_look_up(
    "unpriced",
    400,
    "The symbol's formula gives no price from the rates there are, or one too large to be recorded.",
    "This symbol cannot be priced now.",
    family=Family.MARKET,
)
STALE_RATE = _row_after_look_up(
    "stale_rate",
    503,
    "The oldest rate behind the price is older than the symbol allows.",
    "The rate for this symbol is too old. Retry in a moment with the same Idempotency-Key.",
    retry=Retry.SAME_KEY_AFTER,
)
TRADING_HALTED = _row_after_look_up(
    "trading_halted",
    403,
    "The desk halted trading, or it is outside the broker's trading hours.",
    "Trading is halted.",
    family=Family.MARKET,
)
SYMBOL_FROZEN = _row_after_look_up(
    "symbol_frozen",
    400,
    "The price has not moved for the symbol's freeze time although rates keep coming, or the desk froze it.",
    "This symbol is frozen.",
    family=Family.MARKET,
)
QUANTITY_RULE = _row_after_look_up(
    "quantity_rule",
    400,
    "The quantity is outside the symbol's minimum and maximum, or not a multiple of its step.",
    "The quantity breaks this symbol's size rule.",
    family=Family.QUANTITY,
)
TRADEABILITY_UNVERIFIED = _row_after_look_up(
    "tradeability_unverified",
    503,
    "The hedge venue has not lately said whether the instrument can be traded.",
    "Whether this symbol can be traded is not known now. Retry in a moment with the same Idempotency-Key.",
    env=Env.PROD,
    retry=Retry.SAME_KEY_AFTER,
)
SYMBOL_UNAVAILABLE = _row_after_look_up(
    "symbol_unavailable",
    503,
    "The hedge venue says that the instrument cannot be traded now.",
    "This symbol is unavailable now. Retry in a moment with the same Idempotency-Key.",
    env=Env.PROD,
    retry=Retry.SAME_KEY_AFTER,
    retry_after_s=5,
)
GROUP_TRADING_DISABLED = _row_after_look_up(
    "group_trading_disabled",
    403,
    "Trading is off for the account's trading group.",
    "Trading is off for this account's trading group.",
    family=Family.MARKET,
)
GROUP_QUANTITY_RULE = _row_after_look_up(
    "group_quantity_rule",
    400,
    "The quantity breaks the size terms of the account's group.",
    "The quantity breaks the size terms of this account's group.",
    family=Family.QUANTITY,
)
PRICING_UNAVAILABLE = _row_after_look_up(
    "pricing_unavailable",
    503,
    "The group's terms for the symbol are missing or give no valid price.",
    "The price for this account could not be computed. Retry in a moment with the same Idempotency-Key.",
    retry=Retry.SAME_KEY_AFTER,
    retry_after_s=5,
)
LIMIT_EXCEEDED = _row_after_look_up(
    "limit_exceeded",
    400,
    "The order would take the open position in the metal past the weight allocation.",
    "The order would take the open position past the weight allocation.",
    family=Family.ALLOCATION,
)
OUT_OF_STOCK = _row_after_look_up(
    "out_of_stock",
    400,
    "A buy is larger than the stock that the desk keeps for the symbol.",
    "There is not enough stock for this buy.",
    env=Env.PROD,
    family=Family.QUANTITY,
)
PRICE_MOVED = _row_after_look_up(
    "price_moved",
    409,
    "The live price moved beyond the tolerance from `expected_price`. Nothing was booked.",
    "The price moved beyond the tolerance. Nothing was booked; a new order needs a new Idempotency-Key.",
    retry=Retry.NEW_KEY,
    settles_key=True,
    family=Family.PRICE_MOVED,
)

# --- Booking --------------------------------------------------------------------------------------

ORDER_REJECTED = _row_after_look_up(
    "order_rejected",
    409,
    "The hedge refused the order. Nothing was booked; `detail.order_id` and `detail.order` tell which.",
    "The hedge refused the order. Nothing was booked.",
    env=Env.PROD,
    retry=Retry.NEW_KEY,
    settles_key=True,
    family=Family.ORDER_REJECTED,
)
BOOKING_CONFLICT = _row(
    "booking_conflict",
    409,
    "A concurrent booking on the account conflicted.",
    "Another booking on this account conflicted. Retry in a moment with the same Idempotency-Key.",
    env=Env.PROD,
    retry=Retry.SAME_KEY,
    family=Family.UNAVAILABLE,
)
BOOKING_UNAVAILABLE = _row(
    "booking_unavailable",
    503,
    "The order could not be recorded. This call booked nothing.",
    "The order could not be recorded. This call booked nothing; retry in a moment with the same key.",
    env=Env.PROD,
    retry=Retry.SAME_KEY_AFTER,
)
BOOKING_BUSY = _row(
    "booking_busy",
    503,
    "The order waited too long behind the account's other bookings. This call booked nothing.",
    "Too many bookings on this account at once. This call booked nothing; retry with the same key.",
    env=Env.PROD,
    retry=Retry.SAME_KEY_AFTER,
    retry_after_s=2,
)
BOOKING_NOT_COMPLETED = _row_after_look_up(
    "booking_not_completed",
    503,
    "Booking failed and no committed order was found. Nothing is booked yet.",
    "The booking was not completed. Retry with the same Idempotency-Key for the definitive outcome.",
    env=Env.PROD,
    retry=Retry.SAME_KEY_AFTER,
    retry_after_s=2,
)
BOOKING_OUTCOME_UNKNOWN = _row(
    "booking_outcome_unknown",
    503,
    "Booking failed and its outcome could not be read.",
    "The outcome of the booking is not known yet. Retry with the same Idempotency-Key; do not use a new one.",
    env=Env.PROD,
    retry=Retry.SAME_KEY_AFTER,
    retry_after_s=2,
    proves=Proof.UNSURE,
)

# --- Faults of our own ----------------------------------------------------------------------------

SERVICE_UNAVAILABLE = _row(
    "service_unavailable",
    503,
    "The store cannot be reached just now.",
    "The service is unavailable for a moment. Retry; for an order, with the same Idempotency-Key.",
    retry=Retry.SAME_KEY_AFTER,
    specified=False,
    proves=Proof.UNSURE,
)
INTERNAL_ERROR = _row(
    "internal_error",
    500,
    "Something went wrong inside the service. There should never be one.",
    "Something went wrong inside the service. Quote the X-Request-Id to the operator's desk.",
    retry=Retry.SAME_KEY,
    specified=False,
    proves=Proof.UNSURE,
)

CATALOGUE: tuple[RefusalCode, ...] = tuple(_rows)

PRECEDENCE = {row.code: place for place, row in enumerate(CATALOGUE)}
"""The place of each code in the order of the checks, from the first."""
