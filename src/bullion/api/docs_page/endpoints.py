"""The section of endpoints: what each takes, what it answers, and an example."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from .calls import Endpoint, environment_of
from .pieces import (
    Json,
    badge,
    chip,
    environment_badge,
    figure,
    json_code,
    method_mark,
    prose,
    status_mark,
    table,
)
from .shapes import type_words


def endpoint_sections(description: Json, endpoints: list[Endpoint]) -> str:
    parts = ['<section id="endpoints">\n<h2>Endpoints</h2>']
    for tag in description["tags"]:
        parts.append(f'<p class="tag"><b>{escape(tag["name"])}</b> {prose(tag["description"])}</p>')
        tagged = (endpoint for endpoint in endpoints if tag["name"] in endpoint.operation["tags"])
        parts.extend(_endpoint(endpoint, description) for endpoint in tagged)
    return "\n".join([*parts, "</section>"])


def _endpoint(endpoint: Endpoint, description: Json) -> str:
    operation = endpoint.operation
    mark = method_mark(endpoint.method)
    addresses = "".join(
        f"<li>{mark} <code>{escape(full_path)}</code>{badge(environment_of(full_path))}"
        for full_path in endpoint.operations
    )
    scopes = ", ".join(f"<code>{escape(scope)}</code>" for scope in endpoint.scopes)
    needs = f"Needs a key with the scope {scopes}." if scopes else "Needs no key."
    return f"""<article id="{endpoint.anchor}">
<h3><a href="#{endpoint.anchor}">{escape(operation["summary"])}</a></h3>
<ul class="addresses">{addresses}</ul>
<p>{prose(operation["description"])} {needs}</p>
{_parameters(endpoint)}{_request_body(operation)}{_example(operation)}
{table(("Status", "Answer", "Headers"), _answers(endpoint, description))}
</article>"""


def _parameters(endpoint: Endpoint) -> str:
    """The parameters of both environments together, for some are taken in one alone."""
    taken: dict[str, tuple[Json, list[str]]] = {}
    for full_path, operation in endpoint.operations.items():
        for parameter in operation.get("parameters", ()):
            taken.setdefault(parameter["name"], (parameter, []))[1].append(full_path)
    rows = [
        (
            f"<code>{escape(name)}</code>{_only(endpoint, full_paths)}",
            f"{escape(parameter['in'])}, {'required' if parameter.get('required') else 'optional'}",
            type_words(parameter["schema"]),
            prose(parameter.get("description", "")),
        )
        for name, (parameter, full_paths) in taken.items()
    ]
    return table(("Parameter", "Where", "Type", "Meaning"), rows) if rows else ""


def _request_body(operation: Json) -> str:
    body = operation.get("requestBody")
    return f"<p>The body is JSON: {type_words(_media(body)['schema'])}.</p>" if body else ""


def _answers(endpoint: Endpoint, description: Json) -> Iterator[Sequence[str]]:
    """A row for each status. What every answer carries is left to the table of headers."""
    headers = description["components"]["headers"]
    statuses = {status for operation in endpoint.operations.values() for status in operation["responses"]}
    for status in sorted(statuses):
        found = {
            full_path: operation["responses"][status]
            for full_path, operation in endpoint.operations.items()
            if status in operation["responses"]
        }
        carried = {name: None for response in found.values() for name in response["headers"]}
        yield (
            status_mark(status),
            _refused(found.values(), description["x-refusals"]) or _successes(endpoint, found),
            " ".join(chip(name, "header-" + name) for name in carried if "required" not in headers[name]),
        )


def _refused(responses: Iterable[Json], refusals: list[Json]) -> str:
    """The codes of both environments together: a code that production alone has says so itself."""
    met = {code for response in responses for code in _media(response).get("examples", ())}
    return " ".join(
        chip(row["code"], "refusal-" + row["code"]) + environment_badge(row["environment"])
        for row in refusals
        if row["code"] in met
    )


def _successes(endpoint: Endpoint, responses: dict[str, Json]) -> str:
    """What is answered, once for each way it is answered; with its environment where they differ."""
    told: dict[str, list[str]] = {}
    for full_path, response in responses.items():
        text = f"{prose(response['description'])} {type_words(_media(response)['schema'])}"
        told.setdefault(text, []).append(full_path)
    return "<br>".join(text + _only(endpoint, full_paths) for text, full_paths in told.items())


def _only(endpoint: Endpoint, full_paths: list[str]) -> str:
    """The environments that something is true of, if it is not true of all the endpoint has."""
    everywhere = len(full_paths) == len(endpoint.operations)
    return "" if everywhere else "".join(badge(environment_of(full_path)) for full_path in full_paths)


def _example(operation: Json) -> str:
    answer = _media(next(iter(operation["responses"].values())))
    return figure("Example answer", json_code(answer["example"])) if "example" in answer else ""


def _media(body: Json) -> Json:
    """What a body looks like. We speak one media type."""
    media: Json = next(iter(body["content"].values()))
    return media
