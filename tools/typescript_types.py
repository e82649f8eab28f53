"""Writes the types of the TypeScript client from the description, with openapi-typescript.

Not among the files of `make generate`, because it needs node: `python -m tools.typescript_types`.
"""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bullion.api.openapi import openapi
from bullion.api.openapi.schemas import ALWAYS_SENT
from tools.npm_programs import NotInstalled, npm_program

_ROOT = Path(__file__).resolve().parent.parent
TYPES = _ROOT / "clients/typescript/src/schema.ts"
_HEAD = "// Written by `python -m tools.typescript_types` from docs/openapi.json. Change that, not this.\n\n"


def described() -> dict[str, Any]:
    """What the client uses: schemas, parameters, bodies and what a successful call answers."""
    description = deepcopy(openapi())  # Parts of it are shared.
    for methods in description["paths"].values():
        for operation in methods.values():
            operation["responses"] = {
                status: {"description": "", "content": response["content"]}
                for status, response in operation["responses"].items()
                if status.startswith("2")
            }
            operation.pop("description")
    kept = {"schemas": description["components"]["schemas"]}
    for schema in kept["schemas"].values():
        fields = schema.get("properties", {})
        schema["required"] = [
            name
            for name, field in fields.items()
            if name in schema.get("required", ()) or ALWAYS_SENT in field
        ]
    return {name: description[name] for name in ("openapi", "info", "paths")} | {"components": kept}


def types() -> str:
    """May raise NotInstalled."""
    program = npm_program("openapi-typescript")
    with TemporaryDirectory() as folder:
        source, made = Path(folder, "openapi.json"), Path(folder, "schema.ts")
        source.write_text(json.dumps(described()), "utf-8")
        command = [program, str(source), "--output", str(made), "--empty-objects-unknown"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        text = made.read_text("utf-8")
    return _HEAD + text.partition("*/\n")[2].lstrip()


def main() -> int:
    try:
        TYPES.write_text(types(), "utf-8")
    except NotInstalled as error:
        print(f"The types were not written: {error}.", file=sys.stderr)
        return 1
    print(f"Wrote {TYPES.relative_to(_ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
