"""The section of endpoints: what each takes, what it answers, and an example."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from .calls import Endpoint, environment_of
from .curl import curl_line
from .pieces import (
    Json,
    badge,
    chip,
    environment_badge,
    figure,
    json_code,
    method_mark,
    paragraphs,
    prose,
    status_mark,
    table,
)
from .shapes import fields, type_words


def endpoint_sections(description: Json, endpoints: list[Endpoint]) -> str:
    parts = ['<section id="endpoints">\n<h2>Endpoints</h2>']
    for tag in description["tags"]:
        parts.append(f'<p class="tag"><b>{escape(tag["name"])}</b> {prose(tag["description"])}</p>')
        tagged = (endpoint for endpoint in endpoints if tag["name"] in endpoint.operation["tags"])
        parts.extend(_endpoint(endpoint, description) for endpoint in tagged)
    return "\n".join([*parts, "</section>"])


def _endpoint(endpoint: Endpoint, description: Json) -> str:
    operation, components = endpoint.operation, description["components"]
    scheme = next(iter(components["securitySchemes"].values()))
    mark = method_mark(endpoint.method)
    addresses = "".join(
        f"<li>{mark} <code>{escape(full_path)}</code>{badge(environment_of(full_path))}"
        for full_path in endpoint.operations
    )
    scopes = ", ".join(f"<code>{escape(scope)}</code>" for scope in endpoint.scopes)
    needs = f"Needs a key with the scope {scopes}." if scopes else "Needs no key."
    return f"""<article id="{endpoint.anchor}">
<h3><a href="#{endpoint.anchor}">{escape(operation["summary"])}</a>{_extension(operation)}</h3>
<ul class="addresses">{addresses}</ul>
{paragraphs(operation["description"])}
<p>{needs}</p>
{_parameters(endpoint)}{_request_body(operation, components["schemas"])}
{figure("Example call", escape(curl_line(endpoint, scheme)))}{_example(operation)}
{table(("Status", "Answer", "Headers"), _answers(endpoint, description))}{_own_refusals(operation)}
</article>"""


def _parameters(endpoint: Endpoint) -> str:
    """The parameters of both environments together, for some are taken in one alone."""
    taken: dict[str, tuple[Json, list[str]]] = {}
    for full_path, operation in endpoint.operations.items():
        for parameter in operation.get("parameters", ()):
            taken.setdefault(parameter["name"], (parameter, []))[1].append(full_path)
    rows = [
        (
            f"<code>{escape(name)}</code>{_only(endpoint, full_paths)}{_extension(parameter)}",
            f"{escape(parameter['in'])}, {'required' if parameter.get('required') else 'optional'}",
            type_words(parameter["schema"]),
            prose(parameter.get("description", "")),
        )
        for name, (parameter, full_paths) in taken.items()
    ]
    return table(("Parameter", "Where", "Type", "Meaning"), rows) if rows else ""


def _extension(described: Json) -> str:
    return badge("extension" if described.get("x-extension") else "")


def _request_body(operation: Json, schemas: Json) -> str:
    """Its fields stand here as well as among the schemas: whoever sends an order should see them at once."""
    body = operation.get("requestBody")
    if not body:
        return ""
    schema = _media(body)["schema"]
    rows = list(fields(schemas[schema["$ref"].rpartition("/")[2]]))
    return f"<p>The body is JSON: {type_words(schema)}. {prose(body.get('description', ''))}</p>\n" + table(
        ("Field", "Type", "Meaning"), rows
    )


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
        refused = _refused(found.values(), description["x-refusals"])
        yield (
            status_mark(status),
            refused + _further_fields(found) if refused else _successes(endpoint, found),
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


def _further_fields(responses: dict[str, Json]) -> str:
    """Where a refusal's body has more than the others', the schema that tells."""
    schemas = [_media(response)["schema"] for response in responses.values()]
    bodies = [body for schema in schemas for body in schema.get("oneOf", (schema,))]
    told = {type_words(body): None for body in bodies if "$ref" in body and "properties" not in body}
    return f"<br>with further fields: {', '.join(told)}" if told else ""


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


def _own_refusals(operation: Json) -> str:
    """Refusals with an example of this call's own: they say more than a code and a message."""
    return "".join(
        figure(f"Example of <code>{escape(code)}</code>", json_code(example["value"]))
        for response in operation["responses"].values()
        for code, example in _media(response).get("examples", {}).items()
        if "value" in example
    )


def _media(body: Json) -> Json:
    """What a body looks like. We speak one media type."""
    media: Json = next(iter(body["content"].values()))
    return media
