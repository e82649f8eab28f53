"""The page at `/docs`: complete, safe to show whatever the description holds, and in need of nobody else."""

import copy
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from bullion.api.docs_page import docs_page
from bullion.api.openapi import openapi
from bullion.refusals.catalogue import CATALOGUE

Json = dict[str, Any]

# Without a slash, for it also ends up in references.
HOSTILE = "\"'><script>alert(1)<img src=x onerror=alert(1)>&amp;"
NAMED = {"schemas", "headers", "properties", "paths", "responses"}
"""Below these the names come out of the description as well."""
LOOKED_UP = {"retry", "environment"}
"""Values of a fixed list, by which words of our own are chosen."""


class Page(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)

    def handle_data(self, data: str) -> None:
        self.words += data

    def values(self, attribute: str) -> list[str]:
        return [value for name, value in self.attributes if name == attribute]


DESCRIPTION = openapi()
ME = ("/api/trading/test/v1/me", "/api/trading/v1/me")
TEXT, POLICY = docs_page(DESCRIPTION)
PAGE = Page(TEXT)


def style() -> str:
    found = re.findall(r"<style>(.*?)</style>", TEXT, re.DOTALL)
    assert len(found) == 1
    text: str = found[0]
    return text


def hostile(value: Any, name: str = "") -> Any:
    """The same description with hostile text in every place that text can come from."""
    if isinstance(value, dict):
        return {
            inner_name + HOSTILE if name in NAMED else inner_name: hostile(inner, inner_name)
            for inner_name, inner in value.items()
        }
    if isinstance(value, list):
        return [hostile(inner, name) for inner in value]
    return value + HOSTILE if isinstance(value, str) and name not in LOOKED_UP else value


def with_parameters() -> Json:
    """The description as it will be when calls take something: in production one parameter more."""
    description = copy.deepcopy(DESCRIPTION)
    test, production = (description["paths"][path]["get"] for path in ME)
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}, "description": "How many."}
    status = {"name": "status", "in": "query", "required": True, "schema": {"enum": ["open", "all"]}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Account"}}}}
    test |= {"parameters": [limit], "requestBody": body}
    production |= {"parameters": [limit, status], "requestBody": body}
    return description


def article(description: Json, anchor: str) -> str:
    found = re.search(rf'<article id="{anchor}">.*?</article>', docs_page(description)[0], re.DOTALL)
    assert found is not None
    return found.group()


def test_the_policy_allows_the_pages_own_style_and_nothing_else() -> None:
    digest = b64encode(sha256(style().encode()).digest()).decode()
    assert POLICY.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    assert "prefers-color-scheme: dark" in style()


def test_it_has_no_script_and_needs_no_other_host() -> None:
    assert "a" in PAGE.tags
    assert PAGE.tags.isdisjoint({"script", "img", "iframe", "link", "object", "form", "base"})
    assert "<script" not in TEXT.lower()
    assert re.search(r"https?://", TEXT, re.IGNORECASE) is None
    assert re.search(r"url\(|@import", style()) is None
    assert {name for name, _ in PAGE.attributes if name.startswith("on") or name in ("src", "style")} == set()
    assert {href for href in PAGE.values("href") if not href.startswith("#")} == {"/openapi.json"}


def test_hostile_text_stays_text() -> None:
    description = hostile(with_parameters())
    live = description["paths"]["/health/live" + HOSTILE]
    live[HOSTILE] = live["get"]
    page = Page(docs_page(description)[0])
    assert page.tags == PAGE.tags
    assert {name for name, _ in page.attributes} == {name for name, _ in PAGE.attributes}
    assert not any(re.search(r"[<>\"']", value) for _, value in page.attributes)
    for source in (
        DESCRIPTION["info"]["title"],
        DESCRIPTION["paths"]["/health/live"]["get"]["summary"],
        "/health/live",
        "login_id",
        "Retry-After",
        "X-API-Key",
        "Liveness",
        "Account",
        "200",
        "query",
        "How many.",
        CATALOGUE[0].code,
        CATALOGUE[0].when,
    ):
        assert source + HOSTILE in page.words, source
    assert HOSTILE.upper() in page.words, "a method"
    assert "mehta-jewels" + HOSTILE.replace('"', '\\"') in page.words, "in an example"


def test_anchors_are_unique_and_every_link_has_its_target() -> None:
    anchors = PAGE.values("id")
    assert len(anchors) == len(set(anchors))
    links = {href[1:] for href in PAGE.values("href") if href.startswith("#")}
    assert len(links) > len(CATALOGUE)
    assert links <= set(anchors)


@pytest.mark.parametrize("anchor", ["get-me", "get-health-live", "get-health-ready", "get-openapi-json"])
def test_each_endpoint_has_its_anchor(anchor: str) -> None:
    assert anchor in PAGE.values("id")
    assert TEXT.count(f'<a href="#{anchor}">') >= 2, "in the contents and at its own heading"


def test_every_described_path_is_shown() -> None:
    for path in DESCRIPTION["paths"]:
        assert f"<code>{path}</code>" in TEXT


def test_refusals_stand_in_the_order_of_the_checks() -> None:
    anchors = [anchor for anchor in PAGE.values("id") if anchor.startswith("refusal-")]
    assert anchors == [f"refusal-{row.code}" for row in CATALOGUE]


def test_each_refusal_has_its_status_meaning_and_advice() -> None:
    rows = re.findall(r"<tr>(<td[^>]*><div><a [^>]*id=\"refusal-.*)", TEXT)
    assert len(rows) == len(CATALOGUE)
    for html, row in zip(rows, CATALOGUE, strict=True):
        words = Page(html).words
        assert row.code in words
        assert str(row.status) in words
        assert row.when.replace("`", "") in words
        assert DESCRIPTION["x-retry-advice"][row.retry.value].replace("`", "") in words
        assert ("settles key" in words) == row.settles_key
        assert ("addition" in words) != row.specified


def test_getting_started_shows_a_curl_line() -> None:
    assert 'curl -s -H "X-API-Key: $BULLION_API_KEY" "$BULLION_BASE_URL/api/trading/test/v1/me"' in PAGE.words


def test_fields_headers_and_scopes_are_shown() -> None:
    for field in DESCRIPTION["components"]["schemas"]["Account"]["properties"]:
        assert f"<code>{field}</code>" in TEXT
    assert "<code>detail.message</code>" in TEXT
    for header in DESCRIPTION["components"]["headers"]:
        assert f'id="header-{header.lower()}"' in TEXT
    assert 'href="#header-ratelimit-limit"' in article(DESCRIPTION, "get-me")
    assert 'href="#header-x-request-id"' not in article(DESCRIPTION, "get-me"), "it goes without saying"
    assert "Needs a key with the scope <code>account:read</code>" in TEXT


# --- What later endpoints bring -------------------------------------------------------------------------


def test_parameters_and_the_body_are_shown() -> None:
    words = Page(article(with_parameters(), "get-me")).words
    assert "limitquery, optionalintegerHow many." in words
    assert "status productionquery, requiredopen or all" in words
    assert "The body is JSON: Account." in words
    assert "The body is JSON" not in article(DESCRIPTION, "get-me")


def test_what_one_environment_alone_answers_says_so() -> None:
    description = copy.deepcopy(DESCRIPTION)
    production = description["paths"]["/api/trading/v1/me"]["get"]["responses"]
    production["202"] = {**production["200"], "description": "Waiting."}
    production["409"] = copy.deepcopy(production["401"])
    production["409"]["content"]["application/json"]["examples"] = {"order_rejected": {}}
    words = Page(article(description, "get-me")).words
    assert "Waiting. Account production" in words
    assert "order_rejected production" in words
    assert "The account. Account production" not in words
