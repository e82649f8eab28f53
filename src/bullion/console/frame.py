"""The frame around every page: navigation, user, switches, and a banner when something is wrong."""

from collections.abc import Sequence
from datetime import timedelta

from bullion.records.token import Role

from .assets import SCRIPTS, STYLES, href
from .health_strip import health_strip
from .html import Child, Html, el, join
from .page import Page, Visit
from .paths import ACCOUNTS, FIND, OVERVIEW, RATES, SECOND_FACTOR, TICKET
from .switchboard import switchboard
from .widgets.formatting import age, clock

_THEMES = ("auto", "light", "dark")
_INGOT = el("svg", el("path", d="M6 2h12l4 12H2z"), class_="ingot", viewBox="0 0 24 16", aria_hidden="true")


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
        [el("script", src=href(name), defer=True) for name in SCRIPTS],
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
                # The desk tells all errors at once; the browser would tell the first alone.
                el("form", el("div", class_="contents"), _csrf(visit), method="post", novalidate=True),
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
        if each.in_menu and visit.has_role(each.role)
    ]
    return el(
        "header",
        el(
            "div",
            el("a", _INGOT, el("span", visit.frame.broker), class_="brand", href="/"),
            el("nav", links, class_="pages", aria_label="Pages"),
            _find(visit),
            _new_order(visit),
            el("span", clock(visit.now, visit.zone), class_="clock"),
            _who(visit),
            class_="bar",
        ),
        el("div", health_strip(visit), switchboard(visit), class_="strip"),
        _thumb_bar(page),
        data_waiting=visit.waiting or None,
    )


def _find(visit: Visit) -> Html:
    box = el(
        "input",
        type="search",
        id="find",
        name="q",
        value=visit.param("q") if visit.request.path == f"/{FIND}" else None,
        placeholder="Deal, firm, id or key",
        aria_label="Find anything",
        maxlength=100,
        autocomplete="off",
        spellcheck="false",
    )
    key = el("kbd", "/", aria_hidden="true")
    return el("form", box, key, action=f"/{FIND}", role="search", class_="find")


def _new_order(visit: Visit) -> Html | None:
    if not visit.has_role(Role.DEALER):
        return None
    key = el("kbd", "N", aria_hidden="true")
    return el("a", "New order ", key, href=f"/{TICKET}", class_="button primary new-order")


def _thumb_bar(page: Page) -> Html:
    """What a thumb reaches on a telephone; style sheets hide it elsewhere. More opens the header."""
    links = [
        el(
            "a",
            _icon(path),
            el("span", text),
            href=f"/{address}",
            aria_current="page" if address == page.name else None,
        )
        for text, address, path in _THUMB
    ]
    more = el(
        "button",
        _icon("M4 6h16M4 12h16M4 18h16"),
        el("span", "More"),
        type="button",
        data_menu=True,
        aria_expanded="false",
    )
    return el("nav", links, more, class_="thumb", aria_label="Short ways")


def _icon(path: str) -> Html:
    return el("svg", el("path", d=path), viewBox="0 0 24 24", aria_hidden="true")


_THUMB = (
    ("Rates", RATES, "M3 17l6-6 4 4 8-8M15 7h6v6"),
    ("Queue", f"{OVERVIEW}#pending", "M12 3a9 9 0 100 18 9 9 0 000-18zM12 7v5l3 2"),
    (
        "Clients",
        ACCOUNTS,
        "M9 11a4 4 0 100-8 4 4 0 000 8zM2 21c0-4 3-7 7-7s7 3 7 7M17 4a4 4 0 010 7M18 14c2 1 4 4 4 7",
    ),
    ("Find", FIND, "M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l5 5"),
)


def _who(visit: Visit) -> Html:
    role = visit.actor.role
    role_text = "viewer: read only" if role == Role.VIEWER else role.value
    return el(
        "details",
        el("summary", el("b", visit.actor.name.partition(" (")[0]), f" · {role_text}"),
        el(
            "div",
            el("a", "Security", href=SECOND_FACTOR),
            el("button", "Theme", type="button", class_="quiet", data_theme_button=True),
            el(
                "form",
                _csrf(visit),
                el("button", "Log out", class_="quiet"),
                method="post",
                action="/logout",
            ),
            class_="menu",
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
