"""The command as a person meets it: what it asks for, what it says, and how it ends."""

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bullion_conformance.command import conformance
from bullion_conformance.requirement import REQUIREMENTS
from tests.support.command import bullion
from tests.support.node import DESK_TOKEN, Node


def kit(*words: str) -> Result:
    return CliRunner().invoke(conformance, list(words))


def could_not_run(done: Result) -> str:
    """The one sentence that says why."""
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert "Traceback" not in done.output
    line = done.stderr.strip()
    assert line.startswith("conformance: ")
    return line.removeprefix("conformance: ")


def test_it_is_a_command_of_bullion(tmp_path: Path) -> None:
    done = bullion(tmp_path, "conformance", "--list", "--only", "order.id", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert REQUIREMENTS["order.id"].words in done.stdout
    assert "needs a test key" in done.stdout


def test_the_list_has_everything_with_what_it_takes() -> None:
    shown = " ".join(kit("--list", "--profile", "bullion").stdout.split())
    for word in ("overview.place-and-read", "errors.production.booking_busy", "bullion.quotes"):
        assert word in shown
    assert "Bullion's own" not in kit("--list").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "The address of the service is missing. Add --base-url, or set CONFORMANCE_BASE_URL."),
        (
            ["--base-url", "trade.example"],
            "--base-url must begin with http:// or https://, as in https://trade.example.",
        ),
        (
            ["--base-url", "localhost:8000"],
            "--base-url must begin with http:// or https://, as in https://trade.example.",
        ),
        (
            ["--base-url", "http://x.example/api/trading/test/v1/"],
            "--base-url must end before the path of the API: leave out '/api/trading/test/v1'.",
        ),
        (
            ["--base-url", "http://x.example/broker/api/trading/v1/me"],
            "--base-url must end before the path of the API: leave out '/api/trading/v1/me'.",
        ),
        (
            ["--base-url", "http://x.example", "--desk-url", "http://y.example/desk/v1"],
            "--desk-url must end before the path of the API: leave out '/desk/v1'.",
        ),
        (
            ["--base-url", "http://u:p@x.example"],
            "--base-url must be a plain address without user, password, '?' and '#'.",
        ),
        (
            ["--base-url", "http://x.example"],
            "There is no key. Set CONFORMANCE_KEY to a test key, or add --desk-url.",
        ),
        (
            ["--base-url", "http://x.example", "--key", "key_live.x"],
            "--key must begin with 'key_test.'.",
        ),
        (
            ["--base-url", "http://x.example", "--desk-url", "http://y.example"],
            "--desk-url needs a token. Add --desk-token, or set CONFORMANCE_DESK_TOKEN.",
        ),
        (
            ["--base-url", "http://x.example", "--key", "key_test.x", "--quick"],
            "--quick raises budgets at the desk. Add --desk-url and --desk-token.",
        ),
        (
            ["--base-url", "http://x.example", "--key", "key_test.x", "--gold-quantity", "NaN"],
            "--gold-quantity must be a weight above 0.",
        ),
        (
            ["--only", "nothing.like-it"],
            "No requirement of this profile matches --only. List them with --list.",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said_in_a_sentence(words: list[str], sentence: str) -> None:
    assert could_not_run(kit(*words)) == sentence


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("base-url", "trade.example"),
        ("desk-url", "trade.example"),
        ("key", "key_live.x"),
        ("live-key", "key_test.x"),
        ("gold-quantity", "-5"),
        ("silver-quantity", "-1"),
    ],
)
def test_what_is_wrong_is_named_as_it_was_given(option: str, value: str) -> None:
    good = {"base-url": "http://x.example", "key": "key_test.x"}
    given = [word for name, each in {**good, option: value}.items() for word in (f"--{name}", each)]
    assert could_not_run(kit(*given)).startswith(f"--{option} must ")
    variables = {f"CONFORMANCE_{name.upper().replace('-', '_')}": each for name, each in good.items()}
    variable = f"CONFORMANCE_{option.upper().replace('-', '_')}"
    done = CliRunner(env={**variables, variable: value}).invoke(conformance, [])
    assert could_not_run(done).startswith(f"{variable} must ")


def test_an_address_of_something_else_is_not_blamed_on_the_key(open_node: Node) -> None:
    """The desk's port answers 404 to the API's paths."""
    said = could_not_run(kit("--base-url", open_node.desk_url, "--key", "key_test.x"))
    assert "answered 404" in said
    assert "Is --base-url the address of the trading API?" in said
    assert "Is it a key" not in said


def test_a_service_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    said = could_not_run(kit("--base-url", f"http://127.0.0.1:{port}", "--key", "key_test.x"))
    assert said.startswith("The service cannot be reached: ")


def test_a_key_that_does_not_work_is_not_repeated(closed_node: Node) -> None:
    said = could_not_run(kit("--base-url", closed_node.api_url, "--key", "key_test.main.wrong"))
    assert said.startswith(
        "--key does not work: GET /api/trading/test/v1/me answered 401 malformed_credential."
    )
    assert "wrong" not in said


def test_a_desk_token_that_may_not_make_brokers(closed_node: Node) -> None:
    with closed_node.desk() as desk:
        token = desk.do("POST", "/tokens", {"name": "an admin", "role": "admin"})["token"]
    for wrong in (token, "desk.0000000000000000.nonsense"):
        where = ["--base-url", closed_node.api_url, "--desk-url", closed_node.desk_url]
        said = could_not_run(kit(*where, "--desk-token", wrong))
        assert said.startswith("The desk refused to create a broker for the kit (40")
        assert wrong not in said


def test_what_is_broken_is_exit_code_1_and_all_well_is_0(open_node: Node, tmp_path: Path) -> None:
    """On a desk's port there is no trading API: everything is broken, and said to be."""
    desk = ["--desk-url", open_node.desk_url, "--desk-token", DESK_TOKEN, "--quick"]
    only = ["--only", "overview.key-needed.test"]
    good = kit("--base-url", open_node.api_url, *desk, *only, "--key", "key_test.unused")
    assert "the given keys are not used" in good.stderr
    assert good.exit_code == 0, good.output
    assert "1 of 1 requirements can be checked, in about " in good.stderr
    page = tmp_path / "report.html"
    bad = kit("--base-url", open_node.desk_url, *desk, *only, "--html", f"{page}")
    assert bad.exit_code == 1, bad.output
    assert "without a key answered 404" in " ".join(bad.stdout.split())
    assert "answered 404" in page.read_text("utf-8")
    nowhere = kit("--base-url", open_node.api_url, *desk, *only, "--html", f"{tmp_path}/no/such/folder.html")
    assert nowhere.exit_code == 2
    assert "The report cannot be written" in nowhere.stderr
