"""The files that pages ask for: read once, served under a name that changes with their content."""

from hashlib import blake2b
from importlib import resources

_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}

FILES: dict[str, tuple[str, bytes]] = {
    each.name: (_KINDS[each.name.rpartition(".")[2]], each.read_bytes())
    for each in resources.files(__package__).iterdir()
    if each.name.rpartition(".")[2] in _KINDS
}
"""By name: content type and content."""


def _ordered(ending: str, first: tuple[str, ...], last: tuple[str, ...] = ()) -> list[str]:
    between = sorted(name for name in FILES if name.endswith(ending) and name not in (*first, *last))
    return [*first, *between, *last]


STYLES = _ordered(".css", ("tokens.css", "console.css"), ("narrow.css",))
"""What all pages share, then what single pages add in files of their own, then what narrow windows change."""
CHART_LIBRARY = "lightweight-charts.js"
"""Not a part of every page: `rate_chart.js` loads it where there is a chart."""
SCRIPTS = [name for name in _ordered(".js", ("drafts.js", "console.js")) if name != CHART_LIBRARY]


def href(name: str) -> str:
    """A new content has a new address, so that a browser may keep what it has for good."""
    return f"/assets/{name}?v={blake2b(FILES[name][1], digest_size=6).hexdigest()}"
