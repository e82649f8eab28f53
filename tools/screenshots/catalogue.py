"""Which pictures there are: one for each view of the console, and some of what is beside them."""

from dataclasses import dataclass
from pathlib import Path

from bullion.console.pages import PAGES

FOLDER = Path(__file__).resolve().parents[2] / "docs/pictures"
GALLERY = FOLDER.parent / "console-pictures.md"
DESK, PHONE, LARGE = (1280, 800), (390, 844), (1920, 1080)
_WHERE = {DESK: "on a desk", PHONE: "on a phone", LARGE: "on a large screen"}
THEMES = ("light", "dark")
OF_ALL = "/market"
"""This view shows what another one shows, the first tab."""


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    title: str
    view: str = ""
    """The path that the console declares; empty for what is no view of a page."""
    path: str = ""
    """What is opened, if it is not the view with its names filled in."""
    whole: bool = False
    """As high as its content, rather than as the window."""
    sizes: tuple[tuple[int, int], ...] = (DESK, PHONE)

    def file(self, size: tuple[int, int], theme: str) -> str:
        return f"console-{self.name}-{size[0]}-{theme}.png"


def _tab(name: str, title: str) -> Picture:
    return Picture(f"market-{name}", title, f"/market/{name}", whole=True)


PICTURES = (
    Picture("login", "The log-in"),
    Picture("code", "The code of the second factor"),
    Picture("overview", "The overview", "/overview", sizes=(DESK, PHONE, LARGE)),
    Picture("rates", "The rate board", "/rates"),
    Picture("chart", "The chart of a symbol", "/rates/{symbol_code}", "/rates/GOLD?span=1d"),
    Picture(
        "ticket",
        "The order ticket",
        "/ticket",
        "/ticket?login=kalyani&symbol=GOLD&side=buy&quantity=100",
    ),
    Picture("orders", "The blotter", "/orders", "/orders?environment=production"),
    Picture("order", "One order", "/orders/{order_id}", whole=True),
    Picture("decision", "A refusal, and why", "/orders/decision/{request_id}"),
    Picture("refusals", "Refusals", "/refusals"),
    Picture("find", "The search", "/find", "/find?q=ka"),
    Picture("accounts", "Accounts", "/accounts"),
    Picture("account", "One account", "/accounts/{login_id}", whole=True),
    Picture("webhook", "A webhook of an account", "/accounts/{login_id}/webhooks/{webhook_id}", whole=True),
    _tab("book", "The hedge book"),
    _tab("covers", "Covers"),
    Picture("market-statement", "A venue's statement, compared", path="/market/covers"),
    _tab("lines", "Lines and feeds"),
    Picture("market-held", "A jump of the rates, held", path="/market/lines", whole=True),
    _tab("contracts", "Contracts"),
    _tab("symbols", "Symbols"),
    Picture("market-symbol", "A symbol's form", path="/market/symbols"),
    _tab("groups", "Groups"),
    _tab("rates", "Rates of instruments"),
    _tab("duty", "Duty"),
    _tab("hours", "Trading hours"),
    _tab("limits", "Limits"),
    _tab("venue", "The venue"),
    _tab("public", "The public page's settings"),
    Picture("public-page", "The public rate page"),
    Picture("audit", "The audit trail", "/audit"),
    Picture("users", "Users", "/users"),
    Picture("second-factor", "Setting up the second factor", path="/second-factor", whole=True),
)


def views() -> list[str]:
    return [f"/{page.name}{path}" for page in PAGES for path in page.views]


def without_picture() -> list[str]:
    """Views that no picture shows. There must be none."""
    shown = {each.view for each in PICTURES} | {OF_ALL}
    return [view for view in views() if view not in shown]


def gallery() -> str:
    """The page that shows every picture."""
    lines = [
        "# Pictures of the console",
        "",
        "Every page in both themes, on a desk and on a phone. `make screenshots` takes them over a",
        "[market demo](market.md) with made-up clients, a venue and rates on one machine.",
        "",
    ]
    for picture in PICTURES:
        lines += [f"## {picture.title}", ""]
        for size in picture.sizes:
            for theme in THEMES:
                alt = f"{picture.title} {_WHERE[size]}, {theme} theme"
                lines += [f"![{alt}](pictures/{picture.file(size, theme)})", ""]
    return "\n".join(lines).rstrip() + "\n"
