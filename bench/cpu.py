"""How much of a core the event loops of a server used, and how long they stood in line for one."""

from collections.abc import Collection
from pathlib import Path

import msgspec


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
