"""What figures depend on."""

import os
import platform
import re
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from typing import Any

from tests.support.servers import NotInstalled, find


def environment() -> dict[str, Any]:
    """What the figures depend on; nothing that tells whose machine it was."""
    return {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "python_build": python_build(
            sysconfig.get_config_var("CONFIG_ARGS") or "", platform.python_compiler(), sys.base_prefix
        ),
        "postgresql": _version("postgres"),
        "redis": _version("redis-server"),
    }


def python_build(arguments: str, compiler: str, prefix: str) -> str:
    """How this Python was built, from what it was configured with.

    Distributions drive the optimised build by themselves, so that their arguments do not tell.
    """
    if prefix == "/usr":
        how = "of the distribution"
    elif "--enable-optimizations" not in arguments:
        how = "self-built without optimisation"
    else:
        how = "built with optimisation" + (" and LTO" if "--with-lto" in arguments else "")
    return f"{how}, {compiler.strip()}"


def told(of: Mapping[str, Any]) -> str:
    """In a sentence's words; what is not known is left out."""
    build = f" ({of['python_build']})" if of.get("python_build") else ""
    parts = [f"{of['cpus']} cores ({of['machine']})", f"Python {of['python']}{build}"]
    parts += [
        f"{words} {of[name]}"
        for name, words in {"postgresql": "PostgreSQL", "redis": "Redis"}.items()
        if of.get(name)
    ]
    return ", ".join(parts)


def _version(program: str) -> str | None:
    """The number alone: what else is said may name a distribution or a build machine."""
    try:
        said = subprocess.run([find(program), "--version"], capture_output=True, text=True, timeout=30).stdout
    except NotInstalled:
        return None
    found = re.search(r"[0-9]+(\.[0-9]+)+", said)
    return None if found is None else found[0]
