"""The site's search leads from the words people use to the section that answers them."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.docs.test_site import site  # noqa: F401 - a fixture
from tests.support.browser import browser  # noqa: F401 - a fixture

pytestmark = pytest.mark.xdist_group("docs-site")

# What somebody searches for, and where the answer is.
FOUND = {
    "pagination": "docs/client-guide.html#pagination",
    "rate limit": "docs/client-guide.html#rate-limits",
    "authentication": "docs/trading-api.html#authentication",
    "retry": "docs/client-guide.html#retry-it",
    "webhook": "docs/client-guide.html#webhooks",
    "SDK": "docs/python-client.html",
    "postman": "docs/client-guide.html",
    "docker": "docs/deployment.html#docker",
}


def results(browser: Browser, site: Path, words: str) -> list[str]:  # noqa: F811
    """The addresses that the search page lists, best first."""
    page = browser.new_page()
    try:
        page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
        page.locator("p.search-summary", has_text="Search finished").wait_for()
        links = page.locator("#search-results ul.search > li > a").all()
        return [link.get_attribute("href") or "" for link in links]
    finally:
        page.close()


@pytest.mark.parametrize(("words", "address"), FOUND.items())
def test_a_search_leads_to_the_right_section(
    browser: Browser,  # noqa: F811
    site: Path,  # noqa: F811
    words: str,
    address: str,
) -> None:
    found = results(browser, site, words)
    assert found[:1] == [address], found
