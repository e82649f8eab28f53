"""What a command prints about prices: those that a change would move, and how to confirm or undo it."""

import shlex
import sys
from collections.abc import Sequence

import click

from bullion.desk.desk import View
from bullion.desk.price_confirmation import PricesUnconfirmed

from .tables import print_items, print_json, print_one

_COLUMNS = (
    "symbol",
    "group",
    "side",
    "per:unit",
    "old",
    "new",
    "move %:move_percent",
    "spread_before",
    "spread_after",
    "loss",
    "problems",
    "from",
)


def show_price_problems(refused: PricesUnconfirmed, *, as_json: bool) -> None:
    """The preview as a table, and the command that confirms it."""
    if as_json:
        print_json(refused.body())
        return
    click.echo(f"bullion: {refused.summary}", err=True)
    show_prices(refused.fields["preview"], refused.fields.get("preview_left_out", 0))
    click.echo(f"To do it all the same:\n  {_repeated(refused.fields['fingerprint'])}", err=True)


def show_prices(rows: Sequence[View], left_out: int) -> None:
    print_items(rows, _COLUMNS, as_json=False)
    if left_out:
        click.echo(f"{left_out} more prices are not shown.")


def print_changed(view: View, columns: Sequence[str] = (), *, as_json: bool) -> None:
    """The result of a change: its fields, and below them the prices that it moved."""
    if as_json:
        print_json(view)
        return
    about_prices = ("prices", "prices_left_out", "undo")
    print_one(
        {name: value for name, value in view.items() if name not in about_prices}, columns, as_json=False
    )
    if "prices" in view:
        click.echo("\nPrices of clients:")
        show_prices(view["prices"], view.get("prices_left_out", 0))
    if "undo" in view:
        click.echo(f"To take it back within a minute: bullion desk undo {view['undo']['number']}", err=True)


def _repeated(fingerprint: str) -> str:
    """The command that was given, with the confirmation and without the token."""
    words = sys.argv[1:]
    for index, word in enumerate(words):
        if word == "--token" and index + 1 < len(words):
            words = [*words[: index + 1], "TOKEN", *words[index + 2 :]]
        elif word.startswith("--token="):
            words = [*words[:index], "--token=TOKEN", *words[index + 1 :]]
        elif word == "--confirm":
            words = words[:index] + words[index + 2 :]
            break
    return shlex.join(["bullion", *words, "--confirm", fingerprint])
