"""The commands of `bullion …`, found by their words as a page writes them."""

import re
import shlex
from collections.abc import Iterator

import click

from bullion.__main__ import main


def leaves(group: click.Group, before: str = "bullion") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by all its words; hidden ones are nobody's business."""
    for name, command in sorted(group.commands.items()):
        words = f"{before} {name}"
        if isinstance(command, click.Group):
            yield from leaves(command, words)
        elif not command.hidden:
            yield words, command


def command_of(line: str) -> click.Command | None:
    """The command or group that a line names; None when there is none of that name."""
    found: click.Command = main
    rest = shlex.split(re.sub(r"[<>|].*|\\$", "", line), comments=True)[1:]
    while rest and isinstance(found, click.Group):
        options = _options(found)
        word = rest.pop(0)
        if word in options:
            del rest[: 0 if options[word].is_flag else 1]
        elif word.startswith("-") or word not in found.commands:
            return found if word in ("--help", "--version") else None
        else:
            found = found.commands[word]
    return found


def _options(command: click.Command) -> dict[str, click.Option]:
    return {
        name: option for option in command.params if isinstance(option, click.Option) for name in option.opts
    }


def option_names(command: click.Command) -> set[str]:
    """The long name of each option."""
    return {name for name in _options(command) if name.startswith("--")}
