"""Pages of the service itself. They need no key."""

import json

from bullion.api.openapi.headers import RETRY_AFTER
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.api.openapi.refused import WITHOUT_KEY, refused_answers
from bullion.web import health

_HEAD = "`HEAD` is answered with the same status and headers, without the body."


def service_paths() -> Json:
    return {health.LIVE: _live(), health.READY: _ready(), "/openapi.json": _description()}


def _page(name: str, summary: str, description: str, responses: Json) -> Json:
    return {
        "get": {
            "operationId": name,
            "security": [],
            "tags": ["Service"],
            "summary": summary,
            "description": description,
            "responses": responses | refused_answers(WITHOUT_KEY),
        }
    }


def _live() -> Json:
    running = answer("The node is running.", schema_ref("Liveness"), json.loads(health.live().body))
    words = f"For whoever restarts nodes. {_HEAD}"
    return _page("live", "Is the node running?", words, {"200": running})


def _ready() -> Json:
    schema = schema_ref("Readiness")
    ready = {"ready": True, "store": True, "schema": True, "catalogue": True}
    answers = {
        "200": answer("Every part is in order.", schema, ready),
        "503": answer("Some part is not.", schema, ready | {"ready": False, "store": False}, (RETRY_AFTER,)),
    }
    words = f"For load balancers. It names each part. {_HEAD}"
    return _page("ready", "May the node be sent calls?", words, answers)


def _description() -> Json:
    example = {"openapi": "3.1.0", "info": {"title": "…", "version": "…"}, "paths": {}}
    described = answer("The description.", schema_ref("Description"), example)
    return _page("description", "This description", "What you are reading, for programs.", {"200": described})
