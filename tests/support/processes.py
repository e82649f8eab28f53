"""What the system knows of a process."""

import contextlib
import os
import subprocess
from pathlib import Path

_SHOWN = "environment"


def children(pid: int) -> list[int]:
    done = subprocess.run(["/usr/bin/pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return sorted(int(word) for word in done.stdout.split())


def environment_of(pid: int) -> dict[str, str]:
    """The variables that it was started with; of a forked worker, those that `show_environment` wrote."""
    text = Path(f"/proc/{pid}/environ").read_text("utf-8")
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # It has just been closed.
            if str(entry.readlink()).startswith(f"/memfd:{_SHOWN}"):
                text = entry.read_text("utf-8")
    pairs = (line.partition("=") for line in text.split("\0") if line)
    return {name: value for name, _, value in pairs}


def show_environment() -> None:
    """In a forked process: write its variables where `environment_of` finds them, as the system does not."""
    text = "\0".join(f"{name}={value}" for name, value in os.environ.items())
    os.write(os.memfd_create(_SHOWN), text.encode())


def cpu_s(pid: int) -> float:
    """The processor time that it has used so far."""
    # Behind its name, which may have blanks in it, user and system time are the 12th and 13th field.
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
