"""The fork server, which starts processes for the tests: `python -m tests.support.fork_server <descriptor>`.

Each message on the descriptor is a `StartRequest`, together with the child's standard streams and a socket
for reports. The server forks, and the child goes on as `python -m` would. The server reports the child's pid
and later its exit status. It ends when nobody can send requests any more.
"""

import atexit
import contextlib
import gc
import os
import runpy
import select
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

# Everything that commands import: the children find it imported.
import bullion.__main__
import bullion.demo.broker
import bullion.doctor
import bullion.workers.single_node
import bullion_client.cli.program  # noqa: F401
from bullion.store import queries
from bullion.wiring.node import api_pages
from tests.support.forked_console import fork_console
from tests.support.forked_process import NUMBER, StartRequest
from tests.support.forked_worker import fork_workers

_REQUEST_SIZE_MAX = 1 << 18
_STREAMS = 3


def main(requests: socket.socket) -> StartRequest:
    """Fork for every request. Returns only in the children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the tests, not for this process.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wake = socket.socketpair()
    for each in (woken, wake):
        each.settimeout(0)
    signal.set_wakeup_fd(wake.fileno())
    for engine in queries.ENGINES:
        queries.load(engine)  # The children find them loaded, which takes a fifth of a short command's time.
    api_pages()  # A fifth of a node's start.
    gc.collect()
    gc.freeze()  # Otherwise the collector writes to the shared memory of every child, and so copies it.
    reports: dict[int, int] = {}
    while True:
        readable, _, _ = select.select([requests, woken], [], [])
        if woken in readable:
            woken.recv(1024)
            _report_ends(reports)
        if requests in readable:
            message, given, _, _ = socket.recv_fds(requests, _REQUEST_SIZE_MAX, _STREAMS + 1)
            if not message:
                sys.exit()
            pid = os.fork()
            if pid == 0:
                for ours in (requests, woken, wake):
                    ours.close()
                return _become(StartRequest.decode(message), given)
            *streams, reports[pid] = given
            for stream in streams:
                os.close(stream)
            _report(reports[pid], pid)


def _report_ends(reports: dict[int, int]) -> None:
    while reports:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        descriptor = reports.pop(pid)
        _report(descriptor, status)
        os.close(descriptor)


def _report(descriptor: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # The test does not read it any more.
        os.write(descriptor, NUMBER.pack(number))


def _become(request: StartRequest, given: Sequence[int]) -> StartRequest:
    """Make this child what a new interpreter would be: its streams, folder, environment and arguments."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(given[:_STREAMS]):
        os.dup2(stream, number)
    os.closerange(_STREAMS, max(int(each.name) for each in Path("/proc/self/fd").iterdir()) + 1)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.path[:1] = [request.folder, *filter(None, [request.environment.get("PYTHONPATH")])]
    sys.argv[1:] = request.arguments
    if request.arguments[:1] == ["serve"]:
        fork_workers(lambda: _run("bullion"))
    elif request.arguments[:1] == ["demo"] or request.arguments[:2] == ["market", "demo"]:
        fork_console(lambda: _run("bullion"))
    return request


def _run(module: str) -> NoReturn:
    """Run the child's module, and end the process as the interpreter does, without freeing its memory.

    Memory that is freed is first copied from the fork server, which takes longer than a short command.
    """
    try:
        _run_module(module)
        code = None
    except SystemExit as end:
        code = end.code
    if code is not None and not isinstance(code, int):
        sys.exit(code)  # The interpreter prints it.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # The interpreter has a code and a message of its own for this.
    os._exit(code or 0)


def _run_module(module: str) -> None:
    if module == "bullion":
        # Its commands are made when the module is imported: running it anew would make them all again.
        bullion.__main__.main(prog_name="python -m bullion")
    else:
        del sys.modules["bullion.__main__"]  # The module may change what it imports.
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _run(main(socket.socket(fileno=int(sys.argv[1]))).module)
