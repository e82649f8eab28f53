"""The site that `make docs` builds: whole, closed in itself, and refused when a link leads nowhere.

Its search leads from the words people use to the section that answers them.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser

from bullion.refusals.catalogue import CATALOGUE
from tests.docs.markdown import PACKAGE_READMES, ROOT, name_of
from tests.docs.markdown import PAGES as ALL_PAGES
from tests.support.browser import browser  # noqa: F401 - a fixture
from tools.site.navigation import READERS, START, readers_of

PAGES = [page for page in ALL_PAGES if page not in PACKAGE_READMES]

FETCHED = {"src", "srcset", "poster", "data", "action", "formaction", "background", "ping"}
"""Attributes that make a browser fetch or send something; `href` does on a `link`, not on an `a`."""
_ADDRESS = re.compile(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'`)]*")
_COMMENT = re.compile(r"/\*.*?\*/|(?m:^\s*//.*$)", re.DOTALL)
_NAMESPACE = "http://www.w3.org/"
"""The name of a format, which is never fetched."""
# What somebody searches for, and where the answer is.
FOUND = {
    "pagination": "docs/client-guide.html#pagination",
    "rate limit": "docs/client-guide.html#rate-limits",
    "authentication": "docs/trading-api.html#authentication",
    "retry": "docs/client-guide.html#retry-it",
    "webhook": "docs/events.html#webhooks",
    "cancel": "docs/client-guide.html#cancelling",
    "idempotency": "docs/client-guide.html",
    "sandbox": "docs/client-guide.html",
    "typescript": "docs/typescript-client.html",
    "SDK": "docs/python-client.html",
    "postman": "docs/client-guide.html",
    "docker": "docs/deployment.html#docker",
    "install": "README.html#install",
    "debian": "docs/install-debian.html",
    "failover": "docs/failover.html",
    "upgrade": "docs/deployment.html#upgrade",
    "backup": "docs/deployment.html#backup",
}


class Html(HTMLParser):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.extend((tag, name, value or "") for name, value in attrs)

    @cached_property
    def ids(self) -> set[str]:
        return {value for _, name, value in self.attributes if name == "id"}

    def links(self) -> list[str]:
        return [value for _, name, value in self.attributes if name in ("href", "src")]

    def fetched(self) -> list[str]:
        return [
            value
            for tag, name, value in self.attributes
            if name in FETCHED or (name == "href" and tag not in ("a", "area"))
        ]


def build(into: Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """As `make docs` does."""
    return subprocess.run(
        [sys.executable, "-m", "tools.site", "--root", str(root), "--into", str(into)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("docs")
    done = build(into)
    assert done.returncode == 0, done.stderr
    assert f"The site is in {into / 'site'}" in done.stdout
    assert f"python3 -m http.server --bind 127.0.0.1 --directory {into / 'site'} 8080" in done.stdout
    assert sorted(path.name for path in into.iterdir()) == ["site"]
    return into / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Html]:
    return {file: Html(file) for file in sorted(site.rglob("*.html"))}


def test_every_page_is_in_it(site: Path, pages: dict[Path, Html]) -> None:
    there = {str(file.relative_to(site)) for file in pages}
    assert {name_of(page).replace(".md", ".html") for page in PAGES} <= there
    assert {"index.html", "api.html", "search.html"} <= there


def test_nothing_comes_from_another_host(site: Path, pages: dict[Path, Html]) -> None:
    for file, html in pages.items():
        for address in html.fetched():
            parts = urlsplit(address)
            assert parts.scheme in ("", "data"), f"{file.name} fetches {address}"
            assert not parts.netloc, f"{file.name} fetches {address}"
        policy = [value for _, name, value in html.attributes if "default-src" in value and name == "content"]
        assert len(policy) == 1, file
        assert "http" not in policy[0]
        assert "*" not in policy[0]
    for file in (file for file in site.rglob("*") if file.suffix in (".js", ".css", ".svg")):
        text = _COMMENT.sub("", file.read_text("utf-8"))
        strangers = {found for found in _ADDRESS.findall(text) if not found.startswith(_NAMESPACE)}
        assert not strangers, f"{file.relative_to(site)} names {strangers}"


def test_every_link_and_anchor_leads_somewhere(pages: dict[Path, Html]) -> None:
    """Looked at from outside: also what Sphinx does not know of, such as the links of the API's reference."""
    for file, html in pages.items():
        for link in html.links():
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert target.is_file(), f"{file.name}: {link} leads nowhere"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids, f"{file.name}: {link} names no place"


def test_the_home_page_leads_every_reader_on(site: Path, pages: dict[Path, Html]) -> None:
    home = site / "index.html"
    text = home.read_text("utf-8")
    for reader in READERS:
        assert reader.title.replace("'", "&#39;") in text or reader.title in text
        for page in reader.pages:
            if (ROOT / page.path).exists():
                assert page.path.replace(".md", ".html") in pages[home].links()


def test_the_reference_has_every_call_and_every_refusal(site: Path, pages: dict[Path, Html]) -> None:
    html, description = pages[site / "api.html"], json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))
    assert {f"refusal-{row.code}" for row in CATALOGUE} <= html.ids
    assert {f"schema-{name.lower()}" for name in description["components"]["schemas"]} <= html.ids
    text = (site / "api.html").read_text("utf-8")
    for path, item in description["paths"].items():
        assert f"<code>{path}</code>" in text
        for operation in item.values():
            assert operation["summary"].removesuffix(" (test)").removesuffix(" (production)") in text


def test_the_search_knows_every_page_and_what_is_in_the_reference(site: Path) -> None:
    text = (site / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    assert {name_of(page).removesuffix(".md") for page in PAGES} | {"api", "index"} == set(index["docnames"])

    def found(word: str) -> set[str]:
        places = [index[part].get(word, []) for part in ("terms", "titleterms")]
        numbers = [number for each in places for number in ([each] if isinstance(each, int) else each)]
        return {index["docnames"][number] for number in numbers}

    # By the stems of words, as the search itself looks for them.
    assert {"docs/client-guide", "docs/trading-api", "api"} <= found("idempot")
    assert "api" in found("price_mov")
    assert not [word for word in index["terms"] if re.match(r"idempotency_key_required\w", word)]
    titles = {title for title, places in index["alltitles"].items() for _ in places}
    assert "Place an order" in titles


# --- What it is made from -------------------------------------------------------------------------------


SEARCH_EACH = """async (asked) => {
  const list = document.getElementById("search-results"), found = {};
  for (const words of asked) {
    if (Object.keys(found).length) {
      list.replaceChildren();
      Search.performSearch(words);
    }
    for (let waits = 0; !Search.status.textContent.startsWith("Search finished"); waits += 1) {
      if (waits > 1000) throw new Error(`the search for ${words} does not end`);
      await new Promise((done) => setTimeout(done, 20));
    }
    found[words] = [...list.querySelectorAll("ul.search > li > a")].map((link) => link.getAttribute("href"));
  }
  return found;
}"""
"""The first search is that of the page's address."""


@pytest.fixture(scope="module")
def results(browser: Browser, site: Path) -> dict[str, list[str]]:  # noqa: F811
    """The addresses that the search page lists, best first. It reads its index once for all searches."""
    page = browser.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q={next(iter(FOUND))}")
    page.locator("p.search-summary", has_text="Search finished").wait_for()
    found: dict[str, list[str]] = page.evaluate(SEARCH_EACH, list(FOUND))
    page.close()
    return found


@pytest.mark.parametrize(("words", "address"), FOUND.items())
def test_a_search_leads_to_the_right_section(results: dict[str, list[str]], words: str, address: str) -> None:
    assert results[words][:1] == [address], results[words]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The least that there has to be."""
    for path in ("docs/adr/README.md", "docs/client-guide.md", "README.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("# A page\n\n## A heading\n\nWords.\n", "utf-8")
    description = json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))
    path, item = next(iter(description["paths"].items()))
    (tmp_path / "docs/openapi.json").write_text(json.dumps(description | {"paths": {path: item}}), "utf-8")
    return tmp_path


def test_a_link_an_anchor_or_a_picture_that_leads_nowhere_is_named_and_nothing_is_built(
    checkout: Path, tmp_path: Path
) -> None:
    faults = (
        "[a](nowhere.md)",
        "[b](client-guide.md#nowhere)",
        "![c](nowhere.svg)",
        "[d](../src/nowhere.py)",
    )
    (checkout / "docs/odd.md").write_text("# Odd\n\n" + "\n\n".join(faults) + "\n", "utf-8")
    done = build(tmp_path / "into", checkout)
    assert done.returncode == 1
    for number in range(3, 11, 2):
        assert f"docs/odd.md:{number}: " in done.stderr
    assert len([line for line in done.stderr.splitlines() if "WARNING" in line]) == len(faults), done.stderr
    assert "The site was not built" in done.stderr
    assert not (tmp_path / "into/site").exists()


def test_a_page_without_a_place_and_files_that_are_linked_come_along(checkout: Path, tmp_path: Path) -> None:
    (checkout / "src").mkdir()
    (checkout / "src/code.py").write_text("print('code')\n", "utf-8")
    (checkout / "more").mkdir()
    (checkout / "more/notes.md").write_text("# Notes\n\n[up](../README.md#a-heading)\n", "utf-8")
    links = "[code](../src/code.py) [notes](../more/notes.md) [self](#odd)\n\n```text\n[no](link.md)\n```\n"
    (checkout / "docs/odd.md").write_text(f"# Odd\n\n{links}", "utf-8")
    done = build(tmp_path / "into", checkout)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "into/site"
    home = Html(site / "index.html").links()
    assert {"docs/odd.html", "more/notes.html"} <= set(home)
    assert "Further pages" in (site / "index.html").read_text("utf-8")
    (code,) = [link for link in Html(site / "docs/odd.html").links() if link.endswith("code.py")]
    assert (site / "docs" / code).read_text("utf-8") == "print('code')\n"


def test_pages_that_are_not_there_are_passed_over() -> None:
    assert readers_of([START.path]) == []
    (only,) = readers_of([START.path, "docs/desk.md", "docs/adr/0001-rooms.md"])
    assert [page.path for page in only.pages] == ["docs/desk.md"]


def _placed() -> Iterator[str]:
    yield START.path
    for reader in READERS:
        yield from (page.path for page in reader.pages)


def test_a_page_has_one_place() -> None:
    placed = list(_placed())
    assert len(placed) == len(set(placed))
