"""The calls as a Postman collection (v2.1), made from the description: the test environment comes first."""

import json
from collections.abc import Iterator

from bullion.environment import Environment

from .schemas import Json

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_KEYS = {Environment.TEST: "test_key", Environment.PRODUCTION: "live_key"}
_VARIABLES = {
    "base_url": ("http://127.0.0.1:8000", "The address of the service, here the demo's."),
    "test_key": ("", "Your key for the test environment: key_test.…"),
    "live_key": ("", "Your key for production: key_live.… Leave it empty until you mean it."),
    "order_id": ("", "The last order that was placed: a script behind the call writes it here."),
    "webhook_id": ("", "The last webhook that was set up, in the same way."),
}
_IDEMPOTENCY_KEY = "Idempotency-Key"
_NEW_KEY = "{{$guid}}"
_KEPT = {"/orders": "order_id", "/webhooks": "webhook_id"}
"""What is made by a POST, and the variable that keeps its id for the calls after it."""


def postman_collection(description: Json) -> Json:
    info, paths = description["info"], description["paths"]
    folders = [_folder(environment, paths) for environment in Environment]
    others = [
        _item(path, method, operation)
        for path, method, operation in _operations(paths)
        if not any(path.startswith(f"{each.base_path}/") for each in Environment)
    ]
    return {
        "info": {
            "name": info["title"],
            "version": info["version"],
            "description": (
                f"{info['summary']} Fill in `test_key` among the variables of the collection, and send. "
                f"`{_IDEMPOTENCY_KEY}` is new with each send; to try a retry, give it a fixed value."
            ),
            "schema": _SCHEMA,
        },
        "auth": {"type": "noauth"},
        "variable": [
            {"key": name, "value": value, "description": words, "type": "string"}
            for name, (value, words) in _VARIABLES.items()
        ],
        "item": [*folders, {"name": "Service", "item": others}],
    }


def _folder(environment: Environment, paths: Json) -> Json:
    base = f"{environment.base_path}/"
    return {
        "name": environment.value.capitalize(),
        "description": f"Everything below `{environment.base_path}`.",
        "auth": {
            "type": "apikey",
            "apikey": [
                {"key": "key", "value": "X-API-Key", "type": "string"},
                {"key": "value", "value": f"{{{{{_KEYS[environment]}}}}}", "type": "string"},
                {"key": "in", "value": "header", "type": "string"},
            ],
        },
        "item": [
            _item(path, method, operation)
            for path, method, operation in _operations(paths)
            # Production's own base is the beginning of nothing else.
            if path.startswith(base)
        ],
    }


def _operations(paths: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            yield path, method, operation


def _item(path: str, method: str, operation: Json) -> Json:
    request: Json = {
        "method": method.upper(),
        "description": operation["description"],
        "header": list(_headers(operation)),
        "url": _url(path, operation),
    }
    body = operation.get("requestBody")
    if body:
        text = json.dumps(body["content"]["application/json"]["example"], indent=2, ensure_ascii=False)
        request["body"] = {"mode": "raw", "raw": text, "options": {"raw": {"language": "json"}}}
    item: Json = {"name": operation["summary"], "request": request, "response": []}
    variable = _KEPT.get(f"/{path.rpartition('/')[2]}") if method == "post" else None
    if variable:
        script = [
            "const made = pm.response.json();",
            f"if (made.id) {{ pm.collectionVariables.set('{variable}', made.id); }}",
        ]
        item["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": script}}]
    return item


def _headers(operation: Json) -> Iterator[Json]:
    if "requestBody" in operation:
        yield {"key": "Content-Type", "value": "application/json"}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "header":
            name = parameter["name"]
            value = _NEW_KEY if name == _IDEMPOTENCY_KEY else str(parameter.get("example", ""))
            yield {
                "key": name,
                "value": value,
                "description": parameter["description"],
                "disabled": not parameter.get("required", False),
            }


def _url(path: str, operation: Json) -> Json:
    """A query is there to be switched on, and a parameter of the path is the variable of its name."""
    in_path = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"}
    for name in in_path:
        path = path.replace(f"{{{name}}}", f"{{{{{name}}}}}")
    query = [
        {
            "key": parameter["name"],
            "value": str(parameter.get("example", parameter["schema"].get("default", ""))),
            "description": parameter["description"],
            "disabled": True,
        }
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]
    url: Json = {
        "raw": "{{base_url}}" + path,
        "host": ["{{base_url}}"],
        "path": path.strip("/").split("/"),
    }
    return url | ({"query": query} if query else {})
