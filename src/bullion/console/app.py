"""The console's application: login, pages, their live parts, dialogs and actions."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus
from urllib.parse import urlencode

import structlog

from bullion.desk.desk import Desk
from bullion.desk.doorkeeper import Doorkeeper
from bullion.desk.unavailable import unavailable
from bullion.faults import StoreFault
from bullion.refusals.catalogue import INTERNAL_ERROR, MALFORMED_HTTP, METHOD_NOT_ALLOWED
from bullion.refusals.desk import NOT_FOUND, TOKEN_REQUIRED
from bullion.refusals.refusal import Env, RefusalCode, RefusalError
from bullion.web import health
from bullion.web.calls import Call as Request
from bullion.web.http_app import HttpApp
from bullion.web.response import Receive, Response, Scope, Send, refusal_headers

from . import answers, switchboard
from .assets import FILES
from .call import Call
from .errors import error_answer, error_content
from .forms import FormErrors
from .frame import banner, document, framed, top
from .html import Html
from .login import login_page
from .page import Action, ConsoleSettings, Page, Redirect, Visit
from .sessions import LASTS_S, Session, Sessions
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
_LOGIN_REFUSED = "This is not a desk token, or it was deleted. Try another."
_KEPT_S = 31_536_000
_METHODS = ("GET", "POST")


@dataclass(frozen=True)
class Console(HttpApp):
    log = _log

    desk: Desk
    doorkeeper: Doorkeeper
    sessions: Sessions
    watches: Watches
    settings: ConsoleSettings
    pages: Sequence[Page]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call.of(scope)
        if call.path[:1] == ("assets",):
            await _send_asset(call, send)
        else:
            await HttpApp.__call__(self, scope, receive, send)

    def refuse(self, scope: Scope, refused: RefusalError) -> Response:
        if isinstance(refused, FormErrors):
            body = {"refused": refused.message, "fields": refused.by_field}
            return answers.json_answer(body, refused.refusal.status)
        return error_answer(Call.of(scope), refused)

    def record_call(self, call: Request) -> None:
        """The console counts nothing: its open pages ask every second."""

    def unavailable(self, fault: StoreFault) -> RefusalError:
        return unavailable(fault)

    async def handle(self, request: Request, scope: Scope, receive: Receive) -> Response:
        try:
            return await self._answer(Call.of(scope), scope, receive, request.request_id.decode("ascii"))
        except Redirect as redirect:
            return answers.redirect(redirect.path)

    async def _answer(self, call: Call, scope: Scope, receive: Receive, request_id: str) -> Response:
        first = call.path[0] if call.path else ""
        methods = health.METHODS if call.whole_path == health.LIVE else _METHODS
        if call.method not in methods:
            raise RefusalError(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(methods)})
        if call.whole_path == health.LIVE:
            return health.live()
        if not call.from_here and (call.method == "POST" or first in ("live", "dialogs")):
            _log.warning("forged_request", address=self.doorkeeper.address(scope), path=call.whole_path[:80])
            raise RefusalError(_FORGED)
        if not call.readable:
            raise RefusalError(MALFORMED_HTTP, _UNREADABLE)
        if first == "login":
            return await self._login(call, scope, receive)
        session = await self._session(call)
        if session is None:
            return _to_login(call)
        if call.method == "POST":
            form = await call.form(scope, receive)
            if not compare_digest(form.get("csrf", "").encode(), session.csrf.encode()):
                raise RefusalError(_FORGED)
            return await self._post(call, session, form, request_id)
        return await self._get(call, session, request_id)

    async def _session(self, call: Call) -> Session | None:
        session = self.sessions.find(call.session_cookie)
        if session is None or await self.watches.is_token_valid(session.actor):
            return session
        self._leave(session)
        return None

    def _leave(self, session: Session) -> None:
        self.sessions.end(session)
        self.watches.forget(session.actor)
        _log.info("logged_out", actor=session.actor.name, broker=session.actor.broker)

    async def _login(self, call: Call, scope: Scope, receive: Receive) -> Response:
        go_to = call.query.get("next", "/")
        if call.method == "GET":
            if await self._session(call) is not None:
                return answers.redirect("/")
            return answers.page(login_page(theme=call.theme, go_to=go_to))
        form = await call.form(scope, receive)
        go_to, address = form.get("next", "/"), self.doorkeeper.address(scope)
        try:
            actor = await self.doorkeeper.admit_token(address, form.get("token", "").strip())
        except (RefusalError, StoreFault) as error:
            refused = error if isinstance(error, RefusalError) else unavailable(error)
            _log.warning("log_in_refused", address=address, code=refused.refusal.code)
            message = _LOGIN_REFUSED if refused.refusal is TOKEN_REQUIRED else refused.message
            html = login_page(theme=call.theme, go_to=go_to, error=message)
            return answers.page(html, refused.refusal.status, refusal_headers(refused))
        session = self.sessions.begin(actor)
        _log.info("logged_in", actor=actor.name, broker=actor.broker, address=address)
        return answers.redirect(_own_path(go_to), (call.set_session(self.sessions.cookie(session), LASTS_S),))

    async def _post(self, call: Call, session: Session, form: dict[str, str], request_id: str) -> Response:
        match call.path:
            case ("logout",):
                self._leave(session)
                return answers.redirect("/login", (call.set_session("", 0),))
            case ("actions", page_name, action_name):
                action = self._action(page_name, action_name)
                visit = await self._visit(call, session, (), request_id, form)
                return await self._perform(visit, action)
            case ("previews", page_name, action_name):
                action = self._action(page_name, action_name)
                if action.preview is None:
                    raise RefusalError(NOT_FOUND, "This action has no preview.")
                visit = await self._visit(call, session, (), request_id, form)
                # Input that is half typed is not an error: the preview shows what is missing.
                _, contents = await _guarded(action.preview, visit)
                return answers.json_answer({"contents": contents})
            case _:
                raise RefusalError(NOT_FOUND, "There is no such action in the console.")

    async def _perform(self, visit: Visit, action: Action) -> Response:
        try:
            done = await action.perform(visit)
        except StoreFault as fault:
            _log.warning("store_fault", request_id=visit.request_id, fault=repr(fault))
            return answers.refusal_answer(unavailable(fault))
        finally:
            visit.watch.expire()
        again = None if done.confirm is None else action.dialog_html(done.confirm, visit)
        body = {"done": done.message, "reveal": done.reveal, "go_to": done.go_to, "ask_again": again}
        return answers.json_answer(body)

    async def _get(self, call: Call, session: Session, request_id: str) -> Response:
        match call.path:
            case ():
                return answers.redirect(f"/{self.pages[0].name}")
            case ("dialogs", page_name, action_name):
                action = self._action(page_name, action_name)
                visit = await self._visit(call, session, (), request_id)
                contents = await _guarded(action.dialog, visit)
                query = f"?{urlencode(call.query)}" if call.query else ""
                path = f"/actions/{page_name}/{action_name}{query}"
                return answers.json_answer({"action": path, "contents": contents[1]}, contents[0])
            case ("live", page_name, *rest):
                page = self._page(page_name, rest)
                visit = await self._visit(call, session, tuple(rest), request_id)
                _, content = await _guarded(page.render, visit, page)
                parts = {"top": top(visit, self.pages, page), "banner": banner(visit), "main": content}
                return answers.json_answer({"parts": parts})
            case (page_name, *rest):
                visit = await self._visit(call, session, tuple(rest), request_id)
                return await self._whole(call, visit, page_name)
        raise RefusalError(NOT_FOUND)

    async def _whole(self, call: Call, visit: Visit, page_name: str) -> Response:
        named = [page for page in self.pages if page.name == page_name]
        there = bool(named) and len(visit.rest) <= named[0].parts_max
        page = named[0] if there else _NOT_FOUND
        status, content = await _guarded(page.render, visit, (named or self.pages)[0])
        html = document(
            page.title,
            framed(visit, self.pages, page, content),
            theme=call.theme,
            live=f"/live{call.whole_path}" if there else None,
            live_s=page.live_s,
        )
        return answers.page(html, status)

    async def _visit(
        self,
        call: Call,
        session: Session,
        rest: tuple[str, ...],
        request_id: str,
        form: dict[str, str] | None = None,
    ) -> Visit:
        watch = self.watches.of(session.actor.broker)
        return Visit(
            desk=self.desk,
            actor=session.actor,
            watch=watch,
            frame=await watch.frame_state(session.actor),
            settings=self.settings,
            rest=rest,
            query=call.query,
            form=form or {},
            csrf=session.csrf,
            request_id=request_id,
        )

    def _page(self, name: str, rest: Sequence[str] = ()) -> Page:
        for page in self.pages:
            if page.name == name and len(rest) <= page.parts_max:
                return page
        raise RefusalError(NOT_FOUND, "There is no such page in the console.")

    def _action(self, page_name: str, name: str) -> Action:
        of_frame = page_name == switchboard.FRAME
        for action in switchboard.ACTIONS if of_frame else self._page(page_name).actions:
            if action.name == name:
                return action
        raise RefusalError(NOT_FOUND, "There is no such action in the console.")


async def _guarded(
    render: Callable[[Visit], Awaitable[Html]], visit: Visit, page: Page | None = None
) -> tuple[int, Html]:
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
        _log.warning("store_fault", request_id=visit.request_id, fault=repr(fault))
        away = unavailable(fault)
        status, message = away.refusal.status, away.message
    except Exception:  # noqa: BLE001 - one part of the console must not take the frame with it
        _log.exception("internal_error", request_id=visit.request_id)
        status = INTERNAL_ERROR.status
        message = f"This part of the console failed. The log says why, under {visit.request_id}."
    return status, error_content(message, status, page)


async def _render_not_found(_visit: Visit) -> Html:
    raise RefusalError(NOT_FOUND, "There is no such page in the console.")


_NOT_FOUND = Page("", "Not found", _render_not_found)


def _to_login(call: Call) -> Response:
    if call.by_script:
        return answers.json_answer({"refused": "You are logged out. Log in again."}, HTTPStatus.UNAUTHORIZED)
    asked = f"?{urlencode({'next': call.whole_path})}" if call.path and call.method == "GET" else ""
    return answers.redirect(f"/login{asked}")


def _own_path(text: str) -> str:
    """Where to go after the login: a path of this console, never another site."""
    plain = text.isascii() and text.isprintable() and " " not in text
    return text if plain and text.startswith("/") and not text.startswith(("//", "/\\")) else "/"


async def _send_asset(call: Call, send: Send) -> None:
    """Cached for good: changed content has another address."""
    kind, content = FILES.get("/".join(call.path[1:]), ("text/plain", b""))
    found = bool(content) and call.method == "GET"
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
