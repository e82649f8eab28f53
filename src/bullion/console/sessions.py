"""Sessions of the console, kept in the store: they survive a restart, and several consoles share them.

The browser has a sealed cookie with the session's id, not the token. The store has a hash of the id.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b, sha256
from hmac import compare_digest
from secrets import token_urlsafe
from time import monotonic
from typing import Literal

from bullion.desk.identities import Identities
from bullion.faults import StoreFault
from bullion.keys.hashing import Hasher
from bullion.records.session import Session as StoredSession
from bullion.records.session import Stage
from bullion.records.token import Actor, Role
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.store.records import Records, RecordStore

from .shared_read import ReadPending, SharedRead

_CACHED_MAX = 10_000
_PER_USER_MAX = 100
"""A user who logs in more often loses the session that was idle longest."""
_WRITE_EVERY_S = 5.0
_USE_RECORDED_EVERY_S = 60.0
_Found = tuple[Actor, Stage]
_ENDED: Literal[False] = False
_ANYBODY = Actor("console", Role.VIEWER, "")
"""Shared reads are made for an actor; the read of a session is what finds the actor."""


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    actor: Actor
    stage: Stage = Stage.OPEN

    @property
    def csrf(self) -> str:
        """Sent with every form; another site cannot know it.

        It follows from the id, so that open forms stay valid when the console is restarted.
        """
        return blake2b(b"csrf", key=self.id.encode("ascii"), digest_size=32).hexdigest()


class Sessions:
    def __init__(
        self,
        store: RecordStore,
        identities: Identities,
        hasher: Hasher,
        cookie_name: str,
        *,
        lasts_s: int,
        idle_s: int,
    ) -> None:
        """`lasts_s` is the longest life of a session; it ends after `idle_s` without a request."""
        self.cookie_name = cookie_name
        self.lasts_s = lasts_s
        self._store = store
        self._identities = identities
        self._hasher = hasher
        self._idle_us = idle_s * 1_000_000
        self._use_recorded_every_s = min(_USE_RECORDED_EVERY_S, idle_s / 4)
        self._known: OrderedDict[str, SharedRead[_Found | Literal[False]]] = OrderedDict()
        self._recorded: dict[str, float] = {}
        """When the last use of a session was recorded, by the hash of its id."""
        self._used: dict[str, str] = {}
        """The users of sessions whose use is not recorded yet, by the hash of the session's id."""

    async def run(self) -> None:
        """Record when sessions were last used, until cancelled."""
        while True:
            await asyncio.sleep(min(_WRITE_EVERY_S, self._use_recorded_every_s))
            await self._record_uses()

    async def stop(self) -> None:
        for each in self._known.values():
            await each.stop()

    async def begin(
        self, actor: Actor, *, second_factor: bool = False, lasts_s: int | None = None
    ) -> Session:
        """`second_factor`: the user has entered a code. `lasts_s`: a shorter life than usual."""
        session = Session(token_urlsafe(32), actor)
        first = self._identities.first_session_hash() if actor.first else None

        async def body(records: Records) -> None:
            now_us = await records.now_us()
            await records.delete_old_sessions(now_us)
            await records.delete_excess_sessions(actor.user_id, _PER_USER_MAX - 1)
            await records.insert_session(
                StoredSession(
                    session_hash=_hash(session.id),
                    user_id=actor.user_id,
                    broker=actor.broker,
                    role=actor.role,
                    created_at_us=now_us,
                    used_at_us=now_us,
                    expires_at_us=now_us + (lasts_s or self.lasts_s) * 1_000_000,
                    idle_us=self._idle_us,
                    first_token_hash=first,
                    second_factor=second_factor,
                )
            )

        await self._store.write("begin_session", body, catalogue=False)
        return session

    async def end(self, session: Session) -> None:
        self._known.pop(session.id, None)
        await self._store.write(
            "end_session", lambda records: records.delete_session(_hash(session.id)), catalogue=False
        )

    def cookie(self, session: Session) -> str:
        return f"{session.id}.{self._hasher.hash(session.id.encode('ascii')).hex()}"

    async def find(self, cookie: str | None) -> Session | None:
        """The session of a cookie, as the store had it within the last second.

        A session that was found before goes on while the store is away. Any other cannot be found then.
        """
        session_id, _, seal = (cookie or "").partition(".")
        if not self._sealed(session_id, seal):
            return None
        known = self._known.get(session_id)
        if known is None:
            known = self._known[session_id] = SharedRead(lambda _: self._read(session_id), share=1)
            while len(self._known) > _CACHED_MAX:
                self._known.popitem(last=False)
        self._known.move_to_end(session_id)
        try:
            found = (await known.get(_ANYBODY)).require()
        except ReadPending as pending:
            raise RefusalError(SERVICE_UNAVAILABLE, str(pending), retry_after_s=1) from None
        if found is _ENDED:
            return None
        actor, stage = found
        self._note_use(_hash(session_id), actor.user_id)
        return Session(session_id, actor, stage)

    def _sealed(self, session_id: str, seal: str) -> bool:
        """Made-up cookies cost no read of the store."""
        if not (session_id.isascii() and seal.isascii()):
            return False
        text = session_id.encode("ascii")
        seals = [self._hasher.hash(text), self._hasher.other_hash(text)]
        return any(each is not None and compare_digest(each.hex(), seal) for each in seals)

    def expire(self, session: Session) -> None:
        """It was changed: the next request reads it again."""
        if session.id in self._known:
            self._known[session.id].expire()

    async def _read(self, session_id: str) -> _Found | Literal[False]:
        state = await self._store.read("session", lambda records: records.session(_hash(session_id)))
        if state is None or state.session.is_over(state.now_us):
            return _ENDED
        actor = self._identities.session_actor(state)
        return _ENDED if actor is None else (actor, state.stage)

    def _note_use(self, session_hash: str, user_id: str) -> None:
        if monotonic() - self._recorded.get(session_hash, float("-inf")) >= self._use_recorded_every_s:
            self._used[session_hash] = user_id

    async def _record_uses(self) -> None:
        if not self._used:
            return
        used, self._used, now = self._used, {}, monotonic()
        self._recorded = {
            each: at for each, at in self._recorded.items() if now - at < self._use_recorded_every_s
        } | dict.fromkeys(used, now)

        async def body(records: Records) -> None:
            await records.record_session_uses(used, set(used.values()))

        with suppress(StoreFault):  # The next write comes before a session that is in use could be idle.
            await self._store.write("record_session_uses", body, catalogue=False)


def _hash(session_id: str) -> str:
    """Without a key: the id has 256 random bits, and the seal proves that this deployment made it."""
    return sha256(session_id.encode("ascii")).hexdigest()
