"""A transaction in another session, which stays open and holds its locks."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .servers import find


@contextmanager
def holding(url: str, statement: str) -> Iterator[None]:
    """Hold the PostgreSQL locks that `statement` takes, until the end of the block."""
    prompt = subprocess.Popen(
        [find("psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert prompt.stdin is not None
    assert prompt.stdout is not None
    try:
        prompt.stdin.write(f"BEGIN;\n{statement};\n\\echo held\n")
        prompt.stdin.flush()
        while prompt.stdout.readline() != "held\n":
            assert prompt.poll() is None, "psql ended"
        yield
    finally:
        # Said, so that psql waits for it: of a lost connection the server hears after psql has ended.
        with suppress(BrokenPipeError), prompt.stdin:
            prompt.stdin.write("ROLLBACK;\n")
        prompt.wait(timeout=10)
        prompt.stdout.close()
