"""The whole description."""

import json

from bullion.environment import Environment
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Refusal
from bullion.web.answer import NOT_FOUND

from .endpoints import ENDPOINTS
from .endpoints.service import service_paths
from .headers import HEADERS
from .pieces import Json, answer, schema_ref
from .refused import RETRY_ADVICE, WITHOUT_KEY, example, whole_row
from .schemas import SCHEMAS
from .security import SECURITY_SCHEMES


def openapi() -> Json:
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/", "description": "The address that served this description."}],
        "tags": _TAGS,
        "paths": _trading_paths() | service_paths(),
        "components": {
            "securitySchemes": SECURITY_SCHEMES,
            "headers": HEADERS,
            "schemas": SCHEMAS,
            "responses": {
                "UnknownPath": answer(
                    f"{NOT_FOUND.status}, on any path that is not described here.",
                    schema_ref("UnknownPath"),
                    json.loads(NOT_FOUND.body),
                )
            },
            "examples": {row.code: example(row) for row in CATALOGUE if row in _rows_met()},
        },
        "x-refusals": [whole_row(row) for row in CATALOGUE],
        "x-retry-advice": {retry.value: words for retry, words in RETRY_ADVICE.items()},
    }


_INFO: Json = {
    "title": "Bullion Trading API",
    "version": "1.0.0",
    "summary": "Gold and silver by weight, over JSON and HTTP.",
    "description": (
        f"There are two environments. Under `{Environment.TEST.base_path}` orders are simulated and "
        f"nothing is booked; under `{Environment.PRODUCTION.base_path}` they are real.\n\n"
        "Every refusal has the same body. Branch on `detail.code`, which is stable; the message is "
        "for people. A 404 without a code comes from a wrong address or path."
    ),
}
_TAGS = [
    {"name": "Account", "description": "Who is calling."},
    {"name": "Service", "description": "The service itself. No key is needed."},
]


def _trading_paths() -> Json:
    paths: Json = {}
    for endpoint in ENDPOINTS:
        for environment in Environment:
            item = paths.setdefault(environment.base_path + endpoint.path, {})
            item[endpoint.method] = endpoint.operation(environment)
    return paths


def _rows_met() -> frozenset[Refusal]:
    return frozenset(WITHOUT_KEY).union(*(endpoint.refusals for endpoint in ENDPOINTS))
