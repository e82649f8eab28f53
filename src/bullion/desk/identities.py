"""Looks up the actor of a desk token: in the store each time, so that a deletion takes effect at once."""

from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from time import monotonic

from bullion.faults import StoreFault
from bullion.keys.hashing import Hasher
from bullion.records.session import SessionState
from bullion.records.token import FIRST_USER, Actor, Role, Token, read_token
from bullion.store.records import Records, RecordStore
from bullion.unreadable import Unreadable

from .unreadable import read_or_unreadable

_USE_RECORDED_EVERY_S = 60
"""The last use of a token is recorded at most this often, so that a busy program costs no write per call."""


@dataclass(frozen=True, slots=True)
class Identities:
    store: RecordStore
    hasher: Hasher
    default_broker: str
    first_token_hash: bytes | None
    """Of BULLION_DESK_TOKEN; None when there is none."""
    _recorded: dict[str, float] = field(default_factory=dict, compare=False)
    """When the last use of a token was recorded by this process."""

    async def actor(self, text: str) -> Actor | None:
        """The actor of this token; None if it does not exist or was deleted."""
        if self.first_token_hash is not None:
            sent = self.hasher.hash(text.encode("latin-1", "replace"))
            if compare_digest(sent, self.first_token_hash):
                return self._first_actor()
        parts = read_token(text)
        if parts is None:
            return None
        token_id, secret = parts
        token = await self._token(token_id)
        sent = self.hasher.hash(secret.encode("ascii"))
        other = self.hasher.other_hash(secret.encode("ascii"))
        stored = bytes(32) if token is None else token.secret_hash
        proved = compare_digest(sent, stored)
        if other is not None:
            proved |= compare_digest(other, stored)
        if token is None or not proved or token.deleted_at_us is not None:
            return None
        if stored != sent:
            await self._rehash(token, sent)
        await self._record_use(token_id)
        return _actor(token)

    def session_actor(self, state: SessionState) -> Actor | None:
        """The actor of a session; None if the token was deleted or replaced, or has another role now."""
        session, token = state.session, state.token
        if session.user_id == FIRST_USER:
            known = self.first_session_hash()
            same = known is not None and compare_digest(known, session.first_token_hash or "")
            return self._first_actor() if same and session.broker == self.default_broker else None
        if token is None or token.deleted_at_us is not None:
            return None
        return _actor(token) if (token.role, token.broker) == (session.role, session.broker) else None

    def first_session_hash(self) -> str | None:
        """Marks the sessions of the first token, so that they end when it is replaced."""
        if self.first_token_hash is None:
            return None
        return self.hasher.hash(b"session " + self.first_token_hash).hex()

    def _first_actor(self) -> Actor:
        return Actor("first token", Role.ADMIN, self.default_broker, first=True)

    async def _record_use(self, token_id: str) -> None:
        now = monotonic()
        if now - self._recorded.get(token_id, -_USE_RECORDED_EVERY_S) < _USE_RECORDED_EVERY_S:
            return
        self._recorded[token_id] = now
        with suppress(StoreFault):  # Only information for the desk.
            await self.store.write(
                "record_token_use", lambda records: records.record_token_use(token_id), catalogue=False
            )

    async def _rehash(self, token: Token, secret_hash: bytes) -> None:
        """Its hash was made with the other secret of the deployment, which is being exchanged."""

        async def body(records: Records) -> None:
            await records.rehash_token(token, secret_hash, self.hasher.secret_id)

        with suppress(StoreFault):  # Then it is done at the next use.
            await self.store.write("rehash_token", body, catalogue=False)

    async def _token(self, token_id: str) -> Token | None:
        """None also for a token that cannot be read."""
        token = await read_or_unreadable(self.store.read("token", lambda records: records.token(token_id)))
        return None if isinstance(token, Unreadable) else token


def _actor(token: Token) -> Actor:
    return Actor(f"{token.name} ({token.token_id})", token.role, token.broker, token_id=token.token_id)
