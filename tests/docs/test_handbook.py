"""The operator's handbook: its commands work on the demo, and its events, metrics and codes exist."""

import re
from pathlib import Path

import pytest

from bullion.booking import hedging
from bullion.refusals.catalogue import CATALOGUE
from tests.docs.demo import demo_in
from tests.docs.examples import run_shell
from tests.docs.markdown import ROOT, blocks, prose, quoted
from tests.support.servers import Postgres

PAGE = ROOT / "docs/handbook.md"
PARTS = ["What you see.", "What it means.", "Do.", "Do not.", "It is over when"]
OF_DEMO = {
    "BULLION_DATABASE_URL": "sqlite:///var/demo/bullion.db",
    "BULLION_BROKER": "demo",
    "BULLION_PRODUCTION": "on",
}


def test_its_commands_work(tmp_path: Path) -> None:
    """From top to bottom, as somebody would who practises on the demo."""
    with demo_in(tmp_path, BULLION_FEED="desk", BULLION_PRODUCTION="on") as demo:
        demo.stand_still()
        untrue = list(run_shell(PAGE, tmp_path, demo.variables() | OF_DEMO))
        assert not untrue, "\n".join(untrue)


def test_what_it_asks_of_postgresql_can_be_asked(postgres: Postgres) -> None:
    asked = [block for block in blocks(PAGE) if block.language == "sql"]
    assert asked
    for block in asked:
        for statement in block.text.split(";"):
            if statement.strip():
                postgres.sql(statement)


def test_every_incident_has_its_five_parts_in_their_order() -> None:
    incidents = prose(PAGE).partition("\n## Incidents\n")[2].partition("\n## ")[0]
    pages = re.split(r"\n### ", incidents)[1:]
    assert len(pages) == 14
    for page in pages:
        assert re.findall(r"(?m)^\*\*(.+?)\*\*", page) == PARTS, page.splitlines()[0]
        assert "*Clients:*" in page, page.splitlines()[0]
        assert "*Money:*" in page, page.splitlines()[0]


def test_every_incident_is_in_the_table_at_the_top() -> None:
    first = prose(PAGE).partition("\n## ")[0]
    incidents = prose(PAGE).partition("\n## Incidents\n")[2].partition("\n## ")[0]
    headings = re.findall(r"(?m)^### (.+)$", incidents)
    assert [link.replace("-", " ") for link in re.findall(r"\]\(#([\w-]+)\)", first)] == [
        heading.lower() for heading in headings
    ]


def test_the_log_events_it_names_are_written_at_their_levels() -> None:
    source = "\n".join(path.read_text("utf-8") for path in ROOT.glob("src/bullion/**/*.py"))
    written: dict[str, set[str]] = {}
    for level, name in re.findall(r'_log\.(\w+)\(\s*"(\w+)"', source):
        written.setdefault(name, set()).add(level.replace("exception", "error"))
    table = prose(PAGE).partition("| Log event |")[2].partition("\n\n")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines()[2:]]
    assert rows
    for name, levels, _ in rows:
        assert written[name.strip(" `")] == set(levels.split(", ")), name
    words = prose(PAGE)
    assert {name for name in written if name.startswith(("hedge_", "venue_"))} <= set(
        re.findall(r"`(\w+)`", words)
    )


def test_metrics_and_codes_that_it_names_exist() -> None:
    source = "\n".join(path.read_text("utf-8") for path in ROOT.glob("src/bullion/w*/*.py"))
    named = set(quoted(PAGE))
    for name in {text for text in named if re.fullmatch(r"bullion_[a-z_]+", text)}:
        assert f'"{name.removesuffix("_total")}"' in source, name
    codes = {row.code for row in CATALOGUE}
    likely = {text for text in named if re.fullmatch(r"(booking|production|symbol|trading)_[a-z_]+", text)}
    assert likely - {"production_trading"} <= codes


@pytest.mark.parametrize("words", ["an order has waited for more than 30 seconds", "above 30,"])
def test_when_it_is_woken(words: str) -> None:
    assert hedging._OLD_US == 30_000_000
    assert words in re.sub(r"\s+", " ", prose(PAGE))
