"""Webhooks are verified as Standard Webhooks says, and refused in words that help nobody to forge one."""

import base64
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
import standardwebhooks

from bullion_client import OrderEvent, WebhookVerificationError, verify_webhook
from bullion_client.webhook_signature import new_secret, sign
from tests.client.event_samples import event

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = new_secret(b"another secret of 24 byte")
BODY = json.dumps(event(17, "order.opened")).encode()
ID = f"evt_{17:032x}"


def now() -> int:
    return int(time.time())


def signed(body: bytes = BODY, secret: str = SECRET, at: int | None = None) -> dict[str, str]:
    return sign(body, ID, now() if at is None else at, secret)


def test_a_webhook_becomes_its_event() -> None:
    received = verify_webhook(BODY, signed(), SECRET)
    assert isinstance(received, OrderEvent)
    assert (received.id, received.number, received.data.status) == (ID, 17, "open")
    assert verify_webhook(BODY.decode(), signed(), SECRET) == received


def test_the_vector_of_the_specifications_library() -> None:
    """The one that its libraries test with: nothing of it was computed here."""
    body = b'{"test": 2432232314}'
    headers = sign(body, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, SECRET)
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_the_package_of_the_specification_agrees() -> None:
    standard: Any = standardwebhooks.Webhook(SECRET)
    at = now()
    assert standard.verify(BODY, signed(at=at)) == json.loads(BODY)
    headers = {
        "webhook-id": ID,
        "webhook-timestamp": str(at),
        "webhook-signature": standard.sign(ID, datetime.fromtimestamp(at, UTC), BODY.decode()),
    }
    assert verify_webhook(BODY, headers, SECRET).number == 17


@pytest.mark.parametrize("change", [str.upper, str.title, lambda name: f"W{name[1:]}"])
def test_header_names_in_any_case(change: Any) -> None:
    headers = {change(name): value for name, value in signed().items()} | {"Host": "x"}
    assert verify_webhook(BODY, headers, SECRET).number == 17


def test_during_a_rotation_either_side_may_be_ahead() -> None:
    at = now()
    old, new = signed(secret=SECRET, at=at), signed(secret=OTHER, at=at)
    name = "webhook-signature"
    both = old | {name: f"v2,xyz v1a,abc {old[name]} {new[name]}"}
    for secrets in (SECRET, OTHER, [SECRET, OTHER], (OTHER, SECRET)):
        assert verify_webhook(BODY, both, secrets).number == 17
    for headers in (old, new):
        assert verify_webhook(BODY, headers, [OTHER, SECRET]).number == 17
    with pytest.raises(WebhookVerificationError):
        verify_webhook(BODY, old, OTHER)


def wrong() -> dict[str, tuple[bytes, Mapping[str, str]]]:
    good, name = signed(), "webhook-signature"
    signature = good[name].partition(",")[2]
    return {
        "another body": (BODY + b" ", good),
        "another id": (BODY, good | {"webhook-id": "evt_x"}),
        "another time": (BODY, good | {"webhook-timestamp": str(now() + 1)}),
        "another secret": (BODY, signed(secret=OTHER)),
        "no version": (BODY, good | {name: signature}),
        "another version": (BODY, good | {name: f"v2,{signature}"}),
        "a cut signature": (BODY, good | {name: good[name][:-4]}),
        "nonsense": (BODY, good | {name: "₹,₹ ,,, v1"}),
        "no time": (BODY, good | {"webhook-timestamp": "yesterday"}),
        "a time with a point": (BODY, good | {"webhook-timestamp": f"{now()}.0"}),
        "digits of another script": (BODY, good | {"webhook-timestamp": "१६१४२६५३३०"}),
        **{f"without {each}": (BODY, {k: v for k, v in good.items() if k != each}) for each in good},
        **{f"empty {each}": (BODY, good | {each: ""}) for each in good},
    }


@pytest.mark.parametrize("case", wrong())
def test_what_is_refused_and_that_nothing_leaks(case: str) -> None:
    body, headers = wrong()[case]
    with pytest.raises(WebhookVerificationError) as caught:
        verify_webhook(body, headers, SECRET)
    right = sign(body, headers.get("webhook-id", ""), now(), SECRET)["webhook-signature"]
    words = f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert SECRET not in words
    assert right.partition(",")[2] not in words
    assert "The webhook is refused: " in str(caught.value)


@pytest.mark.parametrize(("age_s", "refused"), [(290, False), (310, True), (-290, False), (-310, True)])
def test_five_minutes_are_tolerated(age_s: int, refused: bool) -> None:
    headers = signed(at=now() - age_s)
    if not refused:
        assert verify_webhook(BODY, headers, SECRET).number == 17
        return
    with pytest.raises(WebhookVerificationError, match="too old" if age_s > 0 else "far in the future"):
        verify_webhook(BODY, headers, SECRET)
    assert verify_webhook(BODY, headers, SECRET, tolerance=400).number == 17


def test_an_old_webhook_with_a_wrong_signature_says_nothing_of_the_time() -> None:
    with pytest.raises(WebhookVerificationError, match="no signature is right"):
        verify_webhook(BODY, signed(secret=OTHER, at=1), SECRET)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not an event"),
        (b"[]", "not an event"),
        (b'{"type": "trading.halted"}', "environment"),
        (b"\xff", "not an event"),
    ],
)
def test_a_signed_body_that_is_no_event(body: bytes, words: str) -> None:
    with pytest.raises(WebhookVerificationError, match=words):
        verify_webhook(body, signed(body), SECRET)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64!", "whsec_abc", "key_test.x", []])
def test_a_secret_that_is_none_is_the_callers_mistake(secret: Any) -> None:
    with pytest.raises(ValueError, match="secret") as caught:
        verify_webhook(BODY, signed(), secret)
    assert not isinstance(caught.value, WebhookVerificationError)
    assert "not base64!" not in str(caught.value)


def test_a_new_secret_is_one() -> None:
    secret = new_secret(bytes(range(24)))
    assert base64.b64decode(secret.removeprefix("whsec_")) == bytes(range(24))
    assert verify_webhook(BODY, signed(secret=secret), secret).number == 17
