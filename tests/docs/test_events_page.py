"""The page about events: its examples run on the demo, and it names every type and way."""

from pathlib import Path

from bullion.events.event import EventType
from bullion_client import EventType as ClientEventType
from tests.docs.demo import demo_in
from tests.docs.examples import run_python, run_shell
from tests.docs.markdown import ROOT, table_rows

PAGE = ROOT / "docs/events.md"


def test_its_examples_show_what_they_say(tmp_path: Path) -> None:
    """On the demo with rates that stand still; the programs in Python go on where the shell has ended."""
    with demo_in(tmp_path, BULLION_FEED="desk") as demo:
        demo.stand_still()
        variables = demo.variables()
        untrue = [*run_shell(PAGE, tmp_path, variables), *run_python(PAGE, tmp_path, variables)]
        assert not untrue, "\n".join(untrue)


def test_it_has_a_row_for_every_type() -> None:
    types = {each.value for each in EventType}
    assert {str(each) for each in ClientEventType} == types
    named = {name.strip("`") for row in table_rows(PAGE) for name in row[0].split(", ")}
    assert types <= named
