"""Sessions of the console, and when desk tokens were last used."""

from collections.abc import Iterable

import msgspec

from bullion.records.second_factor import FactorRule
from bullion.records.session import Session, SessionState
from bullion.records.token import Role, Token
from bullion.unreadable import Unreadable

from . import row_decoders
from .desk_transaction import DeskTransaction
from .engine import Row

_encode = msgspec.json.Encoder().encode


class SessionRecords(DeskTransaction):
    async def session(self, session_hash: str) -> SessionState | None:
        row = await self._transaction.one("one_session", session_hash)
        if row is None:
            return None
        return SessionState(
            _session(row),
            _token(row),
            row["clock_us"],
            has_factor=row["confirmed_at_us"] is not None,
            rule=FactorRule(row["required"] or FactorRule.OFF),
        )

    async def insert_session(self, session: Session) -> None:
        await self._transaction.run(
            "insert_session",
            session.session_hash,
            session.user_id,
            session.broker,
            session.role.value,
            session.first_token_hash,
            session.created_at_us,
            session.expires_at_us,
            session.idle_us,
            int(session.second_factor),
        )

    async def record_session_uses(self, session_hashes: Iterable[str], user_ids: Iterable[str]) -> None:
        now_us = await self.now_us()
        await self._transaction.run("record_session_uses", _list(session_hashes), now_us)
        await self._transaction.run("record_token_uses", _list(user_ids), now_us)

    async def record_token_use(self, token_id: str) -> None:
        await self._transaction.run("record_token_uses", _list([token_id]), await self.now_us())

    async def delete_session(self, session_hash: str) -> None:
        await self._transaction.run("delete_session", session_hash)

    async def delete_user_sessions(self, user_id: str) -> None:
        await self._transaction.run("delete_user_sessions", user_id)

    async def delete_old_sessions(self, now_us: int) -> None:
        await self._transaction.run("delete_old_sessions", now_us)

    async def delete_excess_sessions(self, user_id: str, most: int) -> None:
        """Keep this many of the user's sessions: those that were used last."""
        await self._transaction.run("delete_excess_sessions", user_id, most)


def _list(values: Iterable[str]) -> str:
    """In one order, so that two transactions never wait for each other in a circle."""
    return _encode(sorted(values)).decode()


def _session(row: Row) -> Session:
    return Session(
        session_hash=row["session_hash"],
        user_id=row["user_id"],
        broker=row["session_broker"],
        role=Role(row["session_role"]),
        created_at_us=row["begun_at_us"],
        used_at_us=row["used_at_us"],
        expires_at_us=row["expires_at_us"],
        idle_us=row["idle_us"],
        first_token_hash=row["first_token_hash"],
        second_factor=bool(row["second_factor"]),
    )


def _token(row: Row) -> Token | None:
    found = None if row["token_id"] is None else row_decoders.token(row)
    return None if isinstance(found, Unreadable) else found
