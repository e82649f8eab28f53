"""Small pieces of HTML. All text that enters the page goes through here or through `escape`."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

Json = dict[str, Any]

_CODE_SPAN = re.compile(r"`([^`]+)`")
_JSON_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null')
_ENVIRONMENT_BADGE = {"both": "", "prod": "production", "test": "test"}


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Each cell names its column as well: on a narrow screen the rows become lists."""
    head = "".join(f'<th scope="col">{column}' for column in columns)
    body = "\n".join("<tr>" + "".join(map(_cell, columns, cells)) for cells in rows)
    return f"<table>\n<thead><tr>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _cell(column: str, content: str) -> str:
    return f'<td data-label="{column}"><div>{content}</div>' if content else "<td>"


def figure(caption: str, code: str) -> str:
    return f"<figure><figcaption>{caption}</figcaption><pre><code>{code}</code></pre></figure>"


def tabs(caption: str, name: str, codes: Mapping[str, str]) -> str:
    """The same in several languages, one of which is shown. Without a script: each tab is a radio button."""
    group = f"tabs-{slug(name)}"
    heads, panes = [], []
    for number, (language, code) in enumerate(codes.items()):
        own = f"{group}-{slug(language)}"
        chosen = "" if number else " checked"
        button = f'<input type="radio" name="{group}" id="{own}"{chosen}>'
        heads.append(f'{button}<label for="{own}">{escape(language)}</label>')
        panes.append(f"<pre><code>{code}</code></pre>")
    shown = f'<div class="tabs">{"".join(heads)}{"".join(panes)}</div>'
    return f"<figure><figcaption>{caption}</figcaption>{shown}</figure>"


def own_anchor(text: str, anchor: str) -> str:
    """A name that links to itself, for whoever wants to quote it."""
    return f'<a class="code" id="{slug(anchor)}" href="#{slug(anchor)}">{escape(text)}</a>'


def chip(text: str, anchor: str) -> str:
    return f'<a class="chip code" href="#{slug(anchor)}">{escape(text)}</a>'


def slug(text: str) -> str:
    """For anchors and class names: safe to stand in an attribute as it is."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


def prose(text: str) -> str:
    """One paragraph, with what stands between backticks set as code."""
    return _CODE_SPAN.sub(r"<code>\1</code>", escape(text))


def paragraphs(text: str) -> str:
    """A blank line begins a new one."""
    return "\n".join(f"<p>{prose(part)}</p>" for part in text.split("\n\n"))


def method_mark(method: str) -> str:
    return f'<b class="method {slug(method)}">{escape(method.upper())}</b>'


def status_mark(status: str) -> str:
    return f'<b class="status s{slug(status[:1])}">{escape(status)}</b>'


def badge(text: str) -> str:
    return f' <span class="badge {slug(text)}">{escape(text)}</span>' if text else ""


def badges(texts: Iterable[str]) -> str:
    return "".join(map(badge, texts))


def environment_badge(environment: str) -> str:
    """Where a refusal of the catalogue is met, if not in both environments."""
    return badge(_ENVIRONMENT_BADGE[environment])


def json_code(value: Any) -> str:
    """Indented, and coloured by the kind of each token."""
    return _JSON_TOKEN.sub(_token, json.dumps(value, indent=2, ensure_ascii=False))


def _token(match: re.Match[str]) -> str:
    text, colon = match.group(1), match.group(2)
    kind = "literal" if text is None else "name" if colon else "string"
    return f'<span class="{kind}">{escape(text or match.group(0))}</span>{colon or ""}'
