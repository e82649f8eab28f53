"""What the tests read out of a Markdown file: its blocks, its links, its headings, its tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE_READMES = tuple(ROOT / path / "README.md" for path in ("client", "clients/typescript", "conformance"))
"""Each goes with its package, and is in no other documentation."""
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *PACKAGE_READMES])

_FENCE = re.compile(r"```(\w*)")
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"!\[[^\]]+\]\(([^)\s]+)\)")
_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    place: str
    """File and line, for whoever has to mend it."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    language, lines, begun_at = "", list[str](), 0
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        fence = _FENCE.fullmatch(line)
        if begun_at and line == "```":
            found.append(Block(language, "\n".join(lines), f"{name_of(page)}:{begun_at}"))
            begun_at = 0
        elif begun_at:
            lines.append(line)
        elif fence:
            language, lines, begun_at = fence[1], [], number
    assert not begun_at, f"{name_of(page)}:{begun_at}: this block has no end"
    return found


def prose(page: Path) -> str:
    """The text without its blocks."""
    return re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8"))


def links(page: Path) -> list[str]:
    return _LINK.findall(prose(page))


def pictures(page: Path) -> list[str]:
    return _PICTURE.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The names under which the headings can be linked to, made as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", prose(page))
    return {_NOT_IN_ANCHOR.sub("", heading.lower()).replace(" ", "-") for heading in headings}


def table_rows(page: Path) -> Iterator[list[str]]:
    """The cells of every table row that begins with a word in backticks."""
    for line in prose(page).splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def quoted(page: Path) -> list[str]:
    """Whatever stands in backticks."""
    return re.findall(r"`([^`\n]+)`", prose(page))
