"""The SQLite engine: with a write-ahead log, and every commit on disk before it returns, if it has to be.

All writes go through one thread with one connection, and longer reads through another, so that the event loop
does not wait for the disk. Writes that wait for the thread share a commit: see `shared_commits`.

Look-ups of a few rows by key run on the event loop itself: thanks to the write-ahead log they do not wait for
locks, and they cost less than switching threads.
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, monotonic_ns
from typing import NamedTuple, NoReturn, TextIO, TypeVar

from bullion.faults import (
    AlreadyExists,
    ConstraintViolation,
    OutcomeUnknown,
    StoreBusy,
    StoreFault,
    StoreUnavailable,
)

from . import queries, schema
from .engine import Row, Transaction, Value, nothing
from .shared_commits import SharedCommits

T = TypeVar("T")

_BUSY_TIMEOUT_S = 5.0
_POLL_S = 0.05
_WAIT_FOR_OTHERS_S = 600.0
"""How long to wait for another process that migrates."""
_LOOKED_AT_FOR_NS = 1_000_000
_PLACES = tuple(map(str, range(1, 100)))
"""The names of a query's values: `$1` is "1"."""
_STATEMENTS_KEPT = 1_000
"""Statements for many rows differ for each number of rows."""
_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, oldest_level INTEGER
) STRICT
"""


class SqliteEngine:
    failovers = 0

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = str(path)
        self._log_file = f"{path}-wal"
        self._lock_file = Path(f"{path}.lock")
        self._log_inode: int | None = None
        self._queries: dict[str, str] = queries.load("sqlite")
        self._writer = SqliteConnection("bullion-writer", self._queries)
        self._reader = SqliteConnection("bullion-reader", self._queries)
        self._look_up = SqliteConnection("bullion-look-up", self._queries)
        self._seen_versions: dict[str, int] = {}
        self._waiters: list[_ChangeWaiter] = []
        self._polling = False
        self._inode: int | None = None
        self._check_at_ns = 0
        self._node_lock: TextIO | None = None
        self._write_failed = False
        self.on_commit: Callable[[], None] = nothing
        """Called after everything that this process commits."""

    async def open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreUnavailable(f"cannot make the folder {self._path.parent}: {error.strerror}") from error
        await self._connect()
        self._inode = self._path.stat().st_ino

    async def _connect(self) -> None:
        await self._writer.call(self._writer.connect, self._path, read_only=False)
        await self._reader.call(self._reader.connect, self._path, read_only=True)
        with _faults():
            self._look_up.connect(self._path, read_only=True)

    async def _disconnect(self) -> None:
        self._look_up.disconnect()
        await self._reader.call(self._reader.disconnect)
        await self._writer.call(self._writer.disconnect)
        self._log_inode = None  # The last connection takes the log with it.

    async def register_node(self, *, exclusive: bool) -> bool:  # noqa: ARG002 - one node at a time, whatever it is like
        lock = lock_store(self._path)
        if lock is None:
            return False
        lock.truncate(0)
        lock.write(str(schema.code_level("sqlite")))
        lock.flush()
        self._node_lock = lock
        return True

    async def close(self) -> None:
        if self._node_lock is not None:
            self._node_lock.close()
        self._look_up.disconnect()
        await self._reader.shut_down()
        await self._writer.shut_down()

    async def has_schema(self) -> bool:
        return bool(await self._reader.call(self._reader.steps_taken))

    async def migrate(self, *, exclusive: bool = False, force: bool = False) -> int:
        async with self._migration_lock():
            exists = await self.has_schema()
            if exists and not force and self._node_lock is None:
                schema.require_level(await self.missing_steps(), await self.levels_in_use())
            if exists and exclusive and await self.missing_steps():
                await self._require_exclusive()
            return await self._writer.call(self._writer.migrate)

    async def missing_steps(self) -> Sequence[schema.Step]:
        return await self._reader.call(self._reader.missing_steps)

    async def levels_in_use(self) -> set[int]:
        """The node writes its level into the file that it holds the lock of."""
        try:
            file = self._lock_file.open()
        except FileNotFoundError:
            return set()
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                level = file.read()
                return {int(level) if level.isdecimal() else 0}
            return set()

    @asynccontextmanager
    async def _migration_lock(self) -> AsyncIterator[None]:
        """One process at a time migrates the stores of a folder."""
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            give_up_at = monotonic() + _WAIT_FOR_OTHERS_S
            while not _try_lock(folder):
                if monotonic() > give_up_at:
                    raise schema.StepRefused(
                        f"Another process has been migrating this store for {_WAIT_FOR_OTHERS_S:g} s. "
                        "Wait for it, or end it, and run 'bullion migrate' again."
                    )
                await asyncio.sleep(_POLL_S)
            yield
        finally:
            os.close(folder)

    async def _require_exclusive(self) -> None:
        """Raise StepRefused if another process has the file open, such as the console."""
        await self._disconnect()
        try:
            await self._writer.call(_lock_exclusively, self._path)
        except StoreBusy as fault:
            raise schema.StepRefused(
                "The store's schema is older than this version of Bullion, and another process has the store "
                "open. Stop that process, or run 'bullion migrate'."
            ) from fault
        finally:
            await self._connect()

    def _check_file(self) -> None:
        """Data written to a removed or replaced file would be lost when the process ends."""
        try:
            there = os.stat(self._file).st_ino  # noqa: PTH116 - on the path of every read, and much quicker
        except OSError:
            there = None
        if there != self._inode:
            raise StoreUnavailable(f"the file {self._path} was removed or replaced while it was in use")
        self._check_log()

    def _check_file_lately(self) -> None:
        """Check at most once a millisecond."""
        now_ns = monotonic_ns()
        if now_ns >= self._check_at_ns:
            self._check_file()
            self._check_at_ns = now_ns + _LOOKED_AT_FOR_NS

    def _check_log(self) -> None:
        """The newest commits are only in the write-ahead log, which exists as long as the engine is open."""
        try:
            there = os.stat(self._log_file).st_ino  # noqa: PTH116 - as above
        except OSError:
            there = None
        if self._log_inode is None:
            self._log_inode = there
        elif there != self._log_inode:
            raise StoreUnavailable(f"the file {self._log_file} was removed or replaced while it was in use")

    async def can_write(self) -> bool:
        """Only the probe ends a failure: a transaction that changes no row succeeds on a full disk too."""
        if self._write_failed:
            with suppress(StoreFault):
                await self.run_in_writer("write_probe", _probe)
                self._write_failed = False
        return not self._write_failed

    async def write(
        self,
        name: str,
        body: Callable[[Transaction], Awaitable[T]],
        *,
        custom_plans: bool = False,  # noqa: ARG002 - SQLite plans by the indexes alone
        holding: Collection[str] = (),  # noqa: ARG002 - there is no server to wait for in between
    ) -> T:
        return await self.run_in_writer(name, lambda connection: connection.run_body(body))

    async def read(
        self,
        name: str,
        body: Callable[[Transaction], Awaitable[T]],
        *,
        custom_plans: bool = False,  # noqa: ARG002 - as above
    ) -> T:
        return await self.run_in_reader(name, lambda connection: connection.run_body(body))

    async def one(self, query: str, *values: Value) -> Row | None:
        found = self.look_up(query, *values)
        return found[0] if found else None

    async def all(self, query: str, *values: Value) -> Sequence[Row]:
        return self.look_up(query, *values)

    async def read_whole(self, name: str, body: Callable[[Transaction], Awaitable[T]]) -> T:
        return await self.read(name, body)

    async def run_in_writer(
        self,
        name: str,
        work: "Callable[[SqliteConnection], T]",
        *,
        patient: bool = False,
        durable: bool = True,
    ) -> T:
        """Do `work` in one transaction and one visit to the writer's thread.

        `patient` and `durable`: see `SharedCommits`. `work` may run twice, so it must have no other effects.
        """
        try:
            answer = await self._transact(self._writer, name, work, patient=patient, durable=durable)
        except (StoreUnavailable, OutcomeUnknown):
            self._write_failed = True
            raise
        self.on_commit()
        return answer

    async def run_in_reader(self, name: str, work: "Callable[[SqliteConnection], T]") -> T:
        """Run `work` on the reader's thread, over one snapshot."""
        return await self._transact(self._reader, name, work)

    async def _transact(
        self,
        connection: "SqliteConnection",
        name: str,
        work: "Callable[[SqliteConnection], T]",
        *,
        patient: bool = False,
        durable: bool = True,
    ) -> T:
        def checked() -> T:
            self._check_file()
            return work(connection)

        # Submitted now, so that the thread starts it as soon as it is free, however busy this loop is then.
        handed = connection.submit_transaction(checked, patient=patient, durable=durable)
        doing = asyncio.wrap_future(handed)
        try:
            with _faults():
                return await asyncio.shield(doing)
        except asyncio.CancelledError:
            # Work that has started is waited for; otherwise it is cancelled.
            if not handed.cancel():
                await asyncio.wait([doing])
                doing.exception()  # Mark it as retrieved.
            raise
        except StoreFault as fault:
            fault.add_note(f"in the transaction {name}")
            raise

    async def write_on_new_connection(self, name: str, work: "Callable[[SqliteConnection], T]") -> T:
        """Run `work` in a transaction on a new connection."""
        self._check_file()
        connection = SqliteConnection(f"bullion-{name}", self._queries)
        try:
            await connection.call(connection.connect, self._path, read_only=False)
            return await connection.call(connection.transact, lambda: work(connection))
        finally:
            await connection.shut_down()

    def look_up(self, query: str, *values: Value) -> list[Row]:
        """Look up a few rows by their key, on the event loop. One statement is one snapshot."""
        self._check_file_lately()
        try:
            return self._look_up.fetch(query, values)
        except sqlite3.Error as error:
            _raise_store_fault(error)

    def look_up_for(self, query: str, rows: Sequence[Sequence[str | int | None]]) -> list[Row]:
        """The same for many keys."""
        self._check_file_lately()
        with _faults():
            return self._look_up.fetch_for(query, rows)

    async def wait_for_change(self, timeout_s: float, listener: str = "catalogue") -> None:
        """`PRAGMA data_version` changes when another connection commits, in any process."""
        loop = asyncio.get_running_loop()
        waiter = _ChangeWaiter(listener, loop.time() + timeout_s, loop.create_future())
        self._waiters.append(waiter)
        if not self._polling:
            # Not at once: this node's bookings change it too, and must not cause constant reads.
            self._polling = True
            loop.call_later(_POLL_S, self._poll, loop)
        await waiter.over

    def _poll(self, loop: asyncio.AbstractEventLoop) -> None:
        """One look for all who wait. Those for whom nothing has changed go on waiting."""
        self._polling = False
        waiters = [each for each in self._waiters if not each.over.done()]  # Some were cancelled.
        self._waiters = []
        if not waiters:
            return
        try:
            with _faults():
                version = self._look_up.data_version()
        except Exception as error:  # noqa: BLE001 - whatever it is, everyone who waits gets it
            for each in waiters:
                each.over.set_exception(error)
            return
        now_s = loop.time()
        for each in waiters:
            if version != self._seen_versions.get(each.listener) or now_s >= each.until_s:
                self._seen_versions[each.listener] = version
                each.over.set_result(None)
            else:
                self._waiters.append(each)
        if self._waiters:
            self._polling = True
            loop.call_later(_POLL_S, self._poll, loop)


class _ChangeWaiter(NamedTuple):
    listener: str
    until_s: float
    over: asyncio.Future[None]


class SqliteConnection:
    """One SQLite connection and the one thread that may touch it."""

    def __init__(self, thread_name: str, named: dict[str, str]) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=thread_name)
        self._named = named
        self._open: sqlite3.Connection | None = None
        self._reconnect: Callable[[], None] | None = None
        """Opens another connection after the last one had to be closed."""
        self._begin = "BEGIN"
        self._commits: SharedCommits | None = None
        """Of a connection that writes."""
        self._statements: dict[tuple[str, int], str] = {}
        self._durable = True
        """Whether its commits wait for the disk."""
        self._undo_failed = False
        """Whether something is left of a job that failed in this transaction."""

    def submit(self, work: Callable[..., T], *arguments: object, **options: object) -> "Future[T]":
        """Run `work` on the connection's thread, after all work submitted before."""
        return self._thread.submit(lambda: work(*arguments, **options))

    def submit_transaction(
        self, work: Callable[[], T], *, patient: bool = False, durable: bool = True
    ) -> "Future[T]":
        """Run `work` in a transaction. Its writes may share a commit with others."""
        if self._commits is None:
            return self.submit(self.transact, work)
        return self._commits.submit(work, patient=patient, durable=durable)

    async def call(self, work: Callable[..., T], *arguments: object, **options: object) -> T:
        """Submit and await `work`; driver errors become faults."""
        with _faults():
            return await asyncio.wrap_future(self.submit(work, *arguments, **options))

    async def shut_down(self) -> None:
        self._reconnect = None
        await self.call(self.disconnect)
        self._thread.shutdown(wait=False)

    # The methods below are called only on the connection's own thread.

    def connect(self, path: Path, *, read_only: bool) -> None:
        new = not path.exists()
        connection = sqlite3.connect(
            path,
            timeout=_BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=True,
            cached_statements=_STATEMENTS_KEPT,
        )
        if new:
            path.chmod(0o600)
        connection.row_factory = sqlite3.Row
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        if read_only:
            connection.execute("PRAGMA query_only=ON")
        else:
            self._begin = "BEGIN IMMEDIATE"
            self._commits = self._commits or SharedCommits(self, self._thread.submit)
        self._open, self._durable = connection, True
        self._reconnect = lambda: self.connect(path, read_only=read_only)

    def disconnect(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise sqlite3.OperationalError("the store is closed")
        return self._open

    def execute(self, statement: str) -> None:
        self._connection.execute(statement)

    def fetch(self, query: str, values: Sequence[Value]) -> list[Row]:
        # By name, `$1` to "1": SQLite numbers `$1` by first appearance, not by its digit.
        named = dict(zip(_PLACES, values, strict=False))
        return self._connection.execute(self._named[query], named).fetchall()

    def transact(self, work: Callable[[], T]) -> T:
        """Run `work` in a transaction of its own."""
        self.begin()
        try:
            answer = work()
            self.commit()
        except BaseException:
            self.roll_back_failed()
            raise
        return answer

    def begin(self, *, durable: bool = True) -> None:
        """`durable`: the commit waits until it is on disk. Otherwise the next durable one takes it there."""
        if self._open is None and self._reconnect is not None:
            self._reconnect()
        if durable is not self._durable:
            self._connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            self._durable = durable
        self._connection.execute(self._begin)
        self._undo_failed = False

    def in_savepoint(self, work: Callable[[], T]) -> T:
        """Undo whatever `work` has done if it raises."""
        self._connection.execute("SAVEPOINT job")
        try:
            answer = work()
            self._connection.execute("RELEASE job")
        except BaseException:
            try:
                self._connection.execute("ROLLBACK TO job")
                self._connection.execute("RELEASE job")
            except sqlite3.Error:
                self._undo_failed = True  # Then the transaction does not go on.
            raise
        return answer

    def goes_on_after(self, error: BaseException) -> bool:
        """Whether the transaction is as sound as before the job that raised this error.

        After an error of the disk SQLite may have ended it.
        """
        fault = _fault_of(error) if isinstance(error, sqlite3.Error) else error
        in_transaction = self._open is not None and self._open.in_transaction
        return in_transaction and not self._undo_failed and not isinstance(fault, StoreUnavailable)

    def roll_back_failed(self) -> None:
        """Roll back a failed transaction. Never raises: the original error must not be lost.

        If the rollback fails, the connection is closed, which releases its locks.
        """
        try:
            self.roll_back()
        except sqlite3.Error:
            with suppress(sqlite3.Error):
                self.disconnect()
            self._open = None

    def commit(self) -> None:
        """A commit that fails with an I/O error may still have reached the disk."""
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            fault = _fault_of(error)
            if isinstance(fault, StoreUnavailable):
                raise OutcomeUnknown(*fault.args) from error
            raise

    def run_body(self, body: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run a transaction's body to its end: queries on this engine never suspend it."""
        steps = body(SqliteTransaction(self)).__await__()
        try:
            next(steps)
        except StopIteration as end:
            answer: T = end.value
            return answer
        raise RuntimeError("the body of a transaction awaited something other than its queries")

    def fetch_for(self, query: str, rows: Sequence[Sequence[str | int | None]]) -> list[Row]:
        """Run a query for many rows at once: they replace `$rows` in its text.

        SQLite releases the GIL once for all of them. `rows` may be empty.
        """
        if not rows:
            return []
        statement = self._statements.get((query, len(rows)))
        if statement is None:
            places = f"({', '.join('?' * len(rows[0]))})"
            statement = self._named[query].replace("$rows", ", ".join([places] * len(rows)))
            self._statements[query, len(rows)] = statement
        return self._connection.execute(statement, [value for row in rows for value in row]).fetchall()

    def roll_back(self) -> None:
        if self._open is not None and self._open.in_transaction:
            self._open.execute("ROLLBACK")

    def data_version(self) -> int:
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def migrate(self) -> int:
        connection = self._connection
        steps = self.missing_steps()
        if not self.steps_taken():
            with self._immediate():
                schema.require_own_tables(self._table_names())
                connection.execute(_MIGRATIONS_TABLE)
                for step in steps:
                    self._take(step, step.for_new_store)
            return len(steps)
        columns = {row["name"] for row in connection.execute("PRAGMA table_info(migrations)")}
        if steps and "oldest_level" not in columns:
            connection.execute("ALTER TABLE migrations ADD COLUMN oldest_level INTEGER")
        for step in steps:
            if step.in_transaction:
                with self._immediate():
                    self._take(step, step.sql)
            else:
                self._take(step, step.sql, repeats=True)
        return len(steps)

    def _take(self, step: schema.Step, sql: str, *, repeats: bool = False) -> None:
        connection = self._connection
        for statement in _statements(schema.for_sqlite(sql)):
            changed = connection.execute(statement).rowcount
            while repeats and changed > 0 and schema.is_repeated(statement):
                changed = connection.execute(statement).rowcount
        connection.execute(
            "INSERT INTO migrations (number, name, checksum, oldest_level) VALUES (?, ?, ?, ?)",
            (step.number, step.name, step.checksum, step.oldest_level),
        )

    @contextmanager
    def _immediate(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self.roll_back()
            raise

    def missing_steps(self) -> Sequence[schema.Step]:
        return schema.missing_steps("sqlite", self.steps_taken())

    def _table_names(self) -> set[str]:
        return {row["name"] for row in self._connection.execute("SELECT name FROM sqlite_master")}

    def steps_taken(self) -> list[schema.TakenStep]:
        if "migrations" not in self._table_names():
            return []
        rows = [dict(row) for row in self._connection.execute("SELECT * FROM migrations ORDER BY number")]
        return [schema.TakenStep(row["number"], row["checksum"], row.get("oldest_level")) for row in rows]


class SqliteTransaction:
    """An open transaction. Its methods never suspend."""

    def __init__(self, connection: SqliteConnection) -> None:
        self.connection = connection

    async def all(self, query: str, *values: Value) -> Sequence[Row]:
        with _faults():
            return self.connection.fetch(query, values)

    async def one(self, query: str, *values: Value) -> Row | None:
        found = await self.all(query, *values)
        return found[0] if found else None

    async def run(self, query: str, *values: Value) -> None:
        await self.all(query, *values)


def _probe(connection: SqliteConnection) -> None:
    # A new value each time: SQLite does not write a row that stays as it is.
    connection.fetch("put_deployment_value", ("write_probe", str(monotonic_ns())))


def _lock_exclusively(path: Path) -> None:
    """Fails as busy if another connection is open: each holds a shared lock of the file for its life."""
    with closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN IMMEDIATE")


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _statements(sql: str) -> list[str]:
    found, pending = [], ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        _raise_store_fault(error)


def _raise_store_fault(error: sqlite3.Error) -> NoReturn:
    fault = _fault_of(error)
    if fault is None:
        raise error
    raise fault from error


def _fault_of(error: sqlite3.Error) -> StoreFault | None:
    """Translate SQLite's errors. None: a programming error, which is not translated."""
    name = getattr(error, "sqlite_errorname", "")
    damaged = str(error).startswith(("no such table", "no such column"))
    if isinstance(error, sqlite3.ProgrammingError) or (name == "SQLITE_ERROR" and not damaged):
        return None
    if name in ("SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE"):
        return AlreadyExists(str(error))
    if name.startswith("SQLITE_CONSTRAINT"):
        return ConstraintViolation(str(error))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(str(error))
    return StoreUnavailable(f"{name or type(error).__name__}: {error}")


def lock_store(path: Path) -> TextIO | None:
    """The lock of the one node that may serve a store, until it is closed. None: another process has it."""
    lock = os.fdopen(os.open(f"{path}.lock", os.O_WRONLY | os.O_CREAT, 0o600), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def sqlite_path(url: str) -> Path:
    """`sqlite:///var/bullion.db` is a path from here, `sqlite:////srv/bullion.db` one from the root."""
    path = Path(url.removeprefix("sqlite:///"))
    try:
        return path.expanduser()
    except RuntimeError:  # There is no such user: `~name` is an ordinary file name.
        return path
