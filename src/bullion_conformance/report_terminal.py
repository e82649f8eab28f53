"""The report for a terminal."""

from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bullion_conformance.checks import CHECKS
from bullion_conformance.requirement import Requirement
from bullion_conformance.run import Report
from bullion_conformance.verdict import Finding, Verdict

_STYLES = {
    Verdict.PASSED: "[green]passed[/]",
    Verdict.FAILED: "[bold red]FAILED[/]",
    Verdict.NOT_CHECKED: "[yellow]not checked[/]",
    Verdict.ERROR: "[bold red]ERROR[/]",
}


def show(report: Report, console: Console) -> None:
    for section, findings in groupby(report.findings, key=lambda finding: finding.requirement.section):
        console.print(f"\n[bold]{escape(section)}[/]")
        console.print(_section(list(findings)))
    console.print()
    console.print(_last_line(report))


def _section(findings: list[Finding]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=11)
    table.add_column(overflow="fold")
    for finding in findings:
        words = f"{escape(finding.requirement.words)} [dim]{escape(finding.requirement.id)}[/]"
        if finding.why:
            colour = "dim" if finding.verdict is Verdict.NOT_CHECKED else "red"
            words += f"\n[{colour}]{escape(finding.why)}[/]"
        table.add_row(_STYLES[finding.verdict], words)
    return table


def _last_line(report: Report) -> str:
    counts = ", ".join(f"{report.count(verdict)} {verdict.value}" for verdict in Verdict)
    text = f"{escape(report.service)}: {counts}. {report.calls} calls in {report.seconds:.0f} s"
    if report.waited_s >= 1:
        text += f", of which {report.waited_s:.0f} s were waiting"
    if report.throttled:
        text += f"; {report.throttled} were answered 429 and retried"
    return f"{text}."


def show_table(requirements: list[Requirement], console: Console) -> None:
    """List the requirements, and what each check needs."""
    for section, found in groupby(requirements, key=lambda requirement: requirement.section):
        console.print(f"\n[bold]{escape(section)}[/]")
        for requirement in found:
            words, needs = escape(requirement.words), escape(_needs(requirement))
            console.print(f"  {escape(requirement.id)}\n    {words} [dim]{needs}[/]")


def _needs(requirement: Requirement) -> str:
    if requirement.unchecked is not None:
        return f"(not checked: {requirement.unchecked})"
    return f"(needs {CHECKS[requirement.id].need.value})"
