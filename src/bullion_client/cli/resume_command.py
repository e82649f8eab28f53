"""The command `resume`, for orders with an unknown outcome."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click

from bullion_client import BullionError, Client, Environment, Intent, Order
from bullion_client.cli.confirmation import ask, require_terminal
from bullion_client.cli.exit_codes import CommandError, ExitCode, command_error, usage_error
from bullion_client.cli.formatting import age, instant, plain, rupees, text, weight
from bullion_client.cli.journals import (
    OpenJournal,
    journal_error,
    journal_option,
    open_journal,
    other_journals,
)
from bullion_client.cli.json_output import fields
from bullion_client.cli.options import with_session, yes_option
from bullion_client.cli.order_view import print_orders
from bullion_client.cli.resume_hint import ResumeHint
from bullion_client.cli.session import Session
from bullion_client.cli.tables import Column, print_line, print_table
from bullion_client.cli.waiting import wait_for_option, wait_for_order, wait_option, wait_seconds

_WORST_LAST = (
    ExitCode.USAGE,
    ExitCode.REFUSED,
    ExitCode.PENDING,
    ExitCode.UNAVAILABLE,
    ExitCode.UNEXPECTED,
    ExitCode.UNKNOWN,
    ExitCode.INTERRUPTED,
)
"""Of several failures, the last one in this list is the exit code."""
_SAYS_NOT_BOOKED = (ExitCode.REFUSED, ExitCode.UNAVAILABLE, ExitCode.UNEXPECTED)
"""Their meaning "nothing is booked" is true for a new order, but not for one that was sent before."""


_INTENT_COLUMNS = (
    Column("begun", lambda intent: instant(intent.made_at)),
    Column("side", lambda intent: text(intent.trade_type)),
    Column("quantity", lambda intent: weight(intent.quantity), right=True),
    Column("symbol", lambda intent: text(intent.symbol_code)),
    Column("expected price ₹", lambda intent: rupees(intent.expected_price), right=True),
    Column("key", lambda intent: text(intent.idempotency_key), below=True),
    Column("client order id", lambda intent: text(intent.client_order_id), below=True),
)


@dataclass(frozen=True, slots=True)
class _Result:
    intent: Intent
    order: Order | None
    """None if it failed, or if it is not booked."""
    failure: CommandError | None


@click.command("resume")
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--list", "only_list", is_flag=True, help="Only list the orders, and send nothing.")
@click.option("--check", is_flag=True, help="Only ask which of the orders are booked, and place nothing.")
@click.option(
    "--abandon",
    is_flag=True,
    help="Remove the orders of the KEYs from the journal and send nothing. Check their outcome first.",
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
    check: bool,
    abandon: bool,
    wait: bool,
    wait_s: float | None,
    journal_path: Path | None,
    yes: bool,
) -> int:
    """Resume orders whose outcome is unknown.

    It resumes all orders in the journal, or those of the KEYs. Each is sent again with its own key. An order
    that is booked is shown; an order that is not is placed now, at the current price. There is never a second
    order.

    \b
    Examples:
      bullion-client resume --list
      bullion-client resume --check
      bullion-client resume --wait --yes
    """
    if abandon and not keys:
        raise click.UsageError("--abandon needs the KEYs of the orders to remove.")
    if only_list + check + abandon > 1:
        raise click.UsageError("--list, --check and --abandon exclude each other.")
    with _outcome_unknown(), open_journal(session, session.credentials(), journal_path) as opened:
        intents = _chosen(opened.unsettled(), keys)
        if abandon:
            for intent in intents:
                opened.abandon(intent)
        if abandon or only_list:
            return _show_intents(session, intents)
        if intents and opened.client.environment == Environment.PRODUCTION and not yes and not check:
            _ask(opened.client, intents)
        send = opened.client.find if check else opened.client.resume
        hint = ResumeHint(session, journal_path)
        results = _resume(opened, send, intents, wait_seconds(wait, wait_s), hint)
    code = _show_results(session, results)
    for path in other_journals(opened.journal) if journal_path is None else ():
        session.note(f"Another account or address has unsettled orders, in {path}.")
    return code


@contextmanager
def _outcome_unknown() -> Iterator[None]:
    """An error before an order is sent again leaves its outcome unknown: it may be booked."""
    try:
        yield
    except BullionError as error:
        failure = command_error(error)
    except CommandError as raised:
        failure = raised
    else:
        return
    if failure.exit_code in _SAYS_NOT_BOOKED:
        failure.exit_code = ExitCode.UNKNOWN
        failure.message += " The outcome of the orders in the journal is still unknown."
    raise failure from None


def _chosen(unsettled: Sequence[Intent], keys: Sequence[str]) -> list[Intent]:
    by_key = {intent.idempotency_key: intent for intent in unsettled}
    missing = [key for key in keys if key not in by_key]
    if missing:
        raise usage_error(f"The journal has no unsettled order with the key {' or '.join(missing)}.")
    return [by_key[key] for key in dict.fromkeys(keys)] if keys else list(unsettled)


def _ask(client: Client, intents: Sequence[Intent]) -> None:
    require_terminal()
    units: dict[str, str] = {}
    with suppress(BullionError):  # Units are only for the text; a key without orders:read works without them.
        units = {symbol.symbol_code: f" {symbol.unit}" for symbol in client.symbols()}
    for intent in intents:
        weight = plain(intent.quantity) + units.get(intent.symbol_code, "")
        what = f"{intent.trade_type.capitalize()} {weight} of {intent.symbol_code} in production"
        begun = f"begun {age(intent.made_at)} ago, key {intent.idempotency_key}"
        click.echo(text(f"{what}, {begun}."), err=True)
    ask("Orders that are not booked yet will be placed now, at the current price. Continue?")


def _resume(
    opened: OpenJournal,
    send: Callable[[Intent], Order | None],
    intents: Sequence[Intent],
    wait_s: float | None,
    resume_hint: ResumeHint,
) -> list[_Result]:
    results: list[_Result] = []
    for intent in intents:
        results.append(_resume_one(opened, send, intent, wait_s, resume_hint))
        failure = results[-1].failure
        if failure is not None and failure.exit_code == ExitCode.INTERRUPTED:
            break
    return results


def _resume_one(
    opened: OpenJournal,
    send: Callable[[Intent], Order | None],
    intent: Intent,
    wait_s: float | None,
    resume_hint: ResumeHint,
) -> _Result:
    try:
        order = send(intent)
    except BullionError as error:
        return _Result(intent, None, resume_hint.after_error(error, intent))
    except KeyboardInterrupt:
        return _Result(intent, None, resume_hint.after_interrupt(intent, opened.journal))
    except OSError as error:  # The journal, before anything was sent, as for a new order.
        return _Result(intent, None, journal_error(opened.journal, error))
    if order is None:
        return _Result(intent, None, None)
    result = wait_for_order(opened.client, order, wait_s)
    return _Result(intent, result.order, result.failure)


def _show_intents(session: Session, intents: Sequence[Intent]) -> int:
    if session.as_json:
        session.print_json({"items": intents})
    elif intents:
        print_table(_INTENT_COLUMNS, intents)
    else:
        print_line("No unsettled orders.")
    return ExitCode.DONE


def _not_booked(intent: Intent) -> str:
    order = f"{intent.trade_type} {plain(intent.quantity)} {text(intent.symbol_code)}"
    return f"Not booked: {order}, key {intent.idempotency_key}. It can be resumed, or removed with --abandon."


def _show_results(session: Session, results: Sequence[_Result]) -> int:
    failures = [result.failure for result in results if result.failure is not None]
    if session.as_json:
        items = [
            {
                "intent": fields(result.intent),
                "order": None if result.order is None else fields(result.order),
                "error": None if result.failure is None else result.failure.view(),
            }
            for result in results
        ]
        session.print_json({"items": items})
    elif not results:
        print_line("No unsettled orders.")
    else:
        orders = [result.order for result in results if result.order is not None]
        if orders:
            print_orders(orders)
        for result in results:
            if result.failure is not None:
                result.failure.print(as_json=False)
            elif result.order is None:
                print_line(_not_booked(result.intent))
    return max((failure.exit_code for failure in failures), key=_WORST_LAST.index, default=ExitCode.DONE)
