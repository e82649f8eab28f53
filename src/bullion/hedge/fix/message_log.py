"""The messages of a line as they were, both ways, with times: what a venue's support asks for first.

One file a day, kept for some days. Passwords are masked. Lines wait in memory and are written by a thread, so
the event loop never waits for the disk; what does not fit into memory is counted and not written.
"""

import asyncio
import os
import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import structlog

from .codec import time_text

DAYS_KEPT = 7
_EVERY_S = 0.5
_WAITING_MAX = 16 * 1024 * 1024
"""How many bytes may wait in memory."""
_US_PER_DAY = 86_400_000_000
_MASKED = re.compile(rb"(\x01(?:554|925|96)=)[^\x01]*")
_DATA = re.compile(rb"\x0195=(\d{1,6})\x0196=")

_log = structlog.get_logger("hedge")


class Direction(StrEnum):
    IN = "<"
    OUT = ">"


def masked(data: bytes) -> bytes:
    """The message without its passwords: 554, 925 and 96, which may contain separators."""
    match = _DATA.search(data)
    if match is not None:
        begin = match.end()
        data = data[:begin] + b"*" + data[begin + int(match[1]) :]
    return _MASKED.sub(rb"\1***", data)


class MessageLog:
    def __init__(self, folder: Path, line: str, now_us: Callable[[], int], days: int = DAYS_KEPT) -> None:
        self._folder = folder
        self._line = line
        self._now_us = now_us
        self._days = days
        self._waiting: list[tuple[int, Direction, bytes]] = []
        self._waiting_size = 0
        self._day = ""
        self.lost = 0
        """How many messages were not written."""

    def note(self, direction: Direction, data: bytes) -> None:
        if self._waiting_size + len(data) > _WAITING_MAX:
            self.lost += 1
            return
        self._waiting.append((self._now_us(), direction, data))
        self._waiting_size += len(data)

    async def run(self) -> None:
        """Write in the background, until cancelled; then what is left."""
        try:
            while True:
                await asyncio.sleep(_EVERY_S)
                if self._waiting:
                    await asyncio.to_thread(self.flush)
        finally:
            self.flush()

    def flush(self) -> None:
        """Write what waits. A disk that is full or gone must not stop the line."""
        waiting, self._waiting, self._waiting_size = self._waiting, [], 0
        texts: dict[str, list[bytes]] = {}
        for at_us, direction, data in waiting:
            time = f"{time_text(at_us)}{at_us % 1000:03}"
            texts.setdefault(time[:8], []).append(
                b"%b %b %b\n" % (time.encode(), direction.encode(), masked(data))
            )
        try:
            for day, lines in texts.items():
                self._write(day, lines)
        except OSError as error:
            self.lost += len(waiting)
            _log.warning("fix_messages_not_written", line=self._line, error=str(error))

    def _write(self, day: str, lines: list[bytes]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if day != self._day:
            self._remove_old()
            self._day = day
        path = self._folder / f"{self._line}-{day}.log"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(file, "ab") as opened:
            opened.write(b"".join(lines))

    def _remove_old(self) -> None:
        oldest = time_text(self._now_us() - self._days * _US_PER_DAY)[:8]
        named = re.compile(rf"{re.escape(self._line)}-(\d{{8}})\.log")
        for each in self._folder.iterdir():
            match = named.fullmatch(each.name)
            if match is not None and match[1] < oldest:
                each.unlink(missing_ok=True)
