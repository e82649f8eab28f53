"""An engine that fails a transaction which would prepare a query while it holds a book or the traces."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeVar

from bullion.store import prepared_queries
from bullion.store.engine import Row, Transaction, Value
from bullion.store.postgres import PostgresEngine

T = TypeVar("T")

_ALL = frozenset(prepared_queries.ALL)
_LOCKS = {name for name in _ALL if name.startswith(("lock_", "claim_", "change_", "move_"))}


class WatchedPostgresEngine(PostgresEngine):
    async def write(
        self,
        name: str,
        body: Callable[[Transaction], Awaitable[T]],
        *,
        custom_plans: bool = False,
        holding: Collection[str] = (),
    ) -> T:
        def watched(transaction: Transaction) -> Awaitable[T]:
            return body(_Watched(transaction, name, frozenset(holding)))

        return await super().write(name, watched, custom_plans=custom_plans, holding=holding)


class _Watched:
    def __init__(self, transaction: Transaction, name: str, holding: frozenset[str]) -> None:
        self._transaction = transaction
        self._name = name
        self._holding = holding
        self._holds = False

    def _check(self, query: str) -> None:
        """The first lock is prepared before anything is held."""
        known = not self._holds or query not in _ALL or query in self._holding
        assert known, f"the transaction {self._name} asks {query}, which is not in its `holding`"
        self._holds = self._holds or query in _LOCKS

    async def all(self, query: str, *values: Value) -> Sequence[Row]:
        self._check(query)
        return await self._transaction.all(query, *values)

    async def one(self, query: str, *values: Value) -> Row | None:
        self._check(query)
        return await self._transaction.one(query, *values)

    async def run(self, query: str, *values: Value) -> None:
        self._check(query)
        await self._transaction.run(query, *values)
