"""Migrates a PostgreSQL store while nodes use it. It neither waits for a lock nor holds one for long.

An `ALTER TABLE` that waits for its lock blocks every later query of the table. So each step waits only for a
moment, and is retried.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic

import asyncpg
import structlog

from . import schema
from .postgres_pool import Connection
from .schema import Step, StepRefused, TakenStep

LOCK_WAIT_S = 0.2
"""How long a step waits for a lock. Orders that need the same table wait behind it."""
TRY_LOCKS_S = 60.0
"""How long a step is retried if it does not get its locks."""
_PAUSE_S = (0.3, 0.6)
_WAIT_FOR_OTHERS_S = 600.0
"""How long to wait for another process that migrates."""
_POLL_S = 0.1
_NO_LIMIT_S = 7 * 86_400
_MIGRATION_LOCK = 5_041_216_001
"""An advisory lock with an arbitrary number. The process that holds it migrates; others wait."""
_LEVELS_LOCK = 504_121_603
"""The first half of a lock that each node shares while it serves. The second half is its schema level."""
_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, oldest_level BIGINT
)
"""
_INSERT_STEP = "INSERT INTO migrations (number, name, checksum, oldest_level) VALUES ($1, $2, $3, $4)"
_LEVELS = f"""
SELECT DISTINCT CAST(objid AS BIGINT) FROM pg_locks
WHERE locktype = 'advisory' AND classid = {_LEVELS_LOCK} AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""  # noqa: S608 - no text from outside

_log = structlog.get_logger("store")


async def migrate(connection: Connection, *, force: bool) -> int:
    """Create the store, or take the steps that it lacks. Returns how many."""
    async with _migration_lock(connection):
        names = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        schema.require_own_tables({row["tablename"] for row in names})
        taken = await steps_taken(connection)
        steps = schema.missing_steps("postgres", taken)
        if not taken:
            await _create_store(connection, steps)
            return len(steps)
        if not force:
            schema.require_level(steps, await levels_in_use(connection))
        if steps:
            await connection.execute("ALTER TABLE migrations ADD COLUMN IF NOT EXISTS oldest_level BIGINT")
        for step in steps:
            if step.in_transaction:
                await _apply_with_locks(connection, step)
            else:
                await _apply_outside_transaction(connection, step)
        return len(steps)


async def steps_taken(connection: Connection) -> list[TakenStep]:
    """First asks whether there is a store at all: the server would log an error otherwise."""
    if await connection.fetchval("SELECT to_regclass('migrations')") is None:
        return []
    return await read_steps(connection)


async def read_steps(connection: Connection) -> list[TakenStep]:
    """In one statement, for nodes, which ask all the time. None are left if the tables were dropped."""
    try:
        rows = await connection.fetch("SELECT * FROM migrations ORDER BY number")
    except asyncpg.UndefinedTableError:
        return []
    return [TakenStep(row["number"], row["checksum"], row.get("oldest_level")) for row in rows]


async def announce_level(connection: Connection) -> None:
    """Show, while the connection lasts, that a node with this schema level serves the store."""
    level = schema.code_level("postgres")
    await connection.execute(f"SELECT pg_advisory_lock_shared({_LEVELS_LOCK}, {level})")


async def levels_in_use(connection: Connection) -> set[int]:
    return {row[0] for row in await connection.fetch(_LEVELS)}


@asynccontextmanager
async def _migration_lock(connection: Connection) -> AsyncIterator[None]:
    """Hold the migration lock until the body ends or the connection is closed.

    The lock is polled. A statement that waits for it would block `CREATE INDEX CONCURRENTLY` of the process
    that holds it.
    """
    give_up_at = monotonic() + _WAIT_FOR_OTHERS_S
    while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _MIGRATION_LOCK):
        if monotonic() > give_up_at:
            raise StepRefused(
                f"Another process has been migrating this store for {_WAIT_FOR_OTHERS_S:g} s. "
                "Wait for it, or end it, and run 'bullion migrate' again."
            )
        await asyncio.sleep(_POLL_S)
    yield
    await connection.execute("SELECT pg_advisory_unlock($1)", _MIGRATION_LOCK)


async def _create_store(connection: Connection, steps: Sequence[Step]) -> None:
    """All steps in one transaction: a process that starts meanwhile finds no store or a complete one."""
    async with connection.transaction():
        await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        await connection.execute(_MIGRATIONS_TABLE)
        for step in steps:
            await connection.execute(step.for_new_store, timeout=_NO_LIMIT_S)
            await _record_step(connection, step)


async def _apply_with_locks(connection: Connection, step: Step) -> None:
    """Run the step in a transaction of its own, and retry until it gets its locks."""
    give_up_at = monotonic() + TRY_LOCKS_S
    limits = f"SET LOCAL lock_timeout = '{LOCK_WAIT_S * 1000:g}ms'"
    limits += f"; SET LOCAL statement_timeout = '{step.lock_s_max}s'"
    while True:
        try:
            async with connection.transaction():
                await connection.execute(limits)
                await connection.execute(step.sql, timeout=step.lock_s_max)
                await _record_step(connection, step)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
            if monotonic() > give_up_at:
                raise StepRefused(
                    f"Schema step {step.number} ({step.name}) did not get its locks within "
                    f"{TRY_LOCKS_S:g} s: another session uses the table in a long transaction. Nothing of "
                    "the step was changed. Find that session in pg_stat_activity, and run "
                    "'bullion migrate' again."
                ) from error
            _log.info("migration_waits", step=step.number, reason=str(error))
            await asyncio.sleep(random.uniform(*_PAUSE_S))  # noqa: S311 - no secret
        except (TimeoutError, asyncpg.QueryCanceledError) as error:
            raise StepRefused(
                f"Schema step {step.number} ({step.name}) took longer than {step.lock_s_max} s and was "
                "undone, because orders wait for its locks. Run 'bullion migrate' again at a quiet time."
            ) from error
        else:
            return


async def _apply_outside_transaction(connection: Connection, step: Step) -> None:
    """Run its statements one by one, each in its own transaction. After a failure the step starts over."""
    await connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
    for statement in schema.statements(step.sql):
        changed = await connection.execute(statement, timeout=_NO_LIMIT_S)
        while schema.is_repeated(statement) and not changed.endswith(" 0"):
            changed = await connection.execute(statement, timeout=_NO_LIMIT_S)
    await _record_step(connection, step)


async def _record_step(connection: Connection, step: Step) -> None:
    await connection.execute(_INSERT_STEP, step.number, step.name, step.checksum, step.oldest_level)
