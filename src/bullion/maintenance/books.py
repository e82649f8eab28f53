"""`bullion books verify`: the books of a store, verified and reported."""

import click
import msgspec

from bullion.books.difference import Report
from bullion.books.verify import verify_books
from bullion.settings import Settings
from bullion.wiring.store import open_store

from .progress import ProgressLine


async def verify(settings: Settings, *, as_json: bool = False) -> int:
    """Print what was found and return the exit code."""
    async with open_store(settings, migrate=False) as store:
        with ProgressLine("Verifying", "orders") as progress:
            report = await verify_books(store.engine, store.chain, progress)
    if as_json:
        click.echo(msgspec.json.encode({"equal": report.equal, **msgspec.to_builtins(report)}))
    else:
        print_report(report)
    return 0 if report.equal else 1


def print_report(report: Report) -> None:
    for each in report.differences:
        click.echo(str(each))
    if report.more:
        click.echo("There are further differences, which are not listed.")
    for sentence in report.skipped:
        click.echo(sentence)
    click.echo(summary(report))


def summary(report: Report) -> str:
    checked = f"books: {report.books}, orders: {report.orders}, audit entries: {report.audit_entries}"
    if report.equal:
        return f"All equal ({checked})."
    return f"Differences: {len(report.differences)} ({checked})."
