"""Health checks: whether a node is alive, and whether it is ready for calls. The same on both ports."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from .answer import JSON, Answer, Headers, encode_json, json_answer
from .shell import OpenPage

LIVE = "/health/live"
READY = "/health/ready"
METHODS = ("GET", "HEAD")
"""Some load balancers and monitors check with HEAD."""

_NOT_READY: Headers = (JSON, (b"retry-after", b"1"))

Checks = Callable[[], Awaitable[Mapping[str, bool]]]
"""The parts of readiness: each part's name, and whether it is in order."""


class _Notice:
    """Whether this process is going to stop: it still answers, but no new call should be sent to it.

    There is one node in a process, and both of its ports report the same.
    """

    given = False


NOTICE = _Notice()


def live() -> Answer:
    return json_answer({"live": True})


def health_pages(checks: Checks) -> dict[str, dict[str, OpenPage]]:
    """By path and method."""

    async def answer_live() -> Answer:
        return live()

    async def answer_ready() -> Answer:
        return await ready(checks)

    return {LIVE: dict.fromkeys(METHODS, answer_live), READY: dict.fromkeys(METHODS, answer_ready)}


async def ready(checks: Checks) -> Answer:
    parts = {"staying": False} if NOTICE.given else await checks()
    if all(parts.values()):
        return json_answer({"ready": True, **parts})
    return Answer(HTTPStatus.SERVICE_UNAVAILABLE, encode_json({"ready": False, **parts}), _NOT_READY)
