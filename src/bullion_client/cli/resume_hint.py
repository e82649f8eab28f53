"""Which command goes on with an order that was broken off: the same order, under the same key."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from bullion_client import BullionError, Intent, NotPlaced, Refusal
from bullion_client.cli.exit_codes import CommandError, ExitCode, command_error
from bullion_client.cli.formatting import plain
from bullion_client.cli.session import ADDRESS, Session


@dataclass(frozen=True, slots=True)
class ResumeHint:
    """Knows the words to go on with, for whoever has to type or paste them."""

    session: Session
    journal_path: Path | None = None
    """Only if it is not the usual one."""
    no_journal: bool = False

    def resume(self, intent: Intent) -> str:
        """With an order of which the end is not known."""
        if self.no_journal:
            return self.place(intent)
        return self._joined("resume", intent.idempotency_key)

    def place(self, intent: Intent) -> str:
        """With an order that waits nowhere: it has to be told again, word for word."""
        options = {
            "--idempotency-key": intent.idempotency_key,
            "--expected-price": None if intent.expected_price is None else plain(intent.expected_price),
            "--client-order-id": intent.client_order_id,
        }
        words = [str(intent.trade_type), intent.symbol_code, plain(intent.quantity)]
        for name, value in options.items():
            # Joined by a sign, since a reference may begin with a hyphen.
            words += [] if value is None else [f"{name}={value}"]
        return self._joined(*words)

    def after_error(self, error: BullionError, intent: Intent) -> CommandError:
        """Placing ended without an order: a refusal is the last word, with anything else one can go on."""
        if isinstance(error, Refusal):
            return command_error(error)
        words = self.place(intent) if isinstance(error, NotPlaced) else self.resume(intent)
        return _with_words(command_error(error, _go_on(words)), words)

    def after_interrupt(self, intent: Intent) -> CommandError:
        """Somebody pressed Ctrl+C while the order was being placed."""
        words = self.resume(intent)
        message = f"Interrupted: it is not known whether the order is booked. {_go_on(words)}"
        return _with_words(CommandError(ExitCode.INTERRUPTED, "interrupted", message), words)

    def _joined(self, *words: str) -> str:
        line = ["bullion-client", *words]
        if self.no_journal:
            line.append("--no-journal")
        if self.journal_path is not None:
            line += ["--journal", str(self.journal_path)]
        if self.session.base_url is not None and self.session.base_url != os.environ.get(ADDRESS):
            line += ["--base-url", self.session.base_url]
        return shlex.join(line)


def _go_on(words: str) -> str:
    return f"Resume it with the same key: {words}"


def _with_words(failure: CommandError, words: str) -> CommandError:
    failure.more["resume_command"] = words
    return failure
