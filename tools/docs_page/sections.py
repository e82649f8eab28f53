"""The parts of the reference, before they are a page: the site of the documentation shows the same ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Article:
    """One call, or one schema. Titles are plain text; whatever else is here is HTML."""

    anchor: str
    title: str
    body: str
    marks: str = ""
    """Beside the title."""
    before: str = ""
    """Above it: what this one and those after it have in common."""


@dataclass(frozen=True, slots=True)
class Section:
    anchor: str
    title: str
    body: str = ""
    articles: Sequence[Article] = ()


def section_html(section: Section) -> str:
    parts = [f'<section id="{section.anchor}">\n<h2>{escape(section.title)}</h2>', section.body]
    for article in section.articles:
        parts.extend((article.before, _article_html(article)))
    return "\n".join(filter(None, [*parts, "</section>"]))


def _article_html(article: Article) -> str:
    return f"""<article id="{article.anchor}">
<h3><a href="#{article.anchor}">{escape(article.title)}</a>{article.marks}</h3>
{article.body}
</article>"""
