"""Confirmation of production orders."""

from decimal import ROUND_HALF_UP, Decimal

import click

from bullion_client import BullionError, Client, Intent, Quote, Symbol, TradeType
from bullion_client.cli.exit_codes import CommandError, ExitCode, usage_error
from bullion_client.cli.formatting import plain, rupees, short, text
from bullion_client.cli.session import has_terminal

_PAISA = Decimal("0.01")


def require_terminal() -> None:
    """Without a terminal, --yes is required."""
    if not has_terminal():
        raise usage_error(
            "Production orders need a confirmation, and there is no terminal. Nothing was sent. "
            "Add --yes to send without confirmation."
        )


def ask(question: str) -> None:
    """Continue only if the user confirms."""
    if not click.confirm(question, err=True):
        raise CommandError(ExitCode.REFUSED, "not_confirmed", "Not confirmed: nothing was sent.")


def confirm_order(client: Client, intent: Intent) -> None:
    """Show the order and the current price, if it can be read; then ask."""
    require_terminal()
    try:
        symbol = next((each for each in client.symbols() if each.symbol_code == intent.symbol_code), None)
        quote = None if symbol is None else client.quote(intent.symbol_code)
        known = "There is no such symbol." if quote is None else None
    except BullionError as error:
        # A key with only orders:write cannot read prices. The service checks the order in any case.
        symbol, quote, known = None, None, f"The price cannot be read: {error}"
    unit = "(grams of gold, kilograms of silver)" if symbol is None else symbol.unit
    weight = f"{plain(intent.quantity)} {text(unit)}"
    order = f"{intent.trade_type.capitalize()} {weight} of {text(intent.symbol_code)} in production."
    if known is None and symbol is not None and quote is not None:
        known = _price_text(intent, symbol, quote)
    click.echo(f"{order}\n{text(known)}", err=True)
    ask("Send this order?")


def _price_text(intent: Intent, symbol: Symbol, quote: Quote) -> str:
    price = quote.buy if intent.trade_type == TradeType.BUY else quote.sell
    refused = "" if quote.tradable else f" An order would now be refused: {quote.reason}."
    if price is None:
        return f"There is no price now.{refused}"
    total = (price * intent.quantity / symbol.quoted_weight).quantize(_PAISA, ROUND_HALF_UP)
    return (
        f"The price now is ₹ {rupees(price)} for {short(symbol.quoted_weight)} {symbol.unit}, "
        f"about ₹ {rupees(total)} in total.{refused}"
    )
