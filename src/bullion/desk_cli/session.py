"""How a command reaches the desk's actions: the open desk, who is acting, and how to print."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeVar

import click

from bullion.desk.desk import Desk
from bullion.desk.price_confirmation import PricesUnconfirmed
from bullion.records.token import Actor
from bullion.refusals.refusal import RefusalError

from .price_preview import show_price_problems

T = TypeVar("T")

OpenDesk = Callable[[str | None, str | None, bool], AbstractAsyncContextManager[tuple[Desk, Actor]]]
"""Opens the desk for a token (None: the operator of this deployment) and a broker. The last argument says
whether orders are to be placed."""

_REFUSED = 1


@dataclass(frozen=True, slots=True)
class Session:
    open_desk: OpenDesk
    token: str | None
    broker: str | None
    as_json: bool

    def run(self, work: Callable[[Desk, Actor], Awaitable[T]], *, trading: bool = False) -> T:
        """Do one thing at the desk. A refusal ends the command with its message and exit code 1."""

        async def opened() -> T:
            async with self.open_desk(self.token, self.broker, trading) as (desk, actor):
                return await work(desk, actor)

        try:
            return asyncio.run(opened())
        except RefusalError as refused:
            if isinstance(refused, PricesUnconfirmed):
                show_price_problems(refused, as_json=self.as_json)
            else:
                click.echo(f"bullion: {refused.message}", err=True)
            sys.exit(_REFUSED)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before a dangerous action. Scripts, which cannot be asked, must pass --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Add --yes to do it without this question.")
    click.confirm(question, abort=True)


yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
pass_session = click.make_pass_decorator(Session)
