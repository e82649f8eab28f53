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
from bullion_client.cli.asking import ask_before_order
from bullion_client.cli.endings import Ending, Exit, wrong_use
from bullion_client.cli.figures import age
from bullion_client.cli.going_on import GoingOn
from bullion_client.cli.journals import Book, journal_option, no_journal_option, opened, unusable
from bullion_client.cli.options import price_argument, with_session, yes_option
from bullion_client.cli.session import Session
from bullion_client.cli.waiting import finish, patience_s, wait_for_option, wait_option
from bullion_client.cli.weights import OrderCommand, quantity_argument
from bullion_client.cli.wire import fields
from bullion_client.intent import make_intent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What follows the command's name."""

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
            help="Refuse the order if the price has gone further from this than the broker tolerates.",
        ),
        click.option(
            "--client-order-id", metavar="TEXT", help="A reference of your own, kept with the order."
        ),
        click.option(
            "--idempotency-key",
            metavar="KEY",
            help="The order's name; under one name there is one order. Default: a new name.",
        ),
        wait_option,
        wait_for_option,
        click.option(
            "--another",
            is_flag=True,
            help="Place it although the journal has one just like it of which the end is not known.",
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
    """Buy by weight, at the market.

    QUANTITY is in the symbol's unit: grams for gold, kilograms for silver. 'bullion-client symbols' tells
    which sizes a symbol takes. In production you are asked before the order is sent.

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
    """Sell by weight, at the market.

    QUANTITY is in the symbol's unit: grams for gold, kilograms for silver. 'bullion-client symbols' tells
    which sizes a symbol takes. In production you are asked before the order is sent.

    \b
    Examples:
      bullion-client sell GOLD 5
      bullion-client sell SILVER 2 --json --yes
    """
    return _place(session, TradeType.SELL, _Given(**given))


def _place(session: Session, trade_type: TradeType, given: _Given) -> int:
    reach = session.reach()
    if given.no_journal:
        with session.client(reach) as client:
            return _send(session, client, None, _intent(client, trade_type, given), given)
    with opened(session, reach, given.journal_path) as book:
        intent = _intent(book.client, trade_type, given)
        if not given.another and given.idempotency_key is None:
            _refuse_one_more(session, book, intent, given)
        return _send(session, book.client, book.journal, intent, given)


def _send(session: Session, client: Client, journal: Journal | None, intent: Intent, given: _Given) -> int:
    if client.environment == Environment.PRODUCTION and not given.yes:
        ask_before_order(client, intent)
    going_on = GoingOn(session, given.journal_path, given.no_journal)
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
        raise going_on.after_error(error, intent) from None
    except KeyboardInterrupt:
        raise going_on.after_interrupt(intent) from None
    except OSError as error:
        # The library has errors of its own for the network. It writes the journal before it sends, and after
        # that a journal that fails no longer matters to it.
        if journal is None:
            raise
        raise unusable(journal, error) from None
    return finish(session, client, order, patience_s(given.wait, given.wait_s))


def _intent(client: Client, trade_type: TradeType, given: _Given) -> Intent:
    """The order with its key: made here, so that it can be named however this ends."""
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
        raise wrong_use(f"{error}.") from None


def _refuse_one_more(session: Session, book: Book, wanted: Intent, given: _Given) -> None:
    """Whoever repeats a command that was killed means the same order, and not a second one."""
    for intent in book.unsettled():
        if _body(intent) == _body(wanted):
            words = GoingOn(session, given.journal_path).resume(intent)
            raise Ending(
                Exit.UNKNOWN,
                "unsettled_order",
                f"An order just like this was begun {age(intent.made_at)} ago, and its end is not known. "
                f"Nothing was sent. Go on with that one, under the same key: {words}\n"
                "Or add --another if you want one more.",
                {"intent": fields(intent), "go_on": words},
            )


def _body(intent: Intent) -> tuple[TradeType, str, Decimal]:
    return intent.trade_type, intent.symbol_code, intent.quantity
