"""Webhooks of the service: verifies and signs them, in the format of Standard Webhooks.

The signature is an HMAC-SHA256 of the id, the time and the body, so none of them can be changed on the way.
The time keeps a copied webhook from being sent again later. During a rotation the service signs with both
secrets.
"""

import base64
import binascii
import hmac
import re
import time
from collections.abc import Iterable, Mapping

import httpx

from bullion_client.errors import UnexpectedAnswer, WebhookVerificationError
from bullion_client.event_models import Event
from bullion_client.event_reader import event_answer, read_event

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
TOLERANCE_S = 300
_PREFIX = "whsec_"
_VERSION = "v1"
_BODY_OF = httpx.Request("POST", "http://webhook.invalid/")


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Iterable[str],
    *,
    tolerance: float = TOLERANCE_S,
) -> Event:
    """Return the event of a webhook, or raise `WebhookVerificationError` if it cannot be trusted.

    `body` is the body as it arrived, before anything has parsed it. `headers` may have names in any case.
    `secret` is the text `whsec_…` that was shown once, or several such texts. `tolerance` is how many seconds
    the time of the webhook may differ from this machine's. A webhook may come more than once: do nothing
    twice for one `Event.id`.
    """
    secrets = [_key(each) for each in ([secret] if isinstance(secret, str) else secret)]
    if not secrets:
        raise ValueError("secret is missing: give the text whsec_… of the webhook")
    sent = body.encode() if isinstance(body, str) else bytes(body)
    given = {name.lower(): value for name, value in headers.items()}
    if missing := [name for name in (ID, TIMESTAMP, SIGNATURE) if not given.get(name)]:
        raise WebhookVerificationError(f"it has no header {missing[0]}")
    if not re.fullmatch("[0-9]{1,15}", given[TIMESTAMP]):
        raise WebhookVerificationError(f"its header {TIMESTAMP} is not a number of seconds")
    _check_signature(given, sent, secrets)
    age_s = time.time() - int(given[TIMESTAMP])
    if abs(age_s) > tolerance:
        when = "old" if age_s > 0 else "far in the future"
        raise WebhookVerificationError(f"it is too {when}: check that this machine's clock is right")
    return _event(sent)


def sign(body: bytes, webhook_id: str, timestamp: int, secret: str) -> dict[str, str]:
    """The headers of a webhook, signed with this secret."""
    signature = _signature(_key(secret), webhook_id, str(timestamp), body)
    return {ID: webhook_id, TIMESTAMP: str(timestamp), SIGNATURE: f"{_VERSION},{signature}"}


def new_secret(random_bytes: bytes) -> str:
    """The text of a secret."""
    return _PREFIX + base64.b64encode(random_bytes).decode()


def _check_signature(given: Mapping[str, str], body: bytes, keys: Iterable[bytes]) -> None:
    expected = [_signature(key, given[ID], given[TIMESTAMP], body).encode() for key in keys]
    matches = False
    for word in given[SIGNATURE].split():
        version, _, signature = word.partition(",")
        for each in expected:
            # All are compared, each in constant time.
            matches |= hmac.compare_digest(signature.encode("utf-8", "replace"), each) and version == _VERSION
    if not matches:
        raise WebhookVerificationError(
            "no signature is right: give the secret of this webhook, and the body as it arrived"
        )


def _signature(key: bytes, webhook_id: str, timestamp: str, body: bytes) -> str:
    signed = b".".join([webhook_id.encode("utf-8", "replace"), timestamp.encode(), body])
    return base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def _key(secret: str) -> bytes:
    # The error does not repeat the secret.
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if not key:
        raise ValueError("secret must be the text whsec_… as it was shown when the webhook was created")
    return key


def _event(body: bytes) -> Event:
    try:
        return read_event(event_answer(httpx.Response(200, request=_BODY_OF), body))
    except UnexpectedAnswer as error:
        problem = error.problem if error.field else "its body is not an event"
        raise WebhookVerificationError(f"its signature is right, but {problem}") from None
