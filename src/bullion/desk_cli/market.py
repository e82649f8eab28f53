"""Commands for what is traded and when: brokers, symbols, groups, switches."""

import sys
from pathlib import Path
from typing import TypeVar

import click

from bullion.desk import bodies, conversion
from bullion.desk.actions import brokers, groups, switches, symbols
from bullion.desk.bodies import SwitchesBody, SymbolBody
from bullion.records.page import Page
from bullion.refusals.refusal import RefusalError

from .assignments import assigned
from .session import Session, confirm, limit_option, offset_option, pass_session, yes_option
from .tables import print_list, print_one

T = TypeVar("T")

_HURTS = {
    (
        "production",
        True,
    ): "Every client whose account is enabled can place real orders as soon as this is on.",
    ("production", False): "Every production order is refused from then on.",
    ("paused", True): "While production is paused, every production order is refused.",
    ("paused", False): "Production orders are taken again at once.",
    ("halted", True): "While trading is halted, every order of every client is refused.",
    ("halted", False): "Orders are taken again at once.",
}


def _file_body(file: str, shape: type[T]) -> T:
    """A body from a JSON file, or from standard input for `-`."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        body: T = conversion.read(raw, shape)
        return body
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}.") from None
    except RefusalError as refused:
        raise click.UsageError(f"{file}: {refused.message}") from None


@click.group("brokers")
def brokers_group() -> None:
    """Brokers that this deployment serves."""


@brokers_group.command("list")
@pass_session
def _brokers_list(session: Session) -> None:
    """List the brokers you may see."""
    found = session.run(lambda desk, actor: brokers.list_brokers(desk, actor))
    print_list((found, len(found)), ["tag", "name", "hosts"], as_json=session.as_json)


@brokers_group.command("put")
@click.argument("tag")
@click.option("--name", required=True)
@click.option(
    "--host", "hosts", multiple=True, help="A host name whose calls are this broker's; may be repeated."
)
@pass_session
def _brokers_put(session: Session, tag: str, name: str, hosts: tuple[str, ...]) -> None:
    """Make or change the broker TAG."""
    body = bodies.BrokerBody(name=name, hosts=list(hosts))
    print_one(
        session.run(lambda desk, actor: brokers.put_broker(desk, actor, tag, body)), as_json=session.as_json
    )


@click.group("symbols")
def symbols_group() -> None:
    """What is traded, in which sizes, and how it is priced."""


@symbols_group.command("list")
@limit_option
@offset_option
@pass_session
def _symbols_list(session: Session, limit: int, offset: int) -> None:
    """List the symbols."""
    columns = [
        "code",
        "metal",
        "unit",
        "quoted_weight",
        "trading",
        "frozen",
        "sides",
        "minimum",
        "maximum",
        "step",
    ]
    found = session.run(lambda desk, actor: symbols.list_symbols(desk, actor, Page(limit, offset)))
    print_list(found, [*columns, "stock", "pricing"], as_json=session.as_json)


@symbols_group.command("put")
@click.argument("code")
@click.option(
    "--file", required=True, help="The symbol as JSON, as for the desk's HTTP interface; - is stdin."
)
@pass_session
def _symbols_put(session: Session, code: str, file: str) -> None:
    """Make or replace the symbol CODE."""
    body = _file_body(file, SymbolBody)
    print_one(
        session.run(lambda desk, actor: symbols.put_symbol(desk, actor, code, body)), as_json=session.as_json
    )


@symbols_group.command("set")
@click.argument("code")
@click.argument("assignments", nargs=-1, required=True, metavar="FIELD=VALUE...")
@pass_session
def _symbols_set(session: Session, code: str, assignments: tuple[str, ...]) -> None:
    """Change single fields of the symbol CODE.

    \b
    Examples:
      bullion desk symbols set GOLD frozen=true
      bullion desk symbols set GOLD minimum=10 step=10 stock=null
    """
    fields = assigned(SymbolBody, assignments)
    shape = SymbolBody
    print_one(
        session.run(
            lambda desk, actor: symbols.patch_symbol(desk, actor, code, conversion.Changes(shape, fields))
        ),
        as_json=session.as_json,
    )


@click.group("groups")
def groups_group() -> None:
    """Trading groups and the terms they trade on."""


@groups_group.command("list")
@limit_option
@offset_option
@pass_session
def _groups_list(session: Session, limit: int, offset: int) -> None:
    """List the groups."""
    found = session.run(lambda desk, actor: groups.list_groups(desk, actor, Page(limit, offset)))
    print_list(found, ["code", "trading", "terms", "default_terms"], as_json=session.as_json)


@groups_group.command("put")
@click.argument("code")
@click.option(
    "--file", required=True, help="The group as JSON, as for the desk's HTTP interface; - is stdin."
)
@pass_session
def _groups_put(session: Session, code: str, file: str) -> None:
    """Make or replace the group CODE."""
    body = _file_body(file, bodies.GroupBody)
    print_one(
        session.run(lambda desk, actor: groups.put_group(desk, actor, code, body)), as_json=session.as_json
    )


@click.group("switches")
def switches_group() -> None:
    """Production, pause, halt, tolerance, trading hours and budgets."""


@switches_group.command("show")
@pass_session
def _switches_show(session: Session) -> None:
    """Show the broker's switches."""
    print_one(session.run(lambda desk, actor: switches.get_switches(desk, actor)), as_json=session.as_json)


@switches_group.command("set")
@click.argument("assignments", nargs=-1, required=True, metavar="FIELD=VALUE...")
@yes_option
@pass_session
def _switches_set(session: Session, assignments: tuple[str, ...], yes: bool) -> None:
    """Change switches.

    \b
    Examples:
      bullion desk switches set halted=true
      bullion desk switches set budgets.reads_per_minute=600 price_tolerance_percent=0.25
      bullion desk switches set 'trading_hours={"zone": "Asia/Kolkata", "week": {"mon": [["10:00","23:30"]]}}'
      bullion desk switches set trading_hours=null
    """
    patch = assigned(SwitchesBody, assignments)
    for (field, value), consequence in _HURTS.items():
        if patch.get(field) is value:
            confirm(f"Set {field} to {str(value).lower()}? {consequence}", yes=yes)
    shape, fields = SwitchesBody, patch
    print_one(
        session.run(
            lambda desk, actor: switches.patch_switches(desk, actor, conversion.Changes(shape, fields))
        ),
        as_json=session.as_json,
    )
