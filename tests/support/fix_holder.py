"""A process that holds a line under a lease in the store, and sends messages on it as quickly as it may.

Run as `python -m tests.support.fix_holder STORE PORT LEASE_S`.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from bullion.hedge.fix.codec import Message
from bullion.hedge.fix.connection import Chunk
from bullion.hedge.fix.lease import LineHolder, LineLease
from bullion.hedge.fix.line import FixLine
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import Line, Profile
from bullion.hedge.fix.session_effects import NotLoggedOn
from bullion.store.fix_lines import StoredLines
from bullion.store.sqlite import SqliteEngine
from tests.support.fix_peer import clock_us


class Owner:
    line: FixLine

    def logged_on(self, connection_no: int, logon: Message) -> None:
        self.line.recovered(connection_no)

    def received(self, connection_no: int, chunk: Chunk) -> None: ...

    def lost(self, connection_no: int, reason: str) -> None: ...


async def main(store: str, port: str, lease_s: str) -> None:
    engine = SqliteEngine(Path(store))
    await engine.open()
    lease = LineLease(StoredLines(engine), "gold", LineHolder("child", "", ""), float(lease_s))
    plan = Line(
        name="gold", broker="main", host="127.0.0.1", port=int(port), sender="US", target="THEM", tls=None,
        profile=Profile(rate=Rate(count=500, burst=1)),
    )  # fmt: skip
    owner = Owner()
    owner.line = FixLine(plan, owner, clock_us, holder=lease)
    tasks = [asyncio.ensure_future(lease.run()), asyncio.ensure_future(owner.line.run())]
    for number in count():
        try:
            await owner.line.send([(35, "D"), (11, number)])
        except NotLoggedOn:
            await asyncio.sleep(0.01)
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
