"""What figures depend on."""

import os
import platform
import re
import subprocess
from typing import Any

from tests.support.servers import NotInstalled, find


def environment() -> dict[str, Any]:
    """What the figures depend on; nothing that tells whose machine it was."""
    return {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "postgresql": _version("postgres"),
        "redis": _version("redis-server"),
    }


def _version(program: str) -> str | None:
    """The number alone: what else is said may name a distribution or a build machine."""
    try:
        said = subprocess.run([find(program), "--version"], capture_output=True, text=True, timeout=30).stdout
    except NotInstalled:
        return None
    found = re.search(r"[0-9]+(\.[0-9]+)+", said)
    return None if found is None else found[0]
