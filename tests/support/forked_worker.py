"""Workers that start quickly: forks of the process that supervises them, which has imported the service.

A worker is made what a new interpreter would be: see `become`. New interpreters are those that replace a node
which still serves (it has threads, so it must not fork), and those whose `PYTHONPATH` has another release.
"""

import atexit
import gc
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import Popen
from types import SimpleNamespace
from typing import Any, NoReturn

from prometheus_client import values

import bullion.logs
import bullion.workers.worker
from tests.support.processes import show_environment

_STREAMS = (0, 1, 2)


class ForkedWorker:
    """A child of this process, with as much of `subprocess.Popen` as the service uses."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._look(os.WNOHANG)

    def wait(self) -> int:
        code = self._look(0)
        assert code is not None
        return code

    def send_signal(self, sig: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def fork_workers(run: Callable[[], NoReturn]) -> None:
    """From now on this process forks its workers; `run` runs the service with the arguments of `sys.argv`."""

    def start(command: Sequence[str], *, pass_fds: Sequence[int], env: Mapping[str, str], **more: Any) -> Any:
        serves_itself = threading.current_thread() is not threading.main_thread()
        if serves_itself or any(more.values()) or _has_other_code(env):
            return Popen(command, pass_fds=pass_fds, env=env, **more)
        # A handler of this process must not be called in the child.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pid = os.fork()
        if pid == 0:
            become(command[command.index("bullion") + 1 :], pass_fds, env)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            run()
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return ForkedWorker(pid)

    vars(bullion.workers.worker)["subprocess"] = SimpleNamespace(Popen=start)


def _has_other_code(environment: Mapping[str, str]) -> bool:
    """Whether a new interpreter would find the service elsewhere than where this process has found it."""
    ours = Path(bullion.__file__).resolve()
    found = (
        Path(folder, "bullion", "__init__.py").resolve()
        for folder in environment.get("PYTHONPATH", "").split(os.pathsep)
        if folder
    )
    return next((each for each in found if each.exists()), ours) != ours


def become(arguments: Sequence[str], kept: Sequence[int], environment: Mapping[str, str]) -> None:
    """Leave nothing of the process that forked: handlers, descriptors, environment, log records, metrics."""
    for number in (signal.SIGTERM, signal.SIGHUP, *bullion.logs.LEVEL_SIGNALS):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    atexit._clear()
    gc.freeze()  # A socket that is collected would close a descriptor which is another one's by then.
    for each in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if each not in (*_STREAMS, *kept):
            os.closerange(each, each + 1)  # Without an error for the descriptor of the folder itself.
    os.environ.clear()
    os.environ.update(environment)
    show_environment()
    sys.argv[1:] = arguments
    # The thread that writes the log may have held the locks of these, and of the queue.
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - for as long as the process lives
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    bullion.logs._waiting = queue.SimpleQueue()
    bullion.logs._Level.debug = False
    bullion.logs._Level.configured = logging.INFO
    values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]  # It depends on the environment.
