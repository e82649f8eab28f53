"""The section of endpoints: what each takes, what it answers, and an example."""

from collections.abc import Iterator
from html import escape
from itertools import groupby

from bullion.api.openapi.endpoint import SCENARIO_HEADER
from bullion.environment import Environment

from .answers import answer_rows
from .calls import Endpoint, environment_of, media
from .curl import curl_line
from .examples import example_answers, example_refusals
from .languages import in_other_languages
from .pieces import (
    Json,
    badge,
    badges,
    method_mark,
    paragraphs,
    prose,
    slug,
    table,
    tabs,
)
from .sections import Article, Section
from .shapes import fields, type_words


def endpoint_section(description: Json, endpoints: list[Endpoint]) -> Section:
    bases = " and ".join(
        f"<code>{environment.base_path}</code>{badge(environment.value)}" for environment in Environment
    )
    words = (
        f"<p>A call that needs a key is there twice, below {bases}. What is true of one environment alone\n"
        "carries its mark; all else is the same in both. The example calls go to the test environment.</p>"
    )
    return Section("endpoints", "Endpoints", words, list(_articles(description, endpoints)))


def _articles(description: Json, endpoints: list[Endpoint]) -> Iterator[Article]:
    """By tag; the words on a tag stand above its first call."""
    for tag in description["tags"]:
        words = f'<p class="tag"><b>{escape(tag["name"])}</b> {prose(tag["description"])}</p>'
        for endpoint in endpoints:
            if tag["name"] in endpoint.operation["tags"]:
                yield _article(endpoint, description, words)
                words = ""


def _article(endpoint: Endpoint, description: Json, before: str) -> Article:
    operation, components = endpoint.operation, description["components"]
    scheme = next(iter(components["securitySchemes"].values()))
    mark = method_mark(endpoint.method)
    addresses = "".join(
        f"<li>{mark} <code>{escape(full_path)}</code>{badge(environment_of(full_path))}"
        for full_path in endpoint.operations
    )
    scopes = ", ".join(f"<code>{escape(scope)}</code>" for scope in endpoint.scopes)
    needs = f"Needs a key with the scope {scopes}." if scopes else "Needs no key."
    called = environment_of(next(iter(endpoint.operations)))
    body = f"""<ul class="addresses">{addresses}</ul>
{_words(endpoint)}
<p>{needs}</p>
{_parameters(endpoint)}{_request_body(operation, components["schemas"])}
{tabs(f"Example call{badge(called)}", endpoint.anchor, _calls(endpoint, scheme))}{example_answers(endpoint)}
{table(("Status", "Answer", "Headers"), answer_rows(endpoint, description))}{example_refusals(endpoint)}"""
    return Article(endpoint.anchor, endpoint.title, body, _extension(operation), before)


def _calls(endpoint: Endpoint, scheme: Json) -> dict[str, str]:
    calls = {"curl": curl_line(endpoint, scheme), **in_other_languages(endpoint.anchor)}
    return {language: escape(call) for language, call in calls.items()}


def _words(endpoint: Endpoint) -> str:
    """Paragraphs that one environment has alone stand apart, below its mark."""
    said = endpoint.said(lambda operation: operation["description"].split("\n\n"))
    parts = []
    for where, group in groupby(said.items(), key=lambda paragraph: paragraph[1]):
        words = paragraphs("\n\n".join(text for text, _ in group))
        classes = " ".join(["own", *map(slug, where)])
        parts.append(f'<div class="{classes}">{badges(where)}\n{words}</div>' if where else words)
    return "\n".join(parts)


def _parameters(endpoint: Endpoint) -> str:
    """The parameters of both environments together, for some are taken in one alone."""
    taken = {
        parameter["name"]: parameter
        for operation in endpoint.operations.values()
        for parameter in _taken(operation)
    }
    said = endpoint.said(lambda operation: [each["name"] for each in _taken(operation)])
    rows = [
        (
            f"<code>{escape(name)}</code>{badges(where)}{_extension(taken[name])}",
            f"{escape(taken[name]['in'])}, {'required' if taken[name].get('required') else 'optional'}",
            type_words(taken[name]["schema"]),
            prose(taken[name].get("description", "")),
        )
        for name, where in said.items()
    ]
    return table(("Parameter", "Where", "Type", "Meaning"), rows) if rows else ""


def _taken(operation: Json) -> list[Json]:
    header = operation.get(SCENARIO_HEADER)
    return [*operation.get("parameters", ()), *([header] if header else [])]


def _extension(described: Json) -> str:
    return badge("extension" if described.get("x-extension") else "")


def _request_body(operation: Json, schemas: Json) -> str:
    """Its fields stand here as well as among the schemas: whoever sends an order should see them at once."""
    body = operation.get("requestBody")
    if not body:
        return ""
    schema = media(body)["schema"]
    rows = list(fields(schemas[schema["$ref"].rpartition("/")[2]]))
    return f"<p>The body is JSON: {type_words(schema)}. {prose(body.get('description', ''))}</p>\n" + table(
        ("Field", "Type", "Meaning"), rows
    )
