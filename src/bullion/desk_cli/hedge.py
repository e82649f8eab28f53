"""Commands for the hedge: what waits for an answer, what the venue did, and where it contradicts us."""

import click

from bullion.desk import conversion
from bullion.desk.actions import breaks, exposure, hedge
from bullion.desk.bodies import HedgeBody, NoteBody
from bullion.desk.desk import Desk, View
from bullion.records.page import Page
from bullion.records.token import Actor

from .assignments import assigned
from .session import Session, limit_option, offset_option, pass_session
from .tables import print_list, print_one

_ORDER = ["login_id", "symbol_code", "trade_type", "quantity", "unit", "price", "status"]


@click.group("hedge")
def hedge_group() -> None:
    """Where production orders are covered before they become deals."""


@hedge_group.command("show")
@pass_session
def _hedge_show(session: Session) -> None:
    """Show the venue, and how the simulated one behaves."""
    print_one(session.run(lambda desk, actor: hedge.get_hedge(desk, actor)), as_json=session.as_json)


@hedge_group.command("set")
@click.argument("assignments", nargs=-1, required=True, metavar="FIELD=VALUE...")
@pass_session
def _hedge_set(session: Session, assignments: tuple[str, ...]) -> None:
    """Change how the simulated venue behaves.

    mode is fill, refuse, hold or down; an instrument is tradable, suspended or unknown.

    \b
    Examples:
      bullion desk hedge set mode=hold
      bullion desk hedge set mode=fill delay_ms=500 instruments.GOLD=suspended
    """
    fields = assigned(HedgeBody, assignments)
    shape = HedgeBody
    print_one(
        session.run(lambda desk, actor: hedge.patch_hedge(desk, actor, conversion.Changes(shape, fields))),
        as_json=session.as_json,
    )


@hedge_group.command("executions")
@click.option("--order", "order_id", metavar="ID", help="Only that of this order.")
@limit_option
@offset_option
@pass_session
def _hedge_executions(session: Session, order_id: str | None, limit: int, offset: int) -> None:
    """List what the venue executed or refused, newest orders first."""
    page = Page(limit, offset)
    found = session.run(lambda desk, actor: hedge.list_executions(desk, actor, order_id, page))
    print_list(found, ["at", "outcome", "quantity", "execution_id", "order_id"], as_json=session.as_json)


@hedge_group.command("queue")
@limit_option
@offset_option
@pass_session
def _hedge_queue(session: Session, limit: int, offset: int) -> None:
    """List the orders that wait for an answer, oldest first."""
    found = session.run(lambda desk, actor: hedge.list_queue(desk, actor, Page(limit, offset)))
    print_list(found, ["order_id", "age_s", *_ORDER, "source", "tries", "words"], as_json=session.as_json)


@hedge_group.command("exposure")
@pass_session
def _hedge_exposure(session: Session) -> None:
    """Show what all clients hold together in production, what of it is hedged, and the rest."""
    found = session.run(lambda desk, actor: exposure.get_exposure(desk, actor))
    columns = ["metal", "net", "hedged", "unhedged", "unit", "waiting", "breaks"]
    print_list((found, len(found)), columns, as_json=session.as_json)


@hedge_group.command("breaks")
@limit_option
@offset_option
@pass_session
def _hedge_breaks(session: Session, limit: int, offset: int) -> None:
    """List what the venue did and our orders do not account for, such as a fill of a deleted one."""
    found = session.run(lambda desk, actor: breaks.list_breaks(desk, actor, Page(limit, offset)))
    print_list(
        found, ["break_id", "reason", *_ORDER, "outcome", "execution_id", "words"], as_json=session.as_json
    )


@hedge_group.command("resolve")
@click.argument("break_id")
@click.option("--note", required=True, metavar="TEXT", help="What was done about it.")
@pass_session
def _hedge_resolve(session: Session, break_id: str, note: str) -> None:
    """Say what was done about a break. It leaves the list; the order stays as it is.

    A break is named by its order, or by its execution where no order of ours accounts for that.
    """

    async def work(desk: Desk, actor: Actor) -> View:
        body = conversion.convert({"note": note}, NoteBody)
        return await breaks.resolve_break(desk, actor, break_id, body)

    print_one(session.run(work), as_json=session.as_json)
