"""Logging in and out: the token, the code of the second factor, and the user's own second factor."""

from http import HTTPStatus
from urllib.parse import urlencode

import structlog

from bullion.desk.authenticator import DeskAuthenticator
from bullion.desk.problems import unavailable
from bullion.desk.second_factors import SecondFactors
from bullion.faults import StoreFault
from bullion.records.session import Stage
from bullion.refusals.desk import TOKEN_REQUIRED
from bullion.refusals.refusal import RefusalError
from bullion.web.response import Receive, Response, Scope, refusal_headers

from . import answers, second_factor
from .answers import login_page
from .browser_request import BrowserRequest
from .paths import SECOND_FACTOR
from .second_factor import CODE_PATH, code_page, codes_page, status_page, with_next
from .sessions import Session, Sessions
from .watch import Watches

_LOGIN_REFUSED = "This is not a desk token, or it was deleted. Try another."
_CODE_WITHIN_S = 300
"""How long a user may take to enter the code of the second factor."""

_log = structlog.get_logger("console")


class Login:
    def __init__(
        self,
        authenticator: DeskAuthenticator,
        sessions: Sessions,
        factors: SecondFactors,
        watches: Watches,
    ) -> None:
        self._authenticator = authenticator
        self._sessions = sessions
        self._factors = factors
        self._watches = watches

    def address(self, scope: Scope) -> str:
        return self._authenticator.address(scope)

    async def session(self, request: BrowserRequest) -> Session | None:
        return await self._sessions.find(request.session_cookie(self._sessions.cookie_name))

    async def _log_out(self, session: Session) -> None:
        await self._sessions.end(session)
        _log.info("logged_out", actor=session.actor.name, broker=session.actor.broker)

    async def answer(self, request: BrowserRequest, scope: Scope, receive: Receive) -> Response:
        go_to = request.query.get("next", "/")
        if request.method == "GET":
            if await self.session(request) is not None:
                return answers.redirect(_own_path(go_to))
            return await self._login_page(request, go_to)
        form = await request.form(scope, receive)
        go_to, address = form.get("next", "/"), self._authenticator.address(scope)
        try:
            actor = await self._authenticator.authenticate_token(address, form.get("token", "").strip())
            needs_code = await self._factors.is_on(actor)
            lasts_s = _CODE_WITHIN_S if needs_code else self._sessions.lasts_s
            session = await self._sessions.begin(actor, lasts_s=lasts_s)
        except (RefusalError, StoreFault) as error:
            refused = error if isinstance(error, RefusalError) else unavailable(error)
            _log.warning("log_in_refused", address=address, code=refused.refusal.code)
            message = _LOGIN_REFUSED if refused.refusal is TOKEN_REQUIRED else refused.message
            return await self._login_page(request, go_to, error=message, refused=refused)
        _log.info(
            "code_asked" if needs_code else "logged_in",
            actor=actor.name,
            broker=actor.broker,
            address=address,
        )
        cookie = self._cookie(request, session, lasts_s)
        go_to = _own_path(go_to)
        return answers.redirect(with_next(CODE_PATH, go_to) if needs_code else go_to, (cookie,))

    def _cookie(self, request: BrowserRequest, session: Session, lasts_s: int) -> tuple[bytes, bytes]:
        return request.set_session(self._sessions.cookie_name, self._sessions.cookie(session), lasts_s)

    async def _renew(self, request: BrowserRequest, session: Session) -> tuple[bytes, bytes]:
        """The cookie of a new session in place of this one, for a user who has just entered a code.

        With another id: who saw the cookie before the code has nothing.
        """
        await self._sessions.end(session)
        renewed = await self._sessions.begin(session.actor, second_factor=True)
        return self._cookie(request, renewed, self._sessions.lasts_s)

    async def _login_code(
        self, request: BrowserRequest, session: Session, form: dict[str, str], address: str
    ) -> Response:
        go_to = _own_path(form.get("next") or request.query.get("next", "/"))
        if session.stage is not Stage.CODE:
            return answers.redirect(go_to)
        if request.method == "GET":
            return answers.page(code_page(request.theme, session.csrf, go_to))
        actor = session.actor
        try:
            await self._factors.verify(actor, form.get("code", ""))
        except (RefusalError, StoreFault) as error:
            refused = error if isinstance(error, RefusalError) else unavailable(error)
            _log.warning("code_refused", actor=actor.name, address=address, code=refused.refusal.code)
            html = code_page(request.theme, session.csrf, go_to, refused.message)
            return answers.page(html, refused.refusal.status, refusal_headers(refused))
        _log.info("logged_in", actor=actor.name, broker=actor.broker, address=address)
        return answers.redirect(go_to, (await self._renew(request, session),))

    async def _second_factor(
        self, request: BrowserRequest, session: Session, form: dict[str, str]
    ) -> Response:
        """The user's own second factor: set up, confirmed, turned off."""
        go_to = _own_path(form.get("next") or request.query.get("next", "/"))
        actor, code, refused = session.actor, form.get("code", ""), None
        here = answers.redirect(with_next(SECOND_FACTOR, go_to))
        try:
            match request.method, request.path:
                case "POST", second_factor.BEGIN:
                    await self._factors.begin(actor)
                    return here
                case "POST", second_factor.CONFIRM:
                    codes = await self._factors.confirm(actor, code)
                    cookie = await self._renew(request, session)
                    return answers.page(codes_page(request.theme, go_to, codes), more=(cookie,))
                case "POST", second_factor.TURN_OFF:
                    await self._factors.turn_off(actor, code)
                    self._sessions.expire(session)
                    return here
        except RefusalError as error:
            _log.warning("code_refused", actor=actor.name, code=error.refusal.code)
            refused = error
        status = await self._factors.status(actor, await self._watches.broker_name(actor))
        message = None if refused is None else refused.message
        html = status_page(request.theme, session.csrf, go_to, status, message)
        if refused is None:
            return answers.page(html)
        return answers.page(html, refused.refusal.status, refusal_headers(refused))

    async def _login_page(
        self,
        request: BrowserRequest,
        go_to: str,
        *,
        error: str | None = None,
        refused: RefusalError | None = None,
    ) -> Response:
        broker = await self._watches.first_broker_name()
        html = login_page(broker, theme=request.theme, go_to=go_to, error=error)
        if refused is None:
            return answers.page(html)
        return answers.page(html, refused.refusal.status, refusal_headers(refused))

    async def answer_user(
        self, request: BrowserRequest, session: Session, form: dict[str, str], scope: Scope
    ) -> Response | None:
        """The answer to a user who logs out, or who has to do something first. None: the console is open."""
        if request.method == "POST" and request.path == "/logout":
            await self._log_out(session)
            return answers.redirect("/login", (request.set_session(self._sessions.cookie_name, "", 0),))
        if request.path == CODE_PATH:
            return await self._login_code(request, session, form, self.address(scope))
        if session.stage is Stage.CODE:
            return _to_second_factor(request, CODE_PATH)
        if request.first_part == SECOND_FACTOR.strip("/"):
            return await self._second_factor(request, session, form)
        if session.stage is Stage.ENROL:
            return _to_second_factor(request, SECOND_FACTOR)
        return None


def to_login(request: BrowserRequest) -> Response:
    if request.sent_by_script:
        return answers.json_answer({"refused": "You are logged out. Log in again."}, HTTPStatus.UNAUTHORIZED)
    known = request.path != "/" and request.method == "GET"
    asked = f"?{urlencode({'next': request.address})}" if known else ""
    return answers.redirect(f"/login{asked}")


def _to_second_factor(request: BrowserRequest, path: str) -> Response:
    if request.sent_by_script:
        return answers.json_answer(
            {"refused": "A second factor is needed. Log in again."}, HTTPStatus.UNAUTHORIZED
        )
    return answers.redirect(with_next(path, request.address if request.method == "GET" else "/"))


def _own_path(text: str) -> str:
    """Where to go after the login: a path of this console, never another site."""
    plain = text.isascii() and text.isprintable() and " " not in text
    return text if plain and text.startswith("/") and not text.startswith(("//", "/\\")) else "/"
