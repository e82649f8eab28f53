"""Commands for the archive of old test orders and decisions."""

import sys
from pathlib import Path
from time import monotonic

import click

from bullion.desk.actions import archive, archive_export
from bullion.desk.actions.archive import BEFORE, ArchiveSelection
from bullion.desk.desk import Desk, View
from bullion.orders.instant import instant_text
from bullion.records.token import Actor

from .archive_file import ArchiveFile, DamagedFile, check
from .session import Session, confirm, pass_session, yes_option
from .tables import print_one

_EVERY_S = 1.0
_DAMAGED = 1

_before_option = click.option("--before", metavar="WHEN", help=f"{BEFORE} Default: now.")
_before_required = click.option("--before", metavar="WHEN", required=True, help=BEFORE)
_login_option = click.option("--login", "login_id", metavar="LOGIN_ID", help="Only for this account.")
_new_file = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@click.command("orders")
@_before_required
@_login_option
@yes_option
@pass_session
def _archive_orders(session: Session, before: str, login_id: str | None, yes: bool) -> None:
    """Archive test orders that a reset has taken out of the lists.

    They need a fraction of the space there. They can still be read by their ids, and their idempotency keys
    stay used. Orders that are still listed are not archived. The command may be stopped at any time: the
    next run continues from there.

    \b
    Examples:
      bullion desk archive orders --before 30d
      bullion desk archive orders --before 2026-10-01 --login aurum --yes
    """

    async def look(desk: Desk, actor: Actor) -> tuple[ArchiveSelection, int]:
        selection = await archive.resolve_selection(desk, actor, before, login_id)
        return selection, (await archive.archive_status(desk, actor, selection))["to_archive"]["orders"]

    selection, orders = session.run(look)
    if orders:
        made = f"made before {instant_text(selection.before_us)}"
        confirm(f"Archive {orders} test orders {made}? They stay readable. This cannot be undone.", yes=yes)
    progress = _Progress(orders)
    done = session.run(
        lambda desk, actor: archive.archive_orders(desk, actor, selection, progress=progress.orders)
    )
    print_one({name: value for name, value in done.items() if name != "more"}, as_json=session.as_json)


class _Progress:
    """Progress on standard error, at most once per second."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._next_s = monotonic() + _EVERY_S

    def orders(self, number: int) -> None:
        if monotonic() >= self._next_s:
            self._next_s = monotonic() + _EVERY_S
            click.echo(f"{number} of {self._total} orders", err=True)


@click.command("export")
@_new_file
@_before_option
@_login_option
@pass_session
def _archive_export(session: Session, file: Path, before: str | None, login_id: str | None) -> None:
    """Copy archived orders into FILE. The archive keeps them.

    FILE is lines of JSON, compressed with gzip: a first line that describes the file, one line for each
    order, and a last line with their number and SHA-256. 'archive check' verifies them.
    """

    async def work(desk: Desk, actor: Actor) -> View:
        selection = await archive.resolve_selection(desk, actor, before, login_id)
        target = ArchiveFile(file, {"kind": "orders", "broker": actor.broker, **selection.view()})
        try:
            async for order in archive_export.exported_orders(desk, actor, selection):
                target.add(order)
            return target.finish()
        finally:
            target.drop()

    print_one(session.run(work), as_json=session.as_json)


@click.command("traces")
@_new_file
@_before_required
@yes_option
@pass_session
def _archive_traces(session: Session, file: Path, before: str, yes: bool) -> None:
    """Move old decisions out of the store into FILE.

    They are deleted from the store once FILE is complete and on disk. FILE is written as by 'archive export'.
    If the command is stopped in between, decisions may be both in FILE and in the store; none is lost.

    \b
    Example:
      bullion desk archive traces decisions.jsonl.gz --before 7d
    """
    confirm(f"Move the decisions made before {before} into {file}?", yes=yes)

    async def work(desk: Desk, actor: Actor) -> View:
        selection = await archive.resolve_selection(desk, actor, before)
        seen: archive_export.BatchHashes = {}
        target = ArchiveFile(
            file, {"kind": "traces", "broker": actor.broker, "before": instant_text(selection.before_us)}
        )
        try:
            async for trace in archive_export.old_traces(desk, actor, selection.before_us, seen):
                target.add(trace)
            written = target.finish()
        finally:
            target.drop()
        await archive_export.delete_traces(desk, actor, selection.before_us, seen, written)
        return written

    print_one(session.run(work), as_json=session.as_json)


@click.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@pass_session
def _archive_check(session: Session, file: Path) -> None:
    """Check that FILE is complete and unchanged."""
    try:
        about = check(file)
    except DamagedFile as problem:
        click.echo(f"bullion: {file} is damaged: {problem}.", err=True)
        sys.exit(_DAMAGED)
    print_one(about, as_json=session.as_json)


ARCHIVE_COMMANDS = (_archive_orders, _archive_export, _archive_traces, _archive_check)
"""Commands that are more than one action: they show progress, or write a file."""
