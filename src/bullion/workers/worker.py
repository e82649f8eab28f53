"""One worker, as the process that started it sees it; and its own end of the line between them."""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from bullion.serve import Ports, Serving, unblock_signals

_READY = b"r"
_LEAVE = b"l"


@dataclass(eq=False)
class Worker:
    process: subprocess.Popen[bytes]
    line: socket.socket
    started_at: float = field(default_factory=time.monotonic)

    @classmethod
    def start(cls, ports: Ports, environ: Mapping[str, str]) -> "Worker":
        """In an interpreter of its own, so that it runs the code and reads the settings as they are now."""
        ours, theirs = socket.socketpair()
        descriptors = [ports.api.fileno(), ports.desk.fileno(), theirs.fileno()]
        ours_blocked = unblock_signals()  # It inherits which are, and would not hear that it has to stop.
        process = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "bullion", "worker", *map(str, descriptors)],
            pass_fds=descriptors,
            env=environ,
        )
        signal.pthread_sigmask(signal.SIG_SETMASK, ours_blocked)
        theirs.close()
        return cls(process, ours)

    def ready(self, within_s: float) -> bool | None:
        """Whether it is; None as long as it may become so."""
        self.line.settimeout(within_s)
        try:
            # The end of the line means that it ended before.
            return self.line.recv(1) == _READY
        except TimeoutError:
            return None
        except OSError:
            return False

    def leave(self) -> None:
        """Tell it to make way: others answer at its ports."""
        try:
            self.line.send(_LEAVE)
        except OSError:
            return  # It has ended by itself.

    def signal(self, number: int) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)


def report_ready(line: socket.socket, serving: Serving) -> None:
    """In the worker: say that it answers, and do what the watcher says, or stop when that is gone."""
    loop = asyncio.get_running_loop()

    def told() -> None:
        word = line.recv(1)
        if word == _LEAVE:
            serving.leave()
        else:
            loop.remove_reader(line)
            serving.drain()

    line.settimeout(0)
    line.send(_READY)
    loop.add_reader(line, told)
