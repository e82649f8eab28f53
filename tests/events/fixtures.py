"""A webhook as the tests of this room use it."""

from bullion.events.webhook import Webhook


def a_webhook() -> Webhook:
    return Webhook(
        book_id=2,
        id="wh_1",
        url="https://hooks.example.com/",
        types=(),
        description="",
        on=True,
        off_reason=None,
        off_at_us=None,
        created_at_us=1,
        created_by="a key",
        encrypted_secret="",
        secret_id="",
        previous_secret=None,
        previous_until_us=None,
        delivered_through=0,
        tries=0,
        failing_since_us=None,
        next_try_at_us=0,
        last_delivered_at_us=None,
        replaying=False,
    )
