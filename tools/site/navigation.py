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


START = Page("README.md", "Quick start")
READERS = (
    Reader(
        "Build a trading program",
        "Prices, orders and positions over a JSON API, and what to do when a response is lost.",
        (
            Page("docs/client-guide.md", "Client guide", "from the first order to a complete program"),
            Page("docs/python-client.md", "Python SDK", "the library and its command line"),
            Page("docs/events.md", "Events and webhooks", "know what happens without polling"),
            Page("docs/typescript-client.md", "TypeScript client", "for Node, with types of every call"),
            Page("docs/trading-api.md", "Trading API", "every call and its rules"),
            Page(API, "API reference", "every call, field and header"),
            Page("docs/refusals.md", "Refusals", "every error code, and what to do about it"),
            Page("docs/order-life.md", "The life of an order", "every status, and what it means"),
            Page("docs/conformance.md", "Conformance", "check a service against the specification"),
        ),
    ),
    Reader(
        "Work at the desk",
        "Clients and their keys, symbols, rates, limits, and the orders of the day.",
        (
            Page("docs/console.md", "The console", "the desk in a browser"),
            Page(
                "docs/console-pictures.md", "Pictures of the console", "every page, on a desk and on a phone"
            ),
            Page("docs/desk.md", "Guide for the desk", "settings, commands and calls"),
            Page("docs/hedge-book.md", "The hedge book", "limits, rules, covers and profit"),
            Page("docs/handbook.md", "Handbook", "opening production, daily checks, incidents"),
        ),
    ),
    Reader(
        "Run the service",
        "From one process on a laptop to many machines with a standby.",
        (
            Page("docs/install-debian.md", "Install on Debian", "from an empty machine to TLS, step by step"),
            Page("docs/deployment.md", "Deployment", "options, settings, outages, backup, upgrade"),
            Page(
                "docs/logs-and-traces.md", "Logs and traces", "journal, log level, request ids, OpenTelemetry"
            ),
            Page("docs/market.md", "Connect a venue and a feed", "from nothing, step by step"),
            Page("docs/fix.md", "A venue over FIX", "lines, profiles, contracts, faults"),
            Page("docs/feeds.md", "Live feeds", "rates from data vendors: sources, guard, failover"),
            Page("docs/failover.md", "Failover", "another PostgreSQL or Redis server takes over"),
            Page("docs/scaling.md", "Scaling", "capacity, and how to grow"),
            Page("docs/support.md", "Support", "versions, compatibility, systems"),
            Page("SECURITY.md", "Security", "report a vulnerability"),
        ),
    ),
    Reader(
        "Read the code",
        "How it is built, why, and how to change it.",
        (
            Page("docs/architecture.md", "Architecture", "the packages, and the path of an order"),
            Page("docs/venues.md", "Venues", "write an adapter to a venue"),
            Page(DECISIONS, "Decisions", "what was decided, and why"),
            Page("CONTRIBUTING.md", "Contributing", "from a fresh clone to a change that fits in"),
            Page("CHANGELOG.md", "Changelog", "what changed"),
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
