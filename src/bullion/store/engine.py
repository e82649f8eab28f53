"""The interface between our queries and a database engine: the few things in which engines differ."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from .schema import Step

T = TypeVar("T")

Value = str | int | None | Sequence[str | int | None]
"""The type of query parameters and columns: text and integers, which both engines have. Only PostgreSQL takes
arrays of them."""


class Row(Protocol):
    def __getitem__(self, column: str, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class Transaction(Protocol):
    """An open transaction. Queries are given by name: `all("keys_page", 7)` runs `-- name: keys_page`."""

    async def all(self, query: str, *values: Value) -> Sequence[Row]: ...

    async def one(self, query: str, *values: Value) -> Row | None:
        """The first row, if there is any."""

    async def run(self, query: str, *values: Value) -> None: ...


class Engine(Protocol):
    """Every method may raise the faults of `bullion.faults`, and no driver's own error."""

    @property
    def failovers(self) -> int:
        """How often another server has taken over as the primary.

        It may lack the last commits of the one before. Then versions are used a second time for something
        else: whatever was read before must not be compared with the store by its version.
        """

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def register_node(self, *, exclusive: bool) -> bool:
        """Register this node as one that serves the store, until the engine is closed.

        `exclusive` is for a node that counts rate limits in its own memory: it must be the only node. Returns
        False if the nodes that are already registered, or the kind of store, do not allow it.
        """

    async def has_schema(self) -> bool:
        """Whether any migration was applied. False for a new store or another program's database."""

    async def migrate(self, *, exclusive: bool = False, force: bool = False) -> int:
        """Create the store, or apply the migrations that it lacks. Returns how many.

        Any number of processes may do it at once. Raises StepRefused for a migration that a node that serves
        now does not work with, unless `force`. With `exclusive`, also if another process has the store open,
        as far as the engine can tell.
        """

    async def missing_steps(self) -> Sequence[Step]:
        """The migrations that the store lacks. Raises SchemaMismatch if this code cannot use the store."""

    async def levels_in_use(self) -> set[int]:
        """The schema levels of the nodes that serve the store now. 0 is a node whose level is not known."""

    async def can_write(self) -> bool:
        """False if the last write failed, as on a full disk, and another one fails now."""

    async def write(
        self,
        name: str,
        body: Callable[[Transaction], Awaitable[T]],
        *,
        custom_plans: bool = False,
        holding: Collection[str] = (),
    ) -> T:
        """Run `body` in one durable transaction. It may run several times, so it must have no other effects.

        `custom_plans`: PostgreSQL plans each query for its values and for the tables as they are now, which
        costs up to a millisecond. Otherwise it keeps a plan for all values, which may be as old as the
        connection: such queries need a text that leads every plan to the right index.

        `holding`: the queries that `body` asks while it holds what orders wait for. See `prepared_queries`.
        """

    async def read(
        self, name: str, body: Callable[[Transaction], Awaitable[T]], *, custom_plans: bool = False
    ) -> T:
        """Run `body` over one snapshot of everything committed before. `custom_plans`: see `write`."""

    async def one(self, query: str, *values: Value) -> Row | None:
        """Read one row by one statement, in one round trip: for what every node asks several times a second.

        Only for lookups by a key, and of the first entry of an index: such a query has one plan. Others need
        the plans of `read`. SQLite answers on the event loop.
        """

    async def all(self, query: str, *values: Value) -> Sequence[Row]:
        """The same for a few rows."""

    async def read_whole(self, name: str, body: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `body` over one snapshot, for as long as it takes: for commands that read the whole store."""

    async def wait_for_change(self, timeout_s: float, listener: str = "catalogue") -> None:
        """Return when another transaction may have committed, at the latest after `timeout_s` seconds.

        Each listener is notified separately, so that one does not consume another's notification.
        """


def nothing() -> None:
    """What an engine calls after a commit if nobody waits for it."""


async def one_row(transaction: Transaction, query: str, *values: Value) -> Row:
    """For queries that always return exactly one row, such as a count."""
    row = await transaction.one(query, *values)
    if row is None:
        raise LookupError(f"query {query} returned no row")
    return row
