"""Write the files that are made from the code and from what was measured.

With `--check` say which of them are out of step.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

# As a script, Python looks for modules in this folder instead of the one above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bullion.api.openapi import openapi, postman_collection
from bullion.refusals.catalogue import CATALOGUE
from tools.desk_actions import desk_page
from tools.docs_page import docs_page
from tools.guide_page import guide_page
from tools.measured import measured_page
from tools.pictures import pictures
from tools.refusals_page import refusals_page
from tools.retry_table import retry_table, typescript_table

_ROOT = Path(__file__).resolve().parent.parent


def generated() -> dict[str, str]:
    """The text of each generated file, by its path from the root of the checkout."""
    return {
        "docs/refusals.md": refusals_page(CATALOGUE),
        # Sorted, so that moving code about changes nothing here and a difference is one in meaning.
        "docs/openapi.json": json.dumps(openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n",
        "docs/postman.json": json.dumps(postman_collection(openapi()), indent=2, ensure_ascii=False) + "\n",
        "src/bullion/api/docs.html": docs_page(openapi()),
        "src/bullion/api/guide.html": guide_page(_ROOT),
        # Only a part of each of these is generated; the rest is as it stands.
        "docs/desk.md": desk_page(_ROOT),
        "docs/scaling.md": measured_page(_ROOT),
        "src/bullion_client/retry_table.py": retry_table(CATALOGUE),
        "clients/typescript/src/refusals.ts": typescript_table(CATALOGUE),
        **pictures(_ROOT),
    }


def write(root: Path) -> None:
    for path, text in generated().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
        print(f"Wrote {path}")


def out_of_step(root: Path) -> list[str]:
    return [path for path, text in generated().items() if _bytes_of(root / path) != text.encode()]


def _bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def main(arguments: Sequence[str], root: Path = _ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of step")
    if not parser.parse_args(arguments).check:
        write(root)
        return 0
    stale = out_of_step(root)
    for path in stale:
        print(f"{path} is out of step with what it is made from; run: make generate", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
