"""How much of a core a server's event loop used, and how long it stood in line for one."""

from pathlib import Path

import msgspec


class CpuTime(msgspec.Struct, frozen=True):
    ran_ns: int
    waited_ns: int
    """Ready to run while another process had the core: a busy machine shows here."""

    def since(self, earlier: "CpuTime") -> "CpuTime":
        return CpuTime(self.ran_ns - earlier.ran_ns, self.waited_ns - earlier.waited_ns)


def cpu_time(pid: int) -> CpuTime | None:
    """Of the process's first thread, which is the one that runs the loop. Only Linux tells."""
    try:
        ran, waited, _turns = Path(f"/proc/{pid}/schedstat").read_text().split()
    except OSError:
        return None
    return CpuTime(int(ran), int(waited))
