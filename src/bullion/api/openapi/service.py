"""Pages of the service itself. They need no key."""

import json

from bullion.web import health

from .refusals import WITHOUT_KEY, refusal_responses
from .responses import RETRY_AFTER, response
from .schemas import Json

_HEAD = "`HEAD` gets the same status and headers, without the body."
_READY = {"ready": True, "store": True, "schema": True, "catalogue": True}


def _page(name: str, summary: str, description: str, responses: Json) -> Json:
    operation = {
        "operationId": name,
        "security": [],
        "tags": ["Service"],
        "summary": summary,
        "description": description,
        "responses": responses | refusal_responses(WITHOUT_KEY),
    }
    return {"get": operation}


SERVICE_PATHS: Json = {
    health.LIVE: _page(
        "live",
        "Is the node running?",
        f"For the program that restarts nodes. {_HEAD}",
        {"200": response("The node is running.", "Liveness", json.loads(health.live().body))},
    ),
    health.READY: _page(
        "ready",
        "May the node be sent calls?",
        f"For load balancers. It names each part. {_HEAD}",
        {
            "200": response("Every part is in order.", "Readiness", _READY),
            "503": response(
                "Some part is not.", "Readiness", _READY | {"ready": False, "store": False}, [RETRY_AFTER]
            ),
        },
    ),
    "/openapi.json": _page(
        "description",
        "This description",
        "What you are reading, for programs.",
        {
            "200": response(
                "The description.",
                "Description",
                {"openapi": "3.1.0", "info": {"title": "…", "version": "…"}, "paths": {}},
            )
        },
    ),
}
