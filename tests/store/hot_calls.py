"""Every call of the trading API on a real node, and the queries that its store ran for them.

What nodes do by themselves at the same time (rates, traces, the watch on the venue) is told apart by the
context that a call's work inherits.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop

from bench.seed import seed
from bullion.settings import Settings
from bullion.store import postgres, sqlite
from bullion.wiring.node import open_node
from tests.support.orders import GOLD, SILVER, UNBOUNDED

TEST, LIVE = "/api/trading/test/v1", "/api/trading/v1"
DESK_TOKEN = "desk-token-of-the-hot-calls"
# Nearly a block of them is not full: some pages begin among those.
ORDERS = {("client", "test"): 2_540, ("client", "production"): 2_540, ("other", "test"): 300}

_called: ContextVar[bool] = ContextVar("called", default=False)


@dataclass(frozen=True, slots=True)
class Run:
    """One statement as it was run, or as it would be: then without values."""

    query: str
    sql: str
    values: Any


@dataclass(slots=True)
class Journal:
    """Each query once for each set of values that were left out, for that is what plans can differ by."""

    runs: dict[tuple[Any, ...], Run] = field(default_factory=dict)

    def note(self, query: str, sql: str, values: Sequence[Any], bound: Any = None) -> None:
        if _called.get():
            shape = (query, *(value is None for value in values))
            self.runs.setdefault(shape, Run(query, sql, values if bound is None else bound))


def hot_runs(store: str | Path) -> list[Run]:
    """Make a store, fill it, call everything, and say what was run."""
    url = store if isinstance(store, str) else f"sqlite:///{store}"
    settings = Settings(
        database_url=url,
        production=True,
        feed="desk",
        desk_token=DESK_TOKEN,
        secret="the secret of a store that is only looked into",
    )
    journal = Journal()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        keys = runner.run(_set_up(settings))
    seed(store, ORDERS, lambda _: None)
    with journaled(journal), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_call_everything(settings, keys))
    return list(journal.runs.values())


@contextmanager
def journaled(journal: Journal) -> Iterator[None]:
    """Both engines, as they are asked for a query by its name."""
    with pytest.MonkeyPatch.context() as patch:
        _journal_postgres(journal, patch)
        _journal_sqlite(journal, patch)
        yield


def _journal_postgres(journal: Journal, patch: pytest.MonkeyPatch) -> None:
    statement, fetch_all = postgres.PostgresEngine.statement, postgres._OpenTransaction.all

    async def noted_statement(self: Any, query: str, *values: Any, **options: Any) -> Any:
        journal.note(query, self._queries[query], values)
        return await statement(self, query, *values, **options)

    async def noted_all(self: Any, query: str, *values: Any) -> Any:
        journal.note(query, self._named[query], values)
        return await fetch_all(self, query, *values)

    patch.setattr(postgres.PostgresEngine, "statement", noted_statement)
    patch.setattr(postgres._OpenTransaction, "all", noted_all)


def _journal_sqlite(journal: Journal, patch: pytest.MonkeyPatch) -> None:
    connection = sqlite.SqliteConnection
    submit_transaction, fetch, fetch_for = (
        connection.submit_transaction,
        connection.fetch,
        connection.fetch_for,
    )

    def handed_with_context(self: Any, work: Callable[[], Any], **options: Any) -> Any:
        context = copy_context()
        return submit_transaction(self, lambda: context.run(work), **options)

    def noted_fetch(self: Any, query: str, values: Sequence[Any]) -> Any:
        bound = {str(number): value for number, value in enumerate(values, start=1)}
        journal.note(query, self._named[query], values, bound)
        return fetch(self, query, values)

    def noted_fetch_for(self: Any, query: str, rows: Sequence[Sequence[Any]]) -> Any:
        found = fetch_for(self, query, rows)
        if rows:
            sql = self._statements[query, len(rows)]
            journal.note(query, sql, (), [value for row in rows for value in row])
        return found

    patch.setattr(connection, "submit_transaction", handed_with_context)
    patch.setattr(connection, "fetch", noted_fetch)
    patch.setattr(connection, "fetch_for", noted_fetch_for)


def _client(app: Any, **headers: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, client=("127.0.0.1", 1)), base_url="http://node", headers=headers
    )


async def _set_up(settings: Settings) -> dict[str, str]:
    keys = {}
    async with (
        open_node(settings) as node,
        _client(node.desk_api, Authorization=f"Bearer {DESK_TOKEN}") as desk,
    ):

        async def do(method: str, path: str, body: Any) -> Any:
            answer = await desk.request(method, f"/desk/v1{path}", json=body)
            assert answer.is_success, answer.text
            return answer.json()

        await do("PUT", "/groups/retail", {"default_terms": {"buy_premium": "0", "sell_premium": "0"}})
        await do("PUT", "/symbols/GOLD", GOLD)
        await do("PUT", "/symbols/SILVER", GOLD | SILVER)
        await do("PATCH", "/switches", {"budgets": UNBOUNDED, "production": True})
        for login in ("client", "other"):
            body = {"login_id": login, "group": "retail", "allocation": {"gold": "1000", "silver": "1000"}}
            await do("POST", "/accounts", body | {"production_trading": True})
        scopes = ["account:read", "orders:read", "orders:write"]
        for environment in ("test", "production"):
            key = {"environment": environment, "name": "a key", "scopes": scopes}
            keys[environment] = (await do("POST", "/accounts/client/keys", key))["key"]
    return keys


async def _call_everything(settings: Settings, keys: dict[str, str]) -> None:
    async with open_node(settings) as node:
        _called.set(True)
        for base, environment in ((TEST, "test"), (LIVE, "production")):
            async with _client(node.api, **{"X-API-Key": keys[environment]}) as client:
                await _call_all_of(client, base)
        _called.set(False)


async def _call_all_of(client: httpx.AsyncClient, base: str) -> None:
    async def place(key: str, **fields: Any) -> httpx.Response:
        body = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1, **fields}
        return await client.post(f"{base}/orders", json=body, headers={"Idempotency-Key": key})

    async def get(path: str) -> Any:
        answer = await client.get(f"{base}{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    for _ in range(2):  # At the first call a node knows nothing of a book.
        placed = [await place(f"key {number}") for number in range(3)]
        placed.append(await place("named", client_order_id="mine", trade_type="sell"))
        assert {answer.status_code for answer in placed} <= {200, 201}, placed[0].text
        assert (await place("moved", expected_price=1)).status_code == 409
        assert (await place("too much", quantity=5_000)).status_code == 400
        assert (await place("key 0", quantity=2)).is_client_error  # The key is another order's.
    together = await asyncio.gather(*(place(f"together {number}") for number in range(5)))
    assert {answer.status_code for answer in together} == {201}
    await get("/me")
    await get("/positions")
    for query in ("", "?after=2400&limit=200"):
        await get(f"/events{query}")
    order_id = placed[0].json()["id"]
    await get(f"/orders/{order_id}")
    assert (await client.get(f"{base}/orders/{order_id[:-1]}f")).status_code == 404
    page = await get("/orders")
    for query in _queries(page["items"]):
        await get(f"/orders?{query}")


def _queries(items: list[dict[str, Any]]) -> Iterator[str]:
    """Every filter by itself and with others, at the beginning, deep from either end, and past the last."""
    oldest = datetime.fromisoformat(items[-1]["created_at"]).astimezone(UTC)
    half = datetime.fromtimestamp(oldest.timestamp() - 100 * 86_400, UTC)
    since = f"since={half.isoformat().replace('+00:00', 'Z')}"
    filters = ["", "symbol_code=GOLD", "trade_type=buy", "symbol_code=GOLD&trade_type=sell", "status=closed"]
    filters += ["status=open&symbol_code=GOLD", "symbol_code=NOTHING", "status=deleted", "status=all"]
    filters += [*(f"{since}&{each}" for each in filters), "since=2100-01-01T00:00:00Z&symbol_code=GOLD"]
    filters += [
        "client_order_id=mine",
        "client_order_id=shared&symbol_code=GOLD",
        f"client_order_id=mine&{since}",
    ]
    for each in filters:
        for offset in (0, 110, 600, 1_200, 10**6):
            yield f"{each}&offset={offset}"
