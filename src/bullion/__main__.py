"""The command line: `bullion …`."""

import asyncio
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import click

from bullion import __version__, demo
from bullion.desk.actions.audit import verify_audit
from bullion.faults import StoreFault
from bullion.logs import set_up_logs
from bullion.records.audit import Break, Head
from bullion.serve import serve
from bullion.settings import WrongSetting, read_settings
from bullion.store.schema import SchemaMismatch
from bullion.wiring import Node, open_store

P = ParamSpec("P")

_WRONG_SET_UP = 2


def _in_words(command: Callable[P, None]) -> Callable[P, None]:
    """What a person can put right is told in a sentence, without a traceback."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (WrongSetting, SchemaMismatch) as error:
            click.echo(f"bullion: {error}", err=True)
            sys.exit(_WRONG_SET_UP)
        except StoreFault as error:
            click.echo(f"bullion: the store does not work: {error}", err=True)
            sys.exit(_WRONG_SET_UP)

    return wrapped


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bullion")
def main() -> None:
    """Bullion: a trading service for gold and silver by weight.

    Settings are environment variables that begin with BULLION_ (see .env.example); a .env file in the
    working directory is read too.
    """


@main.command("serve")
@_in_words
def serve_command() -> None:
    """Serve the trading API and the desk until stopped.

    Migrates the store and makes the default broker when they are missing. SIGTERM or Ctrl+C lets the calls
    that are under way finish, then stops.
    """
    set_up_logs(for_people=False)
    serve(read_settings(os.environ))


@main.command("demo")
@_in_words
def demo_command() -> None:
    """Serve a demo broker with clients and keys, and print ready curl lines.

    Everything is kept under var/demo, so the next start has the same data and keys.
    """
    set_up_logs(for_people=sys.stderr.isatty())
    prepared = demo.prepare(read_settings(os.environ))

    async def on_ready(node: Node, api_url: str, desk_url: str) -> None:
        keys = await demo.furnish(node, prepared.hasher)
        click.echo(demo.banner(keys, prepared.desk_token, api_url, desk_url))

    serve(prepared.settings, on_ready)


@main.command("migrate")
@_in_words
def migrate_command() -> None:
    """Bring the store's schema up to date.

    `bullion serve` does the same at its start; this is for doing it before, or apart.
    """

    async def run() -> int:
        async with open_store(read_settings(os.environ), migrate=True) as store:
            return store.steps_taken

    taken = asyncio.run(run())
    click.echo(f"The schema is up to date; {taken} {'step was' if taken == 1 else 'steps were'} taken.")


@main.group("audit")
def audit_group() -> None:
    """The trail of everything the desk did."""


@audit_group.command("verify")
@_in_words
def audit_verify_command() -> None:
    """Check that no entry of the audit trail was changed, removed or reordered.

    Exit code 0: every chain is whole. 1: a chain is broken; each place is named.
    """

    async def run() -> tuple[dict[str, Head | None], list[Break]]:
        async with open_store(read_settings(os.environ), migrate=False) as store:
            return await verify_audit(store.records, store.chain)

    heads, breaks = asyncio.run(run())
    broken = {each.broker for each in breaks}
    for broker, head in heads.items():
        count = head.count if head else 0
        state = (
            "BROKEN"
            if broker in broken
            else f"whole, {count} entries, last hash {head.hash if head else '-'}"
        )
        click.echo(f"{broker}: {state}")
    for each in breaks:
        click.echo(f"  {each.broker}, entry {each.ordinal}: {each.why}")
    sys.exit(1 if breaks else 0)


if __name__ == "__main__":
    main()
