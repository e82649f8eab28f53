"""`make release`: build the distributions, try them in new environments, and describe what they need.

Everything goes into dist/: wheels, source archives, bills of materials, licences and SHA256SUMS.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tools.release.distributions import ROOT, Distribution, build, require_reproducible
from tools.release.environment import Environment
from tools.release.inventory import licences, sha256, write_bill_of_materials
from tools.release.trial import check_conformance, place_order, serve_demo

_DIST = ROOT / "dist"
_EXTRAS = {"bullion-client": ["cli"]}


def main() -> int:
    made_at = _commit_time()
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(made_at.timestamp())))
    shutil.rmtree(_DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="bullion-release-") as name:
        folder = Path(name)
        print("Building wheels and source archives.", flush=True)
        built = build(_DIST)
        print("Building them again, and the wheels from the source archives.", flush=True)
        require_reproducible(built, folder / "builds")
        environments = {each.name: _install(each, folder) for each in built}
        _try_out(environments, folder)
    for each in built:
        write_bill_of_materials(each, environments[each.name].needs, made_at, _DIST)
    text = licences([each.needs for each in environments.values()])
    (_DIST / "LICENCES.txt").write_text(text, "utf-8")
    sums = [f"{sha256(file)}  {file.name}\n" for file in sorted(_DIST.iterdir())]
    (_DIST / "SHA256SUMS").write_text("".join(sums), "utf-8")
    print("In dist/:", *sorted(file.name for file in _DIST.iterdir()), sep="\n  ")
    return 0


def _install(built: Distribution, folder: Path) -> Environment:
    print(
        f"Installing {built.wheel.name} into a new environment (locked versions, hashes checked).", flush=True
    )
    environment = Environment(folder / f"{built.name}-env", built.wheel, *_EXTRAS.get(built.name, []))
    environment.install_locked()
    return environment


def _try_out(environments: dict[str, Environment], folder: Path) -> None:
    print("Starting the demo.", flush=True)
    with serve_demo(environments["bullion"], folder) as demo:
        order = place_order(environments["bullion-client"], demo)
        print(f"The client has bought {order['quantity']} {order['unit']} of {order['symbol_code']}.")
        print("Running the conformance kit.", flush=True)
        counts = check_conformance(environments["bullion-conformance"], demo, folder / "report.json")
        print("Requirements:", ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


def _commit_time() -> datetime:
    """When the source was last changed: SOURCE_DATE_EPOCH, or the time of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        git = shutil.which("git") or "git"
        command = [git, "log", "-1", "--format=%ct"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        given = done.stdout
    return datetime.fromtimestamp(int(given), UTC)


if __name__ == "__main__":
    sys.exit(main())
