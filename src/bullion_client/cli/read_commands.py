"""The commands that only look."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import click
from click.core import ParameterSource

from bullion_client import Client, Environment, Order, Quote, Symbol, SymbolPosition
from bullion_client.cli.endings import Ending, Exit
from bullion_client.cli.figures import NOTHING, instant, rupees, short, text, weight, yes_no
from bullion_client.cli.options import time_argument, with_session
from bullion_client.cli.order_view import print_orders
from bullion_client.cli.session import Session
from bullion_client.cli.tables import Column, print_facts, print_line, print_table
from bullion_client.cli.waiting import finish, patience_s, wait_for_option, wait_option
from bullion_client.cli.wire import fields

_PAGE = 50
"""As many as the service gives without being asked for more."""
_STATUSES = ("pending", "open", "closing", "closed", "rejected", "deleted", "all")


@click.command("me")
@with_session
def me_command(session: Session) -> int:
    """Show whose the key is, and what it may do."""
    with session.client() as client:
        account = client.me()
    if session.as_json:
        session.print_json(account)
        return Exit.DONE
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
    return Exit.DONE


@click.command("symbols")
@with_session
def symbols_command(session: Session) -> int:
    """List what can be traded, and in which sizes."""
    with session.client() as client:
        symbols = client.symbols()
    if session.as_json:
        session.print_json({"items": symbols})
        return Exit.DONE
    if not symbols:
        print_line("There are none.")
        return Exit.DONE
    print_table(
        (
            Column("symbol"),
            Column("metal"),
            Column("minimum", right=True),
            Column("maximum", right=True),
            Column("step", right=True),
            Column("unit"),
            Column("per"),
            Column("sides", below=True),
            Column("trading"),
        ),
        [
            [
                text(symbol.symbol_code),
                text(symbol.metal),
                weight(symbol.minimum),
                weight(symbol.maximum),
                weight(symbol.step),
                text(symbol.unit),
                _measure(symbol),
                text(", ".join(symbol.sides)),
                yes_no(symbol.trading),
            ]
            for symbol in symbols
        ],
    )
    return Exit.DONE


@click.command("quote")
@click.argument("symbols", nargs=-1, metavar="[SYMBOL]...")
@with_session
def quote_command(session: Session, symbols: tuple[str, ...]) -> int:
    """Show your prices, of all symbols or of some."""
    with session.client() as client:
        every = client.quotes()
        measures = {} if session.as_json else {each.symbol_code: _measure(each) for each in client.symbols()}
    quotes = tuple(quote for quote in every if not symbols or quote.symbol_code in symbols)
    if session.as_json:
        session.print_json({"items": quotes})
    elif quotes:
        _print_quotes(quotes, measures)
    elif not symbols:
        print_line("There are none.")
    codes = [quote.symbol_code for quote in every]
    if missing := [code for code in symbols if code not in codes]:
        raise Ending(Exit.REFUSED, "unknown_symbol", _no_symbol(missing, codes))
    return Exit.DONE


def _no_symbol(missing: Sequence[str], codes: Sequence[str]) -> str:
    return (
        f"There is no symbol {' and no '.join(missing)}. Upper and lower case differ. "
        f"There are: {', '.join(codes) or 'none'}."
    )


def _print_quotes(quotes: Sequence[Quote], measures: Mapping[str, str]) -> None:
    print_table(
        (
            Column("symbol"),
            Column("buy ₹", right=True),
            Column("sell ₹", right=True),
            Column("per"),
            Column("tradable"),
            Column("time", below=True),
        ),
        [
            [
                text(quote.symbol_code),
                rupees(quote.buy),
                rupees(quote.sell),
                measures.get(quote.symbol_code, NOTHING),
                "yes" if quote.tradable else f"no: {text(quote.reason)}",
                instant(quote.at),
            ]
            for quote in quotes
        ],
    )


def _measure(symbol: Symbol) -> str:
    """What its price is for: 10 g."""
    return f"{short(symbol.quoted_weight)} {text(symbol.unit)}"


@click.command("orders")
@click.option("--symbol", "symbol_code", metavar="SYMBOL", help="Only orders for this symbol.")
@click.option("--side", "trade_type", type=click.Choice(["buy", "sell"]), help="Only buys, or only sells.")
@click.option(
    "--status",
    type=click.Choice(_STATUSES),
    help="Only orders in this state; for live keys. Deleted ones are listed only when asked for.",
)
@click.option(
    "--since",
    callback=time_argument,
    metavar="TIME",
    help="Only orders from this time on: 2026-11-15, or 2026-11-15T09:30+05:30. UTC where it names no zone.",
)
@click.option("--client-order-id", metavar="TEXT", help="Only orders with this reference of yours.")
@click.option("--limit", type=click.IntRange(1, 200), default=_PAGE, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True, help="How many to pass over.")
@click.option("--all", "every", is_flag=True, help="All of them, page after page.")
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
            walk = client.orders(**filters)  # Only looks at the filters: it reads when it is gone through.
        except ValueError as error:  # Names the library's argument, which the option is called after.
            raise click.UsageError(f"--{error}.") from None
        if every:
            orders: Sequence[Order] = tuple(walk)
            total = len(orders)
        else:
            page = client.order_page(limit=limit, offset=offset, **filters)
            orders, total = page.items, page.total
        unknown = "" if total or session.as_json else _unknown_symbol(client, filters["symbol_code"])
    if session.as_json:
        session.print_json({"items": orders, "total": total})
        return Exit.DONE
    if orders:
        print_orders(orders)
    else:
        print_line(
            "There are none." if not total else f"There are none from {offset} on; in all there are {total}."
        )
    if unknown:
        session.note(unknown)
    if 0 < len(orders) < total:
        session.note(f"{len(orders)} of {total}. Others: --limit, --offset or --all.")
    return Exit.DONE


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
    """Show one order, or wait for it.

    ID is the order's own id, as 'bullion-client orders' shows it. A deal such as T-1 is not an id.
    """
    with session.client() as client:
        return finish(session, client, client.order(str(order_id)), patience_s(wait, wait_s))


@click.command("positions")
@with_session
def positions_command(session: Session) -> int:
    """Show what you hold, and what is still free."""
    with session.client() as client:
        positions = client.positions()
        test = client.environment == Environment.TEST
    if session.as_json:
        view = fields(positions)
        if test:  # There the service has no such field.
            del view["symbols"]
        session.print_json(view)
        return Exit.DONE
    print_table(
        (
            Column("metal"),
            Column("net", right=True),
            Column("used", right=True),
            Column("free", right=True),
            Column("limit", right=True),
            Column("unit"),
        ),
        [
            [
                name,
                weight(each.net),
                weight(each.used),
                weight(each.free),
                weight(each.limit),
                text(each.unit),
            ]
            for name, each in (("gold", positions.gold), ("silver", positions.silver))
        ],
    )
    if positions.symbols:
        print_line("")
        _print_symbol_positions(positions.symbols)
    return Exit.DONE


def _print_symbol_positions(rows: Sequence[SymbolPosition]) -> None:
    print_table(
        (
            Column("symbol"),
            Column("metal"),
            Column("buy", right=True),
            Column("sell", right=True),
            Column("net", right=True),
            Column("unit"),
        ),
        [
            [
                text(row.symbol_code),
                text(row.metal),
                weight(row.buy),
                weight(row.sell),
                weight(row.net),
                text(row.unit),
            ]
            for row in rows
        ],
    )
