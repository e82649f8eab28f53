"""The page at `/docs`: complete, safe to show whatever the description holds, and in need of nobody else."""

import copy
import json
import re
import shlex
from base64 import b64encode
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from bullion.api import docs_page as served
from bullion.api.openapi import openapi
from bullion.refusals.catalogue import CATALOGUE
from tests.api.description import TEST
from tools.docs_page import docs_page
from tools.docs_page.pieces import slug

Json = dict[str, Any]

# Without a slash, for it also ends up in references.
HOSTILE = "\"'><script>alert(1)<img src=x onerror=alert(1)>&amp;"
NAMED = {"schemas", "headers", "properties", "paths", "responses", "examples"}
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
TEXT = docs_page(DESCRIPTION)
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


def article(description: Json, anchor: str) -> str:
    page = TEXT if description is DESCRIPTION else docs_page(description)
    found = re.search(rf'<article id="{anchor}">.*?</article>', page, re.DOTALL)
    assert found is not None
    return found.group()


def test_the_policy_allows_the_pages_own_style_and_nothing_else() -> None:
    page = served.docs_page()
    assert page.body.decode() == TEXT
    headers = dict(page.headers)
    assert headers[b"content-type"] == b"text/html; charset=utf-8"
    digest = b64encode(sha256(style().encode()).digest()).decode()
    assert headers[b"content-security-policy"].decode().split("; ") == [
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
    shown = TEXT.replace("https://hooks.example.com/", "")  # The example of a webhook, which is only text.
    assert re.search(r"https?://[a-z]", shown, re.IGNORECASE) is None
    assert re.search(r"url\(|@import", style()) is None
    assert {name for name, _ in PAGE.attributes if name.startswith("on") or name in ("src", "style")} == set()
    assert {href for href in PAGE.values("href") if not href.startswith("#")} == {
        "/openapi.json",
        "/docs/guide",
        "/postman.json",
    }


def test_each_call_is_shown_in_four_languages() -> None:
    """But for the pages of the service itself, which need no client."""
    for path, item in DESCRIPTION["paths"].items():
        for method in item:
            if not path.startswith(TEST):
                continue
            anchor = slug(f"{method}-{path.removeprefix(TEST)}")
            shown = re.findall(r"<label for=\"[^\"]+\">([^<]+)</label>", article(DESCRIPTION, anchor))
            languages = ["curl", "Python", "CLI", "TypeScript"]
            if anchor in NO_COMMAND or "webhooks" in anchor:
                languages.remove("CLI")
            assert shown == languages, anchor


NO_COMMAND = {"get-quotes-stream"}


def test_one_language_is_chosen_and_each_has_its_own_pane() -> None:
    shown = article(DESCRIPTION, "post-orders")
    tabs = shown.partition('<div class="tabs">')[2].partition("</div>")[0]
    assert tabs.count(" checked") == 1
    assert tabs.count("<input") == tabs.count("<label") == tabs.count("<pre>") == 4
    assert len(set(re.findall(r'id="([^"]+)"', tabs))) == 4


def test_the_guide_leads_only_to_what_the_service_serves() -> None:
    text = served.guide_page().body.decode()
    links = set(Page(text).values("href"))
    assert {link for link in links if not link.startswith("#")} == {
        "/docs",
        "/docs#refusals",
        "/openapi.json",
        "/postman.json",
    }
    assert {link[1:] for link in links if link.startswith("#")} <= set(Page(text).values("id"))
    assert Page(text).tags.isdisjoint({"script", "img", "iframe", "link", "object", "form", "base"})
    assert "Idempotency and retries" in text


def test_hostile_text_stays_text() -> None:
    description = hostile(DESCRIPTION)
    live = description["paths"]["/health/live" + HOSTILE]
    live[HOSTILE] = live["get"]
    page = Page(docs_page(description))
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
        "How many orders to show.",
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


@pytest.mark.parametrize(
    "anchor",
    ["get-me", "post-orders", "get-orders", "get-health-live", "get-health-ready", "get-openapi-json"],
)
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


# --- Orders and the market ------------------------------------------------------------------------------

KEYED = [
    "get-me",
    "post-orders",
    "get-orders",
    "get-orders-order_id",
    "get-positions",
    "get-symbols",
    "get-quotes",
]


def curl(anchor: str, description: Json = DESCRIPTION) -> list[str]:
    """The words of the example call, as a shell would hand them to curl."""
    shown = article(description, anchor).partition("Example call")[2]
    found = re.search(r"</label><pre><code>(.*?)</code>", shown, re.DOTALL)
    assert found is not None
    words = shlex.split(unescape(found.group(1)))
    assert words[:2] == ["curl", "-s"]
    return words[2:]


def values(words: list[str], option: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == option]


@pytest.mark.parametrize("anchor", KEYED)
def test_example_calls_carry_a_key_and_go_to_the_test_environment(anchor: str) -> None:
    words = curl(anchor)
    assert values(words, "-H")[0] == "X-API-Key: $BULLION_API_KEY"
    assert words[-1].startswith("$BULLION_BASE_URL/api/trading/test/v1/")
    assert "{" not in words[-1]
    assert ("--data" in words) == (anchor == "post-orders"), "what makes curl send a POST"


def test_the_example_order_is_complete() -> None:
    words = curl("post-orders")
    place = DESCRIPTION["paths"]["/api/trading/test/v1/orders"]["post"]
    media = place["requestBody"]["content"]["application/json"]
    assert values(words, "-H")[1:] == [
        f"Idempotency-Key: {place['parameters'][0]['example']}",
        "Content-Type: application/json",
    ]
    assert [json.loads(body) for body in values(words, "--data")] == [media["example"]]


def test_the_example_list_encodes_its_query() -> None:
    words = curl("get-orders")
    assert words[0] == "-G"
    assert values(words, "--data-urlencode") == ["limit=20", "since=2026-11-15T09:00:00+05:30"]


def test_open_pages_are_called_without_a_key() -> None:
    assert curl("get-health-live") == ["$BULLION_BASE_URL/health/live"]


def test_a_quote_in_an_example_does_not_break_the_line() -> None:
    description = copy.deepcopy(DESCRIPTION)
    place = description["paths"]["/api/trading/test/v1/orders"]["post"]
    media = place["requestBody"]["content"]["application/json"]
    media["example"] = {"client_order_id": "it's $HOME"}
    assert json.loads(values(curl("post-orders", description), "--data")[0]) == media["example"]


def test_an_order_is_shown_whole() -> None:
    words = Page(article(DESCRIPTION, "post-orders")).words
    assert "Idempotency-Keyheader, requiredstring, 1 to 64 characters" in words
    assert "The body is JSON: PlaceOrder." in words
    assert "symbol_codestring, 1 to 32 characters" in words
    assert "trade_typebuy or sell" in words
    assert "quantitynumber, above 0, at most 1000000" in words
    assert "expected_price optionalnumber or null, 1e-100 to 100000000000000000000" in words
    assert "client_order_id optionalstring or null, up to 64 characters" in words
    assert "invalid_request idempotency_key_reused with further fields: InvalidRequest" in words
    assert "Example of invalid_request" in words
    assert 'href="#header-idempotent-replayed"' in article(DESCRIPTION, "post-orders")


def test_parameters_are_shown_with_their_bounds() -> None:
    words = Page(article(DESCRIPTION, "get-orders")).words
    assert "limitquery, optionalinteger, 1 to 200, default 50" in words
    assert "offsetquery, optionalinteger, at least 0, default 0" in words
    assert "client_order_id extensionquery, optionalstring, up to 64 characters" in words
    assert "order_idpath, requiredstring, uuid" in Page(article(DESCRIPTION, "get-orders-order_id")).words


@pytest.mark.parametrize("anchor", KEYED)
def test_extensions_are_marked(anchor: str) -> None:
    heading = article(DESCRIPTION, anchor).partition("</h3>")[0]
    assert ("extension" in Page(heading).words) == (anchor in ("get-symbols", "get-quotes"))


def test_schemas_show_their_types_and_examples() -> None:
    assert "pricestring, decimal" in Page(article(DESCRIPTION, "schema-testorder")).words
    assert "buystring or null, decimal" in Page(article(DESCRIPTION, "schema-quote")).words
    assert "detail.errorsarray of Problem" in Page(article(DESCRIPTION, "schema-invalidrequest")).words
    assert article(DESCRIPTION, "schema-placeorder").count("<figure>") == 2


# --- The two environments -------------------------------------------------------------------------------


def captions(anchor: str) -> list[str]:
    found = re.findall(r"<figcaption>(.*?)</figcaption>", article(DESCRIPTION, anchor))
    return [Page(caption).words for caption in found]


def answers(anchor: str) -> dict[str, str]:
    """What the table of answers says in words, by status."""
    rows = re.findall(
        r'<td data-label="Status">(.*?)<td data-label="Answer">(.*)', article(DESCRIPTION, anchor)
    )
    return {
        Page(status).words: Page(rest.partition('<td data-label="Headers">')[0]).words
        for status, rest in rows
    }


@pytest.mark.parametrize("anchor", KEYED)
def test_every_address_has_the_mark_of_its_environment(anchor: str) -> None:
    test, production = re.findall(r"<li>(.*?</span>)", article(DESCRIPTION, anchor))
    assert re.fullmatch(r"[A-Z]+ /api/trading/test/v1/\S+ test", Page(test).words)
    assert re.fullmatch(r"[A-Z]+ /api/trading/v1/\S+ production", Page(production).words)


def test_what_is_said_of_one_environment_stands_apart() -> None:
    text = article(DESCRIPTION, "post-orders")
    shared, test, production = re.split(r'<div class="own \w+">', text.partition("<p>Needs a key")[0])
    assert "If no answer reaches you" in shared
    assert "hedge" not in shared
    assert Page(test).words.strip().startswith("test\nA test order is filled at once")
    assert Page(production).words.strip().startswith("production\nA production order is real")
    assert "booking_conflict" in production
    assert 'class="own' not in article(DESCRIPTION, "get-symbols"), "where nothing differs, nothing is marked"
    assert 'class="own test' not in article(DESCRIPTION, "get-orders-order_id")
    assert 'class="own production' in article(DESCRIPTION, "get-orders-order_id")


def test_a_parameter_of_one_environment_is_marked() -> None:
    words = Page(article(DESCRIPTION, "get-orders")).words
    choices = "pending, open, closing, closed, rejected, deleted or all, default all"
    assert f"status productionquery, optional{choices}" in words
    assert "limit production" not in words
    assert "limit test" not in words


def test_answers_of_one_environment_are_marked() -> None:
    shown = answers("post-orders")
    assert re.fullmatch(r" test [^.]+ filled\. TestOrder production [^.]+\. ProductionOrder", shown["201"])
    assert re.fullmatch(r" production The order .* 1 to 2 seconds.* ProductionOrder", shown["202"])
    assert shown["409"] == (
        " price_moved production order_rejected booking_conflict with further fields: OrderRejected"
    )
    assert shown["403"].endswith(
        " production production_trading_disabled with further fields: ProductionTradingDisabled"
    )
    assert "production" not in shown["401"]
    assert answers("get-me")["200"] == " The account. Account"
    assert answers("get-positions")["200"].count("production") == 1


def test_examples_are_marked_and_none_is_shown_twice() -> None:
    assert captions("post-orders") == [
        "Example call test",
        "Example answer 201 test",
        "Example answer 201 production",
        "Example answer 202 production",
        "Example of invalid_request",
        "Example of production_trading_disabled production",
        "Example of order_rejected production",
    ]
    assert captions("get-positions")[1:] == ["Example answer 200 test", "Example answer 200 production"]
    assert captions("get-symbols")[1:] == ["Example answer 200"]
    assert captions("get-health-ready") == ["Example call", "Example answer 200", "Example answer 503"]


def test_the_schemas_of_production_are_shown() -> None:
    order = Page(article(DESCRIPTION, "schema-productionorder")).words
    assert "pricestring or null, decimal" in order
    assert "statuspending, open, closing, closed, rejected or deleted" in order
    assert "deal_nointeger or null" in order
    rejected = Page(article(DESCRIPTION, "schema-orderrejected")).words
    assert "detail.orderRejectedOrder" in rejected
    assert "statusrejected" in Page(article(DESCRIPTION, "schema-rejectedorder")).words
    disabled = Page(article(DESCRIPTION, "schema-productiontradingdisabled")).words
    assert "detail.reasondeploy, global or account" in disabled
    assert "symbolsarray of SymbolPosition" in Page(article(DESCRIPTION, "schema-productionpositions")).words
