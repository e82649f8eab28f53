"""Who reads the documentation, and which pages are for whom: the site's home page and its menu."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

API = "api.md"
"""The reference of the API. It is made for the site, from docs/openapi.json."""
DECISIONS = "docs/adr/README.md"
"""Each decision is in the menu below this one."""


@dataclass(frozen=True)
class Page:
    path: str
    """From the root of the checkout."""
    title: str
    words: str = ""


@dataclass(frozen=True)
class Reader:
    title: str
    words: str
    pages: tuple[Page, ...]


START = Page("README.md", "Start in a minute")
READERS = (
    Reader(
        "Writing a program that trades",
        "Prices, orders and positions over JSON and HTTP, and what to do when an answer is lost.",
        (
            Page(
                "docs/client-guide.md", "Guide for client authors", "from the first order to a whole program"
            ),
            Page("docs/python-client.md", "Python client", "the library and its command line"),
            Page("docs/trading-api.md", "The trading API", "every call and its rules, in words"),
            Page(API, "API reference", "every call, field and header"),
            Page("docs/refusals.md", "Refusals", "each code, and what to do about it"),
            Page("docs/order-life.md", "The life of an order", "what `pending` means, and what follows"),
            Page("docs/conformance.md", "Conformance", "hold a client or a service to the rules"),
        ),
    ),
    Reader(
        "At the broker's desk",
        "Clients and their keys, symbols, rates, limits, and the orders of the day.",
        (
            Page("docs/console.md", "The console", "the desk in a browser"),
            Page("docs/desk.md", "Guide for the desk", "settings, commands and calls"),
            Page("docs/handbook.md", "Handbook", "opening production, the daily look, incidents"),
        ),
    ),
    Reader(
        "Running it",
        "From one process on a laptop to many machines with a standby.",
        (
            Page("docs/deployment.md", "Deployment", "shapes, settings, outages, backup, upgrade"),
            Page("docs/scaling.md", "Scaling", "what it carries, and how to go on from there"),
        ),
    ),
    Reader(
        "Reading the code",
        "How the house is built, why it is built so, and how to change it.",
        (
            Page("docs/architecture.md", "Architecture", "the rooms, and the way of an order"),
            Page("docs/venues.md", "Venues", "write an adapter to another one"),
            Page(DECISIONS, "Decisions", "what was decided, and what follows from it"),
            Page("CONTRIBUTING.md", "Contributing", "from a fresh clone to a change that fits in"),
            Page("CHANGELOG.md", "Changelog", "what is different now"),
        ),
    ),
)
_FURTHER = "Further pages"


def readers_of(pages: Iterable[str]) -> list[Reader]:
    """The readers with the pages that are there. One that has no place above comes last, but it comes."""
    there = set(pages)
    placed = {START.path, *(page.path for reader in READERS for page in reader.pages)}
    known = [
        replace(reader, pages=tuple(page for page in reader.pages if page.path in there))
        for reader in READERS
    ]
    further = tuple(Page(path, "") for path in sorted(there - placed) if not is_decision(path))
    return [reader for reader in (*known, Reader(_FURTHER, "", further)) if reader.pages]


def is_decision(path: str) -> bool:
    return path.startswith("docs/adr/") and path != DECISIONS
