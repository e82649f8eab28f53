"""The door to the desk: whoever comes shows a token, and guessing is slow."""

from dataclasses import dataclass

from bullion.budgets.limiter import Charge, Limiter, Throttled
from bullion.records.token import Actor
from bullion.refusals.desk import TOKEN_REQUIRED, TOO_MANY_FAILURES
from bullion.refusals.refusal import RefusalError
from bullion.web.address import SourceAddress
from bullion.web.calls import Call
from bullion.web.response import Headers, Scope

from .identities import Identities

_FAILURES_PER_MINUTE = 20
_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    identities: Identities
    limiter: Limiter
    addresses: SourceAddress

    async def admit(self, call: Call, scope: Scope) -> Actor:
        call.address = self.address(scope)
        return await self.admit_token(call.address, _token_text(scope["headers"]))

    def address(self, scope: Scope) -> str:
        client = scope["client"]
        return self.addresses.source(client[0] if client else "", _all(scope["headers"], b"x-forwarded-for"))

    async def admit_token(self, address: str, text: str | None) -> Actor:
        """Whoever comes from this address with this text for a token, wherever they wrote it."""
        failures = Charge(f"desk failures {address}", _FAILURES_PER_MINUTE, 60)
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
