"""The npm programs that make and build the TypeScript client: from the PATH, or installed into `build/`.

Their versions are those of clients/typescript/package.json.
"""

import fcntl
import json
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = _ROOT / "clients/typescript/package.json"
_QUICK = ("--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=0", "--fetch-timeout=20000")
_PATIENCE_S = 180


class NotInstalled(Exception):
    """The message says what is missing."""


def npm_program(name: str) -> str:
    """Where the program is. May install it, and raises NotInstalled where that is not possible."""
    if shutil.which("node") is None:
        raise NotInstalled("node is not installed")
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not installed")
    versions = json.loads(_PACKAGE.read_text("utf-8"))["devDependencies"]
    wanted = json.dumps({"private": True, "dependencies": versions})
    folder = _ROOT / "build" / f"npm-{sha256(wanted.encode()).hexdigest()[:12]}"
    found = folder / "node_modules/.bin" / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            (folder / "package.json").write_text(wanted, "utf-8")
            _install(npm, folder)
    if not found.exists():
        raise NotInstalled(f"{name} is in none of the packages of {_PACKAGE.name}")
    return str(found)


def _install(npm: str, folder: Path) -> None:
    try:
        done = subprocess.run(
            [npm, "install", *_QUICK],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled("npm did not get its packages in time") from None
    if done.returncode != 0:
        raise NotInstalled("npm could not get its packages")
