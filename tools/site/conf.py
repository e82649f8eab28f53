"""How Sphinx makes the site. Nothing in it comes from another host; see docs/adr/0002-dependencies.md."""

import re
import tomllib
from pathlib import Path

from pygments.lexers.data import JsonLexer
from sphinx.application import Sphinx

from tools.site.reference import ApiReference, write_style

_ROOT = Path(__file__).resolve().parents[2]
_VARIABLE = re.compile(r"--([\w-]+):\s*([^;]+);")


def _palette() -> tuple[dict[str, str], dict[str, str]]:
    """The colours of the service's own page, by day and by night."""
    style = (_ROOT / "tools/docs_page/style.css").read_text("utf-8")
    light, dark = (dict(_VARIABLE.findall(block)) for block in re.findall(r":root \{([^}]*)\}", style))
    return light, dark


def _of_theme(palette: dict[str, str]) -> dict[str, str]:
    """The theme's names for them, beside their own."""
    return palette | {
        "color-brand-primary": palette["accent"],
        "color-brand-content": palette["accent"],
        "color-brand-visited": palette["accent"],
        "color-background-primary": palette["page"],
        "color-background-secondary": palette["panel"],
        "color-background-border": palette["line"],
        "color-foreground-primary": palette["ink"],
        "color-foreground-secondary": palette["soft"],
        "color-code-background": palette["panel"],
        "color-inline-code-background": palette["panel"],
    }


_light, _dark = _palette()

project = "Bullion"
version = release = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
root_doc = "index"
extensions = ["myst_parser"]
nitpicky = True
# The text stands as it was written; an option's two dashes are not made one.
smartquotes = False
# The anchors of headings are made as code-hosting sites make them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = "Bullion"
html_logo = html_favicon = "static/bullion.svg"
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["reference.css", "site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_search_scorer = str(Path(__file__).with_name("search-order.js"))
html_copy_source = False
html_use_index = False
html_show_sourcelink = False
html_show_copyright = False
html_last_updated_fmt = None
html_theme_options = {
    "light_css_variables": _of_theme(_light)
    | {"font-stack": _light["sans"], "font-stack--monospace": _light["mono"]},
    "dark_css_variables": _of_theme(_dark),
}
# Without the theme's places for advertisements and for a host's choice of versions.
html_sidebars = {
    "**": [f"sidebar/{part}.html" for part in ("brand", "search", "scroll-start", "navigation", "scroll-end")]
}


def setup(app: Sphinx) -> None:
    app.add_directive("api-reference", ApiReference)
    app.add_lexer("jsonl", JsonLexer)
    app.connect("builder-inited", write_style)
