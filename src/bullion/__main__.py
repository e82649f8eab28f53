"""The command line: `bullion …`.

The commands that serve import the server themselves, so that short commands start fast.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bullion import __version__
from bullion.desk.actions.audit import verify_audit
from bullion.desk.desk import Desk
from bullion.desk_cli.group import desk_group
from bullion.faults import OutcomeUnknown, StoreFault
from bullion.logs import end_logs, set_log_level, set_up_logs
from bullion.records.audit import Break, Head
from bullion.records.token import Actor
from bullion.settings import Settings, WrongSetting, read_settings
from bullion.store.schema import SchemaMismatch
from bullion.wiring.desk import open_desk
from bullion.wiring.migration import describe_migration, plan_migration
from bullion.wiring.store import check_schema, open_store
from bullion.wiring.tracing import require_tracing

if TYPE_CHECKING:
    from bullion.demo.broker import Addresses, Demo, DemoKey
    from bullion.serve import Serving
    from bullion.wiring.node import Node

_WRONG_SET_UP = 2
_CONSOLE_START_S = 15
"""How long the demo's banner waits for its console."""


class _ErrorMessages(click.Group):
    """Prints errors that the operator can fix as one sentence, without a traceback."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except (WrongSetting, SchemaMismatch) as error:
            click.echo(f"bullion: {error}", err=True)
        except OutcomeUnknown:
            click.echo(
                "bullion: The connection to the store was lost. Check whether the change was made.", err=True
            )
        except StoreFault as fault:
            click.echo(f"bullion: BULLION_DATABASE_URL: the store failed: {fault}.", err=True)
        sys.exit(_WRONG_SET_UP)


@click.group(
    cls=_ErrorMessages, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="bullion")
def main() -> None:
    """Bullion: a trading service for gold and silver by weight.

    Settings are environment variables that begin with BULLION_ (see .env.example); a .env file in the
    working directory is read too.
    """
    set_up_logs(for_people=True, quiet=True)


@main.command("serve")
def serve_command() -> None:
    """Serve the trading API and the desk until stopped.

    Creates a new store, and the default broker if it is missing. A store on PostgreSQL whose schema is older
    is refused: run 'bullion migrate' first. One on SQLite is migrated, unless another process has it open.

    SIGTERM or Ctrl+C finishes the calls in progress, then stops. With BULLION_WORKERS above 1, that many
    processes share the ports. SIGHUP replaces every process that handles calls by a new one, which reads code
    and settings again. SIGUSR1 makes all of them log at level debug, and SIGUSR2 at BULLION_LOG_LEVEL again.
    """
    if not sys.stderr.isatty():
        # A restart is not needed yet: this process is just starting.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    from bullion.serve import Ports, block_signals, unblock_signals
    from bullion.workers.single_node import SingleNode
    from bullion.workers.worker_pool import WorkerPool

    block_signals()  # Blocked in the log thread too, so that no signal is lost while we start.
    set_up_logs(for_people=False)
    unblock_signals()
    settings = _read_serving_settings()
    ports = Ports.bind(settings)
    if settings.workers > 1:
        # Workers never create or migrate a store.
        asyncio.run(_migrate(settings, serving=True))
        sys.exit(WorkerPool(settings, ports).run())
    sys.exit(SingleNode(settings, ports).run())


@main.command("worker", hidden=True)
@click.argument("api", type=int)
@click.argument("desk", type=int)
@click.argument("ready", type=int)
def worker_command(api: int, desk: int, ready: int) -> None:
    """One of several workers; started by `serve` with the descriptors of its sockets."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # Handled by the parent process.
    from bullion.serve import Ports, run_node
    from bullion.workers.place import WorkerPlace
    from bullion.workers.worker import report_ready, wait_for_go

    set_up_logs(for_people=False)
    channel = socket.socket(fileno=ready)
    place = WorkerPlace.given(os.environ)
    settings = _read_serving_settings()

    async def on_ready(serving: "Serving") -> None:
        if place is None:
            report_ready(channel, serving)
        else:
            report_ready(channel, serving, on_parent_gone=place.shut)

    if not settings.shared:
        # The old node leaves before this one opens the store, so a problem has to be reported now.
        asyncio.run(check_schema(settings))
    if wait_for_go(channel, None if place is None else settings.workers):
        ports = Ports(socket.socket(fileno=api), socket.socket(fileno=desk))
        run_node(settings, ports, on_ready, may_migrate=False, place=place)
    end_logs()


@main.command("demo")
def demo_command() -> None:
    """Serve a demo broker with clients and keys, and print curl commands to paste.

    Data and keys are kept in var/demo for the next start.
    """
    from bullion.demo import broker

    async def show(_node: "Node", demo: "Demo", keys: "list[DemoKey]", urls: "Addresses") -> None:
        click.echo(broker.banner(demo, keys, urls))

    _serve_demo(broker.FOLDER, show)


@main.group("market")
def market_group() -> None:
    """The market: a venue over FIX, and live rates."""


@market_group.command("demo")
def market_demo_command() -> None:
    """Serve a demo broker that covers over FIX at live rates, and print commands to paste.

    Starts a FIX venue and a quote server as processes on this machine, on free ports, and ends them with the
    service. Data, keys, market file and the messages of the line are kept in var/market-demo.
    """
    from bullion.demo import market

    with market.counterparties(click.echo) as found:
        os.environ.update(found.settings())

        async def show(node: "Node", demo: "Demo", keys: "list[DemoKey]", urls: "Addresses") -> None:
            await market.create_market_data(node)
            click.echo("Waiting for the line and for the first rates.")
            problem = await market.wait_until_traded(urls.api, keys)
            click.echo(market.banner(demo, keys, urls, found, problem))

        _serve_demo(market.FOLDER, show)


def _serve_demo(
    folder: Path, show: "Callable[[Node, Demo, list[DemoKey], Addresses], Awaitable[None]]"
) -> None:
    """Serve a demo whose data is in the folder. `show` is called once it is served."""
    from bullion.demo import broker
    from bullion.serve import Ports, run_node
    from bullion.workers.console_process import ConsoleProcess

    at_a_terminal = sys.stderr.isatty()
    set_up_logs(for_people=at_a_terminal)
    desk_log = logging.getLogger("desk")
    if at_a_terminal:
        desk_log.setLevel(logging.WARNING)  # Hide the log of the demo's own set-up.
    demo = broker.prepare(_read_serving_settings(), folder)
    ports = Ports.bind(demo.settings, console=True)
    console = ConsoleProcess(ports, folder)

    async def on_ready(serving: "Serving") -> None:
        if serving.node is None:
            raise LookupError("the demo serves a node")
        console.start(serving)
        keys = await broker.create_demo_data(serving.node, demo.hasher)
        await asyncio.to_thread(console.wait_started, _CONSOLE_START_S)
        ports.log_listening()
        urls = broker.Addresses(ports.api_url, ports.desk_url, ports.console_url or "")
        await show(serving.node, demo, keys, urls)
        desk_log.setLevel(logging.NOTSET)

    try:
        run_node(demo.settings, ports, on_ready, may_migrate=True, on_stop=ports.ignore_new_connections)
    finally:
        console.stop()
    end_logs()


@main.command("demo-console", hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("api_url")
@click.argument("console", type=int)
@click.argument("ready", type=int)
def demo_console_command(folder: Path, api_url: str, console: int, ready: int) -> None:
    """The console of a demo; started by `demo` with the descriptors of its sockets."""
    from bullion.demo import broker
    from bullion.serve import run_console
    from bullion.workers.worker import report_ready

    set_up_logs(for_people=sys.stderr.isatty())
    channel = socket.socket(fileno=ready)

    async def on_ready(serving: "Serving") -> None:
        report_ready(channel, serving)

    settings = broker.prepare(_read_serving_settings(), folder).settings
    run_console(settings, socket.socket(fileno=console), on_ready, api_url=api_url)


@main.command("console")
def console_command() -> None:
    """Serve the desk's console, a web interface, on its own port.

    It uses the store of the settings, and starts and stops independently of the nodes. Users log in with a
    desk token.
    """
    from bullion.serve import bind_console, serve_console

    set_up_logs(for_people=False)
    settings = _read_serving_settings()
    serve_console(settings, bind_console(settings))


@main.command("migrate")
@click.option(
    "--check", is_flag=True, help="Only show what would be done. Exit code 1: the schema is not up to date."
)
@click.option("--force", is_flag=True, help="Take steps that a running node does not work with.")
def migrate_command(check: bool, force: bool) -> None:
    """Create the store, or bring its schema up to date, while nodes use it.

    A step waits for a lock only for a moment and is retried, so that it does not stop orders. Steps that a
    running node does not work with are refused. Exit code 0: the schema is up to date. 2: it could not be
    migrated.
    """
    settings = read_settings(os.environ)
    if check:
        plan = asyncio.run(plan_migration(settings))
        click.echo(describe_migration(plan))
        sys.exit(1 if plan.steps else 0)
    taken = asyncio.run(_migrate(settings, force=force))
    click.echo(f"The schema is up to date; {taken} {'step was' if taken == 1 else 'steps were'} taken.")


def _read_serving_settings() -> Settings:
    settings = read_settings(os.environ)
    set_log_level(settings.log_level)
    require_tracing(settings)
    return settings


async def _migrate(settings: Settings, *, serving: bool = False, force: bool = False) -> int:
    async with open_store(settings, migrate=True, serving=serving, force=force) as store:
        return store.steps_taken


@main.group("audit")
def audit_group() -> None:
    """The audit trail of the desk's changes."""


@audit_group.command("verify")
def audit_verify_command() -> None:
    """Check that no entry of the audit trail was changed, removed or reordered.

    Exit code 0: every chain is intact. 1: a chain is broken; each place is listed.
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
            else f"intact, entries: {count}, last hash {head.hash if head else '-'}"
        )
        click.echo(f"{broker}: {state}")
    for each in breaks:
        click.echo(f"  {each.broker}, entry {each.ordinal}: {each.why}")
    sys.exit(1 if breaks else 0)


@main.group("books")
def books_group() -> None:
    """The books: positions, counts and everything else that follows from the orders."""


@books_group.command("verify")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def books_verify_command(as_json: bool) -> None:
    """Recompute everything that follows from the orders, and compare it with the store.

    Net and open weights, counts, idempotency keys, archive, deals, hedge requests, stocks and audit trail,
    all at one moment. The service may be running; orders do not wait for it.

    Exit code 0: all equal. 1: something differs; each difference is listed. 2: it could not be checked.
    """
    from bullion.maintenance.books import verify

    sys.exit(asyncio.run(verify(read_settings(os.environ), as_json=as_json)))


@main.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--allow-differences", is_flag=True, help="Keep the backup although its books differ.")
def backup_command(file: Path, allow_differences: bool) -> None:
    """Write a backup of an SQLite store to FILE, while the service runs.

    The backup is a snapshot of the store. It is verified before FILE is created: see 'bullion books verify'.

    Exit code 0: done. 1: the books differ. 2: it could not be done.
    """
    from bullion.maintenance.backup import back_up

    sys.exit(asyncio.run(back_up(read_settings(os.environ), file, allow_differences=allow_differences)))


@main.command("restore")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--replace", "replace_store", is_flag=True, help="Replace the store, and keep it under another name."
)
@click.option("--allow-differences", is_flag=True, help="Restore the backup although its books differ.")
def restore_command(file: Path, replace_store: bool, allow_differences: bool) -> None:
    """Replace an SQLite store by the backup FILE. Stop the service and all commands first.

    The backup is verified first. An existing store is only replaced with --replace.

    Exit code 0: done. 1: the books of the backup differ. 2: it could not be done.
    """
    from bullion.maintenance.backup import restore

    settings = read_settings(os.environ)
    done = restore(settings, file, replace_store=replace_store, allow_differences=allow_differences)
    sys.exit(asyncio.run(done))


@main.group("store")
def store_group() -> None:
    """The store: move it to another engine, or one broker of it to another store."""


@store_group.command("copy")
@click.option("--from", "from_url", required=True, help="The stopped store, as sqlite:///<path>.")
@click.option("--to", "to_url", help="The empty database, as postgresql://…; default: BULLION_DATABASE_URL.")
@click.option("--broker", metavar="TAG", help="Move this broker only. Then --from is postgresql://… too.")
@click.option("--cancel", is_flag=True, help="Take back a move that did not reach the other store.")
def store_copy_command(from_url: str, to_url: str | None, broker: str | None, cancel: bool) -> None:
    """Copy a stopped SQLite store to an empty PostgreSQL database, or move one broker.

    Every row is compared, and the books of the copy are verified. If anything goes wrong, nothing is copied.

    With --broker, one broker moves from a PostgreSQL store to another, which may be empty or have other
    brokers, with the same BULLION_SECRET. Nodes of both go on serving the others. The broker must be halted
    and at rest. It is closed at the old store before it is copied, and stays so: a run that fails can be
    repeated, or taken back with --cancel.

    \b
    Example:
      bullion store copy --broker aurum --from postgresql://bullion@db-a/bullion --to postgresql://bullion@db-b/bullion

    Exit code 0: done. 1: the books differ. 2: it could not be done.
    """
    settings = read_settings(os.environ)
    if broker is None:
        from bullion.maintenance.store_copy import copy

        if cancel:
            raise WrongSetting("--cancel needs --broker.")
        sys.exit(asyncio.run(copy(settings, from_url, to_url)))
    from bullion.maintenance import broker_move
    from bullion.wiring.desk import command_line_name

    run = broker_move.cancel if cancel else broker_move.move
    sys.exit(asyncio.run(run(settings, broker, from_url, to_url, command_line_name())))


@main.group("secret")
def secret_group() -> None:
    """The deployment's secret: exchange it for another."""


@secret_group.command("exchange")
def secret_exchange_command() -> None:
    """Make BULLION_SECRET the secret of a store that was created with BULLION_SECRET_OLD.

    Set both secrets on all nodes first. The audit trails are sealed with the new secret; keys and
    tokens get new hashes when they are used.

    Exit code 0: done. 1: a broken audit trail was left as it is. 2: it could not be done.
    """
    from bullion.maintenance.secret_exchange import exchange
    from bullion.wiring.desk import command_line_name

    sys.exit(asyncio.run(exchange(read_settings(os.environ), command_line_name())))


@secret_group.command("status")
def secret_status_command() -> None:
    """Count what still needs BULLION_SECRET_OLD.

    Exit code 0: nothing that is in force. 1: something. 2: it could not be checked.
    """
    from bullion.maintenance.secret_exchange import status

    sys.exit(asyncio.run(status(read_settings(os.environ))))


@main.command("doctor")
def doctor_command() -> None:
    """Check settings, store and Redis, and say how to fix problems.

    Exit code 0: no problems. 1: something needs attention.
    """
    from bullion.doctor import examine

    findings = asyncio.run(examine(read_settings(os.environ)))
    for finding in findings:
        click.echo(f"{'ok  ' if finding.ok else 'BAD '} {finding.what}: {finding.message}")
    sys.exit(0 if all(finding.ok for finding in findings) else 1)


@main.group("fix")
def fix_group() -> None:
    """The FIX lines to venues."""


@fix_group.command("check")
@click.argument("line", required=False)
def fix_check_command(line: str | None) -> None:
    """Log on to a venue, ask about an unknown order, log off, and print what the venue said.

    LINE is the name of a line in the file that BULLION_MARKET names; not needed if it has only one. No order
    is sent. A line that a running node holds is not touched. If LINE is a source of rates over FIX, its
    instruments are subscribed, and their first quotes printed.

    Exit code 0: the venue does what the line's profile says. 1: it does not, or could not be reached.
    """
    from bullion.wiring.line_check import check_line

    sys.exit(0 if asyncio.run(check_line(read_settings(os.environ), line, click.echo)) else 1)


def _open_desk(
    token: str | None, broker: str | None, trading: bool
) -> AbstractAsyncContextManager[tuple[Desk, Actor]]:
    return open_desk(read_settings(os.environ), token, broker, trading=trading)


main.add_command(desk_group(_open_desk))
try:
    from bullion_conformance.command import conformance
except ModuleNotFoundError:

    @main.command("conformance", context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1)
    def conformance_missing_command(arguments: tuple[str, ...]) -> None:  # noqa: ARG001 - the kit's options
        """Check a running service against the specification (needs the package bullion-conformance)."""
        raise WrongSetting("The conformance kit is not installed: pip install bullion-conformance.")
else:
    main.add_command(conformance)


if __name__ == "__main__":
    main()
