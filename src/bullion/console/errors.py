"""Error pages: what went wrong, and what to do next. The console's script gets JSON instead."""

from http import HTTPStatus

from bullion.refusals.refusal import RefusalError
from bullion.web.response import Response, refusal_headers

from . import answers
from .browser_request import BrowserRequest
from .frame import document
from .html import Child, Html, el
from .page import Page

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
    if request.by_script:
        return answers.refusal_answer(refused)
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
    return answers.page(document(title, body, theme=request.theme), status, refusal_headers(refused))


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
