"""The deployment's secret: the key of every stored hash. Only an exchange gives a store another one."""

import fcntl
import os
import secrets
import tempfile
from pathlib import Path

from bullion.settings import WrongSetting

_LENGTH_MIN = 32


def deployment_secret(given: str | None, kept_in: Path, *, may_create: bool) -> bytes:
    """Return the secret from the settings, else from the file, else a new one, which is saved in the file.

    `may_create` is false for an existing store: its hashes were made with another secret.
    """
    if given is not None:
        return given.encode("ascii")
    file = kept_in / "secret"
    try:
        found = _read(file)
        if found is None and may_create:
            found = _make(file)
    except OSError as error:
        raise WrongSetting(
            f"The secret cannot be kept in {file} ({error.strerror}). Fix the folder, or set BULLION_SECRET."
        ) from error
    if found is None:
        raise WrongSetting(
            f"BULLION_SECRET is not set, and {file} is {'too short' if file.exists() else 'gone'}. "
            "Restore the secret that the store was made with: without it no key can be verified."
        )
    return found


def _read(file: Path) -> bytes | None:
    """None if the file is missing, or cut short by a crash while it was written."""
    found = file.read_bytes().strip() if file.exists() else b""
    return found if len(found) >= _LENGTH_MIN else None


def _make(file: Path) -> bytes:
    """Create the secret under a lock: processes that start at the same time must agree on one."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        found = _read(file)
        if found is None:
            found = secrets.token_urlsafe(32).encode("ascii")
            _write(file, found)
        return found
    finally:
        os.close(folder)


def _write(file: Path, text: bytes) -> None:
    """Write to a temporary file, then rename it: no reader sees half a secret."""
    descriptor, aside = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    Path(aside).replace(file)
