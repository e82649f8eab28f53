"""The views for people show what the tables hold, in decimals and times, and nothing secret."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import cast

import pytest

from bullion.records.port import Allocation, Records
from bullion.store.engine import Engine, Row
from bullion.store.postgres import PostgresEngine
from bullion.store.records import DurableRecords
from bullion.store.sqlite import SqliteEngine

from .test_catalogue import furnish

pytestmark = pytest.mark.anyio

VIEWS = ["readable_accounts", "readable_books", "readable_keys", "readable_symbols", "readable_audit"]


async def look(engine: Engine, view: str) -> Sequence[Row]:
    """As a person would, with a statement of their own."""
    assert isinstance(engine, SqliteEngine | PostgresEngine)
    engine._queries["look"] = f"SELECT * FROM {view}"
    return await engine.read("look", lambda transaction: transaction.all("look"))


async def test_they_are_readable(engine: Engine) -> None:
    async def body(records: Records) -> None:
        await furnish(records)
        await records.set_allocation(1, Allocation(12_345_678, 5))
        await records.put_stock("main", "GOLD", 10_001)

    await DurableRecords(engine).write("furnish", body)
    (account,) = await look(engine, "readable_accounts")
    assert account["login_id"] == "aurum"
    assert account["active"] in (True, "yes")
    assert account["production_trading"] in (False, "no")
    assert str(account["created_at"]).startswith("20")
    test, production = sorted(
        await look(engine, "readable_books"), key=lambda row: str(row["environment"]), reverse=True
    )
    assert (test["environment"], production["environment"]) == ("test", "production")
    assert Decimal(test["gold_limit_g"]) == Decimal("1234.5678")
    assert Decimal(test["silver_limit_kg"]) == Decimal("0.0005")
    (symbol,) = await look(engine, "readable_symbols")
    assert Decimal(symbol["stock"]) == Decimal("1.0001")
    assert Decimal(symbol["quoted_weight"]) == 10
    (key,) = await look(engine, "readable_keys")
    assert str(key["created_at"]).startswith("1970-01-01 00:00:00.000007")
    assert key["revoked_at"] is None


@pytest.mark.parametrize("view", VIEWS)
async def test_no_hash_of_a_secret_is_in_them(engine: Engine, view: str) -> None:
    await DurableRecords(engine).write("furnish", furnish)
    shown = " ".join(str(tuple(cast("Iterable[object]", row))) for row in await look(engine, view))
    assert bytes(range(32)).hex() not in shown
