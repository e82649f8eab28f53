"""The page at `/docs`: the OpenAPI description for people, rendered once, as plain HTML.

It has no script and fetches nothing, so its Content-Security-Policy can forbid all but its own style sheet.
Whatever comes out of the description is escaped, also what only we can have written.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Any

from bullion.environment import Environment

Json = dict[str, Any]

_CODE_SPAN = re.compile(r"`([^`]+)`")
_JSON_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null')
_ENVIRONMENT_BADGE = {"both": "", "prod": "production"}
_MARK = '<svg class="mark" viewBox="0 0 24 16" aria-hidden="true"><path d="M6 2h12l4 12H2z"/></svg>'


@dataclass(slots=True)
class _Endpoint:
    """A method and a path below its base, with an operation for each environment it is in."""

    method: str
    path: str
    operations: dict[str, Json] = field(default_factory=dict)
    """By full path."""

    @property
    def anchor(self) -> str:
        return _slug(f"{self.method}-{self.path}")

    @property
    def operation(self) -> Json:
        """What is the same in both environments is read from the first."""
        return next(iter(self.operations.values()))


def docs_page(description: Json) -> tuple[str, str]:
    """The page, and the value of its Content-Security-Policy header."""
    style = resources.files(__package__).joinpath("docs_page.css").read_text("utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return _page(description, style), policy


def _page(description: Json, style: str) -> str:
    endpoints = _endpoints(description["paths"])
    components = description["components"]
    title = escape(description["info"]["title"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
{_navigation(description, endpoints)}
<main id="content">
{_introduction(description["info"])}
{_getting_started(endpoints, components["securitySchemes"])}
{_endpoint_sections(description, endpoints)}
{_header_section(components["headers"])}
{_schema_section(components["schemas"])}
{_refusal_section(description)}
</main>
</body>
</html>
"""


def _navigation(description: Json, endpoints: list[_Endpoint]) -> str:
    calls = "".join(
        f'<li><a href="#{call.anchor}">{_method(call.method)} <span>{escape(call.path)}</span></a>'
        for call in endpoints
    )
    schemas = "".join(
        f'<li><a href="#{_slug("schema-" + name)}">{escape(name)}</a>'
        for name in description["components"]["schemas"]
    )
    return f"""<nav aria-label="Contents">
<a class="brand" href="#content">{_MARK}<span>{escape(description["info"]["title"])}</span></a>
<ul>
<li><a href="#getting-started">Getting started</a>
<li><a href="#endpoints">Endpoints</a><ul>{calls}</ul>
<li><a href="#headers">Headers</a>
<li><a href="#schemas">Schemas</a><ul>{schemas}</ul>
<li><a href="#refusals">Refusals</a>
</ul>
</nav>"""


def _introduction(info: Json) -> str:
    paragraphs = "\n".join(f"<p>{_prose(paragraph)}</p>" for paragraph in info["description"].split("\n\n"))
    return f"""<header>
<h1>{escape(info["title"])} <span class="version">{escape(info["version"])}</span></h1>
<p class="lead">{_prose(info["summary"])}</p>
{paragraphs}
<p><a class="button" href="/openapi.json">OpenAPI description</a></p>
</header>"""


def _getting_started(endpoints: list[_Endpoint], schemes: Json) -> str:
    """How to send the first call that needs a key and nothing else."""
    scheme = next(iter(schemes.values()))
    first = next(endpoint for endpoint in endpoints if endpoint.method == "get" and _scopes(endpoint))
    path = next(iter(first.operations))
    lines = (
        "export BULLION_BASE_URL=…   # the address you were given\n"
        "export BULLION_API_KEY=…    # the key you were issued\n"
        f'curl -s -H "{scheme["name"]}: $BULLION_API_KEY" "$BULLION_BASE_URL{path}"'
    )
    return f"""<section id="getting-started">
<h2>Getting started</h2>
<p>Every call carries your key in the header <code>{escape(scheme["name"])}</code>.
{_prose(scheme["description"])}</p>
{_figure("Your first call", escape(lines))}
<p>It answers with your account: see <a href="#{first.anchor}">{escape(first.operation["summary"])}</a>.
When a call is refused, look its code up under <a href="#refusals">Refusals</a>.</p>
</section>"""


# --- Endpoints ----------------------------------------------------------------------------------------


def _endpoints(paths: Json) -> list[_Endpoint]:
    found: dict[tuple[str, str], _Endpoint] = {}
    for full_path, item in paths.items():
        path = full_path.removeprefix(_base(full_path)[0])
        for method, operation in item.items():
            found.setdefault((method, path), _Endpoint(method, path)).operations[full_path] = operation
    return list(found.values())


def _base(full_path: str) -> tuple[str, str]:
    """The base path of the environment it is in, and that environment's name; both empty if it is in none."""
    for environment in Environment:
        if full_path.startswith(environment.base_path + "/"):
            return environment.base_path, environment.value
    return "", ""


def _endpoint_sections(description: Json, endpoints: list[_Endpoint]) -> str:
    parts = ['<section id="endpoints">\n<h2>Endpoints</h2>']
    for tag in description["tags"]:
        parts.append(f'<p class="tag"><b>{escape(tag["name"])}</b> {_prose(tag["description"])}</p>')
        tagged = (endpoint for endpoint in endpoints if tag["name"] in endpoint.operation["tags"])
        parts.extend(_endpoint(endpoint, description) for endpoint in tagged)
    return "\n".join([*parts, "</section>"])


def _endpoint(endpoint: _Endpoint, description: Json) -> str:
    operation = endpoint.operation
    addresses = "".join(
        f"<li>{_method(endpoint.method)} <code>{escape(full_path)}</code>{_badge(_base(full_path)[1])}"
        for full_path in endpoint.operations
    )
    scopes = ", ".join(f"<code>{escape(scope)}</code>" for scope in _scopes(endpoint))
    needs = f"Needs a key with the scope {scopes}." if scopes else "Needs no key."
    return f"""<article id="{endpoint.anchor}">
<h3><a href="#{endpoint.anchor}">{escape(operation["summary"])}</a></h3>
<ul class="addresses">{addresses}</ul>
<p>{_prose(operation["description"])} {needs}</p>
{_parameters(endpoint)}{_request_body(operation)}{_example(operation)}
{_table(("Status", "Answer", "Headers"), _answers(endpoint, description))}
</article>"""


def _scopes(endpoint: _Endpoint) -> list[str]:
    security: list[dict[str, list[str]]] = endpoint.operation["security"]
    return [scope for requirement in security for scopes in requirement.values() for scope in scopes]


def _parameters(endpoint: _Endpoint) -> str:
    """The parameters of both environments together, for some are taken in one alone."""
    taken: dict[str, tuple[Json, list[str]]] = {}
    for full_path, operation in endpoint.operations.items():
        for parameter in operation.get("parameters", ()):
            taken.setdefault(parameter["name"], (parameter, []))[1].append(full_path)
    rows = [
        (
            f"<code>{escape(name)}</code>{_only(endpoint, full_paths)}",
            f"{escape(parameter['in'])}, {'required' if parameter.get('required') else 'optional'}",
            _type(parameter["schema"]),
            _prose(parameter.get("description", "")),
        )
        for name, (parameter, full_paths) in taken.items()
    ]
    return _table(("Parameter", "Where", "Type", "Meaning"), rows) if rows else ""


def _request_body(operation: Json) -> str:
    body = operation.get("requestBody")
    return f"<p>The body is JSON: {_type(_media(body)['schema'])}.</p>" if body else ""


def _answers(endpoint: _Endpoint, description: Json) -> Iterator[Sequence[str]]:
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
            _status(status),
            _refused(found.values(), description["x-refusals"]) or _successes(endpoint, found),
            " ".join(_chip(name, "header-" + name) for name in carried if "required" not in headers[name]),
        )


def _refused(responses: Iterable[Json], refusals: list[Json]) -> str:
    """The codes of both environments together: a code that production alone has says so itself."""
    met = {code for response in responses for code in _media(response).get("examples", ())}
    return " ".join(
        _chip(row["code"], "refusal-" + row["code"]) + _badge(_ENVIRONMENT_BADGE[row["environment"]])
        for row in refusals
        if row["code"] in met
    )


def _successes(endpoint: _Endpoint, responses: dict[str, Json]) -> str:
    """What is answered, once for each way it is answered; with its environment where they differ."""
    told: dict[str, list[str]] = {}
    for full_path, response in responses.items():
        text = f"{_prose(response['description'])} {_type(_media(response)['schema'])}"
        told.setdefault(text, []).append(full_path)
    return "<br>".join(text + _only(endpoint, full_paths) for text, full_paths in told.items())


def _only(endpoint: _Endpoint, full_paths: list[str]) -> str:
    """The environments that something is true of, if it is not true of all the endpoint has."""
    everywhere = len(full_paths) == len(endpoint.operations)
    return "" if everywhere else "".join(_badge(_base(full_path)[1]) for full_path in full_paths)


def _example(operation: Json) -> str:
    answer = _media(next(iter(operation["responses"].values())))
    return _figure("Example answer", _json(answer["example"])) if "example" in answer else ""


def _media(body: Json) -> Json:
    """What a body looks like. We speak one media type."""
    media: Json = next(iter(body["content"].values()))
    return media


# --- Headers, schemas and refusals ----------------------------------------------------------------------


def _header_section(headers: Json) -> str:
    rows = [
        (_own_anchor(name, "header-" + name), _type(header["schema"]), _prose(header["description"]))
        for name, header in headers.items()
    ]
    table = _table(("Header", "Type", "Meaning"), rows)
    return f'<section id="headers">\n<h2>Headers of answers</h2>\n{table}\n</section>'


def _schema_section(schemas: Json) -> str:
    parts = "\n".join(_schema(name, schema) for name, schema in schemas.items())
    return f'<section id="schemas">\n<h2>Schemas</h2>\n{parts}\n</section>'


def _schema(name: str, schema: Json) -> str:
    anchor = _slug("schema-" + name)
    rows = list(_fields(schema, ""))
    table = _table(("Field", "Type", "Meaning"), rows) if rows else ""
    return f"""<article id="{anchor}">
<h3><a href="#{anchor}">{escape(name)}</a></h3>
<p>{_prose(schema.get("description", ""))}</p>
{table}
</article>"""


def _fields(schema: Json, prefix: str) -> Iterator[Sequence[str]]:
    """Each field on its own row, those of an object inside the object as `outer.inner`."""
    for name, inner in schema.get("properties", {}).items():
        optional = "" if name in schema.get("required", ()) else " <small>optional</small>"
        label = f"<code>{escape(prefix + name)}</code>{optional}"
        yield (label, _type(inner), _prose(inner.get("description", "")))
        yield from _fields(inner, f"{prefix}{name}.")
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        yield ("<em>any other</em>", _type(others), _prose(others.get("description", "")))


def _type(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{_slug("schema-" + name)}">{escape(name)}</a>'
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_type(schema['items'])}"
    kinds = schema.get("type", "any")
    return escape(kinds if isinstance(kinds, str) else " or ".join(kinds))


def _refusal_section(description: Json) -> str:
    advice = description["x-retry-advice"]
    rows = [
        (
            _own_anchor(row["code"], "refusal-" + row["code"])
            + _badge(_ENVIRONMENT_BADGE[row["environment"]])
            + _badge("settles key" if row["settles_key"] else "")
            + _badge("" if row["specified"] else "addition"),
            _status(str(row["status"])),
            _prose(row["when"]),
            _prose(advice[row["retry"]]),
        )
        for row in description["x-refusals"]
    ]
    return f"""<section id="refusals">
<h2>Refusals</h2>
<p>The checks are made in the order of this table: when a call is at fault in more than one way, the row that
stands highest answers. A refusal leaves the <code>Idempotency-Key</code> of an order free to be sent again,
unless it is marked {_badge("settles key")}. What is marked {_badge("addition")} is not in the API's own
specification.</p>
{_table(("Code", "Status", "When", "What to do"), rows)}
</section>"""


# --- Small pieces ---------------------------------------------------------------------------------------


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Each cell names its column as well: on a narrow screen the rows become lists."""
    head = "".join(f'<th scope="col">{column}' for column in columns)
    body = "\n".join("<tr>" + "".join(map(_cell, columns, cells)) for cells in rows)
    return f"<table>\n<thead><tr>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _cell(column: str, content: str) -> str:
    return f'<td data-label="{column}"><div>{content}</div>' if content else "<td>"


def _figure(caption: str, code: str) -> str:
    return f"<figure><figcaption>{caption}</figcaption><pre><code>{code}</code></pre></figure>"


def _own_anchor(text: str, anchor: str) -> str:
    """A name that links to itself, for whoever wants to quote it."""
    return f'<a class="code" id="{_slug(anchor)}" href="#{_slug(anchor)}">{escape(text)}</a>'


def _chip(text: str, anchor: str) -> str:
    return f'<a class="chip code" href="#{_slug(anchor)}">{escape(text)}</a>'


def _slug(text: str) -> str:
    """For anchors and class names: safe to stand in an attribute as it is."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


def _prose(text: str) -> str:
    """One paragraph, with what stands between backticks set as code."""
    return _CODE_SPAN.sub(r"<code>\1</code>", escape(text))


def _method(method: str) -> str:
    return f'<b class="method {_slug(method)}">{escape(method.upper())}</b>'


def _status(status: str) -> str:
    return f'<b class="status s{_slug(status[:1])}">{escape(status)}</b>'


def _badge(text: str) -> str:
    return f' <span class="badge {_slug(text)}">{escape(text)}</span>' if text else ""


def _json(value: Any) -> str:
    """Indented, and coloured by the kind of each token."""
    return _JSON_TOKEN.sub(_token, json.dumps(value, indent=2, ensure_ascii=False))


def _token(match: re.Match[str]) -> str:
    text, colon = match.group(1), match.group(2)
    kind = "literal" if text is None else "name" if colon else "string"
    return f'<span class="{kind}">{escape(text or match.group(0))}</span>{colon or ""}'
