"""Options that several commands share, and arguments that are numbers or times."""

import functools
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import click
from click.core import ParameterSource

from bullion_client import BullionError
from bullion_client.cli.exit_codes import command_error
from bullion_client.cli.session import ADDRESS, Session, retry_notes
from bullion_client.numbers import read_price, read_quantity

_DEADLINE_S = 60.0
_OPPOSITE = {"buy": "sell", "sell": "buy"}
_NEGATIVE = re.compile(r"-\.?[0-9].*")


def price_argument(_context: click.Context, _parameter: click.Parameter, words: str | None) -> Decimal | None:
    """Read a price in rupees."""
    try:
        return None if words is None else read_price(words)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


def time_argument(_context: click.Context, _parameter: click.Parameter, words: str | None) -> datetime | None:
    """Read an ISO 8601 time; without a zone it is UTC, as for the service."""
    if words is None:
        return None
    try:
        at = datetime.fromisoformat(words)
    except ValueError:
        raise click.BadParameter(
            f"{words!r} is not a time such as 2026-11-15 or 2026-11-15T09:30:00+05:30."
        ) from None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def headers_argument(
    _context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]
) -> dict[str, str]:
    """Read headers, each written as in HTTP."""
    headers = {}
    for each in words:
        name, colon, value = each.partition(":")
        if not colon:
            raise click.BadParameter("A header is written 'Name: value'.")
        headers[name.strip()] = value.strip()
    return headers


def with_session(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that every command has, and pass them as a `Session`."""

    @click.option(
        "--base-url",
        envvar="BULLION_BASE_URL",
        metavar="URL",
        help="The service's address, such as https://trading.example. Default: BULLION_BASE_URL.",
    )
    @click.option(
        "--deadline",
        "deadline_s",
        type=click.FloatRange(0.1, 3600),
        default=_DEADLINE_S,
        show_default=True,
        metavar="SECONDS",
        help="How long to retry when the service is busy or unavailable.",
    )
    @click.option(
        "--header",
        "headers",
        multiple=True,
        callback=headers_argument,
        metavar="'NAME: VALUE'",
        help="A header to send along, such as 'X-Bullion-Scenario: stale_rate'. May be repeated.",
    )
    @click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, with the API's field names and exact numbers."
    )
    @functools.wraps(command)
    def with_options(
        *arguments: Any,
        base_url: str | None,
        deadline_s: float,
        headers: dict[str, str],
        as_json: bool,
        **options: Any,
    ) -> int:
        source = click.get_current_context().get_parameter_source("base_url")
        base_url_from = ADDRESS if source == ParameterSource.ENVIRONMENT else "--base-url"
        session = Session(base_url, base_url_from, deadline_s, as_json, headers)
        try:
            with retry_notes(session):
                return command(session, *arguments, **options)
        except BullionError as error:
            raise command_error(error) from None

    return with_options


yes_option = click.option("--yes", "-y", is_flag=True, help="Send production orders without confirmation.")


class OrderCommand(click.Command):
    """A command with a weight. A negative weight must not be reported as an unknown option."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        given = list(words)  # click removes words from its list while it parses them.
        try:
            return super().parse_args(context, words)
        except click.NoSuchOption as error:
            for word in given:
                # For -5.25, click names the option -5.
                if word.startswith(error.option_name) and _NEGATIVE.fullmatch(word):
                    parameter = next(each for each in self.params if each.name == "quantity")
                    quantity_argument(context, parameter, word)
            raise


def quantity_argument(context: click.Context, parameter: click.Parameter, words: str) -> Decimal:
    """Read a weight exactly."""
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
