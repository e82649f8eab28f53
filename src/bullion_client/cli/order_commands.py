"""The commands that place orders."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from bullion_client import BullionError, Client, Environment, Intent, Journal, TradeType
from bullion_client.cli.confirmation import confirm_order
from bullion_client.cli.exit_codes import CommandError, ExitCode, usage_error
from bullion_client.cli.formatting import age
from bullion_client.cli.journals import (
    OpenJournal,
    journal_error,
    journal_option,
    no_journal_option,
    open_journal,
)
from bullion_client.cli.json_output import fields
from bullion_client.cli.options import (
    OrderCommand,
    price_argument,
    quantity_argument,
    with_session,
    yes_option,
)
from bullion_client.cli.resume_hint import ResumeHint
from bullion_client.cli.session import Session
from bullion_client.cli.waiting import finish, wait_for_option, wait_option, wait_seconds
from bullion_client.intent import make_intent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The options of the command."""

    symbol_code: str
    quantity: Decimal
    expected_price: Decimal | None
    client_order_id: str | None
    idempotency_key: str | None
    journal_path: Path | None
    no_journal: bool
    another: bool
    wait: bool
    wait_s: float | None
    yes: bool


def _order_options(command: Callable[..., int]) -> Callable[..., int]:
    for option in (
        click.argument("symbol_code", metavar="SYMBOL"),
        click.argument("quantity", metavar="QUANTITY", callback=quantity_argument),
        click.option(
            "--expected-price",
            metavar="RUPEES",
            callback=price_argument,
            help="Refuse the order if the price has moved from this beyond the broker's tolerance.",
        ),
        click.option("--client-order-id", metavar="TEXT", help="Your own reference, stored with the order."),
        click.option(
            "--idempotency-key",
            metavar="KEY",
            help="The order's idempotency key: one key, one order. Default: a new key.",
        ),
        wait_option,
        wait_for_option,
        click.option(
            "--another",
            is_flag=True,
            help="Place it although the journal has an identical order with an unknown outcome.",
        ),
        journal_option,
        no_journal_option,
        yes_option,
    )[::-1]:
        command = option(command)
    return command


@click.command("buy", cls=OrderCommand)
@_order_options
@with_session
def buy_command(session: Session, **given: Any) -> int:
    """Buy a weight at the market price.

    QUANTITY is in the symbol's unit: grams for gold, kilograms for silver. 'bullion-client symbols' lists
    the sizes of each symbol. In production the command asks before it sends the order.

    \b
    Examples:
      bullion-client buy GOLD 5
      bullion-client buy SILVER 2 --client-order-id till-7 --wait --yes
    """
    return _place(session, TradeType.BUY, _Given(**given))


@click.command("sell", cls=OrderCommand)
@_order_options
@with_session
def sell_command(session: Session, **given: Any) -> int:
    """Sell a weight at the market price.

    QUANTITY is in the symbol's unit: grams for gold, kilograms for silver. 'bullion-client symbols' lists
    the sizes of each symbol. In production the command asks before it sends the order.

    \b
    Examples:
      bullion-client sell GOLD 5
      bullion-client sell SILVER 2 --json --yes
    """
    return _place(session, TradeType.SELL, _Given(**given))


def _place(session: Session, trade_type: TradeType, given: _Given) -> int:
    credentials = session.credentials()
    if given.no_journal:
        with session.client(credentials) as client:
            return _send(session, client, None, _intent(client, trade_type, given), given)
    with open_journal(session, credentials, given.journal_path) as opened:
        intent = _intent(opened.client, trade_type, given)
        if not given.another and given.idempotency_key is None:
            _refuse_duplicate(session, opened, intent, given)
        return _send(session, opened.client, opened.journal, intent, given)


def _send(session: Session, client: Client, journal: Journal | None, intent: Intent, given: _Given) -> int:
    if client.environment == Environment.PRODUCTION and not given.yes:
        confirm_order(client, intent)
    resume_hint = ResumeHint(session, given.journal_path, given.no_journal)
    try:
        order = client.place(
            intent.symbol_code,
            intent.trade_type,
            intent.quantity,
            expected_price=intent.expected_price,
            client_order_id=intent.client_order_id,
            idempotency_key=intent.idempotency_key,
        )
    except BullionError as error:
        raise resume_hint.after_error(error, intent) from None
    except KeyboardInterrupt:
        raise resume_hint.after_interrupt(intent, journal) from None
    except OSError as error:
        # This is the journal: the library has its own errors for the network, and a journal that fails
        # after the order was sent is only logged.
        if journal is None:
            raise
        raise journal_error(journal, error) from None
    return finish(session, client, order, wait_seconds(given.wait, given.wait_s))


def _intent(client: Client, trade_type: TradeType, given: _Given) -> Intent:
    """The order with its key, which is created here so that every message can name it."""
    try:
        return make_intent(
            client.environment,
            str(uuid4()) if given.idempotency_key is None else given.idempotency_key,
            datetime.now(UTC),
            given.symbol_code,
            trade_type,
            given.quantity,
            given.expected_price,
            given.client_order_id,
        )
    except ValueError as error:
        raise usage_error(f"{error}.") from None


def _refuse_duplicate(session: Session, opened: OpenJournal, wanted: Intent, given: _Given) -> None:
    """A repeated command after a crash means the same order, not a second one."""
    for intent in opened.unsettled():
        if _body(intent) == _body(wanted):
            words = ResumeHint(session, given.journal_path).resume(intent)
            raise CommandError(
                ExitCode.UNKNOWN,
                "unsettled_order",
                f"The journal has an identical order from {age(intent.made_at)} ago with an unknown outcome. "
                f"Nothing was sent. Resume that order with the same key: {words}\n"
                "Or add --another to place a second order.",
                {"intent": fields(intent), "resume_command": words},
            )


def _body(intent: Intent) -> tuple[TradeType, str, Decimal]:
    return intent.trade_type, intent.symbol_code, intent.quantity
