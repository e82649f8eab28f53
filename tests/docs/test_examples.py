"""Every example of the documentation is run against a real service, and gives what its page shows."""

import json
import sys
from pathlib import Path

import pytest

from bullion.desk_api.app import BASE
from bullion.desk_api.routes import desk_routes
from tests.docs.comparison import differences, head_differences, text_differences, without_prices
from tests.docs.demo import demo_in
from tests.docs.examples import run_python, run_shell
from tests.docs.markdown import ROOT, blocks
from tests.support.command import bullion
from tests.support.node import DESK_TOKEN, Node, running, until
from tests.support.scale import SCALE

DESK = ROOT / "docs/desk.md"
README = ROOT / "README.md"
CLIENT_GUIDE = ROOT / "docs/client-guide.md"
TRADING_API = ROOT / "docs/trading-api.md"
ORDER_LIFE = ROOT / "docs/order-life.md"
PYTHON_CLIENT = ROOT / "docs/python-client.md"


MOVING = [README, CLIENT_GUIDE] if SCALE > 1 else [README]
"""The clients' guide is run where prices stand still, and in a campaign on a market that moves as well."""
ON = {"BULLION_PRODUCTION": "on"}
"""As the pages tell their readers to start the demo, to try production too."""


@pytest.mark.parametrize("page", [CLIENT_GUIDE, TRADING_API, ORDER_LIFE], ids=lambda page: page.name)
def test_the_examples_for_clients(page: Path, tmp_path: Path) -> None:
    """On the demo with rates from the desk, which stand still: every number of the page is compared."""
    with demo_in(tmp_path, BULLION_FEED="desk", **ON) as demo:
        demo.stand_still()
        if page != CLIENT_GUIDE:  # That one opens it before the reader's eyes.
            demo.open_production()
        save_program(tmp_path)
        variables = demo.variables()
        untrue = [*run_shell(page, tmp_path, variables), *run_python(page, tmp_path, variables)]
        assert not untrue, "\n".join(untrue)


def test_the_examples_for_the_command_line(tmp_path: Path) -> None:
    """On the same demo; the page's programs in Python are run where the client is tested."""
    with demo_in(tmp_path, BULLION_FEED="desk", **ON) as demo:
        demo.stand_still()
        demo.open_production()
        untrue = list(run_shell(PYTHON_CLIENT, tmp_path, demo.variables()))
        assert not untrue, "\n".join(untrue)


@pytest.mark.parametrize("page", MOVING, ids=lambda page: page.name)
def test_the_examples_for_clients_on_a_market_that_moves(page: Path, tmp_path: Path) -> None:
    """On the demo just as `make run` starts it: the same but for the prices."""
    (tmp_path / ".venv").symlink_to(sys.prefix)  # As the checkout has it.
    with demo_in(tmp_path, **ON) as demo:
        save_program(tmp_path)
        variables = demo.variables()
        untrue = [
            *run_shell(page, tmp_path, variables, market_moves=True),
            *run_python(page, tmp_path, variables, market_moves=True),
        ]
        assert not untrue, "\n".join(untrue)


def save_program(folder: Path) -> None:
    """The whole program of the clients' guide, under the name that the guide gives it."""
    (program,) = [block.text for block in blocks(CLIENT_GUIDE) if "def place(" in block.text]
    (folder / "buy.py").write_text(program, "utf-8")


def test_the_examples_for_the_desk(tmp_path: Path) -> None:
    """From an empty store to a client that calls, and to a backup: so the service makes its own secret."""
    with running(tmp_path, BULLION_SECRET="", BULLION_LOG_CALLS="all") as node:
        variables = {"API": node.api_url, "DESK": node.desk_url, "DESK_TOKEN": DESK_TOKEN}
        untrue = list(run_shell(DESK, tmp_path, variables))
        assert not untrue, "\n".join(untrue)
        every = {(route.method, BASE + route.path) for route in desk_routes()}

        def not_called() -> set[tuple[str, str]]:
            return every - {(entry["method"], entry["route"]) for entry in node.entries("call")}

        until(lambda: not not_called(), within_s=5)
        for block in blocks(DESK):
            if block.language == "jsonl":
                for line in block.text.splitlines():
                    assert _is_logged(node, line), f"{block.place}: no log line is like {line}"
    command, shown = [
        block.text for block in blocks(DESK) if "restore" in block.text and "TOKEN" not in block.text
    ]
    done = bullion(tmp_path, *command.split()[1:])
    assert done.returncode == 0, done.stderr
    assert list(text_differences(shown, done.stdout)) == []


def test_the_desks_commands_find_the_demo(tmp_path: Path) -> None:
    (line,) = [block.text for block in blocks(DESK) if "var/demo/bullion.db" in block.text]
    *settings, _, thing, verb, what = line.split()
    with demo_in(tmp_path):
        done = bullion(tmp_path, thing, verb, what, **dict(each.split("=", 1) for each in settings))
    assert done.returncode == 0, done.stderr
    assert "Aurum Jewellers" in done.stdout


def _is_logged(node: Node, line: str) -> bool:
    shown = json.loads(line)
    return any(
        list(entry) == list(shown) and all(entry[name] == shown[name] for name in ("level", "logger"))
        for entry in node.entries(shown["event"])
    )


# That the comparison itself sees what it should.

ANSWER = {"key_id": "0" * 16, "at": "2026-11-15T04:31:21.924000+00:00", "limits": [{"gold": "1.0000"}]}


@pytest.mark.parametrize(
    "shown",
    [
        ANSWER,
        ANSWER | {"key_id": "f" * 16, "at": "2031-01-01T00:00:00.000000+00:00"},
        ANSWER | {"limits": "…"},
        ANSWER | {"limits": [{"gold": "…"}]},
    ],
)
def test_ids_times_and_what_is_left_out_may_differ(shown: object) -> None:
    assert list(differences(shown, ANSWER)) == []


@pytest.mark.parametrize(
    "shown",
    [
        {},
        ANSWER | {"more": 1},
        ANSWER | {"key_id": "0" * 15},
        ANSWER | {"at": None},
        ANSWER | {"limits": []},
        ANSWER | {"limits": [{"gold": "2.0000"}]},
        ANSWER | {"limits": [{"silver": "1.0000"}]},
        [ANSWER],
    ],
)
def test_anything_else_may_not(shown: object) -> None:
    assert list(differences(shown, ANSWER))


def test_a_number_is_not_a_truth_value() -> None:
    assert list(differences({"total": 1}, {"total": True}))


def test_an_id_within_a_text_may_differ_but_not_the_text_around_it() -> None:
    assert list(differences(f"key_test.main.{'0' * 16}.…", f"key_test.main.{'1' * 16}.secret")) == []
    assert list(differences(f"key_test.main.{'0' * 16}.…", f"key_live.main.{'1' * 16}.secret"))


def test_a_head_is_like_another_by_status_headers_and_values() -> None:
    head = "HTTP/1.1 200 OK\ndate: now\nratelimit-limit: 300"
    assert list(head_differences(head, "HTTP/1.1 200 OK\r\ndate: then\r\nratelimit-limit: 300\r\n\r\n")) == []
    assert list(head_differences(head, "HTTP/1.1 200 OK\r\ndate: then\r\nratelimit-limit: 60\r\n\r\n"))
    assert list(head_differences(head, "HTTP/1.1 200 OK\r\nratelimit-limit: 300\r\n\r\n"))
    assert list(head_differences(head, "HTTP/1.1 404 Not Found\r\ndate: x\r\nratelimit-limit: 300\r\n\r\n"))


def test_lines_shown_have_to_come_in_their_order() -> None:
    assert list(text_differences("a …\nc", "a 1\nb\nc\n")) == []
    assert list(text_differences("c\na …", "a 1\nb\nc\n"))


def test_prices_may_be_left_out_of_the_comparison_but_weights_may_not() -> None:
    shown = '{"quantity": "250.0000", "price": "150630.00"}'
    assert without_prices(shown) == '{"quantity": "250.0000", "price": "0.00"}'
