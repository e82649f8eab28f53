"""Sessions, in the memory of this process. The browser has a signed cookie, not the token."""

from dataclasses import dataclass
from hmac import compare_digest
from secrets import token_urlsafe
from time import monotonic

from bullion.keys.hashing import Hasher
from bullion.records.token import Actor

LASTS_S = 12 * 3600
"""A working day; then the user has to log in again."""
IDLE_S = 3600
"""An open page sends a request every second, so this ends sessions without an open page."""
_KEPT_MAX = 10_000


@dataclass(slots=True)
class Session:
    id: str
    actor: Actor
    csrf: str
    """Sent with every form; another site cannot know it."""
    made_at: float
    used_at: float


class Sessions:
    def __init__(self, hasher: Hasher) -> None:
        self._hasher = hasher
        self._open: dict[str, Session] = {}

    def begin(self, actor: Actor) -> Session:
        now = monotonic()
        self._drop_old(now)
        session = Session(token_urlsafe(32), actor, token_urlsafe(32), now, now)
        self._open[session.id] = session
        return session

    def end(self, session: Session) -> None:
        self._open.pop(session.id, None)

    def cookie(self, session: Session) -> str:
        return f"{session.id}.{self._seal(session.id)}"

    def find(self, cookie: str | None) -> Session | None:
        if cookie is None:
            return None
        session_id, _, seal = cookie.partition(".")
        if not compare_digest(seal.encode(), self._seal(session_id).encode()):
            return None
        session, now = self._open.get(session_id), monotonic()
        if session is None or _over(session, now):
            return None
        session.used_at = now
        return session

    def _seal(self, session_id: str) -> str:
        return self._hasher.hash(session_id.encode("latin-1", "replace")).hex()

    def _drop_old(self, now: float) -> None:
        """Also drops the session that was idle longest where there are too many."""
        self._open = {key: each for key, each in self._open.items() if not _over(each, now)}
        if len(self._open) >= _KEPT_MAX:
            del self._open[min(self._open.values(), key=lambda each: each.used_at).id]


def _over(session: Session, now: float) -> bool:
    return now - session.made_at >= LASTS_S or now - session.used_at >= IDLE_S
