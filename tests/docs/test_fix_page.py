"""The page about FIX: its market file is read, and its contract is one."""

import shlex
from pathlib import Path

from bullion.market_file import read_market
from tests.docs.markdown import ROOT, blocks
from tests.support.command import bullion
from tests.support.node import SECRET

PAGE = ROOT / "docs/fix.md"


def block(beginning: str, page: Path = PAGE) -> str:
    (found,) = (each.text for each in blocks(page) if each.text.startswith(beginning))
    return found


def test_its_market_file_is_read() -> None:
    market = read_market(block("[profiles.spot-venue]"), {"SPOT_PASSWORD": "secret", "VENDOR_KEY": "secret"})
    (line,) = market.lines
    assert (line.name, line.profile.name, line.profile.heartbeat_s) == ("spot", "spot-venue", 20)
    assert market.feed is not None
    assert [each.name for each in market.feed.sources] == ["vendor"]


def test_the_source_over_fix_is_read() -> None:
    text = block("[sources.venue]", ROOT / "docs/feeds.md")
    line = read_market(text, {"VENUE_MD_PASSWORD": "secret"}).source_lines["venue"]
    assert (line.host, line.port, line.profile.heartbeat_s) == ("md.example.com", 9881, 10)


def test_its_contract_is_taken(tmp_path: Path) -> None:
    assert bullion(tmp_path, "migrate", BULLION_SECRET=SECRET).returncode == 0
    command = shlex.split(block("bullion desk hedge contract-put"))[1:]
    done = bullion(tmp_path, *command, BULLION_SECRET=SECRET)
    assert done.returncode == 0, done.stderr
    assert "31.1034768" in done.stdout
