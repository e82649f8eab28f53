"""What every command needs: the address, the key, and an open client; and its notes about retries."""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from bullion_client import AsyncClient, BullionError, Client, Journal
from bullion_client.cli.exit_codes import usage_error
from bullion_client.cli.formatting import text
from bullion_client.cli.json_output import document, line

ADDRESS = "BULLION_BASE_URL"
_KEY = "BULLION_API_KEY"
_LOG = logging.getLogger("bullion_client")


@dataclass(frozen=True, slots=True)
class Credentials:
    """The address and the key, and the names of their sources for messages."""

    base_url: str
    base_url_from: str
    api_key: str = field(repr=False)
    api_key_from: str


@dataclass(frozen=True, slots=True)
class Session:
    """The options of one command: the address, the deadline, and the output format."""

    base_url: str | None
    base_url_from: str
    """The option or the variable that set it."""
    deadline_s: float
    as_json: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def credentials(self) -> Credentials:
        """Read them from the options and the environment; ask at a terminal for what is missing."""
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
        """Open a client."""
        credentials = credentials or self.credentials()
        with _arguments_named(credentials):
            client = Client(
                credentials.base_url,
                credentials.api_key,
                deadline=self.deadline_s,
                journal=journal,
                headers=self.headers,
            )
        with client:
            yield client

    def async_client(self) -> AsyncClient:
        """A client for asyncio, to be opened and closed there."""
        credentials = self.credentials()
        with _arguments_named(credentials):
            return AsyncClient(
                credentials.base_url, credentials.api_key, deadline=self.deadline_s, headers=self.headers
            )

    def note(self, words: str) -> None:
        """Print a note to stderr, unless the output is JSON."""
        if not self.as_json:
            sys.stderr.write(f"{text(words)}\n")

    def print_json(self, value: object) -> None:
        """Print the result as JSON."""
        sys.stdout.write(document(value) + "\n")

    def print_json_line(self, value: object) -> None:
        """Print one of several results as a line of JSON, at once."""
        sys.stdout.write(line(value) + "\n")
        sys.stdout.flush()


@contextmanager
def _arguments_named(credentials: Credentials) -> Iterator[None]:
    """Errors of the library name its arguments, which are options or variables here."""
    try:
        yield
    except ValueError as error:
        words = str(error).replace("api_key", credentials.api_key_from)
        words = words.replace("base_url", credentials.base_url_from).replace("headers ", "--header ")
        raise usage_error(f"{words}.") from None


def has_terminal() -> bool:
    """Whether a person can see a question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _prompt(variable: str, question: str, *, secret: bool) -> str:
    if not has_terminal():
        raise usage_error(
            f"{variable} is not set, and there is no terminal to ask for it. Set it in the environment."
        )
    answer: str = click.prompt(question, hide_input=secret, err=True)
    return answer


class _Notes(logging.Handler):
    """Shows the first retry that the library logs, and its warnings."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown = False

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self._session.note(record.getMessage())
            return
        reason = record.args[-1] if isinstance(record.args, tuple) and record.args else None
        if isinstance(reason, BullionError) and not self._shown:
            self._shown = True
            limit = f"Trying again for up to {self._session.deadline_s:g} s (--deadline)."
            self._session.note(f"{limit} So far: {reason}")


@contextmanager
def retry_notes(session: Session) -> Iterator[None]:
    """While a command runs at a terminal, show that it retries. A script only gets the result."""
    if session.as_json or not sys.stderr.isatty():
        yield
        return
    notes, level = _Notes(session), _LOG.level
    _LOG.addHandler(notes)
    _LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        _LOG.removeHandler(notes)
        _LOG.setLevel(level)
