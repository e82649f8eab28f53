"""The command `conformance`; nothing heavy is imported before it runs."""

import sys
from pathlib import Path
from typing import Any

import click

_FAILED, _COULD_NOT_RUN = 1, 2
_VARIABLE = "CONFORMANCE"


@click.command("conformance", context_settings={"auto_envvar_prefix": _VARIABLE})
@click.option("--base-url", metavar="URL", help="The service's address, such as https://trade.example.")
@click.option(
    "--key", metavar="KEY", help="A test key. Better in CONFORMANCE_KEY; without either you are asked."
)
@click.option("--live-key", metavar="KEY", help="A live key, for reading on the production path.")
@click.option(
    "--desk-url", metavar="URL", help="Bullion's desk: the kit makes a broker, accounts and keys there."
)
@click.option(
    "--desk-token", metavar="TOKEN", help="The desk's first token. Better in CONFORMANCE_DESK_TOKEN."
)
@click.option(
    "--profile", type=click.Choice(["specification", "bullion"]), default="specification", show_default=True
)
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Requirements by id, beginning of ids, or with *."
)
@click.option("--list", "list_only", is_flag=True, help="Show the requirements, and check nothing.")
@click.option(
    "--burn-budgets", is_flag=True, help="Also the checks that use budgets up, and are answered 429."
)
@click.option("--quick", is_flag=True, help="With a desk: raise the budgets of the kit's own broker first.")
@click.option(
    "--gold-symbol", default="GOLD", show_default=True, help="Without a desk: a gold symbol that trades."
)
@click.option("--gold-quantity", default="10", show_default=True, help="A weight that it takes, in grams.")
@click.option("--silver-symbol", default="SILVER", show_default=True, help="The same for silver.")
@click.option(
    "--silver-quantity", default="1", show_default=True, help="A weight that it takes, in kilograms."
)
@click.option(
    "--html", "html_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the report there."
)
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="The same for programs."
)
def conformance(**options: Any) -> None:
    """Check a running trading service against the specification, sentence by sentence.

    Every option can be a variable that begins with CONFORMANCE_, as in CONFORMANCE_LIVE_KEY; keys are better
    there than in a command line, which others can read. With a test key alone the kit places small test
    orders and takes them back. On the production path it only reads, unless Bullion's desk makes it a broker
    of its own with a simulated venue.

    Exit code 0: all that was checked is kept. 1: something is not. 2: it could not be run.
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
