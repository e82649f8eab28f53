"""`bullion desk`: every action of the desk as a command."""

import click

from .archive import archive_group
from .clients import accounts_group, keys_group
from .hedge import hedge_group
from .market import brokers_group, groups_group, switches_group, symbols_group
from .office import audit_group, tokens_group
from .orders import orders_group
from .rates import duties_group, rates_group
from .session import OpenDesk, Session
from .traces import traces_group


def desk_group(open_desk: OpenDesk) -> click.Group:
    """The command group, over whatever opens the desk."""

    @click.group("desk", context_settings={"help_option_names": ["-h", "--help"]})
    @click.option("--token", envvar="BULLION_TOKEN", help="Act with this desk token and its role.")
    @click.option("--broker", metavar="TAG", help="Act for this broker (default: BULLION_BROKER).")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
    @click.pass_context
    def desk(context: click.Context, token: str | None, broker: str | None, as_json: bool) -> None:
        """Work at the desk: accounts, keys, symbols, rates, switches, orders, hedge, archive, tokens, audit.

        Works on the store that the settings name, whether or not the service runs; running nodes see a change
        within a second. Without --token you act as whoever may read this deployment's settings, and the
        audit trail says so.

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

    for group in (
        brokers_group,
        symbols_group,
        groups_group,
        rates_group,
        duties_group,
        switches_group,
        accounts_group,
        keys_group,
        orders_group,
        hedge_group,
        traces_group,
        archive_group,
        tokens_group,
        audit_group,
    ):
        desk.add_command(group)
    return desk
