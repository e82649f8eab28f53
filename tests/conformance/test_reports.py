"""What a report shows, and what it must never show."""

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

from bullion_conformance.context import Setup
from bullion_conformance.exchange import Exchange
from bullion_conformance.report_html import as_html
from bullion_conformance.report_json import as_json
from bullion_conformance.report_terminal import show
from bullion_conformance.requirement import REQUIREMENTS, Profile
from bullion_conformance.run import Report
from bullion_conformance.verdict import Finding, Verdict
from tests.conformance.conftest import checked

SECRET = "key_test.main.0123456789abcdef.c2VjcmV0LXRoYXQtbm9ib2R5LXNlZXM"
EXCHANGE = Exchange(
    environment="test",
    method="POST",
    target=f"/api/trading/test/v1/orders?key={SECRET}",
    sent_headers={"X-API-Key": "key_test.…", "X-Odd": SECRET},
    sent='{"quantity": 1.50}',
    status=201,
    headers={"x-echo": SECRET},
    text=f'{{"quantity": 1.50, "note": "<script>alert(1)</script> {SECRET}"}}',
    seconds=0.01,
)


def report(*verdicts: Verdict) -> Report:
    findings = [
        Finding(
            requirement,
            verdict,
            "" if verdict is Verdict.PASSED else "It is <b>not</b> so.",
            [EXCHANGE],
            ["PUT /x"],
        )
        for requirement, verdict in zip(REQUIREMENTS.values(), verdicts, strict=False)
    ]
    now = datetime(2026, 11, 15, tzinfo=UTC)
    return Report(
        "http://service.example", Profile.SPECIFICATION, findings, now, 12.0, 34, 5.0, 1, ["a test key"]
    )


class References(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "action", "srcset")
        ]


def test_the_page_asks_no_other_host_and_runs_nothing() -> None:
    page = as_html(report(Verdict.FAILED, Verdict.PASSED, Verdict.NOT_CHECKED, Verdict.ERROR))
    references = References()
    references.feed(page)
    assert references.addresses
    assert all(address.startswith("#") for address in references.addresses)
    assert not {"script", "link", "img", "iframe", "object"} & set(references.tags)
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import", page)


def test_the_page_names_what_is_wrong_and_shows_the_call_that_decided() -> None:
    found = report(Verdict.FAILED, Verdict.PASSED)
    page = as_html(found)
    first = found.findings[0].requirement
    assert page.count(f'id="{first.id}"') == 1
    assert f'<a href="#{first.id}">' in page
    assert "It is &lt;b&gt;not&lt;/b&gt; so." in page
    assert "POST /api/trading/test/v1/orders" in page
    assert "PUT /x" in page
    assert "&quot;quantity&quot;: 1.50" in page, "a number is shown as it was written"


@pytest.mark.parametrize("write", [as_html, as_json])
def test_no_key_is_in_a_report(write: object) -> None:
    assert callable(write)
    text = write(report(Verdict.FAILED, Verdict.PASSED))
    assert "c2VjcmV0" not in text
    assert "0123456789abcdef" not in text


def test_the_json_has_every_requirement_with_its_verdict() -> None:
    found = json.loads(as_json(report(Verdict.PASSED, Verdict.NOT_CHECKED, Verdict.ERROR)))
    assert found["counts"] == {"passed": 1, "failed": 0, "not checked": 1, "error": 1}
    assert [each["verdict"] for each in found["requirements"]] == ["passed", "not checked", "error"]
    assert found["requirements"][0]["exchanges"][0]["request"]["method"] == "POST"


def test_the_terminal_groups_by_section_and_sums_up() -> None:
    written = StringIO()
    show(report(Verdict.PASSED, Verdict.FAILED), Console(file=written, width=100))
    text = written.getvalue()
    assert "What the service does" in text
    assert "FAILED" in text
    assert "It is <b>not</b> so." in text
    assert "http://service.example: 1 passed, 1 failed, 0 not checked, 0 error." in text
    assert "1 were answered 429" in text


def test_keys_are_cut_off_before_they_are_kept(shared_means: Setup) -> None:
    """Also those that were spoilt on purpose, which are nearly right."""
    shared_means.connection.seen.clear()
    checked(
        shared_means, "auth.only-scheme", "errors.test.invalid_credential", "errors.test.malformed_credential"
    )
    kept = shared_means.connection.seen
    assert len(kept) >= 4
    for exchange in kept:
        shown = json.dumps(exchange.shown())
        assert not re.search(r"key_(test|live)\.[0-9a-z]", shown)
        for name, value in exchange.sent_headers.items():
            assert name.lower() != "x-api-key" or len(value) <= 10, "no more than the prefix is kept"
