"""Reads the host name from a `Host` header."""

from functools import lru_cache


@lru_cache(maxsize=1024)
def host_name(header: bytes) -> str:
    """Without port and brackets, in lower case: `[::1]:8000` is `::1`."""
    text = header.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")
