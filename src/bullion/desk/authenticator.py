"""Authenticates callers of the desk by their token, and throttles failed attempts."""

from dataclasses import dataclass

from bullion.budgets.limiter import Charge, Limiter, Throttled
from bullion.records.token import Actor
from bullion.refusals.desk import TOKEN_REQUIRED, TOO_MANY_FAILURES
from bullion.refusals.refusal import RefusalError
from bullion.web.address import SourceAddress, client_network
from bullion.web.calls import Call
from bullion.web.headers import Headers
from bullion.web.response import Scope

from .identities import Identities

_FAILURES_PER_MINUTE = 20
_SCHEME = "bearer "


@dataclass(frozen=True)
class DeskAuthenticator:
    identities: Identities
    limiter: Limiter
    addresses: SourceAddress

    async def authenticate(self, call: Call, scope: Scope) -> Actor:
        call.address = self.address(scope)
        return await self.authenticate_token(call.address, _token_text(scope["headers"]))

    def address(self, scope: Scope) -> str:
        client = scope["client"]
        return self.addresses.source(client[0] if client else "", _all(scope["headers"], b"x-forwarded-for"))

    async def authenticate_token(self, address: str, text: str | None) -> Actor:
        """The actor of a token that was sent from this address, in a header or a form."""
        failures = Charge(f"desk failures {client_network(address)}", _FAILURES_PER_MINUTE, 60)
        throttled = self.limiter.throttled(failures)
        if throttled is not None:
            raise _throttled(throttled)
        actor = None if text is None else await self.identities.actor(text)
        counted = await self.limiter.take(failures, failed=actor is None)
        if isinstance(counted, Throttled):
            raise _throttled(counted)
        if actor is None:
            raise RefusalError(TOKEN_REQUIRED, headers={"WWW-Authenticate": "Bearer"})
        return actor


def _token_text(headers: Headers) -> str | None:
    values = _all(headers, b"authorization")
    if len(values) != 1:
        return None
    text = values[0].decode("latin-1")
    return text[len(_SCHEME) :].strip() if text.lower().startswith(_SCHEME) else None


def _all(headers: Headers, wanted: bytes) -> list[bytes]:
    return [value for name, value in headers if name == wanted]


def _throttled(throttled: Throttled) -> RefusalError:
    return RefusalError(TOO_MANY_FAILURES, retry_after_s=throttled.retry_after_s)
