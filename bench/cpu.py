"""How much CPU time servers used: their event loops, or all of their processes."""

import os
from collections.abc import Collection
from pathlib import Path

import msgspec

from .processes import workers_of


class CpuTime(msgspec.Struct, frozen=True):
    ran_ns: int
    waited_ns: int
    """Ready to run while another process had the core: a busy machine shows here."""

    def since(self, earlier: "CpuTime") -> "CpuTime":
        return CpuTime(self.ran_ns - earlier.ran_ns, self.waited_ns - earlier.waited_ns)


def cpu_time(pids: Collection[int]) -> CpuTime | None:
    """Of each process's first thread, which is the one that runs the loop, together. Only Linux tells."""
    if not pids:
        return None
    ran_ns = waited_ns = 0
    for pid in pids:
        try:
            ran, waited, _turns = Path(f"/proc/{pid}/schedstat").read_text().split()
        except OSError:
            return None
        ran_ns += int(ran)
        waited_ns += int(waited)
    return CpuTime(ran_ns, waited_ns)


def tree_cpu_ns(pids: Collection[int]) -> int | None:
    """Of these processes and all that descend from them, also of those that have ended. Only Linux tells.

    A process that ended was counted by itself before, and by whoever waited for it after.
    """
    if not pids:
        return None
    ran_ns, open_ = 0, list(pids)
    while open_:
        pid = open_.pop()
        try:
            children = workers_of(pid)
            ran_ns += _own_ns(pid) + _ended_ns(pid)
        except OSError:
            if pid in pids:
                return None
            continue  # It ended a moment ago.
        open_ += children
    return ran_ns


def _own_ns(pid: int) -> int:
    """Of all its threads."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def _ended_ns(pid: int) -> int:
    """Of its children that it has waited for, and of theirs."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(after_name[13]) + int(after_name[14])
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
