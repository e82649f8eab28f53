"""Runs a command over the events as they happen, until its time is up or Ctrl+C is pressed."""

import asyncio
import math
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import click

from bullion_client import AsyncEventStream, Event
from bullion_client.cli.exit_codes import ExitCode
from bullion_client.cli.session import Session

after_option = click.option(
    "--after",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="Begin after the event with this number; 0: with the first. Default: what happens from now on.",
)
for_option = click.option(
    "--for",
    "for_s",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    help="End after this long. Default: when you press Ctrl+C.",
)


async def each_event(
    stream: AsyncEventStream, for_s: float | None, handle: Callable[[Event], Awaitable[None]]
) -> None:
    """Handle one event after the other. What is being handled when the time is up is handled to its end."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + (math.inf if for_s is None else for_s)
    while loop.time() < ends_at:
        try:
            async with asyncio.timeout_at(None if math.isinf(ends_at) else ends_at):
                event = await anext(stream)
        except TimeoutError:
            return
        await handle(event)


def run_until_stopped(command: Coroutine[Any, Any, None]) -> int:
    """Run it. Ctrl+C, and a reader of its output who has enough, are its usual ends."""
    try:
        asyncio.run(command)
    except KeyboardInterrupt:
        return ExitCode.DONE
    except BrokenPipeError:
        # The rest of the buffer would fail again when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.DONE


def note_how_to_go_on(session: Session, name: str, position: int | None) -> None:
    """At a terminal, tell the command that goes on from here."""
    if position is not None and sys.stderr.isatty():
        session.note(f"To go on from here: bullion-client {name} --after {position}")
