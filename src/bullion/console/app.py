"""The console's application: login, pages, their live parts, dialogs and actions."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from hmac import compare_digest
from http import HTTPStatus

import structlog

from bullion.desk.desk import Desk, require
from bullion.desk.problems import unavailable
from bullion.faults import StoreFault
from bullion.records.token import Role
from bullion.refusals.catalogue import INTERNAL_ERROR, MALFORMED_HTTP, METHOD_NOT_ALLOWED
from bullion.refusals.desk import NOT_FOUND
from bullion.refusals.refusal import Env, RefusalCode, RefusalError
from bullion.web import health
from bullion.web.calls import Call
from bullion.web.http_app import HttpApp
from bullion.web.response import Receive, Response, Scope, Send
from bullion.web.router import Router

from . import answers, switchboard
from .answers import error_answer, error_content
from .assets import FILES
from .browser_request import FORM_BYTES_MAX, BrowserRequest
from .forms import FormErrors
from .frame import banner, document, page_frame, top
from .html import Html
from .login import Login, to_login
from .page import Action, ConsoleSettings, Page, Redirect, Render, Visit
from .sessions import Session
from .shared_read import ReadPending
from .watch import Watches
from .widgets.components import empty

_log = structlog.get_logger("console")
_FORGED = RefusalCode(
    "forged_request",
    403,
    Env.BOTH,
    "A form or a call of the script did not come from a page of this console.",
    "This did not come from a page of this console. Reload the console and try again.",
)
_UNREADABLE = "This address cannot be read: its percent-encoded characters are not UTF-8."
_NO_PAGE = "There is no such page in the console."
_NO_ACTION = "There is no such action in the console."
_KEPT_S = 31_536_000
_METHODS = ("GET", "POST")

Handler = Callable[[Visit], Awaitable[Response]]


class Console(HttpApp):
    log = _log

    def __init__(
        self,
        desk: Desk,
        login: Login,
        watches: Watches,
        settings: ConsoleSettings,
        pages: Sequence[Page],
    ) -> None:
        self.desk = desk
        self._login = login
        self._watches = watches
        self._settings = settings
        self._pages = pages
        self._actions = (*switchboard.ACTIONS, *(each for page in pages for each in page.actions))
        self._form_bytes_max = {each.path("actions"): each.form_bytes_max for each in self._actions}
        self._router = Router(self._routes())

    def _routes(self) -> dict[str, dict[str, Handler]]:
        """What people see once they are logged in, by path and method."""
        routes: dict[str, dict[str, Handler]] = {"/": {"GET": self._open_first_page}}
        for page in self._pages:
            for path, render in page.views.items():
                render = _for_role(page.role, render)
                routes[f"/{page.name}{path}"] = {"GET": partial(self._open_page, page, render)}
                routes[f"/live/{page.name}{path}"] = {"GET": partial(self._refresh_page, page, render)}
        for action in self._actions:
            routes[action.path("dialogs")] = {"GET": partial(_open_dialog, action)}
            routes[action.path("actions")] = {"POST": partial(_perform, action)}
            if action.preview is not None:
                routes[action.path("previews")] = {"POST": partial(_preview, action.preview)}
        return routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = BrowserRequest.of(scope)
        if request.first_part == "assets":
            await _send_asset(request, send)
        else:
            await super().__call__(scope, receive, send)

    def refuse(self, scope: Scope, refused: RefusalError) -> Response:
        if isinstance(refused, FormErrors):
            body = {"refused": refused.message, "fields": refused.by_field}
            return answers.json_answer(body, refused.refusal.status)
        return error_answer(BrowserRequest.of(scope), refused)

    def record_call(self, call: Call) -> None:
        """The console counts nothing: its open pages send a request every second."""

    def unavailable(self, fault: StoreFault) -> RefusalError:
        return unavailable(fault)

    async def handle(self, call: Call, scope: Scope, receive: Receive) -> Response:
        request = BrowserRequest.of(scope)
        methods = health.METHODS if request.path == health.LIVE else _METHODS
        if request.method not in methods:
            raise RefusalError(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(methods)})
        if request.path == health.LIVE:
            return health.live()
        guarded = request.method == "POST" or request.first_part in ("live", "dialogs")
        if guarded and not request.sent_by_console:
            address = self._login.address(scope)
            _log.warning("forged_request", address=address, path=request.address[:80])
            raise RefusalError(_FORGED)
        if not request.readable:
            raise RefusalError(MALFORMED_HTTP, _UNREADABLE)
        if request.path == "/login":
            return await self._login.answer(request, scope, receive)
        session = await self._login.session(request)
        if session is None:
            return to_login(request)
        form: dict[str, str] = {}
        if request.method == "POST":
            form = await request.form(scope, receive, self._form_bytes_max.get(request.path, FORM_BYTES_MAX))
            if not compare_digest(form.get("csrf", "").encode(), session.csrf.encode()):
                raise RefusalError(_FORGED)
        first = await self._login.answer_user(request, session, form, scope)
        return first or await self._answer_visitor(call, request, session, form)

    async def _answer_visitor(
        self, call: Call, request: BrowserRequest, session: Session, form: dict[str, str]
    ) -> Response:
        found = self._router.find(request.path)
        handler = found.methods.get(request.method) if found else None
        if handler is None and (request.method == "POST" or request.sent_by_script):
            raise RefusalError(NOT_FOUND, _NO_PAGE if request.first_part == "live" else _NO_ACTION)
        watch = self._watches.of(session.actor.broker)
        visit = Visit(
            desk=self.desk,
            actor=session.actor,
            watch=watch,
            frame=await watch.frame_state(session.actor),
            settings=self._settings,
            request=request,
            params=found.params if found else {},
            form=form,
            csrf=session.csrf,
            request_id=call.request_id.decode("ascii"),
        )
        try:
            return await (handler or self._open_missing_page)(visit)
        except Redirect as redirect:
            return answers.redirect(redirect.path)

    async def _open_first_page(self, _visit: Visit) -> Response:
        return answers.redirect(f"/{self._pages[0].name}")

    async def _open_page(self, page: Page, render: Render, visit: Visit) -> Response:
        status, content = await _guarded(render, visit, page)
        live = f"/live{visit.request.address}"
        return self._document(visit, page, content, status, live=live, live_s=page.live_s)

    async def _open_missing_page(self, visit: Visit) -> Response:
        named = [page for page in self._pages if page.name == visit.request.first_part]
        content = error_content(_NO_PAGE, NOT_FOUND.status, (named or self._pages)[0])
        return self._document(visit, Page("", "Not found", {}), content, NOT_FOUND.status)

    def _document(
        self,
        visit: Visit,
        page: Page,
        content: Html,
        status: int,
        *,
        live: str | None = None,
        live_s: int | None = None,
    ) -> Response:
        body = page_frame(visit, self._pages, page, content)
        html = document(page.title, body, theme=visit.request.theme, live=live, live_s=live_s)
        return answers.page(html, status)

    async def _refresh_page(self, page: Page, render: Render, visit: Visit) -> Response:
        _, content = await _guarded(render, visit, page)
        parts = {"top": top(visit, self._pages, page), "banner": banner(visit), "main": content}
        return answers.json_answer({"parts": parts})


def _for_role(role: Role, render: Render) -> Render:
    async def rendered(visit: Visit) -> Html:
        require(visit.actor, role)
        return await render(visit)

    return rendered


async def _open_dialog(action: Action, visit: Visit) -> Response:
    status, contents = await _guarded(action.dialog, visit)
    path = action.path("actions", visit.request.query)
    return answers.json_answer({"action": path, "contents": contents}, status)


async def _preview(preview: Render, visit: Visit) -> Response:
    # Input that is half typed is not an error: the preview shows what is missing.
    _, contents = await _guarded(preview, visit)
    return answers.json_answer({"contents": contents})


async def _perform(action: Action, visit: Visit) -> Response:
    try:
        done = await action.perform(visit)
    except StoreFault as fault:
        _log.warning("store_fault", fault=repr(fault))
        return answers.refusal_answer(unavailable(fault))
    finally:
        visit.watch.expire()
    again = None if done.confirm is None else action.dialog_html(done.confirm, visit)
    body = {"done": done.message, "reveal": done.reveal, "go_to": done.go_to, "ask_again": again}
    return answers.json_answer(body)


async def _guarded(render: Render, visit: Visit, page: Page | None = None) -> tuple[int, Html]:
    """The contents of a page or dialog; where that fails, the error message instead.

    `page` is linked where something was not found.
    """
    try:
        return HTTPStatus.OK, await render(visit)
    except Redirect:
        raise
    except ReadPending as pending:
        return HTTPStatus.OK, empty(str(pending), "The page refreshes by itself.")
    except RefusalError as refused:
        status, message = refused.refusal.status, refused.message
    except StoreFault as fault:
        _log.warning("store_fault", fault=repr(fault))
        away = unavailable(fault)
        status, message = away.refusal.status, away.message
    except Exception:  # noqa: BLE001 - one part of the console must not take the frame with it
        _log.exception("internal_error")
        status = INTERNAL_ERROR.status
        message = f"This part of the console failed. The log says why, under {visit.request_id}."
    return status, error_content(message, status, page)


async def _send_asset(request: BrowserRequest, send: Send) -> None:
    """Cached for good: changed content has another address."""
    kind, content = FILES.get(request.path.removeprefix("/assets/"), ("text/plain", b""))
    found = bool(content) and request.method == "GET"
    headers = [
        (b"content-type", kind.encode("ascii")),
        (b"content-length", b"%d" % (len(content) if found else 0)),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"public, max-age=%d, immutable" % _KEPT_S if found else b"no-store"),
    ]
    status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": content if found else b""})
