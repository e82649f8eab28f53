"""The options that several commands share, and the arguments that are more than text."""

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import click
from click.core import ParameterSource

from bullion_client import BullionError
from bullion_client.cli.exit_codes import command_error
from bullion_client.cli.retry_notes import retry_notes
from bullion_client.cli.session import ADDRESS, Session
from bullion_client.numbers import read_price

_DEADLINE_S = 60.0


def price_argument(_context: click.Context, _parameter: click.Parameter, words: str | None) -> Decimal | None:
    """A price in rupees, as it is written."""
    try:
        return None if words is None else read_price(words)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


def time_argument(_context: click.Context, _parameter: click.Parameter, words: str | None) -> datetime | None:
    """A time in ISO 8601; without a zone it is UTC, as for the service."""
    if words is None:
        return None
    try:
        at = datetime.fromisoformat(words)
    except ValueError:
        raise click.BadParameter(
            f"{words!r} is not a time such as 2026-11-15 or 2026-11-15T09:30:00+05:30."
        ) from None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def with_session(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that all have, as a `Session`."""

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
        "--json", "as_json", is_flag=True, help="Print JSON, with the API's field names and exact numbers."
    )
    @functools.wraps(command)
    def with_options(
        *arguments: Any, base_url: str | None, deadline_s: float, as_json: bool, **options: Any
    ) -> int:
        source = click.get_current_context().get_parameter_source("base_url")
        base_url_from = ADDRESS if source == ParameterSource.ENVIRONMENT else "--base-url"
        session = Session(base_url, base_url_from, deadline_s, as_json)
        try:
            with retry_notes(session):
                return command(session, *arguments, **options)
        except BullionError as error:
            raise command_error(error) from None

    return with_options


yes_option = click.option("--yes", "-y", is_flag=True, help="Send production orders without confirmation.")
