"""What the system knows of a process."""

import os
import subprocess
from pathlib import Path


def children(pid: int) -> list[int]:
    done = subprocess.run(["/usr/bin/pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return sorted(int(word) for word in done.stdout.split())


def cpu_s(pid: int) -> float:
    """The processor time that it has used so far."""
    # Behind its name, which may have blanks in it, user and system time are the 12th and 13th field.
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
