"""The whole description."""

import json
from collections.abc import Iterator

from bullion.environment import Environment
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import RefusalCode
from bullion.web.answer import NOT_FOUND

from .endpoints import ENDPOINTS
from .endpoints.service import service_paths
from .headers import HEADERS
from .pieces import Json, answer, schema_ref
from .refused import RETRY_ADVICE, WITHOUT_KEY, shared_examples, whole_row
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
            "examples": shared_examples(_rows_met()),
        },
        "x-refusals": [whole_row(row) for row in CATALOGUE],
        "x-retry-advice": {retry.value: words for retry, words in RETRY_ADVICE.items()},
    }


_INFO: Json = {
    "title": "Bullion Trading API",
    "version": "1.0.0",
    "summary": "Gold and silver by weight, over JSON and HTTP.",
    "description": (
        "There are two environments with the same calls. Orders under "
        f"`{Environment.TEST.base_path}` are a rehearsal, and book nothing; those under "
        f"`{Environment.PRODUCTION.base_path}` are real. The operator opens production for each account; as "
        "long as it is closed its orders are refused, but everything can be read.\n\n"
        "Bodies are JSON. Numbers of a request are JSON numbers; weights and rupees of an answer are decimal "
        "texts, weights with 4 decimals and rupees with 2, so that nothing is lost in a float. Gold is "
        "weighed in grams and silver in kilograms. Times are UTC.\n\n"
        "Every refusal has the same body. Branch on `detail.code`, which is stable; the message is "
        "for people. A 404 without a code comes from a wrong address or path."
    ),
}
_TAGS = [
    {"name": "Account", "description": "Who is calling."},
    {"name": "Orders", "description": "Placing market orders, and reading them back."},
    {"name": "Positions", "description": "What the account holds, and how much more it may."},
    {"name": "Market", "description": "What can be traded, and at what price."},
    {"name": "Service", "description": "The service itself. No key is needed."},
]


def _trading_paths() -> Json:
    paths: Json = {}
    for endpoint in ENDPOINTS:
        for environment in Environment:
            item = paths.setdefault(environment.base_path + endpoint.path, {})
            item[endpoint.method] = endpoint.operation(environment)
    return paths


def _rows_met() -> Iterator[RefusalCode]:
    yield from WITHOUT_KEY
    for endpoint in ENDPOINTS:
        for environment in Environment:
            yield from endpoint.met(environment)
