"""The calls that the page at `/docs` shows in Python and on the command line work on the demo.

Those in TypeScript are compiled and run by tests/client/test_typescript.py.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click.testing
import pytest

from bullion_client import Client
from bullion_client.cli.program import program
from tests.docs.demo import demo_in
from tools.docs_page.languages import CLI, ORDER_ID, PYTHON, SHOWN, in_other_languages

ENDLESS = {
    # How it is shown, and what makes it end.
    "get-events-stream": ("client.stream()", "client.stream(after=0)"),
}
NOT_RUN = {"get-quotes-stream"}
"""The demo's broker offers no stream of prices: tests/acceptance has one that does."""
FINITE = sorted(anchor for anchor in SHOWN if "webhooks" not in anchor and anchor not in NOT_RUN)


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with demo_in(tmp_path_factory.mktemp("demo")) as demo:
        given = demo.variables()
        kept = {name: given[name] for name in ("BULLION_BASE_URL", "BULLION_API_KEY")}
        with Client(kept["BULLION_BASE_URL"], kept["BULLION_API_KEY"]) as client:
            kept["ORDER_ID"] = client.buy("GOLD", 1).id
        yield kept


@pytest.mark.parametrize("anchor", FINITE)
def test_a_call_in_python(
    anchor: str,
    variables: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    text = in_other_languages(anchor)[PYTHON].replace(ORDER_ID, variables["ORDER_ID"])
    if anchor in ENDLESS:
        shown, ending = ENDLESS[anchor]
        assert shown in text
        text = text.replace(shown, ending) + "\n        break"
    names: dict[str, Client] = {}
    exec(compile(text, anchor, "exec"), names)  # noqa: S102 - it is ours, and shown to readers to run
    names["client"].close()
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    "anchor", [anchor for anchor in FINITE if anchor not in ENDLESS and CLI in in_other_languages(anchor)]
)
def test_a_call_on_the_command_line(anchor: str, variables: dict[str, str], tmp_path: Path) -> None:
    line = in_other_languages(anchor)[CLI].replace(ORDER_ID, variables["ORDER_ID"])
    name, *words = shlex.split(line)
    assert name == "bullion-client"
    environment = variables | {"XDG_STATE_HOME": str(tmp_path)}
    done = click.testing.CliRunner(env=environment).invoke(program, words)
    assert done.exit_code == 0, done.output
    assert done.output.strip()
