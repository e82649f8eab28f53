"""What a move of a broker to another PostgreSQL store needs of both: a mark, a lock, and a broker at rest.

The mark is in the old store, with the id of the new one. From its commit on, nothing more is recorded for the
broker there. Whoever copies, or takes the mark back, holds a lock in the new store: the mark is never taken
back while a copy may still be committed.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec

from bullion.records.audit import Chain, Entry

from .engine import Transaction
from .postgres import PostgresEngine
from .postgres_pool import Connection
from .records import Records, RecordStore
from .store_copy import CopyRefused

_LOCK = 504_121_604
"""The first half of a lock in the new store. The second half is a hash of the broker's tag."""
_STORE_ID = "store_id"
_FINGERPRINT = "secret_fingerprint"
_FRESH_US = 15_000_000
"""How old a line's report may be to say that it is connected."""
_OF_BROKER = """
book_id IN (SELECT books.id FROM books JOIN accounts ON accounts.id = books.account_id WHERE broker = $1)
"""
_NOT_AT_REST = f"""
SELECT 'trading is not halted' AS why
FROM brokers LEFT JOIN switches ON switches.broker = brokers.tag
WHERE brokers.tag = $1 AND coalesce(switches.halted, 0) = 0
UNION ALL
SELECT 'production is not paused' FROM switches WHERE broker = $1 AND production = 1 AND paused = 0
UNION ALL
SELECT 'orders pending: ' || count(*)
FROM orders WHERE status = 'pending' AND {_OF_BROKER} HAVING count(*) > 0
UNION ALL
SELECT 'hedge requests waiting: ' || count(*)
FROM hedge_requests WHERE broker = $1 AND state = 'waiting' HAVING count(*) > 0
UNION ALL
SELECT 'covers open at a venue: ' || count(*)
FROM covers WHERE broker = $1 AND state = 'sent' HAVING count(*) > 0
UNION ALL
SELECT 'orders open on a line: ' || count(*)
FROM line_orders WHERE broker = $1 AND state = 'sent' HAVING count(*) > 0
UNION ALL
SELECT 'line ' || line || ' is not disconnected'
FROM line_states
WHERE
    broker = $1
    AND (
        NOT EXISTS (
            SELECT 1 FROM line_wishes AS wishes WHERE wishes.line = line_states.line AND wishes.connected = 0
        )
        OR (
            CAST(report AS JSONB) ->> 'state' <> 'resting'
            AND at_us > extract(EPOCH FROM clock_timestamp()) * 1000000 - {_FRESH_US}
        )
    )
"""  # noqa: S608 - no text from outside
_WAIT_FOR_BOOKINGS = """
SELECT count(*) FROM (
    SELECT 1 FROM books JOIN accounts ON accounts.id = books.account_id
    WHERE accounts.broker = $1 ORDER BY books.id FOR SHARE OF books
) AS locked
"""
_LAST_MOVE = """
SELECT ordinal, at_us, actor, after
FROM audit WHERE broker = $1 AND action = 'move_broker' ORDER BY ordinal DESC LIMIT 1
"""
_HAS_ENTRY = """
SELECT EXISTS (
    SELECT 1 FROM audit
    WHERE broker = $1 AND action = 'move_broker' AND ordinal = $2 AND at_us = $3 AND actor = $4 AND after = $5
)
"""
_LINES = """
SELECT line FROM line_states WHERE broker = $1 UNION SELECT line FROM line_orders WHERE broker = $1
"""
_TAKEN = """
SELECT 'host name ' || host FROM broker_hosts WHERE host = ANY(CAST($1 AS TEXT []))
UNION ALL
SELECT 'line ' || line FROM unnest(CAST($2 AS TEXT [])) AS wanted (line)
WHERE
    EXISTS (SELECT 1 FROM fix_lines WHERE fix_lines.name = wanted.line)
    OR EXISTS (SELECT 1 FROM line_states WHERE line_states.line = wanted.line)
    OR EXISTS (SELECT 1 FROM line_wishes WHERE line_wishes.line = wanted.line)
    OR EXISTS (SELECT 1 FROM line_orders WHERE line_orders.line = wanted.line)
"""


@dataclass(frozen=True, slots=True)
class Target:
    """The store that a broker is moved to."""

    store_id: str
    address: str
    """Without a password."""


async def store_id(engine: PostgresEngine) -> str:
    """A name that the store keeps for good, made when it is first needed."""

    async def body(transaction: Transaction) -> str:
        await transaction.run("keep_deployment_value", _STORE_ID, secrets.token_hex(16))
        row = await transaction.one("deployment_value", _STORE_ID)
        if row is None:
            raise LookupError("the store did not keep its id")
        return str(row["value"])

    return await engine.write("store_id", body)


async def secret_fingerprint(engine: PostgresEngine) -> str | None:
    """Of the secret that the store was made with. None: whoever made the store did not save it."""
    row = await engine.read("secret_fingerprint", lambda open_: open_.one("deployment_value", _FINGERPRINT))
    return None if row is None else str(row["value"])


@asynccontextmanager
async def locked_target(engine: PostgresEngine, broker: str) -> AsyncIterator[Connection]:
    """An open transaction in the new store, with the lock of the broker. It is committed at the end."""
    async with engine.connection_without_timeouts() as there:
        await there.execute("SET idle_in_transaction_session_timeout = 0")
        async with there.transaction():
            if not await there.fetchval(f"SELECT pg_try_advisory_xact_lock({_LOCK}, hashtext($1))", broker):
                raise CopyRefused(f"Another command is moving broker {broker} to this store.")
            yield there


async def has_broker(store: Connection, broker: str) -> bool:
    return bool(await store.fetchval("SELECT EXISTS (SELECT 1 FROM brokers WHERE tag = $1)", broker))


async def taken_names(here: Connection, there: Connection, broker: str) -> list[str]:
    """The broker's host names and lines that the new store has already."""
    hosts = await here.fetch("SELECT host FROM broker_hosts WHERE broker = $1", broker)
    lines = await here.fetch(_LINES, broker)
    names = [[row[0] for row in rows] for rows in (hosts, lines)]
    return sorted(row[0] for row in await there.fetch(_TAKEN, *names))


async def has_copy(here: Connection, there: Connection, broker: str) -> bool:
    """Whether the trail in the new store has the entry of the last mark, which only a copy takes there.

    Its hash is not compared: it changes with the secret, which one of the stores may have exchanged since.
    """
    entry = await here.fetchrow(_LAST_MOVE, broker)
    return entry is not None and bool(await there.fetchval(_HAS_ENTRY, broker, *entry))


@asynccontextmanager
async def snapshot(engine: PostgresEngine, broker: str) -> AsyncIterator[Connection]:
    """The old store as it is after the last booking that was decided before the mark."""
    async with engine.connection_without_timeouts() as here:
        await here.execute("SET idle_in_transaction_session_timeout = 0")
        await here.fetchval(_WAIT_FOR_BOOKINGS, broker)
        async with here.transaction(isolation="repeatable_read", readonly=True):
            yield here


async def why_not_at_rest(here: Connection, broker: str) -> str:
    """What may still change something of the broker. Empty: it is at rest."""
    return ", ".join(row["why"] for row in await here.fetch(_NOT_AT_REST, broker))


async def mark(store: RecordStore, chain: Chain, broker: str, target: Target, actor: str) -> bool:
    """Mark the broker as moved. False: it has this mark already. May raise CopyRefused."""

    async def body(records: Records) -> bool:
        before = await records.move_mark(broker)
        if before == target.store_id:
            return False
        if before is not None:
            raise CopyRefused(
                f"Broker {broker} was moved to another store before: see 'bullion desk brokers list'."
            )
        await records.put_move_mark(broker, target.store_id, target.address)
        await _append(records, chain, broker, actor, "move_broker", target.address)
        return True

    return await store.write("move_broker", body)


async def take_back(store: RecordStore, chain: Chain, broker: str, target: Target, actor: str) -> None:
    """Take the mark back. The caller holds the lock, and the new store does not have the copy."""

    async def body(records: Records) -> None:
        before = await records.move_mark(broker)
        if before is None:
            raise CopyRefused(f"Broker {broker} is not marked as moved.")
        if before != target.store_id:
            raise CopyRefused(f"Broker {broker} is marked as moved to another store than --to.")
        await records.put_move_mark(broker, None, None)
        await _append(records, chain, broker, actor, "cancel_move", target.address)

    await store.write("cancel_move", body)


async def _append(records: Records, chain: Chain, broker: str, actor: str, action: str, address: str) -> None:
    head = await records.lock_audit_head(broker)
    after = msgspec.json.encode({"store": address}).decode()
    entry = Entry(broker, 0, await records.now_us(), actor, action, broker, None, after)
    await records.append_audit(*chain.append(head, entry))
