"""The deployment's secret: it keys every hash that we store, and must stay the same for a store's life."""

import fcntl
import os
import secrets
import tempfile
from pathlib import Path

from bullion.settings import WrongSetting

_LENGTH_MIN = 32


def deployment_secret(given: str | None, kept_in: Path, *, may_make: bool) -> bytes:
    """What the settings say; else what was made and kept before; else a new one, kept for the next start.

    `may_make` is false for a store that was made with a secret: a new one would not fit it.
    """
    if given is not None:
        return given.encode("ascii")
    file = kept_in / "secret"
    try:
        found = _read(file)
        if found is None and may_make:
            found = _make(file)
    except OSError as error:
        raise WrongSetting(
            f"The secret cannot be kept in {file} ({error.strerror}). Mend the folder, or set BULLION_SECRET."
        ) from error
    if found is None:
        raise WrongSetting(
            f"BULLION_SECRET is not set, and {file} is {'too short' if file.exists() else 'gone'}. "
            "Put back the secret that the store was made with: without it no key can be verified."
        )
    return found


def _read(file: Path) -> bytes | None:
    """None when there is none, or one left short by a machine that went down while making it."""
    found = file.read_bytes().strip() if file.exists() else b""
    return found if len(found) >= _LENGTH_MIN else None


def _make(file: Path) -> bytes:
    """Others may be starting at this moment: one of us makes it, whole, and the rest read it."""
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
    """Aside first, then in place: nobody ever reads half of it."""
    descriptor, aside = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    Path(aside).replace(file)
