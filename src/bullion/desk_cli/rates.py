"""Commands for prices: the desk's own rates, and duty tables."""

import sys
from decimal import Decimal, InvalidOperation

import click

from bullion.desk import bodies, conversion
from bullion.desk.actions import duties, quotes, rates
from bullion.desk.bodies import DutyRows, RateBody
from bullion.desk.desk import Desk, View
from bullion.desk.unreadable import is_unreadable
from bullion.records.page import Page
from bullion.records.token import Actor

from .session import Session, confirm, limit_option, offset_option, pass_session, yes_option
from .tables import print_list, print_one


@click.group("rates")
def rates_group() -> None:
    """Rates that orders are priced by, and the desk's own quotes."""


@rates_group.command("list")
@pass_session
def _rates_list(session: Session) -> None:
    """List the rates that orders are priced by."""
    found = session.run(lambda desk, actor: rates.list_rates(desk, actor))
    columns = ["instrument", "bid", "ask", "source", "age_s", "at", "moved_at"]
    print_list((found, len(found)), columns, as_json=session.as_json)


@rates_group.command("quotes")
@limit_option
@offset_option
@pass_session
def _rates_quotes(session: Session, limit: int, offset: int) -> None:
    """List what each symbol costs just now, before premiums, and whether orders in it would be taken."""
    found = session.run(lambda desk, actor: quotes.list_quotes(desk, actor, Page(limit, offset)))
    columns = ["symbol_code", "bid", "ask", "spread", "quoted_weight", "unit", "age_s", "state", "words"]
    print_list(found, columns, as_json=session.as_json)


@rates_group.command("put")
@click.argument("instrument")
@click.option("--bid", required=True, help="What the market pays: clients sell at it.")
@click.option("--ask", required=True, help="What the market asks: clients buy at it. Not below the bid.")
@click.option("--at", "at", metavar="TIME", help="When it was quoted, in ISO 8601. Default: now.")
@yes_option
@pass_session
def _rates_put(session: Session, instrument: str, bid: str, ask: str, at: str | None, yes: bool) -> None:
    """Quote INSTRUMENT.

    Asks before it takes one that is far from the last: a lost digit would be the price of the next order. A
    quote that is older than the one on the board is not taken. What the simulated feed supplies
    cannot be put while BULLION_FEED is 'simulated'.

    \b
    Examples:
      bullion desk rates put GOLD --bid 150463 --ask 150480.50
      bullion desk rates put USDINR --bid 92.0008 --ask 92.0032
    """

    async def work(desk: Desk, actor: Actor) -> View:
        body = conversion.convert({"bid": bid, "ask": ask, "at": at}, RateBody)
        return await rates.put_rate(desk, actor, instrument, body)

    last = {each["instrument"]: each for each in session.run(rates.list_rates)}.get(instrument)
    if last is not None and (_far(bid, last["bid"]) or _far(ask, last["ask"])):
        question = f"The last quote of {instrument} is {last['bid']} to {last['ask']}. Take {bid} to {ask}?"
        confirm(question, yes=yes)
    answer = session.run(work)
    print_one(answer, as_json=session.as_json)
    if not answer["taken"]:
        click.echo("Not taken: the board has a newer quote, which is shown.", err=True)
        sys.exit(1)


def _far(text: str, last: str) -> bool:
    """More than 5 percent away. What is no number is told by whoever reads it next."""
    try:
        return abs(Decimal(text) - Decimal(last)) * 20 > Decimal(last)
    except InvalidOperation:
        return False


@click.group("duties")
def duties_group() -> None:
    """Duty tables, which landed prices add to."""


@duties_group.command("list")
@pass_session
def _duties_list(session: Session) -> None:
    """List the duty tables, each row with whether it is in force today."""
    found = session.run(lambda desk, actor: duties.list_duties(desk, actor))
    if session.as_json:
        print_list((found, len(found)), [], as_json=True)
        return
    rows = [
        {"name": table["name"], **row, "in_force": row == table["in_force"]}
        for table in found
        if not is_unreadable(table)
        for row in table["duties"]
    ]
    rows += filter(is_unreadable, found)
    print_list((rows, len(rows)), ["name", "from", "rupees", "in_force"], as_json=False)


@duties_group.command("put")
@click.argument("name")
@click.argument("rows", nargs=-1, required=True, metavar="DATE=RUPEES...")
@pass_session
def _duties_put(session: Session, name: str, rows: tuple[str, ...]) -> None:
    """Make or replace the duty table NAME.

    Each row is the first day, in India, on which a duty is in force, and its rupees per quoted weight. All
    rows at once: those that you leave out are gone.

    \b
    Example:
      bullion desk duties put gold 2026-05-13=6250 2026-11-01=6100.50
    """
    sent = [_row(row) for row in rows]

    async def work(desk: Desk, actor: Actor) -> View:
        body: list[bodies.DutyBody] = conversion.convert(sent, DutyRows)
        return await duties.put_duty(desk, actor, name, body)

    print_one(session.run(work), as_json=session.as_json)


def _row(text: str) -> dict[str, str]:
    day, equals, rupees = text.partition("=")
    if not equals:
        raise click.UsageError(f"{text!r} is not of the form date=rupees, such as 2026-05-13=6250.")
    return {"from": day, "rupees": rupees}
