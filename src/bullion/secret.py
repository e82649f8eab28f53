"""The deployment's secret: it keys every hash that we store, and must stay the same for a store's life."""

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from bullion.settings import WrongSetting


def deployment_secret(given: str | None, kept_in: Path) -> bytes:
    """What the settings say; else what was made and kept before; else a new one, kept for the next start."""
    if given is not None:
        return given.encode("ascii")
    file = kept_in / "secret"
    if not file.exists():
        with contextlib.suppress(FileExistsError):
            return _make(file)
    return _read(file)


def _make(file: Path) -> bytes:
    """All of it or nothing, for others may be starting at the same moment: written aside, then put in place."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = secrets.token_urlsafe(32).encode("ascii")
    descriptor, aside = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        Path(file).hardlink_to(aside)
    finally:
        Path(aside).unlink()
    return text


def _read(file: Path) -> bytes:
    text = file.read_bytes().strip()
    if len(text) < 32:
        raise WrongSetting(
            f"{file} is too short to be a secret. Put the right one back, or set BULLION_SECRET; "
            "with another secret than before, no key and no audit entry of the store can be verified."
        )
    return text
