"""The page about the client: its programs run and show what they say, and it leaves nothing out."""

import dataclasses
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import bullion_client
from bullion_client import AsyncClient, Client, Environment, Journal
from bullion_client.webhook_signature import new_secret, sign
from tests.client.event_samples import event
from tests.client.fixtures import Deployment
from tests.client.scripted_network import LIVE_ORDER
from tests.docs.examples import run_python
from tests.docs.markdown import ROOT, blocks, quoted

PAGE = ROOT / "docs/python-client.md"
EVENTS = ROOT / "docs/events.md"
SAMPLE = ROOT / "examples/trade.py"
FOLLOWER = ROOT / "examples/follow_events.py"
RECEIVER = ROOT / "examples/webhook_receiver.py"


def test_its_examples_show_what_they_say(deployment: Deployment, tmp_path: Path) -> None:
    key = deployment.key(deployment.account(scenarios=True))
    names = {"API": deployment.url, "KEY": key}
    variables = names | {"BULLION_BASE_URL": deployment.url, "BULLION_API_KEY": key}
    untrue = list(run_python(PAGE, tmp_path, variables))
    assert not untrue, "\n".join(untrue)


def test_the_programs_on_the_pages_are_the_samples() -> None:
    for sample in ROOT.glob("examples/*.py"):
        program = sample.read_text("utf-8").rstrip("\n")
        assert [block.text for page in (PAGE, EVENTS) for block in blocks(page)].count(program) == 1, sample


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


@contextmanager
def started(sample: Path, folder: Path, *words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A sample as a process that goes on; it does not outlive the test."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", str(sample), *words],
        cwd=folder,
        env={**os.environ, "NO_PROXY": "*", "PYTHONUNBUFFERED": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().rstrip("\n") for _ in range(count)]


def test_the_sample_follows_events_and_misses_nothing(deployment: Deployment, tmp_path: Path) -> None:
    key = deployment.key(deployment.account())
    variables = {"API": deployment.url, "KEY": key}
    with Client(deployment.url, key) as client:
        orders = [client.buy("GOLD", number) for number in (1, 2, 3)]
        with started(FOLLOWER, tmp_path, **variables) as process:
            assert said(process, 2) == [f"{n} order.created {n}.0000 g GOLD filled" for n in (1, 2)]
        # Killed, it may not have written down the last one that it has shown.
        assert (tmp_path / "events.handled").read_text() in {"1", "2", "3"}
        (tmp_path / "events.handled").write_text("2")
        with started(FOLLOWER, tmp_path, "1", **variables) as process:
            assert process.communicate(timeout=30) == ("3 order.created 3.0000 g GOLD filled\n", "")
        # Beyond the newest, as after a restore: everything is read again.
        (tmp_path / "events.handled").write_text("99")
        with started(FOLLOWER, tmp_path, "1", **variables) as process:
            assert said(process, 3) == [f"now {order.id} filled" for order in reversed(orders)]
            client.buy("GOLD", 4)
            assert process.communicate(timeout=30) == ("4 order.created 4.0000 g GOLD filled\n", "")


def test_the_sample_receives_webhooks(tmp_path: Path) -> None:
    secrets = [new_secret(bytes([number]) * 32) for number in range(3)]
    body = json.dumps(event(7, "order.opened")).encode()
    now = int(time.time())
    with started(RECEIVER, tmp_path, "0", SECRET=" ".join(secrets[:2])) as process:
        (first,) = said(process, 1)
        url = f"http://127.0.0.1:{first.rpartition(' ')[2]}/webhooks"
        statuses = [
            httpx.post(
                url, content=sent, headers=sign(signed, "evt_7", at, secret), trust_env=False
            ).status_code
            for sent, signed, at, secret in (
                (body, body, now, secrets[0]),
                (body, body, now, secrets[1]),
                (body, body, now, secrets[2]),
                (body + b" ", body, now, secrets[0]),
                (body, body, now - 400, secrets[0]),
            )
        ]
        assert statuses == [204, 204, 400, 400, 400]
        lines = said(process, 4)
    assert lines[0] == f"7 order.opened {LIVE_ORDER['id']} open"
    assert all(line.startswith("The webhook is refused: ") for line in lines[1:])


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
