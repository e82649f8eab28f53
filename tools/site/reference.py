"""The API's reference as a part of a page: what the service shows at `/docs`, from the same description."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools.docs_page import Section, reference_sections, reference_style

CLASS = "api-part"
_BLOCK = re.compile(r"<(?=(?:div|figcaption|li|p|pre|t[dhr])\b)")


class ApiReference(SphinxDirective):
    """Sections with headings of their own, so that menu and search know each call by its name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir, self.arguments[0])
        self.env.note_dependency(path)
        return [_node(section) for section in reference_sections(json.loads(path.read_text("utf-8")))]


def _node(section: Section) -> nodes.section:
    node = nodes.section("", nodes.title("", section.title), *_raw(section.body), ids=[section.anchor])
    node["classes"].append(CLASS)
    for article in section.articles:
        node += [*_raw(article.before)]
        title = nodes.title("", article.title)
        body = _raw(f"<p>{article.marks}</p>\n{article.body}" if article.marks else article.body)
        node += nodes.section("", title, *body, ids=[article.anchor])
    return node


def _raw(html: str) -> Iterator[nodes.raw]:
    """The index of the search leaves out the tags, and would take the words of two cells for one."""
    if html:
        yield nodes.raw("", _BLOCK.sub(" <", html), format="html")


def write_style(app: Sphinx) -> None:
    """The service's own style sheet for these pieces, held within them."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reference.css").write_text(f".{CLASS} {{\n{reference_style()}}}\n", "utf-8")
