"""The frame around every page: navigation, user, switches, and a banner when something is wrong."""

from collections.abc import Sequence
from datetime import timedelta

from bullion.records.token import Role

from .assets import STYLES, href
from .html import Child, Html, el, join
from .page import Page, Visit
from .paths import SECOND_FACTOR
from .switchboard import switchboard
from .widgets.formatting import age, clock

_THEMES = ("auto", "light", "dark")
_MARK = el("svg", el("path", d="M6 2h12l4 12H2z"), class_="mark", viewBox="0 0 24 16", aria_hidden="true")


def document(
    title: str, body: Child, *, theme: str, live: str | None = None, live_s: int | None = None
) -> bytes:
    """A whole page. Its scripts and styles are files of this server; nothing is inline."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        # Without it browsers hide the origin of forms, which tells our own from those of other sites.
        el("meta", name="referrer", content="same-origin"),
        el("title", f"{title} · Bullion"),
        el("link", rel="icon", href=href("mark.svg"), type="image/svg+xml"),
        [el("link", rel="stylesheet", href=href(name)) for name in STYLES],
        el("script", src=href("drafts.js"), defer=True),
        el("script", src=href("console.js"), defer=True),
    )
    page = el("body", body, data_live=live, data_live_s=live_s)
    shown = theme if theme in _THEMES else "auto"
    return ("<!doctype html>\n" + el("html", head, page, lang="en", data_theme=shown)).encode()


def page_frame(visit: Visit, pages: Sequence[Page], page: Page, content: Html) -> Html:
    return join(
        [
            el("a", "Skip to content", class_="skip", href="#main"),
            el("div", top(visit, pages, page), id="top"),
            el("div", banner(visit), id="banner", aria_live="assertive"),
            el("main", content, id="main", tabindex="-1"),
            el("div", id="toasts", role="status", aria_live="polite"),
            el(
                "dialog",
                el("form", el("div", class_="contents"), _csrf(visit), method="post"),
                id="dialog",
                aria_labelledby="dialog-title",
                data_user=visit.actor.user_id,
            ),
        ]
    )


def top(visit: Visit, pages: Sequence[Page], page: Page) -> Html:
    links = [
        el("a", each.title, href=f"/{each.name}", aria_current="page" if each is page else None)
        for each in pages
        if visit.has_role(each.role)
    ]
    return el(
        "header",
        el(
            "div",
            el("a", _MARK, el("span", visit.frame.broker), class_="brand", href="/"),
            el("nav", links, aria_label="Pages"),
            el("span", clock(visit.now, visit.zone), class_="clock", title=f"Times are in {visit.zone.key}"),
            _who(visit),
            class_="bar",
        ),
        switchboard(visit),
    )


def _who(visit: Visit) -> Html:
    role = visit.actor.role
    role_text = "viewer: read only" if role == Role.VIEWER else role.value
    return el(
        "div",
        el("span", el("b", visit.actor.name.partition(" (")[0]), el("small", role_text), class_="name"),
        el("a", "Security", href=SECOND_FACTOR, class_="small"),
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
    """What is wrong, how old the page is, and what happens next. Empty when all is well."""
    held = visit.frame.switches
    if held.error is not None:
        since = clock(visit.now - timedelta(seconds=held.error_age_s), visit.zone)
        old = "No data yet." if held.read_at is None else f"This page is {age(held.age_s)} old."
        return _banner(f"{held.error} Since {since}. {old} The console tries again every second.")
    if visit.frame.api.value:
        return _banner(f"{visit.frame.api.value} It accepts no orders. The console tries again every second.")
    return Html("")


def _banner(message: str) -> Html:
    return el("p", message, class_="banner bad", role="alert")
