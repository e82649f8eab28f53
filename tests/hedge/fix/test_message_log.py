"""The file of a line's messages: with times, without passwords, for some days."""

import asyncio
from pathlib import Path

import pytest

from bullion.hedge.fix import message_log
from bullion.hedge.fix.codec import encode, time_us
from bullion.hedge.fix.message_log import Direction, MessageLog, masked

pytestmark = pytest.mark.anyio


class Clock:
    now_us = time_us("20261117-05:30:00.123456")


def test_messages_are_written_with_times_and_without_passwords(tmp_path: Path) -> None:
    log = MessageLog(tmp_path / "fix", "gold", lambda: Clock.now_us)
    logon = encode([(35, "A"), (553, "me"), (554, "secret"), (925, "newsecret"), (58, "x")])
    log.note(Direction.OUT, logon)
    log.note(Direction.IN, encode([(35, "0")]))
    log.flush()
    (file,) = (tmp_path / "fix").iterdir()
    assert file.name == "gold-20261117.log"
    assert file.stat().st_mode & 0o777 == 0o600
    out, back = file.read_bytes().splitlines()
    assert out.startswith(b"20261117-05:30:00.123456 > 8=FIX.4.4\x01")
    assert b"\x01553=me\x01554=***\x01925=***\x0158=x\x01" in out
    assert b"secret" not in out
    assert back == b"20261117-05:30:00.123456 < " + encode([(35, "0")])


def test_a_password_with_separators_is_masked_whole() -> None:
    data = b"8=FIX.4.4\x0135=A\x0195=9\x0196=ab\x01c=\x0158=\x0158=x\x01"
    assert masked(data) == b"8=FIX.4.4\x0135=A\x0195=9\x0196=***\x0158=x\x01"


def test_old_files_are_removed_and_others_are_not_touched(tmp_path: Path) -> None:
    names = ["gold-20261109.log", "gold-20261110.log", "silver-20261101.log", "gold-x.log", "notes.txt"]
    for name in names:
        (tmp_path / name).touch()
    log = MessageLog(tmp_path, "gold", lambda: Clock.now_us)
    log.note(Direction.IN, b"x")
    log.flush()
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*names[1:], "gold-20261117.log"])


def test_a_disk_that_fails_costs_lines_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = MessageLog(tmp_path / "file", "gold", lambda: Clock.now_us)
    log.note(Direction.IN, b"x")
    log.flush()
    assert log.lost == 1


def test_what_does_not_fit_into_memory_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_log, "_WAITING_MAX", 10)
    log = MessageLog(tmp_path, "gold", lambda: Clock.now_us)
    for _ in range(3):
        log.note(Direction.IN, b"12345")
    log.flush()
    log.note(Direction.IN, b"12345")
    log.flush()
    assert log.lost == 1
    assert len((tmp_path / "gold-20261117.log").read_bytes().splitlines()) == 3


async def test_the_rest_is_written_at_the_end(tmp_path: Path) -> None:
    log = MessageLog(tmp_path, "gold", lambda: Clock.now_us)
    task = asyncio.ensure_future(log.run())
    await asyncio.sleep(0)
    log.note(Direction.IN, b"last")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert b"last" in (tmp_path / "gold-20261117.log").read_bytes()
