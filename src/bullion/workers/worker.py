"""One worker, as the process that started it sees it; and its own end of the line between them."""

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from bullion.serve import Serving, unblock_signals

LOOK_EVERY_S = 0.05
# What a worker says
_PREPARED = b"p"
_READY = b"r"
# What it is told
_GO = b"g"
_LEAVE = b"l"
_DRAIN = b"d"
_STOP = b"s"


class Stage(Enum):
    STARTING = "starting"
    PREPARED = "prepared"
    """It has loaded the code and read the settings. It has not opened the store, and waits to be told."""
    SERVING = "serving"
    ENDED = "ended"


_STAGES = {_PREPARED: Stage.PREPARED, _READY: Stage.SERVING, b"": Stage.ENDED}


@dataclass(eq=False)
class Worker:
    process: subprocess.Popen[bytes]
    line: socket.socket
    started_at: float = field(default_factory=time.monotonic)
    _stage: Stage = Stage.STARTING
    _gone: bool = False

    @classmethod
    def start(
        cls,
        words: Sequence[str],
        sockets: Sequence[socket.socket],
        environ: Mapping[str, str],
        *,
        apart: bool = False,
    ) -> "Worker":
        """In an interpreter of its own, so that it runs the code and reads the settings as they are now.

        `words` are the command. The descriptors of the sockets and of the line are added to it. `apart`: in a
        session of its own, so that Ctrl+C at a terminal reaches us alone; the line tells it when to stop.
        """
        ours, theirs = socket.socketpair()
        descriptors = [*(each.fileno() for each in sockets), theirs.fileno()]
        ours_blocked = unblock_signals()  # It inherits which are, and would not hear that it has to stop.
        process = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "bullion", *words, *map(str, descriptors)],
            pass_fds=descriptors,
            env=environ,
            start_new_session=apart,
        )
        signal.pthread_sigmask(signal.SIG_SETMASK, ours_blocked)
        theirs.close()
        return cls(process, ours)

    def stage(self, within_s: float = 0.001) -> Stage:
        """Its stage now, or the next one if it is reached within that time."""
        self.line.settimeout(within_s)
        try:
            self._stage = _STAGES[self.line.recv(1)]
        except TimeoutError:
            pass
        except OSError:
            self._stage = Stage.ENDED
        return self._stage

    def go(self) -> None:
        """Tell it to open the store and serve."""
        if not self._gone:
            self._gone = True
            self._tell(_GO)

    def leave(self) -> None:
        """Tell it to make way: others answer at its ports."""
        self._tell(_LEAVE)

    def drain(self) -> None:
        """Tell it to say that it is not ready, and to answer calls until it is told to stop."""
        self._tell_if_serving(_DRAIN)

    def stop(self) -> None:
        """Tell it to stop: nobody will answer at its ports."""
        self._tell_if_serving(_STOP)

    def wait(self, give_up_at: float) -> bool:
        """Return when it has ended: whether by itself, or killed at `give_up_at`, by `time.monotonic`."""
        while self.process.poll() is None and time.monotonic() < give_up_at:
            time.sleep(LOOK_EVERY_S)
        ended = self.process.poll() is not None
        if not ended:
            self.process.kill()
        self.process.wait()
        self.line.close()
        return ended

    def signal(self, number: int) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)

    def _tell_if_serving(self, word: bytes) -> None:
        if self.stage() is Stage.SERVING:
            self._tell(word)
        else:
            self.signal(signal.SIGTERM)  # It has accepted no connection.

    def _tell(self, word: bytes) -> None:
        try:
            self.line.send(word)
        except OSError:
            return  # It has ended by itself.


def wait_for_go(line: socket.socket) -> bool:
    """In the worker: say that it is prepared, and wait to be told to go; False if the watcher is gone."""
    try:
        line.send(_PREPARED)
        return line.recv(1) == _GO
    except OSError:
        return False


def report_ready(line: socket.socket, serving: Serving) -> None:
    """In the worker: say that it answers, and do what the watcher says, or stop when that is gone."""
    loop = asyncio.get_running_loop()
    actions: dict[bytes, Callable[[], None]] = {
        _LEAVE: serving.leave,
        _DRAIN: serving.start_drain,
        _STOP: serving.stop,
    }

    def told() -> None:
        try:
            word = line.recv(1)
        except OSError:  # The watcher has died with something unread.
            word = b""
        if word:
            actions[word]()
        else:
            loop.remove_reader(line)
            serving.drain()

    line.settimeout(0)
    with contextlib.suppress(OSError):  # If it is gone already, the line says so.
        line.send(_READY)
    loop.add_reader(line, told)
