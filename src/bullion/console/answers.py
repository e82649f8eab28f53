"""Answers of the console: pages, errors, the login page, redirects, and JSON for its own script."""

from http import HTTPStatus
from typing import Any

import msgspec

from bullion.refusals.refusal import RefusalError
from bullion.web.headers import Headers
from bullion.web.response import JSON, Response, refusal_headers

from .browser_request import BrowserRequest
from .frame import document
from .html import Child, Html, el
from .page import Page

_encode = msgspec.json.Encoder(enc_hook=str).encode  # Html is a str.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PAGE: Headers = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"content-security-policy", _POLICY.encode("ascii")),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


def page(html: bytes, status: int = HTTPStatus.OK, more: Headers = ()) -> Response:
    return Response(status, html, (*_PAGE, *more))


def json_answer(value: Any, status: int = HTTPStatus.OK, more: Headers = ()) -> Response:
    """For the console's script."""
    return Response(status, _encode(value), (JSON, (b"cross-origin-resource-policy", b"same-origin"), *more))


def refusal_answer(refused: RefusalError) -> Response:
    return json_answer({"refused": refused.message}, refused.refusal.status, refusal_headers(refused))


def redirect(path: str, more: Headers = ()) -> Response:
    return Response(HTTPStatus.SEE_OTHER, b"", ((b"location", path.encode("ascii")), *more))


_NEXT: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "Check the address, or start from the first page.",
    HTTPStatus.NOT_FOUND: "Check the address, or start from the first page.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Go back and send less.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Try again in a moment. The console's log has the cause.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Try again in a moment.",
}
_NEXT_ELSE = "Go back, or start from the first page."


def error_answer(request: BrowserRequest, refused: RefusalError) -> Response:
    """To a browser that opened an address or sent a form: a page. To the console's script: JSON."""
    if request.sent_by_script:
        return refusal_answer(refused)
    status = refused.refusal.status
    title = HTTPStatus(status).phrase
    body = el(
        "main",
        el(
            "div",
            el("h1", title),
            el("p", refused.message, role="alert"),
            el("p", _NEXT.get(status, _NEXT_ELSE)),
            el("p", el("a", "Open the console", href="/")),
            el("p", f"Status {status}", class_="hint"),
            class_="notice",
        ),
        class_="login",
    )
    return page(document(title, body, theme=request.theme), status, refusal_headers(refused))


def error_content(message: str, status: int, page: Page | None = None) -> Html:
    """In place of the page, inside the frame; in a dialog, without a `page`."""
    next_step = _next_step(status, page)
    text = el("p", message, class_="what"), el("p", next_step) if next_step else None
    content = el("div", text, class_="empty trouble", role="alert")
    if page is None:
        return content
    title = el("h1", HTTPStatus(status).phrase)
    return el("div", title, el("section", content, class_="card"), class_="wide")


def _next_step(status: int, page: Page | None) -> Child:
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return "The page tries again by itself."
    if status == HTTPStatus.NOT_FOUND and page is not None:
        return ["Check the address, or look in ", el("a", page.title, href=f"/{page.name}"), "."]
    return None


_CONTINUE = "Log in to continue where you were."


def login_page(broker: str, *, theme: str, go_to: str, error: str | None = None) -> bytes:
    body = el(
        "main",
        el(
            "form",
            el("h1", broker, el("small", "Bullion desk")),
            el("p", "Log in with your desk token. It is not stored: this browser gets a session."),
            el("p", error, class_="refused", role="alert") if error else None,
            el("p", _CONTINUE, class_="hint") if go_to != "/" and not error else None,
            el(
                "label",
                el("span", "Desk token"),
                el(
                    "input",
                    type="password",
                    name="token",
                    required=True,
                    autofocus=True,
                    autocomplete="off",
                    spellcheck="false",
                ),
                class_="field",
            ),
            el("input", type="hidden", name="next", value=go_to),
            el("button", "Log in", class_="primary"),
            el(
                "p",
                "No token? An admin of the desk can create one: ",
                el("code", "bullion desk tokens create"),
                ".",
                class_="hint",
            ),
            method="post",
            action="/login",
        ),
        class_="login",
    )
    return document(f"Log in to {broker}", body, theme=theme)
