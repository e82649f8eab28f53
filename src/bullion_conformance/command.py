"""The command `conformance`. It imports the rest of the kit only when it runs."""

import sys
from pathlib import Path
from typing import Any

import click

_FAILED, _COULD_NOT_RUN = 1, 2
_VARIABLE = "CONFORMANCE"


@click.command("conformance", context_settings={"auto_envvar_prefix": _VARIABLE})
@click.option("--base-url", metavar="URL", help="The service's address, such as https://trade.example.")
@click.option(
    "--key", metavar="KEY", help="A test key. Better set CONFORMANCE_KEY. Without either, it is asked for."
)
@click.option("--live-key", metavar="KEY", help="A live key, for reading on the production path.")
@click.option(
    "--desk-url", metavar="URL", help="Bullion's desk, where the kit creates a broker, accounts and keys."
)
@click.option(
    "--desk-token", metavar="TOKEN", help="The first token of the desk. Better set CONFORMANCE_DESK_TOKEN."
)
@click.option(
    "--profile", type=click.Choice(["specification", "bullion"]), default="specification", show_default=True
)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Only these requirements: an id, the beginning of ids, or a pattern with *.",
)
@click.option("--list", "list_only", is_flag=True, help="List the requirements and check nothing.")
@click.option("--burn-budgets", is_flag=True, help="Also run the checks that use up budgets and get 429.")
@click.option("--quick", is_flag=True, help="With a desk: raise the budgets of the kit's own broker first.")
@click.option(
    "--gold-symbol", default="GOLD", show_default=True, help="Without a desk: a gold symbol that trades."
)
@click.option("--gold-quantity", default="10", show_default=True, help="A valid weight for it, in grams.")
@click.option("--silver-symbol", default="SILVER", show_default=True, help="The same for silver.")
@click.option(
    "--silver-quantity", default="1", show_default=True, help="A valid weight for it, in kilograms."
)
@click.option(
    "--html",
    "html_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report to this HTML file.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report to this JSON file.",
)
def conformance(**options: Any) -> None:
    """Check a running trading service against the specification.

    Every option can be a variable that begins with CONFORMANCE_, as in CONFORMANCE_LIVE_KEY. Use variables
    for keys: other users of the machine can read command lines. With a test key the kit places small test
    orders, as many buys as sells. On the production path it only reads, unless Bullion's desk gives it a
    broker of its own with a simulated venue.

    Exit code 0: every check passed. 1: a check failed. 2: the kit could not run.
    """
    from bullion_conformance.session import list_requirements, session
    from bullion_conformance.verdict import SetupError

    try:
        if options["list_only"]:
            list_requirements(options)
            return
        well = session(options)
    except SetupError as reason:
        click.echo(f"conformance: {reason}", err=True)
        sys.exit(_COULD_NOT_RUN)
    sys.exit(0 if well else _FAILED)
