"""The commands that only read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import click
from click.core import ParameterSource

from bullion_client import Client, Environment, MetalPosition, Order, Quote, Symbol
from bullion_client.cli.exit_codes import CommandError, ExitCode
from bullion_client.cli.formatting import NOTHING, instant, rupees, short, text, weight, yes_no
from bullion_client.cli.json_output import fields
from bullion_client.cli.options import time_argument, with_session
from bullion_client.cli.order_view import print_orders
from bullion_client.cli.session import Session
from bullion_client.cli.tables import Column, print_facts, print_line, print_table
from bullion_client.cli.waiting import finish, wait_for_option, wait_option, wait_seconds

_PAGE = 50
"""The default page size of the service."""
_STATUSES = ("pending", "open", "closing", "closed", "rejected", "deleted", "all")


@click.command("me")
@with_session
def me_command(session: Session) -> int:
    """Show the account and scopes of the key."""
    with session.client() as client:
        account = client.me()
    if session.as_json:
        session.print_json(account)
        return ExitCode.DONE
    print_facts(
        [
            ("login id", text(account.login_id)),
            ("firm name", text(account.firm_name)),
            ("environment", text(account.environment)),
            ("key id", text(account.key_id)),
            ("key name", text(account.key_name)),
            ("scopes", text(", ".join(account.scopes))),
            ("production trading available", yes_no(account.production_trading_available)),
        ]
    )
    return ExitCode.DONE


@click.command("symbols")
@with_session
def symbols_command(session: Session) -> int:
    """List the symbols and their order sizes."""
    with session.client() as client:
        symbols = client.symbols()
    if session.as_json:
        session.print_json({"items": symbols})
        return ExitCode.DONE
    if not symbols:
        print_line("No symbols.")
        return ExitCode.DONE
    print_table(
        (
            Column("symbol", lambda symbol: text(symbol.symbol_code)),
            Column("metal", lambda symbol: text(symbol.metal)),
            Column("minimum", lambda symbol: weight(symbol.minimum), right=True),
            Column("maximum", lambda symbol: weight(symbol.maximum), right=True),
            Column("step", lambda symbol: weight(symbol.step), right=True),
            Column("unit", lambda symbol: text(symbol.unit)),
            Column("per", _quoted_weight),
            Column("sides", lambda symbol: text(", ".join(symbol.sides)), below=True),
            Column("trading", lambda symbol: yes_no(symbol.trading)),
        ),
        symbols,
    )
    return ExitCode.DONE


@click.command("quote")
@click.argument("symbols", nargs=-1, metavar="[SYMBOL]...")
@with_session
def quote_command(session: Session, symbols: tuple[str, ...]) -> int:
    """Show your prices for all symbols, or for some."""
    with session.client() as client:
        every = client.quotes()
        weights = (
            {} if session.as_json else {each.symbol_code: _quoted_weight(each) for each in client.symbols()}
        )
    quotes = tuple(quote for quote in every if not symbols or quote.symbol_code in symbols)
    if session.as_json:
        session.print_json({"items": quotes})
    elif quotes:
        _print_quotes(quotes, weights)
    elif not symbols:
        print_line("No quotes.")
    codes = [quote.symbol_code for quote in every]
    if missing := [code for code in symbols if code not in codes]:
        raise CommandError(ExitCode.REFUSED, "unknown_symbol", _no_symbol(missing, codes))
    return ExitCode.DONE


def _no_symbol(missing: Sequence[str], codes: Sequence[str]) -> str:
    return (
        f"There is no symbol {' and no '.join(missing)}. Codes are case-sensitive. "
        f"Symbols: {', '.join(codes) or 'none'}."
    )


def _print_quotes(quotes: Sequence[Quote], weights: Mapping[str, str]) -> None:
    print_table(
        (
            Column("symbol", lambda quote: text(quote.symbol_code)),
            Column("buy ₹", lambda quote: rupees(quote.buy), right=True),
            Column("sell ₹", lambda quote: rupees(quote.sell), right=True),
            Column("per", lambda quote: weights.get(quote.symbol_code, NOTHING)),
            Column("tradable", lambda quote: "yes" if quote.tradable else f"no: {text(quote.reason)}"),
            Column("time", lambda quote: instant(quote.at), below=True),
        ),
        quotes,
    )


def _quoted_weight(symbol: Symbol) -> str:
    """The weight that its price is for, such as 10 g."""
    return f"{short(symbol.quoted_weight)} {text(symbol.unit)}"


@click.command("orders")
@click.option("--symbol", "symbol_code", metavar="SYMBOL", help="Only orders for this symbol.")
@click.option("--side", "trade_type", type=click.Choice(["buy", "sell"]), help="Only buys, or only sells.")
@click.option(
    "--status",
    type=click.Choice(_STATUSES),
    help="Only orders with this status; for live keys. Deleted orders are listed only with 'deleted'.",
)
@click.option(
    "--since",
    callback=time_argument,
    metavar="TIME",
    help="Only orders from this time on: 2026-11-15, or 2026-11-15T09:30+05:30. Without a zone it is UTC.",
)
@click.option("--client-order-id", metavar="TEXT", help="Only orders with this reference.")
@click.option(
    "--limit", type=click.IntRange(1, 200), default=_PAGE, show_default=True, help="Number of orders."
)
@click.option(
    "--offset", type=click.IntRange(0), default=0, show_default=True, help="Number of orders to skip."
)
@click.option("--all", "every", is_flag=True, help="All orders, page by page.")
@click.pass_context
@with_session
def orders_command(
    session: Session,
    context: click.Context,
    limit: int,
    offset: int,
    every: bool,
    **filters: Any,
) -> int:
    """List your orders, newest first."""
    if every and any(
        context.get_parameter_source(name) == ParameterSource.COMMANDLINE for name in ("limit", "offset")
    ):
        raise click.UsageError("--all lists every order: use it without --limit and --offset.")
    with session.client() as client:
        try:
            every_order = client.orders(**filters)  # Only checks the filters: it reads when it is iterated.
        except ValueError as error:  # It names the argument of the library, which is the name of the option.
            raise click.UsageError(f"--{error}.") from None
        if every:
            orders: Sequence[Order] = tuple(every_order)
            total = len(orders)
        else:
            page = client.order_page(limit=limit, offset=offset, **filters)
            orders, total = page.items, page.total
        unknown = "" if total or session.as_json else _unknown_symbol(client, filters["symbol_code"])
    if session.as_json:
        session.print_json({"items": orders, "total": total})
        return ExitCode.DONE
    if orders:
        print_orders(orders)
    else:
        print_line(
            f"No orders from offset {offset} on; there are {total}." if total else "No matching orders."
        )
    if unknown:
        session.note(unknown)
    if 0 < len(orders) < total:
        session.note(f"{len(orders)} of {total}. For more, use --limit, --offset or --all.")
    return ExitCode.DONE


def _unknown_symbol(client: Client, symbol_code: str | None) -> str:
    """Why a list for a symbol is empty, if there is no such symbol."""
    if symbol_code is None:
        return ""
    codes = [symbol.symbol_code for symbol in client.symbols()]
    return "" if symbol_code in codes else _no_symbol([symbol_code], codes)


@click.command("order")
@click.argument("order_id", metavar="ID", type=click.UUID)
@wait_option
@wait_for_option
@with_session
def order_command(session: Session, order_id: UUID, wait: bool, wait_s: float | None) -> int:
    """Show one order, or wait while it is pending.

    ID is the order's own id, as 'bullion-client orders' shows it. A deal such as T-1 is not an id.
    """
    with session.client() as client:
        return finish(session, client, client.order(str(order_id)), wait_seconds(wait, wait_s))


@click.command("positions")
@with_session
def positions_command(session: Session) -> int:
    """Show your positions and the free weight."""
    with session.client() as client:
        positions = client.positions()
        test = client.environment == Environment.TEST
    if session.as_json:
        view = fields(positions)
        if test:  # The test environment has no such field.
            del view["symbols"]
        session.print_json(view)
        return ExitCode.DONE
    print_table(
        (
            Column("metal", lambda row: str(row[0])),
            *(Column(name, _weight_of(name), right=True) for name in ("net", "used", "free", "limit")),
            Column("unit", lambda row: text(row[1].unit)),
        ),
        (("gold", positions.gold), ("silver", positions.silver)),
    )
    if positions.symbols:
        print_line("")
        print_table(
            (
                Column("symbol", lambda row: text(row.symbol_code)),
                Column("metal", lambda row: text(row.metal)),
                Column("buy", lambda row: weight(row.buy), right=True),
                Column("sell", lambda row: weight(row.sell), right=True),
                Column("net", lambda row: weight(row.net), right=True),
                Column("unit", lambda row: text(row.unit)),
            ),
            positions.symbols,
        )
    return ExitCode.DONE


def _weight_of(name: str) -> Callable[[tuple[str, MetalPosition]], str]:
    return lambda row: weight(getattr(row[1], name))
