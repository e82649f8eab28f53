"""Extras of single commands: questions that depend on the input, and their own tables."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bullion.desk.actions import orders
from bullion.desk.actions.place_order import Placed
from bullion.desk.desk import OnlyIf, View
from bullion.desk.registry import Action
from bullion.desk.unreadable import is_unreadable
from bullion.refusals.desk import CONFLICT
from bullion.refusals.refusal import RefusalError

from .price_preview import print_changed
from .session import Session
from .tables import print_items, print_json, print_list, print_one

_SWITCHES = {
    ("production", True): "Clients with production trading switched on can then place real orders.",
    ("production", False): "Clients' production orders over the API are then refused. "
    "Orders that the desk places are still accepted.",
    ("paused", True): "While production is paused, every production order is refused.",
    ("paused", False): "Production orders are accepted again immediately.",
    ("halted", True): "While trading is halted, every order of every client is refused.",
    ("halted", False): "Orders are accepted again immediately.",
}
"""What changing a switch means for clients."""


@dataclass(frozen=True, slots=True)
class CommandExtras:
    parameter: click.Parameter | None = None
    """Replaces the parameters for the fields of the body."""
    body: Callable[[dict[str, Any]], Any] | None = None
    """Makes the body, as plain values, from the arguments."""
    questions: Callable[[Session, dict[str, Any]], Sequence[str]] | None = None
    show: Callable[[Session, Action, Any], None] | None = None


def describe_order(session: Session, order_id: str) -> tuple[str, OnlyIf]:
    """An order as text, for a question about it; and a check that it has not changed since."""
    order = session.run(lambda desk, actor: orders.get_order(desk, actor, order_id))
    summary = "{login_id}: {trade_type} {quantity} {unit} {symbol_code} at {price}, {status}".format(**order)

    def unchanged(before: View | None) -> None:
        was, now = order["status"], None if before is None else before["status"]
        if was != now:
            raise RefusalError(
                CONFLICT, f"The order was {was} when you were asked, and is {now} now. Nothing was changed."
            )

    return f"{order_id} ({summary})", unchanged


def _questions_of_switches(_session: Session, given: dict[str, Any]) -> list[str]:
    return [
        f"Set {field} to {str(value).lower()}? {consequence}"
        for (field, value), consequence in _SWITCHES.items()
        if given["changes"].get(field) is value
    ]


def _show_rate(session: Session, _action: Action, answer: View) -> None:
    print_changed(answer, as_json=session.as_json)
    if not answer["taken"]:
        click.echo("Not set: there is a newer rate, which is shown.", err=True)
        sys.exit(1)


def _show_placed(session: Session, action: Action, placed: Placed) -> None:
    print_one(placed.order, action.columns, as_json=session.as_json)
    if placed.replayed:
        click.echo("Nothing new was booked: this key was used before, for the order that is shown.", err=True)
    elif placed.pending:
        click.echo("The order is pending: its hedge is not confirmed yet.", err=True)


def _show_duties(session: Session, action: Action, found: list[View]) -> None:
    """One row for each entry of a table."""
    rows = found
    if not session.as_json:
        rows = [
            {"name": table["name"], **row, "in_force": row == table["in_force"]}
            for table in found
            if not is_unreadable(table)
            for row in table["duties"]
        ]
        rows += filter(is_unreadable, found)
    print_list((rows, len(rows)), action.columns, as_json=session.as_json)


_FOUND = {
    "orders": "created_at environment login_id deal:deal_no|deal_label symbol_code trade_type quantity unit "
    "price status matched id",
    "decisions": "at environment login_id outcome asked.symbol_code asked.trade_type asked.quantity matched "
    "request_id",
    "accounts": "login_id firm_name group active api_access production_trading",
    "keys": "key_id login_id environment name last_used_at expires_at revoked_at",
}
"""The columns of what a search finds."""


def _show_found(session: Session, _action: Action, found: View) -> None:
    if session.as_json:
        print_json(found)
        return
    for kind, columns in _FOUND.items():
        if found[kind]:
            click.echo(kind.capitalize())
            print_list((found[kind], len(found[kind])), columns.split(), as_json=False)
    if not any(found[kind] for kind in _FOUND):
        click.echo("Nothing was found.")


def _show_totals(session: Session, action: Action, found: View) -> None:
    if session.as_json:
        print_json(found)
        return
    print_items(found["items"], action.columns, as_json=False)
    if found["summed"] < found["orders"]:
        click.echo(f"The newest {found['summed']} of {found['orders']} orders are summed. Narrow them down.")


def _show_refusals(session: Session, action: Action, found: View) -> None:
    if session.as_json:
        print_json(found)
        return
    print_items(found["items"], action.columns, as_json=False)
    if found["older"] is not None:
        click.echo(f"There may be older ones: continue with --before {found['older']}")
    if found["kept_since"] is not None:
        click.echo(f"Decisions are stored since {found['kept_since']}.")


def _duty_rows(given: dict[str, Any]) -> list[View]:
    return [_duty_row(text) for text in given["rows"]]


def _duty_row(text: str) -> View:
    day, equals, rupees = text.partition("=")
    if not equals:
        raise click.UsageError(f"{text!r} is not of the form date=rupees, such as 2026-05-13=6250.")
    return {"from": day, "rupees": rupees}


def _settling(given: dict[str, Any]) -> View:
    fills = [_executed(text) for text in given["fills"]]
    return {"outcome": given["outcome"], "reason": given["reason"], "fills": fills}


def _executed(text: str) -> View:
    execution_id, equals, dealt = text.rpartition("=")
    quantity, at, price = dealt.partition("@")
    if not equals or not at:
        raise click.UsageError(f"{text!r} is not of the form EXECUTION=QUANTITY@PRICE, such as X17=2@71250.")
    return {"execution_id": execution_id, "quantity": quantity, "price": price}


def _statement(given: dict[str, Any]) -> View:
    """The argument is the name of the file."""
    file = given["csv"]
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is not UTF-8 text.") from None
    return {"csv": text, "venue": given["venue"], "day": given["day"]}


def _show_statement(session: Session, action: Action, found: View) -> None:
    print_one(found, action.columns, as_json=session.as_json)
    if not found["agrees"]:
        click.echo("The statement and the books do not agree.", err=True)
        sys.exit(1)


COMMAND_EXTRAS = {
    "patch_switches": CommandExtras(questions=_questions_of_switches),
    "put_rate": CommandExtras(show=_show_rate),
    "place_order": CommandExtras(show=_show_placed),
    "list_duties": CommandExtras(show=_show_duties),
    "list_refusals": CommandExtras(show=_show_refusals),
    "sum_orders": CommandExtras(show=_show_totals),
    "search": CommandExtras(click.Argument(["q"], metavar="TEXT"), show=_show_found),
    "settle_cover": CommandExtras(body=_settling),
    "compare_day": CommandExtras(body=_statement, show=_show_statement),
    "put_duty": CommandExtras(
        click.Argument(["rows"], nargs=-1, required=True, metavar="DATE=RUPEES..."), body=_duty_rows
    ),
}
"""By the name of the action."""
