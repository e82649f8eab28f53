"""The weight of an order as people write it, also where they write it wrongly."""

import re
from contextlib import suppress
from decimal import Decimal

import click

from bullion_client.numbers import read_quantity

_OPPOSITE = {"buy": "sell", "sell": "buy"}
_NEGATIVE = re.compile(r"-\.?[0-9].*")


class OrderCommand(click.Command):
    """A command with a weight. A negative one is not an unknown option."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        given = list(words)  # click takes words out of its list while it reads them.
        try:
            return super().parse_args(context, words)
        except click.NoSuchOption as error:
            for word in given:
                # Of -5.25 click has only looked at -5.
                if word.startswith(error.option_name) and _NEGATIVE.fullmatch(word):
                    parameter = next(each for each in self.params if each.name == "quantity")
                    quantity_argument(context, parameter, word)
            raise


def quantity_argument(context: click.Context, parameter: click.Parameter, words: str) -> Decimal:
    """A weight, exactly as it is written."""
    try:
        return read_quantity(words)
    except ValueError as error:
        message = f"{error}. {_advice(context, words)}".rstrip()
        raise click.BadParameter(message, context, parameter) from None


def _advice(context: click.Context, words: str) -> str:
    name = str(context.info_name)
    if words.startswith("-"):
        opposite = _OPPOSITE[name]
        return f"To {opposite}, use 'bullion-client {opposite}'."
    with suppress(ValueError):
        symbol_code = str(context.params.get("symbol_code"))
        read_quantity(symbol_code)
        return f"The symbol comes first: 'bullion-client {name} {words} {symbol_code}'."
    return ""
