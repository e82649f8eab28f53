"""`bullion backup` and `bullion restore` for SQLite. Each copy is verified before it is used."""

import time
from dataclasses import replace
from pathlib import Path

import click

from bullion.books.difference import Report
from bullion.books.verify import verify_books
from bullion.secret import deployment_secret
from bullion.settings import Settings, WrongSetting
from bullion.store.sqlite import lock_store, sqlite_path
from bullion.wiring.store import open_engine, open_store

from . import files
from .books import print_report, summary
from .progress import ProgressLine

_POSTGRES = (
    "This command is for SQLite. Back up PostgreSQL with pg_dump or pgBackRest: see 'Backup' in "
    "docs/deployment.md."
)


async def back_up(settings: Settings, target: Path, *, allow_differences: bool = False) -> int:
    """Write a backup while the service runs, and return the exit code."""
    store = _store_path(settings)
    files.require_file(store, "store")
    _require_new(target)
    if not target.parent.is_dir():
        raise WrongSetting(f"There is no folder {target.parent}. Create it first.")
    with ProgressLine("Copying", "pages") as progress, files.private_copy(store, target, progress) as copy:
        files.check_integrity(copy)
        report = await _verified(settings, copy)
        if not report.equal and not allow_differences:
            print_report(report)
            click.echo(f"Nothing was written to {target}. To keep such a backup, use --allow-differences.")
            return 1
        _require_new(target)
        files.put_in_place(copy, target)
    if not report.equal:
        print_report(report)
    click.echo(f"{target}: {summary(report)}")
    click.echo("The secret is not in it. Keep the secret too, in another place.")
    return 0 if report.equal else 1


async def restore(
    settings: Settings, source: Path, *, replace_store: bool = False, allow_differences: bool = False
) -> int:
    """Replace the store by a backup, and return the exit code. No process may be using the store."""
    store = _store_path(settings)
    files.require_file(source, "backup")
    store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = lock_store(store)
    if lock is None:
        raise WrongSetting(f"A node serves {store}. Stop it first.")
    with lock:
        if store.exists():
            if not replace_store:
                raise WrongSetting(f"There is a store at {store} already. To replace it, use --replace.")
            if files.in_use(store):
                raise WrongSetting(f"A process is using {store}. Stop the console and all commands first.")
        with (
            ProgressLine("Copying", "pages") as progress,
            files.private_copy(source, store, progress) as copy,
        ):
            files.check_integrity(copy)
            await _migrate(settings, source, copy)
            report = await _verified(settings, copy)
            if not report.equal:
                print_report(report)
                if not allow_differences:
                    click.echo("Nothing was restored. To restore it anyway, use --allow-differences.")
                    return 1
            aside = _name_for(store)
            files.put_in_place(copy, store, aside)
    click.echo(f"{store}: {summary(report)}")
    if aside.exists():
        click.echo(f"The previous store is kept as {aside}.")
    return 0 if report.equal else 1


def _store_path(settings: Settings) -> Path:
    if not settings.sqlite:
        raise WrongSetting(_POSTGRES)
    return sqlite_path(settings.database_url)


def _require_new(target: Path) -> None:
    if target.exists():
        raise WrongSetting(f"{target} exists already. Give each backup a name of its own.")


async def _migrate(settings: Settings, source: Path, copy: Path) -> None:
    """Take the schema steps that a backup of an earlier version lacks: in the copy, never in the backup."""
    own = _settings_of(settings, copy)
    async with open_engine(own) as engine:
        if not await engine.has_schema():
            raise WrongSetting(f"There is no store in {source}.")
    async with open_store(own, migrate=True) as opened:
        if opened.steps_taken:
            click.echo(f"The backup is of an earlier version. Schema steps taken: {opened.steps_taken}.")


async def _verified(settings: Settings, copy: Path) -> Report:
    """Check the schema and the secret of a copy, and verify its books."""
    async with open_store(_settings_of(settings, copy), migrate=False) as opened:
        with ProgressLine("Verifying", "orders") as progress:
            return await verify_books(opened.engine, opened.chain, progress)


def _settings_of(settings: Settings, copy: Path) -> Settings:
    """The secret is read beside the store: a copy in another folder has none."""
    store = sqlite_path(settings.database_url)
    secret = deployment_secret(settings.secret, store.parent, may_create=False).decode("ascii")
    return replace(settings, database_url=f"sqlite:///{copy}", secret=secret)


def _name_for(store: Path) -> Path:
    """A new name for the store that is replaced."""
    name = store.with_name(f"{store.name}.before-restore-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    _require_new(name)
    return name
