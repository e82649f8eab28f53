"""What every command needs: the address, the key, and a client that is opened with both."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from bullion_client import Client, Journal
from bullion_client.cli.exit_codes import usage_error
from bullion_client.cli.formatting import text
from bullion_client.cli.json_output import document

ADDRESS = "BULLION_BASE_URL"
_KEY = "BULLION_API_KEY"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where the service is, and the key for it; and where the two came from, for messages."""

    base_url: str
    base_url_from: str
    api_key: str = field(repr=False)
    api_key_from: str


@dataclass(frozen=True, slots=True)
class Session:
    """One command's way to the service, and how its answer is to be shown."""

    base_url: str | None
    base_url_from: str
    """The option or the variable that named it."""
    deadline_s: float
    as_json: bool

    def credentials(self) -> Credentials:
        """From the command and the environment; what is missing is asked for where somebody can answer."""
        address, address_from = self.base_url, self.base_url_from
        if address is None:
            address, address_from = _prompt(ADDRESS, "Address of the service", secret=False), "The address"
        key, key_from = os.environ.get(_KEY), _KEY
        if not key:
            key, key_from = _prompt(_KEY, "API key", secret=True), "The API key"
        return Credentials(address, address_from, key, key_from)

    @contextmanager
    def client(
        self, credentials: Credentials | None = None, journal: Journal | None = None
    ) -> Iterator[Client]:
        """An open client."""
        credentials = credentials or self.credentials()
        try:
            client = Client(
                credentials.base_url, credentials.api_key, deadline=self.deadline_s, journal=journal
            )
        except ValueError as error:
            # The library speaks of its own arguments; here they have other names.
            words = str(error).replace("api_key", credentials.api_key_from)
            words = words.replace("base_url", credentials.base_url_from)
            raise usage_error(f"{words}.") from None
        with client:
            yield client

    def note(self, words: str) -> None:
        """Something besides the answer, for people alone."""
        if not self.as_json:
            sys.stderr.write(f"{text(words)}\n")

    def print_json(self, value: object) -> None:
        """The answer for programs."""
        sys.stdout.write(document(value) + "\n")


def has_terminal() -> bool:
    """Whether somebody is there who sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _prompt(variable: str, question: str, *, secret: bool) -> str:
    if not has_terminal():
        raise usage_error(
            f"{variable} is not set, and there is no terminal to ask for it. Set it in the environment."
        )
    answer: str = click.prompt(question, hide_input=secret, err=True)
    return answer
