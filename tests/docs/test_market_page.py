"""The page that connects a venue and a feed: its commands work from nothing, in an empty folder."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from bullion.hedge.fix.profile import Line, Profile, Tls
from bullion.rates.feeds.source_settings import SourceInstrument, SourceSettings
from tests.docs.examples import run_shell
from tests.docs.markdown import ROOT
from tests.support.servers import free_port

PAGE = ROOT / "docs/market.md"
OF_CONTRACT = {"venue_symbol", "security_id", "lot", "fineness", "step", "price_weight", "currency", "tick"}
OF_TLS = set(Tls.__struct_fields__)


@pytest.mark.slow
def test_its_commands_work(tmp_path: Path) -> None:
    ports = [str(free_port()) for _ in range(4)]
    names = ("VENUE_PORT", "QUOTES_PORT", "BULLION_PORT", "BULLION_DESK_PORT")
    variables = {**dict(zip(names, ports, strict=True)), "API": f"http://127.0.0.1:{ports[2]}"}
    try:
        untrue = list(run_shell(PAGE, tmp_path, variables))
    finally:
        for file in tmp_path.glob("var/*.pid"):
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text()), signal.SIGKILL)
    assert not untrue, "\n".join(untrue)


def test_the_fields_that_questions_lead_to_exist() -> None:
    fields = set(Profile.__struct_fields__ + Line.__struct_fields__) | OF_TLS | OF_CONTRACT
    fields |= set(SourceSettings.__struct_fields__ + SourceInstrument.__struct_fields__) | {"timetable"}
    rows = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    asked = [row[1] for row in rows if "?" in row[0]]
    assert len(asked) > 10
    asked = [text for text in asked if not text.startswith("each becomes")]
    named = {name for text in asked for name in _names(text)}
    assert len(named) > 20
    assert named <= fields, named - fields


def _names(text: str) -> set[str]:
    """What is in backticks: a name, or `name = { … }` with the names within."""
    words = " ".join(text.split("`")[1::2]).replace("{", " ").replace("}", " ").replace("=", " ")
    return set(words.replace(",", " ").split())
