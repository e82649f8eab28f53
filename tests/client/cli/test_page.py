"""What the client's page says of the command line is so; that its examples run is for tests/docs."""

import re

import click

from bullion_client import __version__
from bullion_client.cli.exit_codes import MEANINGS
from bullion_client.cli.program import program
from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop
from tests.docs.examples import run_python, run_shell
from tests.docs.markdown import ROOT, prose, quoted, table_rows

PAGE = ROOT / "docs/python-client.md"
PACKAGE_README = ROOT / "client/README.md"
IN_EVERY_COMMAND = {"--json", "--base-url", "--deadline", "--header"}
"""Told once, above the table."""


def options(command: click.Command) -> set[str]:
    return {
        name
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
        if name.startswith("--")
    }


def test_every_command_is_in_the_table_with_its_options_and_no_other() -> None:
    rows = {row[0].strip("`"): row[1] for row in table_rows(PAGE) if row[0].startswith("`bullion-client ")}
    assert set(rows) == {f"bullion-client {name}" for name in program.commands}
    for name, command in program.commands.items():
        told = set(re.findall(r"`(--[a-z-]+)`", rows[f"bullion-client {name}"]))
        assert told == options(command) - IN_EVERY_COMMAND, name
        assert options(command) >= IN_EVERY_COMMAND


def test_every_exit_code_is_in_the_table_with_its_meaning() -> None:
    table = prose(PAGE).partition("| Exit code |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert {int(row[0]): row[1] for row in rows} == {int(code): words for code, words in MEANINGS.items()}


def test_every_code_of_the_clients_own_is_named() -> None:
    source = "".join(path.read_text("utf-8") for path in ROOT.glob("src/bullion_client/cli/*.py"))
    own = set(re.findall(r'ExitCode\.[A-Z]+,\s+"([a-z_]+)"', source))
    own |= set(re.findall(r'"([a-z_]+)" if unknown else "[a-z_]+"', source))
    assert {"usage", "no_answer", "interrupted", "outcome_unknown"} <= own
    assert own - {"unexpected", "unknown_symbol"} <= set(quoted(PAGE))


def test_the_examples_of_the_packages_own_readme_run(shell: Shell, shop: Shop) -> None:
    variables = {"BULLION_BASE_URL": shell.base_url, "BULLION_API_KEY": shell.key}
    untrue = [
        *run_shell(PACKAGE_README, shell.folder, variables),
        *run_python(PACKAGE_README, shell.folder, variables),
    ]
    assert not untrue, "\n".join(untrue)
    assert len(shop.orders(shell.key)) == 2


def test_the_page_names_the_files_that_are_built() -> None:
    assert f"bullion_client-{__version__}-py3-none-any.whl" in PAGE.read_text("utf-8")
