"""The frame around every page: who and where, the pages, the switches, and a banner when all is not well."""

from collections.abc import Sequence
from datetime import timedelta

from bullion.records.token import Role

from .assets import STYLES, href
from .html import Child, Html, el, join
from .page import Page, Visit
from .switchboard import switchboard
from .widgets.times import age, clock

_THEMES = ("auto", "light", "dark")
_MARK = el("svg", el("path", d="M6 2h12l4 12H2z"), class_="mark", viewBox="0 0 24 16", aria_hidden="true")


def document(
    title: str, body: Child, *, theme: str, live: str | None = None, live_s: int | None = None
) -> bytes:
    """A whole page. Everything it needs comes from this server, and nothing in it runs that is not a file."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        # Without it browsers hide the origin of forms, by which we tell ours from those of other sites.
        el("meta", name="referrer", content="same-origin"),
        el("title", f"{title} · Bullion"),
        el("link", rel="icon", href=href("mark.svg"), type="image/svg+xml"),
        [el("link", rel="stylesheet", href=href(name)) for name in STYLES],
        el("script", src=href("console.js"), defer=True),
    )
    page = el("body", body, data_live=live, data_live_s=live_s)
    shown = theme if theme in _THEMES else "auto"
    return ("<!doctype html>\n" + el("html", head, page, lang="en", data_theme=shown)).encode()


def framed(visit: Visit, pages: Sequence[Page], page: Page, content: Html) -> Html:
    return join(
        [
            el("a", "Skip to the page", class_="skip", href="#main"),
            el("div", top(visit, pages, page), id="top"),
            el("div", banner(visit), id="banner", aria_live="assertive"),
            el("main", content, id="main", tabindex="-1"),
            el("div", id="toasts", role="status", aria_live="polite"),
            el(
                "dialog",
                el("form", el("div", class_="contents"), _csrf(visit), method="post"),
                id="dialog",
                aria_labelledby="dialog-title",
            ),
        ]
    )


def top(visit: Visit, pages: Sequence[Page], page: Page) -> Html:
    links = [
        el(
            "a",
            each.title,
            href=f"/{each.name}",
            aria_current="page" if each is page else None,
        )
        for each in pages
    ]
    return el(
        "header",
        el(
            "div",
            el("a", _MARK, el("span", visit.news.broker), class_="brand", href="/"),
            el("nav", links, aria_label="Pages"),
            el("span", clock(visit.now, visit.zone), class_="clock", title=f"Times are in {visit.zone.key}"),
            _who(visit),
            class_="bar",
        ),
        switchboard(visit),
    )


def _who(visit: Visit) -> Html:
    role = visit.actor.role
    can = {
        Role.VIEWER: "viewer: you can look, not act",
        Role.DEALER: "dealer",
        Role.ADMIN: "admin",
    }[role]
    return el(
        "div",
        el("span", el("b", visit.actor.name.partition(" (")[0]), el("small", can), class_="name"),
        el("button", "Theme", type="button", class_="small quiet", data_theme_button=True),
        el(
            "form",
            _csrf(visit),
            el("button", "Log out", class_="small quiet"),
            method="post",
            action="/logout",
        ),
        class_="who",
    )


def _csrf(visit: Visit) -> Html:
    return el("input", type="hidden", name="csrf", value=visit.csrf)


def banner(visit: Visit) -> Html:
    """What is wrong, in words, how old the page is, and what happens next. Nothing when all is well."""
    held = visit.news.switches
    if held.trouble is not None:
        since = clock(visit.now - timedelta(seconds=held.trouble_s), visit.zone)
        old = (
            "Nothing could be read so far."
            if held.read_at is None
            else f"What you see is {age(held.age_s)} old."
        )
        return _banner(
            "bad",
            f"{held.trouble} Since {since}. {old} It is tried again every second, and the page mends itself.",
        )
    if visit.news.api.value:
        return _banner(
            "bad",
            f"{visit.news.api.value} Clients' orders are not taken there. It is looked at every second.",
        )
    return Html("")


def _banner(kind: str, words: str) -> Html:
    return el("p", words, class_=f"banner {kind}", role="alert")
