"""The whole description."""

import json

from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.catalogue import CATALOGUE
from bullion.web.response import NOT_FOUND

from .endpoint import SECURITY_SCHEME
from .endpoints import ENDPOINTS
from .refusals import RETRY_ADVICE, catalogue_row, shared_examples
from .responses import HEADERS, response
from .schemas import SCHEMAS, Json
from .service import SERVICE_PATHS


def openapi() -> Json:
    unknown_path = f"{NOT_FOUND.status}, on any path that is not described here."
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/", "description": "The address that served this description."}],
        "tags": _TAGS,
        "paths": _trading_paths() | SERVICE_PATHS,
        "components": {
            "securitySchemes": {SECURITY_SCHEME: _SECURITY},
            "headers": HEADERS,
            "schemas": SCHEMAS,
            "responses": {"UnknownPath": response(unknown_path, "UnknownPath", json.loads(NOT_FOUND.body))},
            "examples": shared_examples(),
        },
        "x-refusals": [catalogue_row(row) for row in CATALOGUE],
        "x-retry-advice": {retry.value: words for retry, words in RETRY_ADVICE.items()},
    }


_INFO: Json = {
    "title": "Bullion Trading API",
    "version": "1.0.0",
    "summary": "Gold and silver by weight, over JSON and HTTP.",
    "description": (
        "There are two environments with the same calls. Orders under "
        f"`{Environment.TEST.base_path}` are a rehearsal and book nothing; those under "
        f"`{Environment.PRODUCTION.base_path}` are real. The operator opens production for each account. "
        "While it is closed, production orders are refused, but everything can be read.\n\n"
        "Bodies are JSON. Numbers of a request are JSON numbers; weights and rupees of a response are "
        "decimal texts, weights with 4 decimals and rupees with 2, so that nothing is lost in a float. Gold "
        "is weighed in grams and silver in kilograms. Times are UTC.\n\n"
        "Every refusal has the same body. Branch on `detail.code`, which is stable; the message is "
        "for people. A 404 without a code comes from a wrong address or path."
    ),
}
_TAGS = [
    {"name": "Account", "description": "Who is calling."},
    {"name": "Orders", "description": "Placing market orders, and reading them back."},
    {"name": "Positions", "description": "What the account holds, and how much more it may."},
    {"name": "Market", "description": "What can be traded, and at what price."},
    {"name": "Events", "description": "What happened to the account, without asking for each order."},
    {"name": "Webhooks", "description": "Events sent to a URL of yours, signed and in order."},
    {"name": "Service", "description": "The service itself. No key is needed."},
]
_SECURITY: Json = {
    "type": "apiKey",
    "in": "header",
    "name": "X-API-Key",
    "description": (
        "The operator's desk issues keys. One that begins with `key_test.` works under "
        f"`{Environment.TEST.base_path}`, one that begins with `key_live.` under "
        f"`{Environment.PRODUCTION.base_path}`. A key has scopes: "
        f"{', '.join(f'`{scope.value}`' for scope in Scope)}."
    ),
}


def _trading_paths() -> Json:
    paths: Json = {}
    for endpoint in ENDPOINTS:
        for environment in Environment:
            path = paths.setdefault(environment.base_path + endpoint.path, {})
            path[endpoint.method] = endpoint.operation(environment)
    return paths
