"""Where the processes of the tests are born: `python -m tests.support.nursery <descriptor>`.

Each word that comes in at the descriptor is an order (see `forked.py`) and brings the child's standard
streams and a line to whoever asks. The nursery forks, and the child goes on as `python -m` would. The line
tells the child's pid, and in the end how it ended. The nursery lives for as long as it can be sent orders.
"""

import contextlib
import gc
import os
import runpy
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

# What commands import, by themselves or when they need it: that is what the nursery is for.
import bullion.__main__
import bullion.demo
import bullion.doctor
import bullion.workers.alone  # noqa: F401
from tests.support.forked import NUMBER, Order

_WORD_SIZE_MAX = 1 << 18
_STREAMS = 3


def main(orders: socket.socket) -> Order:
    """Fork for every order. Returns in the children alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Whoever presses Ctrl+C means the tests.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wake = socket.socketpair()
    for each in (woken, wake):
        each.settimeout(0)
    signal.set_wakeup_fd(wake.fileno())
    gc.collect()
    gc.freeze()  # Or the collector would write to, and so copy, the memory of every child.
    lines: dict[int, int] = {}
    while True:
        readable, _, _ = select.select([orders, woken], [], [])
        if woken in readable:
            woken.recv(1024)
            _tell_ends(lines)
        if orders in readable:
            word, given, _, _ = socket.recv_fds(orders, _WORD_SIZE_MAX, _STREAMS + 1)
            if not word:
                sys.exit()
            pid = os.fork()
            if pid == 0:
                for ours in (orders, woken, wake):
                    ours.close()
                return _be_born(Order.decode(word), given)
            *streams, lines[pid] = given
            for stream in streams:
                os.close(stream)
            _tell(lines[pid], pid)


def _tell_ends(lines: dict[int, int]) -> None:
    while lines:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        line = lines.pop(pid)
        _tell(line, status)
        os.close(line)


def _tell(line: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # Nobody wants to know any more.
        os.write(line, NUMBER.pack(number))


def _be_born(order: Order, given: Sequence[int]) -> Order:
    """What an interpreter would have done by now."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(given[:_STREAMS]):
        os.dup2(stream, number)
    os.closerange(_STREAMS, max(int(each.name) for each in Path("/proc/self/fd").iterdir()) + 1)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.path[:1] = [order.folder, *filter(None, [order.environment.get("PYTHONPATH")])]
    sys.argv[1:] = order.arguments
    return order


if __name__ == "__main__":
    del sys.modules["bullion.__main__"]  # It has not run yet; what it has imported stays.
    born = main(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(born.module, run_name="__main__", alter_sys=True)
