"""One run of the command, from the options to the reports."""

import re
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
import httpx
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bullion_conformance.check import Check
from bullion_conformance.client import Symbol
from bullion_conformance.context import Setup
from bullion_conformance.plan import estimate_s, ordered_checks, select
from bullion_conformance.report_html import as_html
from bullion_conformance.report_json import as_json
from bullion_conformance.report_terminal import show, show_table
from bullion_conformance.requirement import Profile, Requirement
from bullion_conformance.run import Report, run
from bullion_conformance.setup import Given, open_setup
from bullion_conformance.verdict import SetupError

_API_PATHS = re.compile(r"/(?:api/trading(?:/test)?|desk)/v1(?:/.*)?$")


def list_requirements(options: dict[str, Any]) -> None:
    show_table(_requirements(options), Console())


def session(options: dict[str, Any]) -> bool:
    """Run the checks and write the reports; return whether no check failed."""
    requirements, given = _requirements(options), _given(options)
    profile = Profile(options["profile"])
    told = Console(stderr=True)
    with open_setup(given) as setup:
        checks = ordered_checks(requirements, setup)
        seconds = estimate_s(checks, setup, quick=given.quick)
        told.print(
            f"{len(checks)} of {len(requirements)} requirements can be checked, in about {_time(seconds)}."
        )
        report = _run(requirements, setup, given, profile, told)
        report.setup = _describe(given, setup)
        show(report, Console())
        _write(options["html_file"], as_html(report))
        _write(options["json_file"], as_json(report))
    return report.well


def _run(
    requirements: list[Requirement], setup: Setup, given: Given, profile: Profile, told: Console
) -> Report:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=told, transient=True, disable=not told.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def progress(check: Check, done: int, of_all: int) -> None:
            bar.update(task, description=check.id, completed=done, total=of_all)

        return run(requirements, setup, service=given.base_url, profile=profile, progress=progress)


def _requirements(options: dict[str, Any]) -> list[Requirement]:
    found = select(Profile(options["profile"]), options["only"])
    if not found:
        raise SetupError("No requirement of this profile matches --only. List them with --list.")
    return found


def _given(options: dict[str, Any]) -> Given:
    base_url, key = options["base_url"], options["key"]
    if not base_url:
        raise SetupError(
            "The address of the service is missing. Add --base-url, or set CONFORMANCE_BASE_URL."
        )
    for name in ("base_url", "desk_url"):
        if options[name]:
            _check_address(name, options[name])
    if options["desk_url"] and not options["desk_token"]:
        raise SetupError("--desk-url needs a token. Add --desk-token, or set CONFORMANCE_DESK_TOKEN.")
    if options["quick"] and not options["desk_url"]:
        raise SetupError("--quick raises budgets at the desk. Add --desk-url and --desk-token.")
    if options["desk_url"] and (key or options["live_key"]):
        click.echo("With a desk the kit creates its own keys; the given keys are not used.", err=True)
    if not key and not options["desk_url"] and not options["live_key"]:
        key = _prompt_for_key()
    for name, text, prefix in (("key", key, "key_test."), ("live_key", options["live_key"], "key_live.")):
        if text and not text.startswith(prefix):
            raise SetupError(f"{_option_name(name)} must begin with '{prefix}'.")
    return Given(
        base_url=base_url,
        key=key or None,
        live_key=options["live_key"] or None,
        desk_url=options["desk_url"] or None,
        desk_token=options["desk_token"] or None,
        gold=_symbol(options, "gold"),
        silver=_symbol(options, "silver"),
        burn=options["burn_budgets"],
        quick=options["quick"],
    )


def _check_address(name: str, address: str) -> None:
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise SetupError(
            f"{_option_name(name)} must begin with http:// or https://, as in https://trade.example."
        )
    if url.userinfo or "?" in address or "#" in address:
        raise SetupError(f"{_option_name(name)} must be a plain address without user, password, '?' and '#'.")
    if found := _API_PATHS.search(url.path.rstrip("/")):
        raise SetupError(f"{_option_name(name)} must end before the path of the API: leave out '{found[0]}'.")


def _option_name(option: str) -> str:
    """The name of the option, or of its variable if that was set."""
    context = click.get_current_context()
    if context.get_parameter_source(option) == ParameterSource.ENVIRONMENT:
        return f"{context.auto_envvar_prefix}_{option.upper()}"
    return f"--{option.replace('_', '-')}"


def _prompt_for_key() -> str:
    if not sys.stdin.isatty():
        raise SetupError("There is no key. Set CONFORMANCE_KEY to a test key, or add --desk-url.")
    key: str = click.prompt("Test key", hide_input=True, err=True)
    return key.strip()


def _symbol(options: dict[str, Any], metal: str) -> Symbol:
    try:
        quantity = Decimal(options[f"{metal}_quantity"])
    except InvalidOperation:
        quantity = Decimal(0)
    if not quantity.is_finite() or quantity <= 0:
        raise SetupError(f"{_option_name(f'{metal}_quantity')} must be a weight above 0.")
    return Symbol(options[f"{metal}_symbol"], quantity, metal)


def _describe(given: Given, setup: Setup) -> list[str]:
    words = ["the desk"] if setup.broker else []
    words += ["a test key"] if setup.test else []
    words += ["a live key"] if setup.live else []
    if setup.broker:
        words.append("production open" if setup.production_open else setup.production_closed)
    return [
        *words,
        *(["raised budgets"] if given.quick else []),
        *(["budgets used up"] if given.burn else []),
    ]


def _time(seconds: float) -> str:
    return f"{max(round(seconds), 2)} seconds" if seconds < 100 else f"{round(seconds / 60)} minutes"


def _write(file: Path | None, text: str) -> None:
    if file is not None:
        try:
            file.write_text(text, "utf-8")
        except OSError as error:
            raise SetupError(f"The report cannot be written: {error}.") from error
