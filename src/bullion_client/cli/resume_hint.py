"""The command that resumes an interrupted order with the same key."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from bullion_client import BullionError, Intent, Journal, NotPlaced, Refusal
from bullion_client.cli.exit_codes import CommandError, ExitCode, command_error
from bullion_client.cli.formatting import plain
from bullion_client.cli.session import ADDRESS, Session


@dataclass(frozen=True, slots=True)
class ResumeHint:
    """Builds the command to copy for resuming an order."""

    session: Session
    journal_path: Path | None = None
    """Only if it is not the default."""
    no_journal: bool = False

    def resume(self, intent: Intent) -> str:
        """For an order with an unknown outcome."""
        if self.no_journal:
            return self.place(intent)
        return self._joined("resume", intent.idempotency_key)

    def place(self, intent: Intent) -> str:
        """For an order that is in no journal: the whole order with its key."""
        options = {
            "--idempotency-key": intent.idempotency_key,
            "--expected-price": None if intent.expected_price is None else plain(intent.expected_price),
            "--client-order-id": intent.client_order_id,
        }
        parts = [str(intent.trade_type), intent.symbol_code, plain(intent.quantity)]
        for name, value in options.items():
            # With an equals sign, because a reference may begin with a hyphen.
            parts += [] if value is None else [f"{name}={value}"]
        return self._joined(*parts)

    def after_error(self, error: BullionError, intent: Intent) -> CommandError:
        """The error for an order that was not placed. A refusal is final; any other error can be resumed."""
        if isinstance(error, Refusal):
            return command_error(error)
        command = self.place(intent) if isinstance(error, NotPlaced) else self.resume(intent)
        return _with_command(command_error(error, _advice(command)), command)

    def after_interrupt(self, intent: Intent, journal: Journal | None) -> CommandError:
        """The error for Ctrl+C while the order was being placed. One that was not sent is in no journal."""
        command = self.resume(intent) if journal is None or _has(journal, intent) else self.place(intent)
        message = f"Interrupted: it is unknown whether the order is booked. {_advice(command)}"
        return _with_command(CommandError(ExitCode.INTERRUPTED, "interrupted", message), command)

    def _joined(self, *parts: str) -> str:
        line = ["bullion-client", *parts]
        if self.no_journal:
            line.append("--no-journal")
        if self.journal_path is not None:
            line += ["--journal", str(self.journal_path)]
        if self.session.base_url is not None and self.session.base_url != os.environ.get(ADDRESS):
            line += ["--base-url", self.session.base_url]
        return shlex.join(line)


def _has(journal: Journal, intent: Intent) -> bool:
    try:
        return any(each.idempotency_key == intent.idempotency_key for each in journal.unsettled())
    except (OSError, ValueError):
        return True  # As far as anybody can tell.


def _advice(command: str) -> str:
    return f"Resume it with the same key: {command}"


def _with_command(failure: CommandError, command: str) -> CommandError:
    failure.more["resume_command"] = command
    return failure
