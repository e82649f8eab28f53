"""Health checks: whether a node is alive, and whether it is ready for calls. The same on both ports."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from .headers import Headers
from .http_app import PublicPage
from .response import JSON, Response, Scope, encode_json, json_response

LIVE = "/health/live"
READY = "/health/ready"
METHODS = ("GET", "HEAD")
"""Some load balancers and monitors check with HEAD."""

_NOT_READY: Headers = (JSON, (b"retry-after", b"1"))

Checks = Callable[[], Awaitable[Mapping[str, bool]]]
"""The parts of readiness: each part's name, and whether it is in order."""


class _Drain:
    """Whether this process is about to stop: it still answers, but load balancers should send no new calls.

    Each response is then the last of its connection, so that few connections are open when it stops.
    There is one node in a process, and both of its ports report the same.
    """

    active = False


DRAIN = _Drain()


def live() -> Response:
    return json_response({"live": True})


def health_pages(checks: Checks) -> dict[str, dict[str, PublicPage]]:

    async def answer_live(_scope: Scope) -> Response:
        return live()

    async def answer_ready(_scope: Scope) -> Response:
        return await ready(checks)

    return {LIVE: dict.fromkeys(METHODS, answer_live), READY: dict.fromkeys(METHODS, answer_ready)}


async def ready(checks: Checks) -> Response:
    parts = {"staying": False} if DRAIN.active else await checks()
    if all(parts.values()):
        return json_response({"ready": True, **parts})
    return Response(HTTPStatus.SERVICE_UNAVAILABLE, encode_json({"ready": False, **parts}), _NOT_READY)
