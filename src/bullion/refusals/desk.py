"""Refusals of the desk's own interface. They are few, because they are read by people."""

from .catalogue import CATALOGUE
from .refusal import Env, Proof, RefusalCode, Retry

TOKEN_REQUIRED = RefusalCode(
    "token_required",
    401,
    Env.BOTH,
    "There is no valid desk token.",
    "Send a valid desk token as 'Authorization: Bearer …'.",
)
TOO_MANY_FAILURES = RefusalCode(
    "too_many_failures",
    429,
    Env.BOTH,
    "Too many invalid desk tokens came from the caller's address.",
    "Too many invalid desk tokens from your address. Wait a minute and check the token.",
    Retry.SAME_KEY_AFTER,
)
CODE_REQUIRED = RefusalCode(
    "code_required",
    401,
    Env.BOTH,
    "The code of the second factor is wrong, or was used before.",
    "This code is wrong, or was used before. Wait for the next one, or use a recovery code.",
)
TOO_MANY_CODES = RefusalCode(
    "too_many_codes",
    429,
    Env.BOTH,
    "Too many codes of the second factor were tried.",
    "Too many codes were tried. Wait five minutes and try again.",
    Retry.SAME_KEY_AFTER,
)
ROLE_TOO_LOW = RefusalCode(
    "role_too_low",
    403,
    Env.BOTH,
    "The token's role may not do this.",
    "Your role may not do this.",
)
NOT_FOUND = RefusalCode(
    "not_found",
    404,
    Env.BOTH,
    "There is no such thing on this broker.",
    "There is no such thing on this broker.",
)
CONFLICT = RefusalCode(
    "conflict",
    409,
    Env.BOTH,
    "It exists already, its state does not allow it, or another user changed it first.",
    "It exists already, its state does not allow it, or another user changed it first.",
)
CONFIRMATION_REQUIRED = RefusalCode(
    "confirmation_required",
    409,
    Env.BOTH,
    "The change would make clients' prices crossed or losing, or move them by more than the broker's limit. "
    "Its `fingerprint` was not sent as `confirm`.",
    "Nothing was changed. This change of prices has to be confirmed.",
)
LOCK_EXPIRED = RefusalCode(
    "price_lock_expired",
    409,
    Env.BOTH,
    "The locked price was confirmed after its time had passed.",
    "The locked price has expired. Nothing was booked; lock the price of now.",
    Retry.NEW_KEY,
    proves=Proof.NOT_RECORDED,
)
UNREADABLE = RefusalCode(
    "unreadable",
    409,
    Env.BOTH,
    "Its row in the store cannot be read.",
    "Its row in the store cannot be read. Replace it whole.",
)
INVALID_BODY = RefusalCode(
    "invalid_request",
    422,
    Env.BOTH,
    "The body or a parameter is invalid.",
    "The request is invalid.",
)
ORDER_REFUSALS = frozenset([LOCK_EXPIRED.code, *(refusal.code for refusal in CATALOGUE)])
"""The codes with which orders are refused, at the trading API and at the desk."""
