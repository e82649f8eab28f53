"""What the command line says of itself, and of words that it cannot use."""

import json

import click
import pytest

from bullion_client import __version__
from bullion_client.cli.exit_codes import MEANINGS, ExitCode
from bullion_client.cli.program import program
from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop

COMMANDS = sorted(program.commands)


def test_the_help_tells_commands_settings_and_exit_codes(shell: Shell) -> None:
    told = shell.done("--help").out
    for name in COMMANDS:
        assert f"\n  {name} " in told
    for code in ExitCode:
        assert f"{code:>3}  {MEANINGS[code]}" in told
    for words in ("BULLION_BASE_URL", "BULLION_API_KEY", "never an", "process list", "journal"):
        assert words in told
    assert "..." not in told.partition("Commands:")[2]


def test_there_are_the_commands_that_were_promised() -> None:
    assert COMMANDS == [
        "buy", "listen", "me", "order", "orders", "positions", "quote", "resume", "sell", "symbols", "watch"
    ]  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json_and_none_takes_a_key(shell: Shell, name: str) -> None:
    told = shell.done(name, "--help").out
    assert "--json" in told
    assert "--base-url" in told
    options = {
        word
        for parameter in program.commands[name].params
        if isinstance(parameter, click.Option)
        for word in parameter.opts
    }
    assert not options & {"--api-key", "--key"}


def test_the_version(shell: Shell) -> None:
    assert shell.done("--version").out == f"bullion-client, version {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--api-key",), "No such option"),
        (("me", "--api-key", "x"), "No such option"),
        (("--base-url", "http://x.example", "me"), "'--base-url' must follow the command"),
        (("--limit=5", "orders"), "'--limit' must follow the command"),
        (("-y", "buy", "GOLD", "5"), "'-y' must follow the command"),
        (("buy", "GOLD", "5", "--yess"), "No such option"),
        (("me", "you"), "unexpected extra argument"),
        (("invest",), "No such command"),
        (("buy", "GOLD"), "Missing argument 'QUANTITY'"),
        (("buy", "GOLD", "-5"), "greater than 0; this is '-5'. To sell, use 'bullion-client sell'."),
        (
            ("buy", "GOLD", "-0.5", "--yes"),
            "greater than 0; this is '-0.5'. To sell, use 'bullion-client sell'.",
        ),
        (
            ("buy", "GOLD", "--yes", "-.5"),
            "greater than 0; this is '-.5'. To sell, use 'bullion-client sell'.",
        ),
        (("buy", "GOLD", "--", "-5"), "greater than 0; this is '-5'. To sell, use 'bullion-client sell'."),
        (("sell", "GOLD", "-5"), "greater than 0; this is '-5'. To buy, use 'bullion-client buy'."),
        (("buy", "-5", "GOLD"), "greater than 0; this is '-5'. To sell, use 'bullion-client sell'."),
        (("buy", "GOLD", "5", "--client-order-id", "-5", "-q"), "No such option '-q'"),
        (("buy", "5", "GOLD"), "The symbol comes first: 'bullion-client buy GOLD 5'."),
        (("buy", "GOLD", "5", "--expected-price", "-1"), "must be greater than 0; this is '-1'"),
        (("buy", "GOLD", "5", "--wait-for", "-1"), "-1.0 is not in the range 0.1<=x<=3600"),
        (("orders", "--limit", "-1"), "-1 is not in the range 1<=x<=200"),
        (("orders", "--offset", "-1"), "-1 is not in the range x>=0"),
        (("orders", "--status", "open"), "--status is for production only"),
        (("orders", "--all", "--status", "closed"), "--status is for production only"),
        (("buy", "GOLD", "1,000"), "quantity must be written like '2.5'"),
        (("buy", "GOLD", "5g"), "quantity must be written like '2.5'"),
        (("buy", "GOLD", "0"), "quantity must be greater than 0"),
        (("buy", "GOLD", "0.00001"), "quantity may have at most 4 decimals"),
        (("buy", "GOLD", "1000001"), "quantity may be at most 1000000"),
        (("buy", "GOLD", "५"), "quantity must be written like '2.5'"),
        (("buy", "GOLD", "5", "--expected-price", "1,50,634.00"), "expected_price must be written like"),
        (("buy", "", "5"), "symbol_code is empty"),
        (("buy", "X" * 33, "5"), "symbol_code has 33 characters"),
        (("buy", "GOLD", "5", "--client-order-id", "x" * 65), "client_order_id has 65 characters"),
        (("buy", "GOLD", "5", "--idempotency-key", ""), "idempotency_key must have 1 to 64"),
        (("orders", "--since", "yesterday"), "'yesterday' is not a time such as"),
        (("orders", "--limit", "0"), "not in the range 1<=x<=200"),
        (("orders", "--limit", "201"), "not in the range 1<=x<=200"),
        (("orders", "--all", "--limit", "5"), "use it without --limit and --offset"),
        (("orders", "--side", "hold"), "is not one of 'buy', 'sell'"),
        (("order", "x"), "is not a valid UUID"),
        (("me", "--header", "X-Shop"), "A header is written 'Name: value'."),
        (("me", "--header", "X Shop: 7"), "--header has a name that no header can have: 'X Shop'."),
        (("me", "--header", "Idempotency-Key: 7"), "--header cannot set Idempotency-Key"),
        (("resume", "--list", "--check"), "--list, --check and --abandon exclude each other."),
    ],
)
def test_what_cannot_be_meant_is_told_in_words_and_as_json(
    shell: Shell, words: tuple[str, ...], said: str
) -> None:
    told = shell.failed(2, *words)
    assert said in told.err
    assert told.out == ""
    assert all(line.startswith("bullion-client: ") for line in told.err.splitlines())
    error = shell.failed(2, *words, "--json").error
    assert said in error["message"]
    assert (error["code"], error["exit_code"]) == ("usage", 2)
    assert shell.journals() == [] or shell.unsettled() == []


def test_a_key_among_the_arguments_is_refused_and_not_repeated(shell: Shell) -> None:
    for words in (("me", shell.key), (f"--api-key={shell.key}",), ("quote", shell.key)):
        assert "looks like an API key" in shell.failed(2, *words).err


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("BULLION_BASE_URL", "far.example", "BULLION_BASE_URL must begin with http:// or https://"),
        ("BULLION_BASE_URL", "http://u:p@x.example", "BULLION_BASE_URL must be a plain address"),
        ("BULLION_API_KEY", "secret", "BULLION_API_KEY must start with 'key_test.'"),
        ("BULLION_API_KEY", "key_test.a\n", "BULLION_API_KEY has white space"),
    ],
)
def test_settings_that_cannot_be_used_are_named(shell: Shell, setting: str, value: str, said: str) -> None:
    done = shell.failed(2, "me", **{setting: value})
    assert said in done.err
    assert value.strip() not in done.err


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("far.example", "must begin with http:// or https://"),
        ("127.0.0.1:8000", "must begin with http:// or https://"),
        ("localhost:8000", "must begin with http:// or https://"),
        ("", "must begin with http:// or https://"),
        ("http://u:p@x.example", "must be a plain address"),
        ("http://x.example/api/trading/test/v1", "leave out '/api/trading/test/v1' and what follows it"),
        ("http://x.example/api/trading/v1/me", "leave out '/api/trading/v1' and what follows it"),
        ("https://x.example/broker/docs/", "leave out '/docs/' and what follows it"),
        (" http://x.example", "has a blank or a line break around it: remove that"),
    ],
)
def test_an_address_that_cannot_be_used_names_where_it_came_from(
    shell: Shell, address: str, said: str
) -> None:
    told = shell.failed(2, "me", "--base-url", address).err
    assert told.startswith("bullion-client: --base-url ")
    assert said in told
    assert "BULLION_BASE_URL" not in told
    if address:
        told = shell.failed(2, "me", BULLION_BASE_URL=address).err
        assert told.startswith("bullion-client: BULLION_BASE_URL ")
        assert said in told


def test_an_address_or_key_that_was_typed_is_not_called_a_setting(shell: Shell) -> None:
    terminal = shell.terminal("me", BULLION_BASE_URL="")
    terminal.sees("Address of the service: ").types("far.example\n")
    assert terminal.ends() == 2
    assert "The address must begin with http:// or https://" in terminal.screen
    terminal = shell.terminal("me", BULLION_API_KEY="")
    terminal.sees("API key: ").types("secret\n")
    assert terminal.ends() == 2
    assert "The API key must start with 'key_test.'" in terminal.screen
    assert "BULLION_" not in terminal.screen


def test_an_address_of_something_else_names_the_setting(shell: Shell, shop: Shop) -> None:
    """The desk's port answers 404 to the API's paths."""
    told = shell.failed(1, "me", BULLION_BASE_URL=shop.node.desk_url).err
    assert "check --base-url or BULLION_BASE_URL" in told
    assert "base_url" not in told


def test_an_address_may_end_in_a_slash(shell: Shell) -> None:
    assert shell.done("me", "--base-url", f"{shell.base_url}/", "--json").json["environment"] == "test"


def test_without_a_command_the_help_is_shown_as_it_is(shell: Shell) -> None:
    """On the error stream and with exit code 2: a script that lost its command must not go on."""
    done = shell.failed(2)
    assert done.out == ""
    assert done.err == shell.done("--help").out


def test_the_address_may_be_an_argument(shell: Shell) -> None:
    done = shell.done("me", "--base-url", shell.base_url, "--json", BULLION_BASE_URL="")
    assert json.loads(done.out)["environment"] == "test"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bullion-client ", COMMANDS),
        ("bullion-client q", ["quote"]),
        ("bullion-client orders --side ", ["buy", "sell"]),
        ("bullion-client resume --ab", ["--abandon"]),
    ],
)
def test_words_are_completed(shell: Shell, line: str, words: list[str]) -> None:
    """As a shell asks for them, whatever is set, and without asking for a key."""
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = shell.done(_BULLION_CLIENT_COMPLETE="bash_complete", BULLION_API_KEY="", **asked)
    assert sorted(done.out.split()) == [f"plain,{word}" for word in words]


def test_a_shell_that_is_not_known_gets_nothing_to_run(shell: Shell) -> None:
    done = shell.run(_BULLION_CLIENT_COMPLETE="cmd_source")
    assert (done.code, done.out, done.err) == (1, "", "")
