"""Whether a node lives, and whether it may be sent calls. The same on both ports."""

from collections.abc import Awaitable, Callable, Mapping

from .answer import Answer, json_answer

LIVE = "/health/live"
READY = "/health/ready"

Checks = Callable[[], Awaitable[Mapping[str, bool]]]
"""What readiness is made of: each part's name, and whether it is in order."""


def live() -> Answer:
    return json_answer({"live": True})


async def ready(checks: Checks) -> Answer:
    parts = await checks()
    return json_answer({"ready": all(parts.values()), **parts}, 200 if all(parts.values()) else 503)
