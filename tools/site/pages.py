"""The pages as Sphinx reads them: a copy of the checkout's, beside a home page and the API's reference.

The copies lie as the originals do, so that their links lead to the same files, and are read as they are.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.site.navigation import API, DECISIONS, START, Page, Reader, is_decision, readers_of

_HERE = Path(__file__).resolve().parent
_DESCRIPTION = "docs/openapi.json"
_LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
_FENCED = re.compile(r"(?ms)^(`{3,}).*?^\1\s*$")


def lay_out(root: Path, folder: Path) -> None:
    """Put all that the site is made from into a folder that is empty."""
    files = _files(root)
    pages = {path for path in files if path.endswith(".md")}
    for path in files | {_DESCRIPTION}:
        _copy(root / path, folder / path)
    (folder / API).write_text((_HERE / API).read_text("utf-8"), "utf-8")
    readers = readers_of(pages | {API})
    home = (_HERE / "home.md").read_text("utf-8")
    (folder / "index.md").write_text(home + _cards(readers) + _menu(readers), "utf-8")
    with (folder / DECISIONS).open("a", encoding="utf-8") as decisions:
        decisions.write("\n" + _tree(Page(path, "") for path in sorted(filter(is_decision, pages))))


def _files(root: Path) -> set[str]:
    """Every page of the documentation, and whatever else of the checkout one of them shows or links to."""
    found: set[str] = set()
    new = {path.relative_to(root).as_posix() for path in [*root.glob("*.md"), *root.glob("docs/**/*.md")]}
    while new:
        found |= new
        new = {file for page in new if page.endswith(".md") for file in _linked(root, page)} - found
    return found


def _linked(root: Path, page: str) -> Iterator[str]:
    """What is not there is left to Sphinx, which names the link that leads nowhere."""
    for link in _LINK.findall(_FENCED.sub("", (root / page).read_text("utf-8"))):
        file = (root / page).parent.joinpath(link).resolve()
        if file.is_file() and file.is_relative_to(root):
            yield file.relative_to(root).as_posix()


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)


def _cards(readers: Iterable[Reader]) -> str:
    """A card for each reader. The links are ordinary ones, so they are checked like all others."""
    return "::::{container} readers\n" + "".join(map(_card, readers)) + "::::\n\n"


def _card(reader: Reader) -> str:
    lines = [
        ":::{container} reader",
        f"```{{rubric}} {reader.title}",
        ":heading-level: 2",
        "```",
        reader.words,
    ]
    lines.append("")
    for page in reader.pages:
        words = f"<br>{page.words}" if page.words else ""
        lines.append(f"- [{page.title}]({page.path}){words}")
    return "\n".join([*lines, ":::\n"])


def _menu(readers: Iterable[Reader]) -> str:
    return _tree([START]) + "".join(_tree(reader.pages, reader.title) for reader in readers)


def _tree(pages: Iterable[Page], caption: str = "") -> str:
    """A part of the menu. A page without a title of its own has that of its heading."""
    lines = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
    for page in pages:
        name = "/" + page.path.removesuffix(".md")
        lines.append(f"{page.title} <{name}>" if page.title else name)
    return "\n".join([*lines, "```\n\n"])
