"""The demo's console as a process that starts quickly: a fork of the demo, which has imported the service.

The demo starts its console in a thread, and a process with threads must not fork. So it forks before it has
any, and that child waits to become the console. A console that replaces another is a new interpreter.
"""

import fcntl
import json
import os
import resource
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from subprocess import Popen
from types import SimpleNamespace
from typing import Any, NoReturn

import bullion.workers.worker
from tests.support.forked_worker import ForkedWorker, become

_REQUEST_SIZE_MAX = 1 << 18
_DESCRIPTORS_MAX = 16


@dataclass(frozen=True)
class _Start:
    """What the child needs to become the console, together with the descriptors themselves."""

    arguments: Sequence[str]
    descriptors: Sequence[int]
    """Their numbers, which are among the arguments."""
    environment: Mapping[str, str]
    blocked_signals: Sequence[int]
    new_session: bool


def fork_console(run: Callable[[], NoReturn]) -> None:
    """Fork the child. The first console that this process starts will be that child.

    Call it while there is one thread. `run` runs the service with the arguments of `sys.argv`.
    """
    requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Ctrl+C at the terminal is for the demo. A handler of this process must not be called in the child.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    pid = os.fork()
    if pid == 0:
        requests.close()  # Otherwise the child would not notice the end of the demo.
        _become_console(theirs)
        run()
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    theirs.close()

    def start(
        command: Sequence[str], *, pass_fds: Sequence[int], env: Mapping[str, str], start_new_session: bool
    ) -> Any:
        if requests.fileno() < 0:
            return Popen(command, pass_fds=pass_fds, env=env, start_new_session=start_new_session)
        # A child that is forked now would inherit both from this thread.
        mask = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
        arguments = command[command.index("bullion") + 1 :]
        message = json.dumps(asdict(_Start(arguments, pass_fds, dict(env), mask, start_new_session)))
        with requests:
            socket.send_fds(requests, [message.encode()], pass_fds)
        return ForkedWorker(pid)

    vars(bullion.workers.worker)["subprocess"] = SimpleNamespace(Popen=start)


def _become_console(requests: socket.socket) -> None:
    """Wait for the start, and return as the console. Without one, end with the demo."""
    message, given, _, _ = socket.recv_fds(requests, _REQUEST_SIZE_MAX, _DESCRIPTORS_MAX)
    if not message:
        os._exit(0)
    request = _Start(**json.loads(message))
    requests.detach()  # `become` closes it. Its number may be needed.
    if request.new_session:
        os.setsid()
    _renumber(given, request.descriptors)
    become(request.arguments, request.descriptors, request.environment)
    signal.pthread_sigmask(signal.SIG_SETMASK, request.blocked_signals)


def _renumber(given: Sequence[int], numbers: Sequence[int]) -> None:
    """Give the descriptors these numbers. The others stay open, under any number."""
    unused = max(*given, *numbers) + 1
    copies = [fcntl.fcntl(each, fcntl.F_DUPFD, unused) for each in given]
    for copy, number in zip(copies, numbers, strict=True):
        os.dup2(copy, number)
