"""Nodes are stopped, started and replaced while clients trade: no call fails, no order is lost or doubled."""

import asyncio
import signal
from pathlib import Path

from tests.support.node import Node, running, start
from tests.support.orders import Market
from tests.support.scale import SCALE
from tests.support.servers import Postgres, Redis

from .crowd import Crowd, Rotation
from .ledger import Ledger

ROUNDS = 1 if SCALE == 1 else max(2, SCALE // 4)
_PAUSE_S = 0.3 if SCALE == 1 else 0.01
_DRAIN = {"BULLION_DRAIN_S": "1"}
"""The rotation looks ten times a second."""


async def _said(node: Node, event: str, times: int) -> None:
    async with asyncio.timeout(60):
        while len(node.entries(event)) < times:
            await asyncio.sleep(0.02)


async def _roll(crowd: Crowd, workers: Node, folder: Path, settings: dict[str, str]) -> None:
    rotation = crowd.rotation
    async with crowd.calling():
        for done in range(ROUNDS):
            workers.process.send_signal(signal.SIGHUP)
            # Meanwhile the other machine is stopped and started, as its load balancer sees it.
            leaving = rotation.nodes[1]
            assert await asyncio.to_thread(leaving.stop) == 0
            rotation.nodes[1] = await asyncio.to_thread(lambda: start(folder, **settings, **_DRAIN))
            await _said(workers, "restarted", done + 1)
            await asyncio.sleep(0.3)


def test_a_rolling_restart_under_load_fails_no_call_and_loses_no_order(
    postgres: Postgres, redis: Redis, schema_template: str, tmp_path: Path
) -> None:
    settings = {
        "BULLION_DATABASE_URL": postgres.new_database(schema_template),
        "BULLION_REDIS_URL": redis.url,
    }
    with running(tmp_path, BULLION_WORKERS="2", **settings) as workers:
        rotation = Rotation(workers, start(tmp_path, **settings, **_DRAIN))
        try:
            with Market.open(workers) as market:
                crowd = Crowd(rotation, [market.trader() for _ in range(5)], pause_s=_PAUSE_S)
                asyncio.run(_roll(crowd, workers, tmp_path, settings))
        finally:
            rotation.nodes[1].stop()
    print(f"\n{len(crowd.answers)} orders through {ROUNDS} restarts of {len(rotation.nodes)} machines")
    assert crowd.failures == []
    assert crowd.said() == {"201": len(crowd.answers)}
    assert not any(node.entries("calls_aborted") for node in (workers, *rotation.nodes))
    ledger = Ledger(postgres, settings["BULLION_DATABASE_URL"])
    ledger.check()
    ledger.check_answers(crowd.answers)
