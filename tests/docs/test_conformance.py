"""The page of the conformance kit: its commands work on the demo, and its numbers are the kit's."""

from pathlib import Path

from bullion_conformance.command import conformance
from tests.docs.commands import option_names
from tests.docs.demo import demo_in
from tests.docs.examples import run_shell
from tests.docs.markdown import ROOT, blocks, quoted

PAGE = ROOT / "docs/conformance.md"


def test_its_commands_work(tmp_path: Path) -> None:
    with demo_in(tmp_path, BULLION_PRODUCTION="on") as demo:
        untrue = list(run_shell(PAGE, tmp_path, demo.variables()))
        assert not untrue, "\n".join(untrue)


def test_every_option_is_told_and_no_other() -> None:
    told = {text for text in quoted(PAGE) if text.startswith("--") and " " not in text}
    assert told == option_names(conformance)


def test_the_numbers_are_those_that_the_tests_assert() -> None:
    asserted = (ROOT / "tests/conformance/test_own_service.py").read_text("utf-8")
    text = PAGE.read_text("utf-8")
    assert "count(Verdict.PASSED) == 108" in asserted
    assert text.count("108 requirements") == 2
    assert "len(more.findings) == 10" in asserted
    assert "| 10 more, by reading" in text


def test_the_code_it_shows_is_the_kits() -> None:
    for language, files in (("python", "**/*.py"), ("toml", "*.toml")):
        source = "".join(file.read_text("utf-8") for file in ROOT.glob(f"src/bullion_conformance/{files}"))
        (shown,) = (block for block in blocks(PAGE) if block.language == language)
        assert shown.text in source, shown.place
