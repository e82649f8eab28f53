"""What the system tells of a process: its children, and the memory that it takes."""

from pathlib import Path


def workers_of(pid: int) -> tuple[int, ...]:
    """The processes that it started. Empty where the system does not tell."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, path.read_text().split())
    return tuple(found)


def memory_bytes(pid: int) -> dict[str, int] | None:
    """`rss`: what is in memory. `pss`: the same, but what is shared is divided. Only Linux tells."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith(" kB")}
    return {"rss": int(sizes["Rss"]) * 1024, "pss": int(sizes["Pss"]) * 1024}
