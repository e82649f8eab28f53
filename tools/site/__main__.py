"""Build the documentation as a site. It fails for a link or an anchor that leads nowhere."""

import argparse
import gc
import shutil
import sys
import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.console import nocolor

from tools.site.pages import lay_out

_ROOT = Path(__file__).resolve().parents[2]


def build(root: Path, into: Path) -> str:
    """Build anew, as what did not change would not be checked again; returns what is wrong, line by line."""
    site, pages, trees = (into / name for name in ("site", "site-pages", "site-trees"))
    for folder in (site, pages, trees):
        shutil.rmtree(folder, ignore_errors=True)
    pages.mkdir(parents=True)
    lay_out(root, pages)
    said = StringIO()
    nocolor()
    Sphinx(pages, Path(__file__).parent, site, trees, "html", status=None, warning=said).build()
    for folder in (pages, trees):
        shutil.rmtree(folder)
    # Where to mend it is the page itself, not its copy.
    return said.getvalue().replace(f"{pages}/", "")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=_ROOT, help="the checkout whose pages are built")
    parser.add_argument("--into", type=Path, default=_ROOT / "build", help="the folder that gets 'site'")
    given = parser.parse_args(arguments)
    begun = time.monotonic()
    gc.disable()  # The trees of all pages live to the end: looking through them takes a quarter of the time.
    wrong = build(given.root.resolve(), given.into.resolve())
    if wrong:
        shutil.rmtree(given.into / "site")
        print(wrong, file=sys.stderr)
        print("The site was not built: mend what is named above.", file=sys.stderr)
        return 1
    site = given.into / "site"
    shown = site.relative_to(Path.cwd()) if site.is_relative_to(Path.cwd()) else site
    print(f"The site is in {shown}, built in {time.monotonic() - begun:.0f} s. To look at it:")
    print(f"  python3 -m http.server --bind 127.0.0.1 --directory {shown} 8080")
    print("and open http://127.0.0.1:8080")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
