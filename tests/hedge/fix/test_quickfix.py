"""A second opinion: our session talks with QuickFIX, an engine that others wrote, as either side.

QuickFIX is a package for tests only. Where it has no wheel for the platform, these tests are skipped.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bullion.hedge.fix import reconnect_pause
from bullion.hedge.fix.line import FixLine
from bullion.hedge.fix.pace import Rate
from bullion.hedge.fix.profile import KEEPING, RESETTING, Credentials, Line, Profile
from bullion.hedge.fix.session_effects import CloseKind, LineState, Numbers, Role, SessionSettings
from tests.hedge.fix.test_line import Kept, Owner
from tests.support import quickfix_wheel
from tests.support.fix_peer import FixPeer, clock_us, until
from tests.support.servers import free_port

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        find_spec("quickfix") is None and not quickfix_wheel.exists(),
        reason="quickfix-py has no wheel for this platform",
    ),
]

PROFILE = msgspec.structs.replace(RESETTING, heartbeat_s=3, rate=Rate(count=0))
KEEPS = msgspec.structs.replace(
    KEEPING, heartbeat_s=10, rate=Rate(count=0), credentials=Credentials.NONE, numbers_by_window=False
)


class QuickFix:
    """The process, and what it said."""

    def __init__(self, role: str, port: int, folder: Path, *names: str) -> None:
        script = Path(__file__).parents[2] / "support" / "quickfix_peer.py"
        self.port = port
        self.events: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            [sys.executable, str(script), role, str(port), str(folder), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.events.append(json.loads(line))

    def tell(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def seen(self, name: str, event: str, *fields: str) -> list[str]:
        """Messages of such events that have these fields, with pipes."""
        texts = [
            str(each.get("message", "")).replace("\x01", "|")
            for each in self.events
            if (each["name"], each["event"]) == (name, event)
        ]
        return [text for text in texts if all(f"|{field}|" in text for field in fields)]


@pytest.fixture(scope="module")
def acceptor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuickFix]:
    names = ("RESETS", "KEEPS", "OUR-GAP", "THEIR-GAP", "REPEATS", "TOO-LOW")
    process = QuickFix("acceptor", free_port(), tmp_path_factory.mktemp("quickfix"), *names)
    # Numbers are set before anybody logs on.
    process.tell("numbers THEIR-GAP 30 1")
    process.tell("numbers TOO-LOW 1 100")
    process.tell("start")
    yield process
    process.end()


class Lines:
    """Our lines to QuickFIX."""

    def __init__(self, quickfix: QuickFix) -> None:
        self._quickfix = quickfix
        self._tasks: list[asyncio.Task[None]] = []

    async def up(self, name: str, profile: Profile, kept: Kept | None = None) -> tuple[FixLine, Owner]:
        await until(lambda: self._quickfix.seen("", "started"))
        plan = Line(
            name=name, broker="main", host="127.0.0.1", port=self._quickfix.port, sender=name,
            target="QUICKFIX", profile=profile, tls=None,
        )  # fmt: skip
        owner = Owner()
        line = FixLine(plan, owner, clock_us, kept=kept)
        owner.line = line
        self._tasks.append(asyncio.ensure_future(line.run()))
        await until(lambda: line.state is LineState.UP)
        return line, owner

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def lines(acceptor: QuickFix, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Lines]:
    monkeypatch.setattr(reconnect_pause, "_PAUSE_S", 0.05)
    lines = Lines(acceptor)
    yield lines
    await lines.end()


async def exchange(quickfix: QuickFix, line: FixLine, owner: Owner, text: str) -> None:
    """A message each way, as the last word on whether the sides understand each other."""
    name = line.line.sender
    await line.send([(35, "B"), (148, text)])
    await until(lambda: quickfix.seen(name, "from_app", f"148={text}"))
    quickfix.tell(f"send {name} {text}")
    await until(lambda: text in owner.headlines)


async def test_numbers_reset_at_the_logon_and_an_idle_line_stays_up(acceptor: QuickFix, lines: Lines) -> None:
    line, owner = await lines.up("RESETS", PROFILE)
    await exchange(acceptor, line, owner, "one")
    # Idle: only heartbeats, of both sides.
    await until(
        lambda: min(len(acceptor.seen("RESETS", each, "35=0")) for each in ("to_admin", "from_admin")) >= 2
    )
    assert owner.losses == []
    line.disconnect()
    await until(lambda: acceptor.seen("RESETS", "logout"))
    await until(lambda: owner.losses)
    await until(lambda: acceptor.seen("RESETS", "to_admin", "35=5"))
    line.connect()
    await until(lambda: len(owner.logons) == 2 and line.state is LineState.UP)
    # What the other process saw comes over a pipe.
    await until(lambda: len(acceptor.seen("RESETS", "from_admin", "35=A", "34=1", "141=Y")) == 2)
    await exchange(acceptor, line, owner, "two")


async def test_numbers_are_kept_from_connection_to_connection(acceptor: QuickFix, lines: Lines) -> None:
    line, owner = await lines.up("KEEPS", KEEPS, Kept())
    await exchange(acceptor, line, owner, "one")
    line.disconnect()
    await until(lambda: owner.losses)
    line.connect()
    await until(lambda: len(owner.logons) == 2 and line.state is LineState.UP)
    await exchange(acceptor, line, owner, "two")
    assert acceptor.seen("KEEPS", "from_admin", "141=Y") == []
    await until(lambda: len(acceptor.seen("KEEPS", "from_admin", "35=A")) == 2)
    # This process held the line all the time, so there was no gap.
    assert acceptor.seen("KEEPS", "to_admin", "35=2") == []


async def test_a_gap_in_what_we_sent_is_filled_without_a_message_of_ours(
    acceptor: QuickFix, lines: Lines
) -> None:
    line, owner = await lines.up("OUR-GAP", KEEPS, Kept(Numbers(50, 1)))
    await exchange(acceptor, line, owner, "one")
    await until(lambda: acceptor.seen("OUR-GAP", "to_admin", "35=2", "7=1"))
    await until(lambda: acceptor.seen("OUR-GAP", "from_admin", "35=4", "123=Y", "34=1"))
    assert acceptor.seen("OUR-GAP", "from_app", "43=Y") == []


async def test_a_gap_in_what_they_sent_is_asked_for_and_filled(acceptor: QuickFix, lines: Lines) -> None:
    line, owner = await lines.up("THEIR-GAP", KEEPS, Kept(Numbers(1, 1)))
    await until(lambda: acceptor.seen("THEIR-GAP", "from_admin", "35=2", "7=1", "16=0"))
    await until(lambda: line.status().numbers.incoming > 30)
    assert line.status().gaps == 1
    await exchange(acceptor, line, owner, "one")


async def test_what_we_did_not_store_is_repeated_and_delivered(acceptor: QuickFix, lines: Lines) -> None:
    kept = Kept()
    line, owner = await lines.up("REPEATS", KEEPS, kept)
    for text in ("one", "two"):
        await exchange(acceptor, line, owner, text)
    line.disconnect()
    await until(lambda: owner.losses)
    owner.headlines.clear()
    # The store still has 1 as the incoming number: what came was never recorded.
    assert kept.row is not None
    assert kept.row.incoming == 1
    line.connect()
    await until(lambda: owner.headlines == ["one", "two"])
    assert owner.repeated == 2
    await exchange(acceptor, line, owner, "three")


async def test_numbers_too_low_are_healed_by_one_logon_that_resets(acceptor: QuickFix, lines: Lines) -> None:
    line, owner = await lines.up("TOO-LOW", KEEPS, Kept(Numbers(5, 1)))
    refused = acceptor.seen("TOO-LOW", "to_admin", "35=5")
    assert "too low" in refused[0]
    await until(lambda: len(acceptor.seen("TOO-LOW", "from_admin", "35=A", "141=Y")) == 1)
    await exchange(acceptor, line, owner, "one")


async def test_quickfix_logs_on_to_us_and_recovers_from_gaps_of_either_side(tmp_path: Path) -> None:
    peer = FixPeer()
    peer.settings = SessionSettings(sender="OURS", target="QUICKFIX", role=Role.ACCEPTOR)
    await peer.start()
    initiator = QuickFix("initiator", peer.port, tmp_path, "OURS")
    initiator.tell("start")
    try:
        await until(lambda: initiator.seen("OURS", "logon"))
        initiator.tell("send OURS one")
        await until(lambda: [each.get(148) for each in peer.received] == ["one"])
        peer.send((35, "B"), (148, "back"))
        await until(lambda: initiator.seen("OURS", "from_app", "148=back"))
        await until(lambda: initiator.seen("OURS", "from_admin", "35=0"))
        # We forget what we received, and skip numbers: both sides have a gap now.
        peer.connection.abort("cut")
        peer.numbers = Numbers(peer.numbers.outgoing + 20, 1)
        await until(lambda: len(initiator.seen("OURS", "logon")) == 2)
        await until(lambda: initiator.seen("OURS", "to_admin", "35=2"))
        await until(lambda: [each.get(43) for each in peer.received] == [None, "Y"])
        peer.send((35, "B"), (148, "again"))
        await until(lambda: initiator.seen("OURS", "from_app", "148=again"))
        initiator.tell("send OURS two")
        await until(lambda: peer.received[-1].get(148) == "two")
        # And it logs out when we tell it to.
        peer.connection.leave("good night")
        await until(lambda: peer.closes[-1].kind is CloseKind.LOGOUT)
    finally:
        initiator.end()
        await peer.stop()
