"""Looks up the actor of a desk token: in the store each time, so that a deletion takes effect at once."""

from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest

from bullion.faults import StoreFault
from bullion.keys.hashing import Hasher
from bullion.records.token import Actor, Role, Token, read_token
from bullion.store.records import Records, RecordStore
from bullion.unreadable import Unreadable

from .unreadable import read_or_unreadable


@dataclass(frozen=True, slots=True)
class Identities:
    store: RecordStore
    hasher: Hasher
    default_broker: str
    first_token_hash: bytes | None
    """Of BULLION_DESK_TOKEN; None when there is none."""

    async def actor(self, text: str) -> Actor | None:
        """The actor of this token; None if it does not exist or was deleted."""
        if self.first_token_hash is not None:
            sent = self.hasher.hash(text.encode("latin-1", "replace"))
            if compare_digest(sent, self.first_token_hash):
                return Actor("first token", Role.ADMIN, self.default_broker, first=True)
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
        return Actor(f"{token.name} ({token_id})", token.role, token.broker, token_id=token_id)

    async def _rehash(self, token: Token, secret_hash: bytes) -> None:
        """Its hash was made with the other secret of the deployment, which is being exchanged."""

        async def body(records: Records) -> None:
            await records.rehash_token(token, secret_hash, self.hasher.secret_id)

        with suppress(StoreFault):  # Then it is done at the next use.
            await self.store.write("rehash_token", body, catalogue=False)

    async def is_valid(self, actor: Actor) -> bool:
        """Whether the actor's token is still valid."""
        token_id = actor.token_id
        if token_id is None:
            return True
        token = await self._token(token_id)
        return token is not None and token.deleted_at_us is None

    async def _token(self, token_id: str) -> Token | None:
        """None also for a token that cannot be read."""
        token = await read_or_unreadable(self.store.read("token", lambda records: records.token(token_id)))
        return None if isinstance(token, Unreadable) else token
