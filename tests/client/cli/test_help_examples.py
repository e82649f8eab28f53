"""The examples that the help shows: each of them works on the demo."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bullion_client.cli.program import program
from tests.docs.demo import Demo, demo_in
from tests.docs.examples import environment_of
from tests.support.forked_process import run

EXAMPLE = re.compile(r"^ *(bullion-client .+)$", re.MULTILINE)


def texts() -> Iterator[str]:
    """Whatever the help says, before it is wrapped."""
    for command in (program, *program.commands.values()):
        yield command.help or ""
        yield command.epilog or ""
        yield from (each.help or "" for each in command.params if isinstance(each, click.Option))


EXAMPLES = [line for text in texts() for line in EXAMPLE.findall(text)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """As `make run` starts it, on a market that moves, with production open."""
    with demo_in(tmp_path_factory.mktemp("demo"), BULLION_PRODUCTION="on") as demo:
        demo.open_production()
        yield demo


def test_the_examples_are_found() -> None:
    """At least one for each command that has some."""
    assert {shlex.split(line)[1] for line in EXAMPLES} >= {"quote", "buy", "sell", "orders", "resume"}


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_of_the_help_works(demo: Demo, tmp_path: Path, line: str) -> None:
    variables = demo.variables()
    # What a person confirms at a terminal, a test can only try with an order that means nothing.
    production = (
        [variables["LIVE_KEY"]] if "--yes" in line or shlex.split(line)[1] not in ("buy", "sell") else []
    )
    for key in (variables["KEY"], *production):
        environment = environment_of(tmp_path, {**variables, "BULLION_API_KEY": key})
        done = run(shlex.split(line)[1:], tmp_path, environment, module="bullion_client.cli")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        assert done.stdout
