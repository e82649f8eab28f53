"""The journal of a command, so that an order can be resumed if the command is killed."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import click

from bullion_client import AccessRefused, Account, Client, Intent, Journal
from bullion_client.cli.exit_codes import CommandError, command_error, usage_error
from bullion_client.cli.session import Credentials, Session

journal_option = click.option(
    "--journal",
    "journal_path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="The journal file. Default: one per account, under ~/.local/state/bullion-client.",
)
no_journal_option = click.option(
    "--no-journal",
    is_flag=True,
    help="Keep no journal: after a crash, retry with the same --idempotency-key.",
)

_UNUSABLE = (OSError, ValueError, KeyError)
"""The file cannot be read, written or locked, is not a journal, or belongs to another account."""


@dataclass(frozen=True, slots=True)
class OpenJournal:
    """A client and its journal."""

    client: Client
    journal: Journal

    def unsettled(self) -> tuple[Intent, ...]:
        """The orders with an unknown outcome."""
        with _usable(self.journal):
            return self.journal.unsettled()

    def abandon(self, intent: Intent) -> None:
        """Remove an order from the journal."""
        with _usable(self.journal):
            self.journal.abandon(intent)


@contextmanager
def open_journal(session: Session, credentials: Credentials, given: Path | None) -> Iterator[OpenJournal]:
    """Open a client with the journal at that path, or with the default journal of its account.

    An intent belongs to an account: sent with a key of another account, it would be a new order. So the
    account of the key is read first.
    """
    # Headers are for the command itself: a scenario of an order is none of the account.
    with replace(session, headers={}).client(credentials) as client:
        account = _account(client)
    path = given or default_path(credentials, account)
    journal = Journal(path, account=account.login_id)
    with _usable(journal):
        if given is None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        journal.bind(account.environment, account.login_id)
    with session.client(credentials, journal) as client:
        yield OpenJournal(client, journal)


def journal_error(journal: Journal, error: Exception) -> CommandError:
    """The error for a journal that cannot be read, or cannot be written before an order is sent."""
    return usage_error(
        f"The journal {journal.path} cannot be used, so nothing was sent: {error}. "
        "Choose another file with --journal, or use --no-journal."
    )


@contextmanager
def _usable(journal: Journal) -> Iterator[None]:
    try:
        yield
    except _UNUSABLE as error:
        raise journal_error(journal, error) from None


def default_path(credentials: Credentials, account: Account) -> Path:
    """One file per account and address. It does not depend on the key, so a rotated key finds it again."""
    host = urlsplit(credentials.base_url).netloc
    # Characters that a file name cannot have are replaced, so a hash keeps the names different.
    identity = f"{credentials.base_url.rstrip('/')}\n{account.environment}\n{account.login_id}"
    name = f"{host}-{account.login_id}-{account.environment}-{sha256(identity.encode()).hexdigest()[:8]}"
    return _folder() / f"{re.sub(r'[^A-Za-z0-9.-]', '_', name)}.jsonl"


def other_journals(own: Journal) -> Iterator[Path]:
    """Other default journals with unsettled orders. One that cannot be read is skipped."""
    for path in sorted(_folder().glob("*.jsonl")):
        with suppress(*_UNUSABLE):
            if path != own.path and Journal(path).unsettled():
                yield path


def _account(client: Client) -> Account:
    try:
        return client.me()
    except AccessRefused as refusal:
        if refusal.code != "insufficient_scope":
            raise
        raise command_error(
            refusal, "The journal needs the account of the key. Add --no-journal to work without it."
        ) from None


def _folder() -> Path:
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    # A relative path is ignored: it would depend on the working directory.
    root = given if given.is_absolute() else Path.home() / ".local" / "state"
    return root / "bullion-client"
