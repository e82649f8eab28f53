"""HTML made of values. Text is escaped unless it was made here, so that a name can never become markup."""

from collections.abc import Iterable
from html import escape

_VOID = {"input", "br", "hr", "img", "link", "meta"}


class Html(str):
    """Markup that was made by `el`; any other text is escaped before it becomes part of a page."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]
Attribute = str | int | bool | None
"""None and False leave it out; True writes its name alone."""


def el(tag: str, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` is class, `data_key` is data-key; names in SVG keep their capitals."""
    opening = f"<{tag}{_attributes(attributes)}>"
    return Html(opening if tag in _VOID else f"{opening}{join(children)}</{tag}>")


def join(children: Iterable[Child]) -> Html:
    return Html("".join(_text(child) for child in children))


def _text(child: Child) -> str:
    match child:
        case None:
            return ""
        case Html():
            return child
        case str():
            return escape(child)
        case int():
            return str(child)
        case _:
            return join(child)


def _attributes(attributes: dict[str, Attribute]) -> str:
    written = []
    for name, value in attributes.items():
        plain_name = name.rstrip("_").replace("_", "-")
        if value is True:
            written.append(f" {plain_name}")
        elif value is not None and value is not False:
            written.append(f' {plain_name}="{escape(str(value))}"')
    return "".join(written)
