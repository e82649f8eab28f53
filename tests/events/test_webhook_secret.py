"""Signatures that anybody's library verifies."""

import json
import time

import pytest
from msgspec.structs import replace
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from bullion.events.webhook_secret import new_secret, secret_text, signature, signing_keys
from bullion.keys.encryption import Cipher, NotDecryptable

from .fixtures import a_webhook

BODY = json.dumps({"type": "order.opened", "data": {"symbol_code": "GOLD", "firm": "Zürich ₹"}}).encode()


def headers(*keys: bytes, at_s: int | None = None) -> dict[str, str]:
    at_s = int(time.time()) if at_s is None else at_s
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(at_s),
        "webhook-signature": signature(keys, "evt_1", at_s, BODY),
    }


def test_the_reference_library_accepts_it() -> None:
    secret = new_secret()
    assert Verifier(secret_text(secret)).verify(BODY, headers(secret)) == json.loads(BODY)


def test_both_secrets_verify_during_a_rotation() -> None:
    old, new = new_secret(), new_secret()
    for secret in (old, new):
        assert Verifier(secret_text(secret)).verify(BODY, headers(new, old))


def test_another_secret_body_or_time_is_refused() -> None:
    secret = new_secret()
    verifier, sent = Verifier(secret_text(secret)), headers(secret)
    with pytest.raises(WebhookVerificationError):
        Verifier(secret_text(new_secret())).verify(BODY, sent)
    with pytest.raises(WebhookVerificationError):
        verifier.verify(BODY + b" ", sent)
    with pytest.raises(WebhookVerificationError):
        verifier.verify(BODY, {**sent, "webhook-id": "evt_2"})
    with pytest.raises(WebhookVerificationError):
        verifier.verify(BODY, headers(secret, at_s=int(time.time()) - 3600))


def test_the_old_secret_signs_until_its_time_is_over() -> None:
    cipher, webhook = Cipher(b"deployment", "webhook"), a_webhook()
    new, old = new_secret(), new_secret()
    rotated = replace(
        webhook,
        encrypted_secret=cipher.encrypt(new, webhook.id),
        previous_secret=cipher.encrypt(old, webhook.id),
        previous_until_us=100,
    )
    assert signing_keys(rotated, cipher, 99) == [new, old]
    assert signing_keys(rotated, cipher, 100) == [new]
    assert signing_keys(replace(rotated, previous_secret="00"), cipher, 99) == [new]
    with pytest.raises(NotDecryptable):
        signing_keys(rotated, Cipher(b"another", "webhook"), 99)
