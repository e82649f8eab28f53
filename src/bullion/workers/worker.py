"""A worker process: the handle of its parent, and the worker's end of the channel between them."""

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

from bullion.logs import LEVEL_SIGNALS
from bullion.serve import Serving, unblock_signals

POLL_INTERVAL_S = 0.05
# Messages from a worker
_COUNT = b"n"
"""Followed by two bytes: how many workers its settings want. Only to a parent that gave it a place."""
_COUNT_BYTES = 2
_PREPARED = b"p"
_READY = b"r"
# Messages to a worker
_GO = b"g"
_LEAVE = b"l"
_DRAIN = b"d"
_STOP = b"s"


class Stage(Enum):
    STARTING = "starting"
    PREPARED = "prepared"
    """It has loaded the code and read the settings. It waits for `go` before it opens the store."""
    SERVING = "serving"
    ENDED = "ended"


_STAGES = {_PREPARED: Stage.PREPARED, _READY: Stage.SERVING, b"": Stage.ENDED}


@dataclass(eq=False)
class Worker:
    process: subprocess.Popen[bytes]
    channel: socket.socket
    count: int | None = None
    """How many workers there should be, by the settings that it has read."""
    started_at: float = field(default_factory=time.monotonic)
    replace_at: float | None = None
    """It has ended, and no other worker could be started: when that is tried again (`time.monotonic`)."""
    _stage: Stage = Stage.STARTING
    _go_sent: bool = False

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        sockets: Sequence[socket.socket],
        environ: Mapping[str, str],
        *,
        inherited: Sequence[int] = (),
        new_session: bool = False,
    ) -> "Worker":
        """Start a new interpreter, so that it runs the current code and reads the current settings.

        It imports nothing from the working folder, as the `bullion` command does not.
        The descriptors of the sockets and of the channel are appended to `command`; those `inherited` are
        only passed on. `new_session`: Ctrl+C at the terminal does not reach it; it is stopped through the
        channel. May raise OSError, if the machine has no process, memory or descriptor for it.
        """
        ours, theirs = socket.socketpair()
        descriptors = [*(each.fileno() for each in sockets), theirs.fileno()]
        blocked = unblock_signals()  # The child inherits the mask, and could not be stopped by a signal.
        # Until the child has set up its logs, these would end it. They stay pending until then.
        signal.pthread_sigmask(signal.SIG_BLOCK, LEVEL_SIGNALS)
        try:
            process = subprocess.Popen(  # noqa: S603 - this very program
                [sys.executable, "-P", "-m", "bullion", *command, *map(str, descriptors)],
                pass_fds=(*descriptors, *inherited),
                env=environ,
                start_new_session=new_session,
            )
        except OSError:
            ours.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            theirs.close()
        return cls(process, ours)

    def stage(self, within_s: float = 0.001) -> Stage:
        """The current stage, or the next one if it is reached within that time."""
        try:
            self.channel.settimeout(within_s)
            message = self.channel.recv(1)
            if message == _COUNT:
                self.count = int.from_bytes(self.channel.recv(_COUNT_BYTES), "big")
                message = self.channel.recv(1)
            self._stage = _STAGES[message]
        except TimeoutError:
            pass
        except OSError:
            self._stage = Stage.ENDED
        return self._stage

    def go(self) -> None:
        """Let it open the store and serve."""
        if not self._go_sent:
            self._go_sent = True
            self._send(_GO)

    def leave(self) -> None:
        """Let it end: other processes serve its ports."""
        self._send(_LEAVE)

    def drain(self) -> None:
        """Let it report that it is not ready, and serve until `stop`."""
        self._send_if_serving(_DRAIN)

    def stop(self) -> None:
        """Let it end: no other process will serve its ports."""
        self._send_if_serving(_STOP)

    def wait(self, give_up_at: float) -> bool:
        """Wait until it has ended, and kill it at `give_up_at` (`time.monotonic`). False if it was killed."""
        while self.process.poll() is None and time.monotonic() < give_up_at:
            time.sleep(POLL_INTERVAL_S)
        ended = self.process.poll() is not None
        if not ended:
            self.process.kill()
        self.process.wait()
        self.channel.close()
        return ended

    def signal(self, number: int) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)

    def _send_if_serving(self, message: bytes) -> None:
        if self.stage() is Stage.SERVING:
            self._send(message)
        else:
            self.signal(signal.SIGTERM)  # It has accepted no connection.

    def _send(self, message: bytes) -> None:
        try:
            self.channel.send(message)
        except OSError:
            return  # It has already ended.


def wait_for_go(channel: socket.socket, count: int | None = None) -> bool:
    """In the worker: report that it is prepared, and wait for `go`. False if the parent is gone.

    `count`: how many workers its settings want. None if the parent does not understand it.
    """
    counted = b"" if count is None else _COUNT + count.to_bytes(_COUNT_BYTES, "big")
    try:
        channel.send(counted + _PREPARED)
        return channel.recv(1) == _GO
    except OSError:
        return False


def report_ready(
    channel: socket.socket, serving: Serving, on_parent_gone: Callable[[], None] = lambda: None
) -> None:
    """In the worker: report that it serves, then obey the parent's messages; drain and stop if it is gone."""
    loop = asyncio.get_running_loop()
    actions: dict[bytes, Callable[[], None]] = {
        _LEAVE: serving.leave,
        _DRAIN: serving.start_drain,
        _STOP: serving.stop,
    }

    def receive() -> None:
        try:
            message = channel.recv(1)
        except OSError:  # The parent has died with something unread.
            message = b""
        if message:
            actions[message]()
        else:
            loop.remove_reader(channel)
            on_parent_gone()
            serving.drain()

    channel.settimeout(0)
    with contextlib.suppress(OSError):  # If the parent is gone, the reader finds out.
        channel.send(_READY)
    loop.add_reader(channel, receive)
