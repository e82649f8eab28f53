"""The beginning of the desk's guide: the first token, as a reader makes it."""

import shutil
import stat
import subprocess
from pathlib import Path

from bullion.settings import read_settings
from tests.docs.markdown import ROOT, blocks


def test_the_first_token_is_read_by_the_service(tmp_path: Path) -> None:
    first = blocks(ROOT / "docs/desk.md")[0].text
    *lines, last = first.splitlines()
    assert last == "bullion serve"  # Which the other tests start, and which would go on here.
    shell = shutil.which("bash")
    assert shell is not None
    subprocess.run([shell, "-eu", "-c", "\n".join(lines)], cwd=tmp_path, check=True)
    file = tmp_path / ".env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    token = read_settings({}, file).desk_token
    assert token is not None
    assert f"BULLION_DESK_TOKEN={token}\n" == file.read_text("utf-8")
