"""The program `bullion-client`: its commands, and the handling of their errors."""

import os
import re
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import click

from bullion_client import __version__
from bullion_client.cli.exit_codes import MEANINGS, CommandError, ExitCode, usage_error
from bullion_client.cli.listen_command import listen_command
from bullion_client.cli.order_commands import buy_command, sell_command
from bullion_client.cli.read_commands import (
    me_command,
    order_command,
    orders_command,
    positions_command,
    quote_command,
    symbols_command,
)
from bullion_client.cli.resume_command import resume_command
from bullion_client.cli.watch_command import watch_command

_NAME = "bullion-client"
_CODES = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())
_COMPLETION = "_BULLION_CLIENT_COMPLETE"
"""A shell sets it to ask for the words that may come next, or for the script that asks for them."""
_API_KEY = re.compile(r"(^|=)key_(test|live)\.")


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\nExit codes:\n{_CODES}",
)
@click.version_option(__version__, prog_name=_NAME)
def program() -> None:
    """Trade gold and silver by weight at a Bullion service.

    The address comes from BULLION_BASE_URL or --base-url. The key comes from BULLION_API_KEY; if that is not
    set, you are asked for it at the terminal. It is never an argument: every user of the machine can read
    arguments in the process list. The key selects the environment: orders with key_test.… are simulated,
    orders with key_live.… are real.

    Each order is written to a journal, under ~/.local/state/bullion-client, before it is sent. If a command
    was killed, or its outcome is unknown, 'bullion-client resume' continues with the same order and never
    places a second one.

    \b
    Examples:
      bullion-client symbols
      bullion-client quote GOLD SILVER
      bullion-client orders --since 2026-11-15 --json
      bullion-client resume
    """


for _command in (
    me_command,
    symbols_command,
    quote_command,
    buy_command,
    sell_command,
    orders_command,
    order_command,
    positions_command,
    resume_command,
    watch_command,
    listen_command,
):
    program.add_command(_command)


def run(words: Sequence[str]) -> int:
    """Run a command; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal without a rupee sign shows an escape instead of failing.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(words)
        sys.stdout.flush()
    except CommandError as raised:
        failure = raised
    except OSError as error:
        # The rest of the buffer would fail again when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        failure = CommandError(
            ExitCode.UNEXPECTED,
            "not_written",
            f"The output could not be written: {error}. Any order was still placed: "
            "run 'bullion-client orders' and 'bullion-client resume --list'.",
        )
    else:
        return code
    failure.print(as_json="--json" in words)
    return failure.exit_code


def _run(words: Sequence[str]) -> int:
    if any(_API_KEY.search(word) for word in words):
        raise usage_error(
            "One of the arguments looks like an API key. Every user of this machine can read arguments, and "
            "the shell's history keeps them. Ask for a rotated key, and set BULLION_API_KEY to the new one."
        )
    if not words and _COMPLETION not in os.environ:
        # As click 8.2 does; older versions end with 0.
        with click.Context(program, info_name=_NAME, **program.context_settings) as context:
            click.echo(program.get_help(context), err=True)
        return ExitCode.USAGE
    try:
        result = program.main(list(words), _NAME, _COMPLETION, standalone_mode=False)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else _NAME
        raise usage_error(f"{_message(error)}\nHelp: {command} --help") from None
    except click.ClickException as error:
        raise usage_error(error.format_message()) from None
    except SystemExit as ended:  # How click ends after it has completed a word.
        return int(ended.code or 0)
    except click.Abort:
        raise CommandError(ExitCode.INTERRUPTED, "interrupted", "Interrupted.") from None
    return int(result or 0)


def _message(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption) and error.ctx is not None and error.ctx.command is program:
        parameters = [each for command in program.commands.values() for each in command.params]
        if any(error.option_name in each.opts for each in parameters):
            option = error.option_name
            return f"'{option}' must follow the command, as in 'bullion-client COMMAND {option}'."
    return error.format_message()
