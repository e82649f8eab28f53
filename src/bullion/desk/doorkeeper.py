"""Who is at the desk: a call's token is judged against the store each time, so a deletion holds at once."""

from dataclasses import dataclass
from hmac import compare_digest

from bullion.budgets.limiter import Charge, Limiter, Throttled
from bullion.keys.hashing import Hasher
from bullion.records.port import RecordStore
from bullion.records.token import Actor, Role, read_token
from bullion.refusals.desk import TOKEN_REQUIRED, TOO_MANY_FAILURES
from bullion.refusals.refusal import Refused
from bullion.web.address import SourceAddress
from bullion.web.answer import Headers, Scope
from bullion.web.calls import Call

_FAILURES_PER_MINUTE = 20
_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    store: RecordStore
    hasher: Hasher
    limiter: Limiter
    addresses: SourceAddress
    default_broker: str
    first_token_hash: bytes | None
    """Of BULLION_DESK_TOKEN; None when there is none."""

    async def admit(self, call: Call, scope: Scope) -> Actor:
        client = scope["client"]
        call.address = self.addresses.source(
            client[0] if client else "", _all(scope["headers"], b"x-forwarded-for")
        )
        failures = Charge(f"desk failures {call.address}", _FAILURES_PER_MINUTE, 60)
        throttled = self.limiter.throttled(failures)
        if throttled is not None:
            raise _throttled(throttled)
        actor = await self._actor(_token_text(scope["headers"]))
        if actor is None:
            counted = await self.limiter.take(failures, failed=True)
            if isinstance(counted, Throttled):
                raise _throttled(counted)
            raise Refused(TOKEN_REQUIRED, headers={"WWW-Authenticate": "Bearer"})
        return actor

    async def _actor(self, text: str | None) -> Actor | None:
        if text is None:
            return None
        if self.first_token_hash is not None:
            sent = self.hasher.hash(text.encode("latin-1"))
            if compare_digest(sent, self.first_token_hash):
                return Actor("first token", Role.ADMIN, self.default_broker, first=True)
        parts = read_token(text)
        if parts is None:
            return None
        token_id, secret = parts
        token = await self.store.read("token", lambda records: records.token(token_id))
        sent = self.hasher.hash(secret.encode("ascii"))
        proved = compare_digest(sent, bytes(32) if token is None else token.secret_hash)
        if token is None or not proved or token.deleted_at_us is not None:
            return None
        return Actor(f"{token.name} ({token_id})", token.role, token.broker)


def _token_text(headers: Headers) -> str | None:
    values = _all(headers, b"authorization")
    if len(values) != 1:
        return None
    text = values[0].decode("latin-1")
    return text[len(_SCHEME) :].strip() if text.lower().startswith(_SCHEME) else None


def _all(headers: Headers, wanted: bytes) -> list[bytes]:
    return [value for name, value in headers if name == wanted]


def _throttled(throttled: Throttled) -> Refused:
    return Refused(TOO_MANY_FAILURES, retry_after_s=throttled.retry_after_s)
