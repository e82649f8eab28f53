"""`bullion desk`: every action of the desk as a command."""

import click

from bullion.desk.registry import all_actions

from .archive import ARCHIVE_COMMANDS
from .commands import command_of
from .session import OpenDesk, Session

_GROUPS = {
    "brokers": "Brokers that this deployment serves.",
    "symbols": "What is traded, in which sizes, and how it is priced.",
    "groups": "Trading groups and the terms they trade on.",
    "rates": "Rates that orders are priced with, and setting them by hand.",
    "feeds": "Sources of live rates, held quotes, and the guard.",
    "duties": "Duty tables, which landed prices add to.",
    "switches": "Production, pause, halt, tolerance, trading hours and budgets.",
    "accounts": "Clients' accounts, their switches and their allocation.",
    "keys": "Clients' API keys.",
    "webhooks": "Addresses that get the events of an account.",
    "orders": "Orders of all accounts.",
    "hedge": "Where production orders are hedged before they become deals.",
    "refusals": "Refused orders: a list, and how many of each code.",
    "traces": "Why orders were accepted or refused, request by request.",
    "archive": "The archive of old test orders and decisions.",
    "tokens": "Who may work at the desk, in which role, and their sessions in the console.",
    "audit": "Who did what. `bullion audit verify` checks that the trail is intact.",
}


def desk_group(open_desk: OpenDesk) -> click.Group:
    """The command group. `open_desk` opens the desk for a command."""

    @click.group("desk", context_settings={"help_option_names": ["-h", "--help"]})
    @click.option("--token", envvar="BULLION_TOKEN", help="Act with this desk token and its role.")
    @click.option("--broker", metavar="TAG", help="Act for this broker (default: BULLION_BROKER).")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
    @click.pass_context
    def desk(context: click.Context, token: str | None, broker: str | None, as_json: bool) -> None:
        """Work at the desk: accounts, keys, symbols, rates, switches, orders, hedge, archive, tokens, audit.

        Works on the store that the settings name, whether or not the service runs; running nodes see a change
        within a second. Without --token you act as the operator of this deployment, and the audit trail
        says so.

        \b
        Examples:
          bullion desk accounts create meera --group retail --gold 1000
          bullion desk keys issue aurum --environment test --name "trading program"
          bullion desk switches set halted=true
          bullion desk orders list --login aurum
          bullion desk hedge queue
          bullion desk --json audit list --limit 5
        """
        context.obj = Session(open_desk, token, broker, as_json)

    groups = {name: click.Group(name, help=text) for name, text in _GROUPS.items()}
    for action in all_actions().values():
        if action.command and " " not in action.command:
            desk.add_command(command_of(action))
        elif action.command:
            groups[action.command.split(" ")[0]].add_command(command_of(action))
    for command in ARCHIVE_COMMANDS:
        groups["archive"].add_command(command)
    for group in groups.values():
        desk.add_command(group)
    return desk
