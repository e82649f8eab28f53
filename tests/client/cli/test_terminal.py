"""At a terminal: what is asked, what is shown in colour, and how it fits; and what a pipe gets instead."""

import re
import socket

from tests.client.cli.shell import Shell
from tests.client.cli.shop import Shop

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def test_address_and_key_are_asked_for_and_the_key_is_not_shown(shell: Shell) -> None:
    terminal = shell.terminal("me", BULLION_BASE_URL="", BULLION_API_KEY="")
    terminal.sees("Address of the service: ").types(f"{shell.base_url}\n")
    terminal.sees("API key: ").types(f"{shell.key}\n")
    assert terminal.ends() == 0
    assert "account:read, orders:read, orders:write" in terminal.screen
    assert shell.base_url in terminal.screen
    assert shell.key.rpartition(".")[2] not in terminal.screen


def test_whoever_breaks_off_the_question_has_sent_nothing(shell: Shell) -> None:
    terminal = shell.terminal("me", BULLION_API_KEY="")
    terminal.sees("API key: ").types("\x04")
    assert terminal.ends() == 130
    assert "Interrupted." in terminal.screen
    assert "Traceback" not in terminal.screen


def test_without_a_terminal_nothing_is_asked(shell: Shell) -> None:
    done = shell.failed(2, "me", BULLION_API_KEY="")
    assert done.err == (
        "bullion-client: BULLION_API_KEY is not set, and there is no terminal to ask for it. "
        "Set it in the environment.\n"
    )


def test_whoever_waits_for_a_service_that_is_away_is_told_at_once(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"http://127.0.0.1:{gone.getsockname()[1]}"
    for words in (("me",), ("buy", "GOLD", "5")):
        terminal = shell.terminal(*words, "--deadline", "4", BULLION_BASE_URL=address)
        terminal.sees("Trying again for up to 4 s (--deadline). So far: No response from")
        assert terminal.ends() == 6
        assert terminal.screen.count("Trying again") == 1
    done = shell.failed(6, "me", "--deadline", "1", BULLION_BASE_URL=address)
    assert "Trying again" not in done.err, "a script is told of the end alone"


def test_a_production_order_is_named_before_it_is_sent(live_shell: Shell, shop: Shop) -> None:
    terminal = live_shell.terminal("buy", "SILVER", "2.5", "--wait")
    terminal.sees("Buy 2.5 kg of SILVER in production.")
    terminal.sees("The price now is ₹ 89,100.50 for 1 kg, about ₹ 2,22,751.25 in total.")
    terminal.sees("Send this order? [y/N]: ").types("y\n")
    assert terminal.ends() == 0
    (order,) = shop.orders(live_shell.key)
    assert order["id"] in terminal.screen
    assert (order["status"], order["total"]) == ("open", "222751.25")


def test_it_may_be_declined_and_the_answer_is_no_unless_it_is_yes(live_shell: Shell, shop: Shop) -> None:
    for answer in ("n\n", "\n"):
        terminal = live_shell.terminal("sell", "GOLD", "5")
        terminal.sees("Sell 5 g of GOLD in production.").sees("[y/N]: ").types(answer)
        assert terminal.ends() == 3
        assert "Not confirmed: nothing was sent." in terminal.screen
    assert shop.orders(live_shell.key) == []


def test_a_price_that_cannot_be_read_is_said(live_shell: Shell, shop: Shop) -> None:
    live_shell.key = shop.key(shop.account(), "production", scopes=["orders:write", "account:read"])
    terminal = live_shell.terminal("buy", "GOLD", "5")
    terminal.sees("Buy 5 (grams of gold, kilograms of silver) of GOLD in production.")
    terminal.sees("insufficient_scope").sees("[y/N]: ").types("n\n")
    assert terminal.ends() == 3


def test_a_script_has_to_say_yes(live_shell: Shell, shop: Shop) -> None:
    done = live_shell.failed(2, "buy", "GOLD", "5")
    assert "Production orders need a confirmation" in done.err
    assert "Add --yes" in done.err
    assert live_shell.failed(2, "buy", "GOLD", "5", "--json").error["code"] == "usage"
    assert shop.orders(live_shell.key) == []
    live_shell.done("buy", "GOLD", "5", "--yes")
    assert len(shop.orders(live_shell.key)) == 1


def test_in_test_nothing_is_asked(shell: Shell) -> None:
    terminal = shell.terminal("buy", "GOLD", "5")
    assert terminal.ends() == 0
    assert "[y/N]" not in terminal.screen


def test_orders_fit_a_terminal_of_80_columns_and_nothing_is_cut(shell: Shell) -> None:
    order = shell.done("buy", "GOLD", "999999.5", "--client-order-id", "till\x1b[2J", "--json").json
    terminal = shell.terminal("orders", columns=80)
    assert terminal.ends() == 0
    plain = ESCAPES.sub("", terminal.screen)
    assert "\x1b" not in plain
    assert "\x1b[1m" in terminal.screen
    lines = plain.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].split() == [
        "T-1", "buy", "999999.5000", "g", "GOLD", "71,240.00", "7,12,39,96,438.00", "filled"
    ]  # fmt: skip
    assert order["id"] in plain
    assert "client order id till\\x1b[2J" in plain


def test_with_room_each_order_has_one_line(shell: Shell) -> None:
    shell.done("buy", "GOLD", "5")
    terminal = shell.terminal("orders", columns=200)
    assert terminal.ends() == 0
    assert len(terminal.screen.splitlines()) == 2


def test_in_a_pipe_there_are_no_colours_and_lines_are_whole(shell: Shell) -> None:
    reference = "x" * 64
    shell.done("buy", "GOLD", "5", "--client-order-id", reference)
    with shell.process("orders", FORCE_COLOR="1", COLUMNS="40") as process:
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    _, row = out.splitlines()
    assert "\x1b" not in out
    assert row.endswith(reference)


def test_a_reader_who_has_enough_is_no_error_to_look_at(shell: Shell) -> None:
    with shell.process("symbols") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
        process.wait(timeout=30)


def test_a_terminal_of_few_letters_still_shows_the_answer(shell: Shell) -> None:
    with shell.process("quote", "GOLD", PYTHONIOENCODING="ascii") as process:
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert "71,240.00" in out
    assert "buy \\u20b9" in out
