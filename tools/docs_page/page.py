"""The page as a whole: its head, its contents and its beginning."""

from html import escape
from importlib import resources

from .calls import Endpoint, endpoints_of
from .curl import curl_line
from .endpoints import endpoint_section
from .pieces import Json, figure, method_mark, paragraphs, prose, slug
from .reference import header_section, refusal_section, schema_section
from .sections import Section, section_html

_MARK = '<svg class="mark" viewBox="0 0 24 16" aria-hidden="true"><path d="M6 2h12l4 12H2z"/></svg>'


def reference_sections(description: Json) -> list[Section]:
    """All that there is to look up, in the order of the page."""
    endpoints, components = endpoints_of(description["paths"]), description["components"]
    return [
        _getting_started(endpoints, components["securitySchemes"]),
        endpoint_section(description, endpoints),
        header_section(components["headers"]),
        schema_section(components["schemas"]),
        refusal_section(description),
    ]


def reference_style() -> str:
    """How their pieces look, in the variables at the beginning of `style.css`."""
    return _style("reference.css")


def _style(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def page_style() -> str:
    return _style("style.css") + _style("reference.css")


def docs_page(description: Json) -> str:
    style = page_style()
    endpoints = endpoints_of(description["paths"])
    sections = "\n".join(map(section_html, reference_sections(description)))
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
{sections}
</main>
</body>
</html>
"""


def _navigation(description: Json, endpoints: list[Endpoint]) -> str:
    calls = "".join(
        f'<li><a href="#{call.anchor}">{method_mark(call.method)} <span>{escape(call.path)}</span></a>'
        for call in endpoints
    )
    schemas = "".join(
        f'<li><a href="#{slug("schema-" + name)}">{escape(name)}</a>'
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
    return f"""<header>
<h1>{escape(info["title"])} <span class="version">{escape(info["version"])}</span></h1>
<p class="lead">{prose(info["summary"])}</p>
{paragraphs(info["description"])}
<p><a class="button" href="/docs/guide">Client guide</a>
<a class="button" href="/openapi.json">OpenAPI description</a>
<a class="button" href="/postman.json">Postman collection</a></p>
</header>"""


def _getting_started(endpoints: list[Endpoint], schemes: Json) -> Section:
    """How to send the first call that needs a key and nothing else."""
    scheme = next(iter(schemes.values()))
    first = next(endpoint for endpoint in endpoints if endpoint.method == "get" and endpoint.scopes)
    lines = (
        "export BULLION_BASE_URL=…   # the address you were given\n"
        "export BULLION_API_KEY=…    # the test key you were issued\n"
        f"{curl_line(first, scheme)}"
    )
    body = f"""<p>Every call carries your key in the header <code>{escape(scheme["name"])}</code>.
{prose(scheme["description"])}</p>
{figure("Your first call", escape(lines))}
<p>It answers with your account: see <a href="#{first.anchor}">{escape(first.title)}</a>.
When a call is refused, look its code up under <a href="#refusals">Refusals</a>.</p>"""
    return Section("getting-started", "Getting started", body)
