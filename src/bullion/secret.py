"""The deployment's secret: it keys every hash that we store, and must stay the same for a store's life."""

import os
import secrets
from pathlib import Path

from bullion.settings import WrongSetting


def deployment_secret(given: str | None, kept_in: Path) -> bytes:
    """What the settings say; else what was made and kept before; else a new one, kept for the next start."""
    if given is not None:
        return given.encode("ascii")
    file = kept_in / "secret"
    try:
        return _make(file)
    except FileExistsError:
        return _read(file)


def _make(file: Path) -> bytes:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = secrets.token_urlsafe(32).encode("ascii")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    return text


def _read(file: Path) -> bytes:
    text = file.read_bytes().strip()
    if len(text) < 32:
        raise WrongSetting(
            f"{file} is too short to be a secret. Put the right one back, or set BULLION_SECRET; "
            "with another secret than before, no key and no audit entry of the store can be verified."
        )
    return text
