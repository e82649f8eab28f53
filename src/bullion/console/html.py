"""HTML made of values. Text is escaped unless it was made here, so that a name can never become markup."""

import re
from collections.abc import Iterable
from html import escape

_VOID = {"input", "br", "hr", "img", "link", "meta", "wbr"}


class Html(str):
    """Markup that was made by `el`; any other text is escaped before it becomes part of a page."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]
Attribute = str | int | bool | None
"""None and False leave it out; True writes its name alone."""


def el(tag: str, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` is class, `data_key` is data-key; names in SVG keep their capitals.

    A list calls it thousands of times, so it does what it can without further calls.
    """
    text = "<" + tag
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        text += _PLAIN_NAMES.get(name) or _plain_name(name)
        if value is not True:
            value = str(value)
            text += '="' + (escape(value) if _is_special(value) else value) + '"'
    if tag in _VOID:
        return Html(text + ">")
    text += ">"
    for child in children:
        if type(child) is Html:
            text += child
        elif child is not None:
            text += _text(child)
    return Html(text + "</" + tag + ">")


def join(children: Iterable[Child]) -> Html:
    return Html("".join([_text(child) for child in children]))


def _text(child: Child) -> str:
    if isinstance(child, str):
        return child if isinstance(child, Html) or not _is_special(child) else escape(child)
    if child is None:
        return ""
    if isinstance(child, int):
        return str(child)
    return "".join([_text(each) for each in child])


_is_special = re.compile("[&<>\"']").search
_PLAIN_NAMES: dict[str, str] = {}
"""How names of attributes are written, with a space before them."""


def _plain_name(name: str) -> str:
    plain = _PLAIN_NAMES[name] = " " + name.rstrip("_").replace("_", "-")
    return plain
