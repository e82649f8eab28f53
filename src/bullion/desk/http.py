"""The desk's HTTP interface: tokens, roles, and the actions under `/desk/v1`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.routing import Route

from bullion.faults import OutcomeUnknown, StoreBusy, StoreConflict, StoreFault
from bullion.records.port import Page
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import INTERNAL_ERROR, METHOD_NOT_ALLOWED, SERVICE_UNAVAILABLE
from bullion.refusals.desk import INVALID_BODY
from bullion.refusals.refusal import Refused
from bullion.web import health
from bullion.web.answer import (
    NOT_FOUND,
    Answer,
    Receive,
    Scope,
    Send,
    json_answer,
    new_request_id,
    refusal_answer,
    send_answer,
)
from bullion.web.body import CallerLeft, read_body
from bullion.web.calls import Call, CallJournal
from bullion.web.health import Checks

from . import bodies
from .actions import accounts, audit, brokers, groups, keys, switches, symbols, tokens
from .desk import Desk, View, require
from .doorkeeper import Doorkeeper

BASE = "/desk/v1"
_BODY_BYTES_MAX = 256 * 1024
_PAGE_MAX = 200
_OFFSET_MAX = 2**62
_DIGITS_MAX = 18
_WITH_BODY = {"POST", "PUT", "PATCH"}
_DEALERS = {("PATCH", "/symbols/{code}"), ("PATCH", "/switches")}
"""What a dealer may begin; the action itself then looks at the fields. Every other change is an admin's."""

_log = structlog.get_logger("desk")


@dataclass(frozen=True, slots=True)
class Request:
    desk: Desk
    actor: Actor
    path: Mapping[str, str]
    query: QueryParams
    body: bytes

    def page(self) -> Page:
        limit = self._whole_number("limit", default=50)
        if not 1 <= limit <= _PAGE_MAX:
            raise Refused(INVALID_BODY, f"limit must be a whole number from 1 to {_PAGE_MAX}.")
        # However large: there is nothing so far down, and the store takes 64 bits.
        return Page(limit, min(self._whole_number("offset", default=0), _OFFSET_MAX))

    def _whole_number(self, name: str, *, default: int) -> int:
        texts = self.query.getlist(name)
        if not texts:
            return default
        text = texts[0]
        if len(texts) > 1 or not (text.isascii() and text.isdigit()):
            raise Refused(INVALID_BODY, f"{name} must be one whole number.")
        return int(text[-_DIGITS_MAX:]) if text.lstrip("0")[_DIGITS_MAX:] == "" else _OFFSET_MAX


Handler = Callable[[Request], Awaitable[Answer]]


def _listed(found: tuple[Sequence[View], int]) -> Answer:
    items, total = found
    return json_answer({"items": items, "total": total})


async def _get_brokers(request: Request) -> Answer:
    found = await brokers.list_brokers(request.desk, request.actor)
    page = request.page()
    return _listed((found[page.offset : page.offset + page.limit], len(found)))


async def _put_broker(request: Request) -> Answer:
    body = bodies.read(request.body, bodies.BrokerBody)
    return json_answer(await brokers.put_broker(request.desk, request.actor, request.path["tag"], body))


async def _get_symbols(request: Request) -> Answer:
    return _listed(await symbols.list_symbols(request.desk, request.actor, request.page()))


async def _put_symbol(request: Request) -> Answer:
    body = bodies.read(request.body, bodies.SymbolBody)
    return json_answer(await symbols.put_symbol(request.desk, request.actor, request.path["code"], body))


async def _patch_symbol(request: Request) -> Answer:
    return json_answer(
        await symbols.patch_symbol(request.desk, request.actor, request.path["code"], request.body)
    )


async def _get_groups(request: Request) -> Answer:
    return _listed(await groups.list_groups(request.desk, request.actor, request.page()))


async def _put_group(request: Request) -> Answer:
    body = bodies.read(request.body, bodies.GroupBody)
    return json_answer(await groups.put_group(request.desk, request.actor, request.path["code"], body))


async def _get_accounts(request: Request) -> Answer:
    return _listed(await accounts.list_accounts(request.desk, request.actor, request.page()))


async def _post_account(request: Request) -> Answer:
    body = bodies.read(request.body, bodies.NewAccountBody)
    return json_answer(await accounts.create_account(request.desk, request.actor, body), 201)


async def _get_account(request: Request) -> Answer:
    return json_answer(await accounts.get_account(request.desk, request.actor, request.path["login_id"]))


async def _patch_account(request: Request) -> Answer:
    login_id = request.path["login_id"]
    return json_answer(await accounts.patch_account(request.desk, request.actor, login_id, request.body))


async def _get_keys(request: Request) -> Answer:
    login_id = request.path["login_id"]
    return _listed(await keys.list_keys(request.desk, request.actor, login_id, request.page()))


async def _post_key(request: Request) -> Answer:
    body = bodies.read(request.body, bodies.KeyBody)
    issued = await keys.issue_key(request.desk, request.actor, request.path["login_id"], body)
    return json_answer(issued, 201)


async def _rotate_key(request: Request) -> Answer:
    body = bodies.read_if_any(request.body, bodies.RotateBody)
    issued = await keys.rotate_key(request.desk, request.actor, request.path["key_id"], body)
    return json_answer(issued, 201)


async def _revoke_key(request: Request) -> Answer:
    bodies.read_if_any(request.body, bodies.Body)
    return json_answer(await keys.revoke_key(request.desk, request.actor, request.path["key_id"]))


async def _get_switches(request: Request) -> Answer:
    return json_answer(await switches.get_switches(request.desk, request.actor))


async def _patch_switches(request: Request) -> Answer:
    return json_answer(await switches.patch_switches(request.desk, request.actor, request.body))


async def _get_tokens(request: Request) -> Answer:
    return _listed(await tokens.list_tokens(request.desk, request.actor, request.page()))


async def _post_token(request: Request) -> Answer:
    body = bodies.read(request.body, bodies.TokenBody)
    return json_answer(await tokens.create_token(request.desk, request.actor, body), 201)


async def _delete_token(request: Request) -> Answer:
    return json_answer(await tokens.delete_token(request.desk, request.actor, request.path["token_id"]))


async def _get_audit(request: Request) -> Answer:
    return _listed(await audit.list_audit(request.desk, request.actor, request.page()))


_RESOURCES: dict[str, dict[str, Handler]] = {
    "/brokers": {"GET": _get_brokers},
    "/brokers/{tag}": {"PUT": _put_broker},
    "/symbols": {"GET": _get_symbols},
    "/symbols/{code}": {"PUT": _put_symbol, "PATCH": _patch_symbol},
    "/groups": {"GET": _get_groups},
    "/groups/{code}": {"PUT": _put_group},
    "/accounts": {"GET": _get_accounts, "POST": _post_account},
    "/accounts/{login_id}": {"GET": _get_account, "PATCH": _patch_account},
    "/accounts/{login_id}/keys": {"GET": _get_keys, "POST": _post_key},
    "/keys/{key_id}/rotate": {"POST": _rotate_key},
    "/keys/{key_id}/revoke": {"POST": _revoke_key},
    "/switches": {"GET": _get_switches, "PATCH": _patch_switches},
    "/tokens": {"GET": _get_tokens, "POST": _post_token},
    "/tokens/{token_id}": {"DELETE": _delete_token},
    "/audit": {"GET": _get_audit},
}


class _Resource:
    """One path of the desk, as an ASGI application: token, body, action, answer."""

    def __init__(
        self,
        path: str,
        handlers: Mapping[str, Handler],
        desk: Desk,
        doorkeeper: Doorkeeper,
        journal: CallJournal,
    ) -> None:
        self._path = path
        self._handlers = handlers
        self._desk = desk
        self._doorkeeper = doorkeeper
        self._journal = journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _ends_elsewhere(scope, self._path):
            await _not_found(scope, receive, send)
            return
        started_ns = perf_counter_ns()
        call = Call(new_request_id(), scope["method"], BASE + self._path)
        try:
            answer = await self._answer(call, scope, receive)
        except CallerLeft:
            return
        call.status = answer.status
        call.ms = (perf_counter_ns() - started_ns) / 1_000_000
        self._journal.note(call)
        await send_answer(scope, send, answer, call.request_id)

    def _role(self, method: str) -> Role:
        """The least role for a method, told before the body is judged."""
        if method == "GET":
            return Role.VIEWER
        return Role.DEALER if (method, self._path) in _DEALERS else Role.ADMIN

    async def _answer(self, call: Call, scope: Scope, receive: Receive) -> Answer:
        try:
            handler = self._handlers.get(scope["method"])
            if handler is None:
                raise Refused(METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(sorted(self._handlers))})
            actor = await self._doorkeeper.admit(call, scope)
            require(actor, self._role(call.method))
            body = b""
            if call.method in _WITH_BODY:
                body = await read_body(scope["headers"], receive, _BODY_BYTES_MAX)
            query = QueryParams(scope["query_string"])
            return await handler(Request(self._desk, actor, scope["path_params"], query, body))
        except CallerLeft:
            raise
        except Refused as refused:
            call.code = refused.refusal.code
            return refusal_answer(refused)
        except StoreFault as fault:
            _log.warning("store_fault", request_id=call.request_id.decode(), fault=repr(fault))
            call.code = SERVICE_UNAVAILABLE.code
            return refusal_answer(_unavailable(fault))
        except Exception:  # noqa: BLE001 - the last line of defence: whatever it was, nothing of it goes out
            _log.exception("internal_error", request_id=call.request_id.decode())
            call.code = INTERNAL_ERROR.code
            return refusal_answer(Refused(INTERNAL_ERROR))


def _unavailable(fault: StoreFault) -> Refused:
    match fault:
        case OutcomeUnknown():
            words = "The store was lost while recording this. Look whether it was done before you repeat it."
        case StoreBusy() | StoreConflict():
            words = "The store is busy. Nothing was changed; try again."
        case _:
            words = "The store cannot be reached. Nothing was changed; try again."
    return Refused(SERVICE_UNAVAILABLE, words, retry_after_s=1)


class _Open:
    """A page that needs no token."""

    def __init__(self, make: Callable[[], Awaitable[Answer]]) -> None:
        self._make = make

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        if _ends_elsewhere(scope, ""):
            answer = NOT_FOUND
        elif scope["method"] == "GET":
            answer = await self._make()
        else:
            answer = refusal_answer(Refused(METHOD_NOT_ALLOWED, headers={"Allow": "GET"}))
        await send_answer(scope, send, answer, new_request_id())


async def _not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    await send_answer(scope, send, NOT_FOUND, new_request_id())


def desk_app(
    desk: Desk,
    doorkeeper: Doorkeeper,
    journal: CallJournal,
    checks: Checks,
    metrics: Callable[[], Answer],
) -> Any:
    async def live() -> Answer:
        return health.live()

    async def ready() -> Answer:
        return await health.ready(checks)

    async def measured() -> Answer:
        return metrics()

    routes = [
        Route(BASE + path, _Resource(path, handlers, desk, doorkeeper, journal))
        for path, handlers in _RESOURCES.items()
    ]
    routes += [
        Route(health.LIVE, _Open(live)),
        Route(health.READY, _Open(ready)),
        Route("/metrics", _Open(measured)),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    app.router.default = _not_found
    return app


def _ends_elsewhere(scope: Scope, path: str) -> bool:
    """Starlette's patterns end in `$`, so a new line may come after a path that does not end in a name."""
    return bool(scope["path"].endswith("\n")) and not path.endswith("}")
