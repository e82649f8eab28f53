"""The deployment's secret: it keys every hash that we store, and must stay the same for a store's life."""

import contextlib
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
        found = file.read_bytes().strip() if file.exists() else b""
        if len(found) >= _LENGTH_MIN:
            return found
        if may_make:
            return _make(file)
    except OSError as error:
        raise WrongSetting(
            f"The secret cannot be kept in {file} ({error.strerror}). Mend the folder, or set BULLION_SECRET."
        ) from error
    raise WrongSetting(
        f"BULLION_SECRET is not set, and {file} is {'too short' if file.exists() else 'gone'}. "
        "Put back the secret that the store was made with: without it no key or audit entry can be verified."
    )


def _make(file: Path) -> bytes:
    """All of it or nothing, for others may be starting at this moment: written aside, then put in place."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = secrets.token_urlsafe(32).encode("ascii")
    descriptor, aside = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        if file.exists():  # Left empty by a machine that went down; nothing was made with it yet.
            file.unlink()
        with contextlib.suppress(FileExistsError):
            file.hardlink_to(aside)
    finally:
        Path(aside).unlink()
    return file.read_bytes()
