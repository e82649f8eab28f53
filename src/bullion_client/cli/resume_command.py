"""The command that goes on with orders whose end is not known."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click

from bullion_client import BullionError, Client, Environment, Intent, Order
from bullion_client.cli.asking import ask, must_be_able_to_ask
from bullion_client.cli.endings import Ending, Exit, ending_of, wrong_use
from bullion_client.cli.figures import age, instant, plain, rupees, text, weight
from bullion_client.cli.going_on import GoingOn
from bullion_client.cli.journals import Book, journal_option, opened, others, unusable
from bullion_client.cli.options import with_session, yes_option
from bullion_client.cli.order_view import print_orders
from bullion_client.cli.session import Session
from bullion_client.cli.tables import Column, print_line, print_table
from bullion_client.cli.waiting import patience_s, wait_for_option, wait_option, waited
from bullion_client.cli.wire import fields

_WORST_LAST = (
    Exit.USAGE,
    Exit.REFUSED,
    Exit.PENDING,
    Exit.UNAVAILABLE,
    Exit.UNEXPECTED,
    Exit.UNKNOWN,
    Exit.INTERRUPTED,
)
"""Of several ends a script is told the one that asks most of it."""
_SAYS_NOT_BOOKED = (Exit.REFUSED, Exit.UNAVAILABLE, Exit.UNEXPECTED)
"""True of a new order that was not sent, but not of one that was sent before."""


@dataclass(frozen=True, slots=True)
class _Result:
    intent: Intent
    order: Order | None
    ending: Ending | None


@click.command("resume")
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--list", "only_list", is_flag=True, help="Only list them, and send nothing.")
@click.option(
    "--abandon",
    is_flag=True,
    help="Strike the orders of the KEYs out of the journal and send nothing. Look first what became of them.",
)
@wait_option
@wait_for_option
@journal_option
@yes_option
@with_session
def resume_command(
    session: Session,
    keys: tuple[str, ...],
    only_list: bool,
    abandon: bool,
    wait: bool,
    wait_s: float | None,
    journal_path: Path | None,
    yes: bool,
) -> int:
    """Go on with orders whose end is not known.

    With all in the journal, or with those of the KEYs. Each is sent once more under its own key. If it is
    booked, the answer is that order; if not, it is placed now, at the price of now. There is never a second
    one.

    \b
    Examples:
      bullion-client resume --list
      bullion-client resume --wait --yes
    """
    if abandon and not keys:
        raise click.UsageError("--abandon needs the KEYs of the orders to strike out.")
    with _still_unknown(), opened(session, session.reach(), journal_path) as book:
        intents = _chosen(book.unsettled(), keys)
        if abandon:
            for intent in intents:
                book.abandon(intent)
        if abandon or only_list:
            return _show_intents(session, intents)
        if intents and book.client.environment == Environment.PRODUCTION and not yes:
            _ask(book.client, intents)
        results = _resume(book, intents, patience_s(wait, wait_s), GoingOn(session, journal_path))
    code = _show_results(session, results)
    for path in others(book.journal) if journal_path is None else ():
        session.note(f"Another account or address has unsettled orders too, in {path}.")
    return code


@contextmanager
def _still_unknown() -> Iterator[None]:
    """Whatever keeps an order from being sent once more: it may be booked for all we know."""
    try:
        yield
    except BullionError as error:
        ending = ending_of(error)
    except Ending as raised:
        ending = raised
    else:
        return
    if ending.exit_code in _SAYS_NOT_BOOKED:
        ending.exit_code = Exit.UNKNOWN
        ending.message += " What became of the orders in the journal is not known yet."
    raise ending from None


def _chosen(unsettled: Sequence[Intent], keys: Sequence[str]) -> list[Intent]:
    by_key = {intent.idempotency_key: intent for intent in unsettled}
    missing = [key for key in keys if key not in by_key]
    if missing:
        raise wrong_use(f"The journal has no unsettled order with the key {' or '.join(missing)}.")
    return [by_key[key] for key in dict.fromkeys(keys)] if keys else list(unsettled)


def _ask(client: Client, intents: Sequence[Intent]) -> None:
    must_be_able_to_ask()
    units: dict[str, str] = {}
    with suppress(BullionError):  # Only for the words: a key that may not read is asked without.
        units = {symbol.symbol_code: f" {symbol.unit}" for symbol in client.symbols()}
    for intent in intents:
        weight = plain(intent.quantity) + units.get(intent.symbol_code, "")
        what = f"{intent.trade_type.capitalize()} {weight} of {intent.symbol_code} in production"
        begun = f"begun {age(intent.made_at)} ago, key {intent.idempotency_key}"
        click.echo(text(f"{what}, {begun}."), err=True)
    ask("What is not booked yet would be placed now, at the price of now. Go on?")


def _resume(book: Book, intents: Sequence[Intent], wait_s: float | None, going_on: GoingOn) -> list[_Result]:
    results: list[_Result] = []
    for intent in intents:
        results.append(_resume_one(book, intent, wait_s, going_on))
        ending = results[-1].ending
        if ending is not None and ending.exit_code == Exit.INTERRUPTED:
            break
    return results


def _resume_one(book: Book, intent: Intent, wait_s: float | None, going_on: GoingOn) -> _Result:
    try:
        order = book.client.resume(intent)
    except BullionError as error:
        return _Result(intent, None, going_on.after_error(error, intent))
    except KeyboardInterrupt:
        return _Result(intent, None, going_on.after_interrupt(intent))
    except OSError as error:  # As for a new order: the journal, before anything was sent.
        return _Result(intent, None, unusable(book.journal, error))
    become = waited(book.client, order, wait_s)
    return _Result(intent, become.order, become.ending)


def _show_intents(session: Session, intents: Sequence[Intent]) -> int:
    if session.as_json:
        session.print_json({"items": intents})
    elif intents:
        print_table(
            (
                Column("begun"),
                Column("side"),
                Column("quantity", right=True),
                Column("symbol"),
                Column("expected price ₹", right=True),
                Column("key", below=True),
                Column("client order id", below=True),
            ),
            [
                [
                    instant(intent.made_at),
                    text(intent.trade_type),
                    weight(intent.quantity),
                    text(intent.symbol_code),
                    rupees(intent.expected_price),
                    text(intent.idempotency_key),
                    text(intent.client_order_id),
                ]
                for intent in intents
            ],
        )
    else:
        print_line("There is nothing to go on with.")
    return Exit.DONE


def _show_results(session: Session, results: Sequence[_Result]) -> int:
    endings = [result.ending for result in results if result.ending is not None]
    if session.as_json:
        items = [
            {
                "intent": fields(result.intent),
                "order": None if result.order is None else fields(result.order),
                "error": None if result.ending is None else result.ending.view(),
            }
            for result in results
        ]
        session.print_json({"items": items})
    elif not results:
        print_line("There is nothing to go on with.")
    else:
        orders = [result.order for result in results if result.order is not None]
        if orders:
            print_orders(orders)
        for ending in endings:
            ending.tell(as_json=False)
    return max((ending.exit_code for ending in endings), key=_WORST_LAST.index, default=Exit.DONE)
