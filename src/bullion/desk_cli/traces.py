"""Commands for decisions: why orders were taken or refused, call by call."""

import click

from bullion.desk.actions import traces

from .session import Session, limit_option, pass_session
from .tables import print_items, print_one


@click.group("traces")
def traces_group() -> None:
    """Why orders were taken or refused, call by call."""


@traces_group.command("list")
@click.option("--login", "login_id", metavar="LOGIN_ID", help="Only of this account.")
@click.option(
    "--outcome", metavar="CODE", help="Only this: filled, replayed, or a refusal such as limit_exceeded."
)
@limit_option
@pass_session
def _traces_list(session: Session, login_id: str | None, outcome: str | None, limit: int) -> None:
    """List the newest decisions on orders, newest first.

    \b
    Examples:
      bullion desk traces list --login aurum --limit 10
      bullion desk traces list --outcome stale_rate
    """
    found = session.run(lambda desk, actor: traces.list_traces(desk, actor, login_id, outcome, limit))
    columns = [
        "at",
        "environment",
        "login_id",
        "outcome",
        "asked.symbol_code",
        "asked.trade_type",
        "asked.quantity",
        "message",
        "request_id",
    ]
    print_items(found, columns, as_json=session.as_json)


@traces_group.command("count")
@click.option(
    "--minutes",
    default=traces.MINUTES_USUAL,
    show_default=True,
    type=click.IntRange(1, traces.MINUTES_MAX),
    help="How far to look back.",
)
@pass_session
def _traces_count(session: Session, minutes: int) -> None:
    """Count the decisions of the last minutes, by minute, environment and outcome."""
    found = session.run(lambda desk, actor: traces.count_traces(desk, actor, minutes, None))
    columns = ["minute", "environment", "outcome", "count"]
    print_items(found["items"], columns, as_json=session.as_json)


@traces_group.command("show")
@click.argument("request_id")
@pass_session
def _traces_show(session: Session, request_id: str) -> None:
    """Show the decision on one call, by the X-Request-Id that its client got."""
    print_one(
        session.run(lambda desk, actor: traces.get_trace(desk, actor, request_id)), as_json=session.as_json
    )
