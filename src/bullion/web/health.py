"""Whether a node lives, and whether it may be sent calls. The same on both ports."""

from collections.abc import Awaitable, Callable, Mapping

from .answer import Answer, json_answer

LIVE = "/health/live"
READY = "/health/ready"
METHODS = ("GET", "HEAD")
"""Some load balancers and monitors check with HEAD."""

Checks = Callable[[], Awaitable[Mapping[str, bool]]]
"""What readiness is made of: each part's name, and whether it is in order."""


class _Notice:
    """Whether this process has given notice: it still answers, but no call should be sent here any more.

    There is one node in a process, and both of its ports say the same.
    """

    given = False


NOTICE = _Notice()


def live() -> Answer:
    return json_answer({"live": True})


async def ready(checks: Checks) -> Answer:
    parts = {"staying": False} if NOTICE.given else await checks()
    return json_answer({"ready": all(parts.values()), **parts}, 200 if all(parts.values()) else 503)
