"""What a distribution brings along: a CycloneDX bill of materials, and the licences of all packages.

Both describe what this platform and this Python need; the versions are those of requirements.txt.
"""

import hashlib
import json
import re
from datetime import UTC, datetime
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tools.release.distributions import Distribution
from tools.release.requirements import Needs

_SPECIFICATION = "1.6"
_LICENCE_FILE = re.compile(r"\.dist-info/.*(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
_NAME_LENGTH_MAX = 40
_RULE = "=" * 100


def bill_of_materials(built: Distribution, needs: Needs, made_at: datetime) -> dict[str, Any]:
    own_ref = _reference(needs.wheel)
    references = {name: _reference(_metadata(package)) for name, package in needs.packages.items()}
    own = _component(needs.wheel) | {
        "type": "application",
        "hashes": [{"alg": "SHA-256", "content": sha256(built.wheel)}],
    }
    edges = {own_ref: needs.direct} | {references[name]: needs.edges[name] for name in references}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": _SPECIFICATION,
        # From the content, so that the same build has the same number.
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{own_ref}#{sha256(built.wheel)}')}",
        "version": 1,
        "metadata": {
            "timestamp": made_at.astimezone(UTC).isoformat(timespec="seconds"),
            "component": own,
        },
        "components": [_component(_metadata(package)) for package in needs.packages.values()],
        "dependencies": [
            {"ref": ref, "dependsOn": [references[name] for name in names]} for ref, names in edges.items()
        ],
    }


def write_bill_of_materials(built: Distribution, needs: Needs, made_at: datetime, folder: Path) -> Path:
    name = f"{built.wheel.name.split('-py3')[0]}.cdx.json"
    text = json.dumps(bill_of_materials(built, needs, made_at), indent=2, ensure_ascii=False)
    (folder / name).write_text(f"{text}\n", "utf-8")
    return folder / name


def licences(all_needs: list[Needs]) -> str:
    """A table of all packages with their licences, then the text of each licence."""
    packages = {name: package for needs in all_needs for name, package in needs.packages.items()}
    rows, texts = [], []
    for _, package in sorted(packages.items()):
        described = _metadata(package)
        title = f"{described['Name']} {described['Version']}"
        rows.append(f"{title:40} {licence_of(described)}")
        texts += [f"{_RULE}\n{title}: {name}\n{_RULE}\n\n{text}" for name, text in _licence_texts(package)]
    head = "Packages that the distributions of Bullion need, and their licences. Bullion itself: Apache-2.0."
    return "\n".join([head, "", *rows, "", *texts]) + "\n"


def licence_of(described: Message) -> str:
    """The SPDX expression of a package, or the name that the package gives its licence."""
    expression, name = described["License-Expression"], described["License"] or ""
    if expression:
        return str(expression)
    if name and "\n" not in name and len(name) <= _NAME_LENGTH_MAX:
        return str(name)
    classifiers = [str(each).split(" :: ") for each in described.get_all("Classifier", [])]
    named = [parts[-1] for parts in classifiers if parts[0] == "License"]
    if not named:
        raise LookupError(f"{described['Name']} names no licence.")
    return " OR ".join(named)


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _component(described: Message) -> dict[str, Any]:
    licence = licence_of(described)
    is_expression = bool(described["License-Expression"])
    return {
        "type": "library",
        "bom-ref": _reference(described),
        "name": described["Name"],
        "version": described["Version"],
        "description": described["Summary"],
        "licenses": [{"expression": licence} if is_expression else {"license": {"name": licence}}],
        "purl": _reference(described),
    }


def _reference(described: Message) -> str:
    """The package URL of a package of the Python Package Index."""
    name = str(described["Name"]).lower().replace("_", "-").replace(".", "-")
    return f"pkg:pypi/{name}@{described['Version']}"


def _metadata(package: metadata.Distribution) -> Message:
    described = package.metadata
    assert isinstance(described, Message)  # noqa: S101 - true in every Python that we support
    return described


def _licence_texts(package: metadata.Distribution) -> list[tuple[str, str]]:
    found = [file for file in package.files or [] if _LICENCE_FILE.search(str(file))]
    return [(file.name, file.read_text("utf-8")) for file in found]
