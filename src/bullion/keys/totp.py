"""One-time codes by time (TOTP, RFC 6238): six digits, SHA-1, 30 seconds, as authenticator apps expect."""

import hmac
from base64 import b32encode
from hashlib import sha1
from urllib.parse import quote

SECRET_BYTES = 20
STEP_S = 30
_DIGITS = 6
_STEPS_AROUND = (0, -1, 1)
"""Clocks of telephones may be half a minute off."""


def code_at(secret: bytes, step: int, digits: int = _DIGITS) -> str:
    """The code of a step, which is a number of half minutes since 1970 (RFC 4226 calls it the counter)."""
    digest = hmac.new(secret, step.to_bytes(8, "big"), sha1).digest()
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def matching_step(secret: bytes, code: str, now_us: int) -> int | None:
    """The step that a code belongs to, if that is the current one or a neighbour of it."""
    if not (code.isascii() and code.isdigit() and len(code) == _DIGITS):
        return None
    now = now_us // (STEP_S * 1_000_000)
    found = None
    for step in (now + each for each in _STEPS_AROUND):
        if step >= 0 and hmac.compare_digest(code_at(secret, step), code) and found is None:
            found = step
    return found


def secret_text(secret: bytes) -> str:
    """As it is typed into an authenticator app."""
    return b32encode(secret).decode("ascii").rstrip("=")


def app_address(secret: bytes, issuer: str, user: str) -> str:
    """An address that opens the authenticator app of a telephone."""
    label = f"{quote(issuer, safe='')}:{quote(user, safe='')}"
    return f"otpauth://totp/{label}?secret={secret_text(secret)}&issuer={quote(issuer, safe='')}"
