"""The memory of a node in a process that seldom places orders: it is filled only when it is used."""

import asyncio
from pathlib import Path

import pytest

from bullion.accounts.account import Account
from bullion.accounts.broker import Broker
from bullion.accounts.group import Group, Terms
from bullion.records.clients import Allocation
from bullion.settings import Settings, read_settings
from bullion.store.records import Records
from bullion.wiring.store import open_store
from bullion.wiring.trading import Trading
from bullion.wiring.trading_on_demand import TradingOnDemand
from tests.support.node import SECRET

pytestmark = pytest.mark.anyio

TERMS = Terms(buy_premium_paise=0, sell_premium_paise=0)


def settings_of(folder: Path) -> Settings:
    return read_settings({"BULLION_DATABASE_URL": f"sqlite:///{folder}/store.db", "BULLION_SECRET": SECRET})


async def fill(records: Records) -> None:
    await records.put_broker(Broker("main", "Main", ()))
    await records.put_group(Group("main", "retail", trading=True, terms={}, default_terms=TERMS))
    account = Account(
        id=0,
        broker="main",
        login_id="client",
        firm_name=None,
        group="retail",
        active=True,
        api_access=True,
        production_trading=False,
        scenarios=False,
    )
    await records.insert_account(account, Allocation(0, 0))


def trades(trading: Trading) -> bool:
    return trading.catalogue.groups["main", "retail"].trading


async def test_it_runs_while_it_is_used(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    async with open_store(settings, migrate=True) as store:
        await store.records.write("fill", fill)
        trading = Trading(settings, store)
        on_demand = TradingOnDemand(trading, idle_s=0.0, check_s=0.01)
        await on_demand.refresh()
        assert (on_demand.running(), trading.catalogue.loaded) == (False, False)

        await asyncio.gather(on_demand.start(), on_demand.start())
        assert on_demand.running()
        assert ("main", "retail") in trading.catalogue.groups
        assert trading.venue_watch.reachable("main")

        watching = asyncio.create_task(on_demand.run())
        while on_demand.running():
            await asyncio.sleep(0.01)

        # What has changed meanwhile is known as soon as it is used again.
        closed = Group("main", "retail", trading=False, terms={}, default_terms=TERMS)
        await store.records.write("close", lambda records: records.put_group(closed))
        await on_demand.refresh()
        assert trades(trading)
        await on_demand.start()
        assert not trades(trading)

        watching.cancel()
        await asyncio.wait([watching])
        assert not on_demand.running()


async def test_a_part_that_failed_is_started_again(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    async with open_store(settings, migrate=True) as store:
        await store.records.write("fill", fill)
        on_demand = TradingOnDemand(Trading(settings, store))
        watching = asyncio.create_task(on_demand.run())
        await on_demand.start()
        failed = on_demand._tasks[0]
        failed.cancel()
        await asyncio.wait([failed])
        assert not on_demand.running()
        await on_demand.start()
        assert on_demand.running()
        watching.cancel()
        await asyncio.wait([watching])
