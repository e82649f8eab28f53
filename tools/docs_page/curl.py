"""A call as a line for the shell, made from what the description says of its parameters."""

import json
from shlex import quote

from .calls import Endpoint
from .pieces import Json

_KEY = "$BULLION_API_KEY"
_BASE = "$BULLION_BASE_URL"
_LINE_LENGTH_MAX = 90


def curl_line(endpoint: Endpoint, scheme: Json) -> str:
    """Sends what is required, and what else has an example, to the first environment that has the call."""
    path, operation = next(iter(endpoint.operations.items()))
    # In double quotes, as the shell is to put the key in; all that comes out of an example is quoted singly.
    options = [f'-H "{scheme["name"]}: {_KEY}"'] if endpoint.scopes else []
    query = []
    for parameter in operation.get("parameters", ()):
        name, where = parameter["name"], parameter["in"]
        if "example" not in parameter:
            continue
        value = str(parameter["example"])
        if where == "path":
            path = path.replace(f"{{{name}}}", value)
        elif where == "header":
            options.append("-H " + quote(f"{name}: {value}"))
        else:
            query.append("--data-urlencode " + quote(f"{name}={value}"))
    # With `-G` curl hangs what it encodes onto the address instead of sending it as a body.
    command = "curl -s -G" if query else "curl -s"
    return _joined([command, *options, *query, *_body(operation), f'"{_BASE}{path}"'])


def _body(operation: Json) -> list[str]:
    """With `--data` curl makes the call a POST by itself."""
    content = operation.get("requestBody", {}).get("content", {})
    return [
        option
        for kind, media in content.items()
        if "example" in media
        for option in (
            "-H " + quote(f"Content-Type: {kind}"),
            "--data " + quote(json.dumps(media["example"], indent=4, ensure_ascii=False)),
        )
    ]


def _joined(parts: list[str]) -> str:
    """On one line if it fits on the page, else a line for each option."""
    line = " ".join(parts)
    return line if len(line) <= _LINE_LENGTH_MAX and "\n" not in line else " \\\n  ".join(parts)
