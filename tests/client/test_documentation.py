"""The page about the client: its programs run and show what they say, and it leaves nothing out."""

import dataclasses
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bullion_client
from bullion_client import AsyncClient, Client, Environment, Journal
from tests.client.fixtures import Deployment
from tests.docs.examples import run_python
from tests.docs.markdown import ROOT, blocks, quoted

PAGE = ROOT / "docs/python-client.md"
SAMPLE = ROOT / "examples/trade.py"


def test_its_examples_show_what_they_say(deployment: Deployment, tmp_path: Path) -> None:
    key = deployment.key(deployment.account(scenarios=True))
    names = {"API": deployment.url, "KEY": key}
    variables = names | {"BULLION_BASE_URL": deployment.url, "BULLION_API_KEY": key}
    untrue = list(run_python(PAGE, tmp_path, variables))
    assert not untrue, "\n".join(untrue)


def test_the_program_on_the_page_is_the_sample() -> None:
    shown = [block.text for block in blocks(PAGE) if block.text.startswith('"""Buy gold once')]
    assert shown == [SAMPLE.read_text("utf-8").rstrip("\n")]


@pytest.mark.parametrize(
    ("environment", "words"),
    [(Environment.TEST, "filled 7.0000 g"), (Environment.PRODUCTION, "open 7.0000 g")],
)
def test_the_sample_trades(
    deployment: Deployment, tmp_path: Path, environment: Environment, words: str
) -> None:
    key = deployment.key(deployment.account(), environment)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(SAMPLE), "7.00005"],
        cwd=tmp_path,
        env={**os.environ, "API": deployment.url, "KEY": key, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(words)
    assert Journal(tmp_path / "trade.journal").unsettled() == ()
    with Client(deployment.url, key) as client:
        assert len(list(client.orders())) == 1


def _text() -> str:
    return PAGE.read_text("utf-8")


def test_the_page_names_every_public_name() -> None:
    assert [name for name in bullion_client.__all__ if name not in _text() and name != "__version__"] == []


def test_the_page_has_every_call_with_its_arguments() -> None:
    """A call of the table is written as its signature; `…` stands for the filters and options of another."""
    shown = " ".join(quoted(PAGE))
    for name, method in inspect.getmembers(Client, inspect.isfunction):
        if not name.startswith("_") and name != "close":
            assert f"{name}(" in shown, name
            parameters = [each for each in inspect.signature(method).parameters if each != "self"]
            assert all(each in shown for each in parameters), (name, parameters)
    usual = {
        name: parameter.default
        for name, parameter in inspect.signature(Client).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    for name, default in usual.items():
        assert f"{name}={default}" in shown


@pytest.mark.parametrize("kind", [Client, AsyncClient, Journal])
def test_public_methods_are_documented(kind: Any) -> None:
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_"):
            assert inspect.getdoc(member), f"{kind.__name__}.{name}"


def test_both_clients_have_the_same_calls_and_say_the_same_of_them() -> None:
    sync = {name: member for name, member in vars(Client).items() if not name.startswith("_")}
    other = {name: member for name, member in vars(AsyncClient).items() if not name.startswith("_")}
    assert sync.keys() - {"close"} == other.keys() - {"aclose"}
    for name in sync.keys() - {"close"}:
        assert inspect.getdoc(sync[name]) == inspect.getdoc(other[name]), name
        if not isinstance(sync[name], property):
            own, its = inspect.signature(sync[name]), inspect.signature(other[name])
            assert str(own.replace(return_annotation=None)) == str(its.replace(return_annotation=None)), name


def test_every_field_of_a_value_is_documented() -> None:
    """Below each field stands a text, as editors show it."""
    for name in bullion_client.__all__:
        value = getattr(bullion_client, name)
        if not dataclasses.is_dataclass(value):
            continue
        source = inspect.getsource(value)  # type: ignore[arg-type]
        for field in value.__annotations__:
            if not field.startswith("_"):
                after = source.partition(f"    {field}: ")[2].split("\n")[1]
                assert after.lstrip().startswith('"""'), f"{name}.{field}"
