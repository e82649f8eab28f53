"""A process that holds a line to a venue is stopped for longer than its lease, and another takes the line."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from bullion.hedge.fix.lease import LineHolder
from bullion.store.fix_lines import StoredLines
from bullion.store.sqlite import SqliteEngine
from tests.support.fix_peer import FixPeer, until

pytestmark = pytest.mark.anyio

LEASE_S = 1.0
OTHER = LineHolder("other", "", "")


async def test_a_process_that_was_stopped_writes_nothing_once_another_has_the_line(tmp_path: Path) -> None:
    store = tmp_path / "bullion.db"
    engine = SqliteEngine(store)
    await engine.open()
    await engine.migrate()
    lines = StoredLines(engine)
    peer = FixPeer()
    await peer.start()
    arguments = [str(store), str(peer.port), str(LEASE_S)]
    child = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.support.fix_holder", *arguments)
    try:
        await until(lambda: len(peer.received) >= 20)
        assert not await lines.take("gold", OTHER, 60)
        os.kill(child.pid, signal.SIGSTOP)
        async with asyncio.timeout(30):
            while not await lines.take("gold", OTHER, 60):
                await asyncio.sleep(0.05)
        seen = len(peer.received)
        os.kill(child.pid, signal.SIGCONT)
        # It drops the socket, and does not connect again while the other has the line.
        await until(lambda: peer.closes)
        assert not await lines.take("gold", LineHolder("third", "", ""), 60)
        # It may have been stopped between the check of the lease and the write of a message. None follows it.
        assert len(peer.received) - seen in (0, 1)
        assert len(peer.logons) == 1
        await lines.release("gold", "other")
        await until(lambda: len(peer.received) > seen + 1)
        assert len(peer.logons) == 2
    finally:
        child.kill()
        await child.wait()
        await peer.stop()
        await engine.close()
