"""The service's page at `/docs/guide`: docs/client-guide.md for somebody who has only the service's address.

It has no script and loads nothing. Links to pages that the service does not serve become plain text.
"""

import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools.docs_page.page import page_style

_SERVED = {
    "openapi.json": "/openapi.json",
    "postman.json": "/postman.json",
    "refusals.md": "/docs#refusals",
    "trading-api.md": "/docs",
}


def guide_page(root: Path) -> str:
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse((root / "docs/client-guide.md").read_text("utf-8"))
    headings = list(_name_headings(tokens))
    for token in tokens:
        token.children = list(_without_dead_links(token.children or []))
    body = markdown.renderer.render(tokens, markdown.options, {})
    contents = "".join(f'<li><a href="#{anchor}">{escape(title)}</a>' for anchor, title in headings)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Client guide</title>
<style>{page_style()}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Contents">
<a class="brand" href="/docs">API reference</a>
<ul>{contents}</ul>
</nav>
<main id="content">
{body}</main>
</body>
</html>
"""


def _name_headings(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    """Give each heading its anchor, and tell those of the second level."""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = re.sub(r"[^\w\- ]", "", inline.content.lower()).replace(" ", "-")
            opening.attrSet("id", anchor)
            if opening.tag == "h2":
                yield anchor, inline.content


def _without_dead_links(tokens: list[Token]) -> Iterator[Token]:
    kept: list[bool] = []
    for token in tokens:
        if token.type == "image":
            token.type, token.tag = "text", ""
        elif token.type == "link_open":
            kept.append(_leads_somewhere(token))
            if not kept[-1]:
                continue
        elif token.type == "link_close" and not kept.pop():
            continue
        yield token


def _leads_somewhere(link: Token) -> bool:
    page = str(link.attrGet("href")).partition("#")[0]
    if page:
        link.attrSet("href", _SERVED.get(page, ""))
    return not page or page in _SERVED
