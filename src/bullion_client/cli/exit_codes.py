"""Exit codes that scripts can rely on, and the message for each error."""

import sys
from collections.abc import Mapping
from enum import IntEnum

from bullion_client import (
    AccessRefused,
    BudgetRefused,
    BullionError,
    CredentialRefused,
    EventsGone,
    KeyReused,
    MarketRefused,
    NoAnswer,
    NotFound,
    OrderRejected,
    OutcomeUnknown,
    PriceMoved,
    QuantityRefused,
    Refusal,
    Unavailable,
    UnexpectedAnswer,
    UnknownSymbol,
    Unsettled,
)
from bullion_client.cli import formatting
from bullion_client.cli.json_output import Json, document, fields


class ExitCode(IntEnum):
    """The exit code of a command."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    REFUSED = 3
    UNKNOWN = 4
    PENDING = 5
    UNAVAILABLE = 6
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.UNEXPECTED: "unexpected error, such as a response from another program",
    ExitCode.USAGE: "wrong command, settings or journal; nothing was sent",
    ExitCode.REFUSED: "refused: nothing is booked",
    ExitCode.UNKNOWN: "unknown whether the order is booked: run 'bullion-client resume'",
    ExitCode.PENDING: "the order is still pending after the wait",
    ExitCode.UNAVAILABLE: "the service is unavailable: nothing is booked",
    ExitCode.INTERRUPTED: "interrupted with Ctrl+C",
}
"""The texts of `--help`."""

_ADVICE: tuple[tuple[type[Refusal], str], ...] = (
    (
        CredentialRefused,
        "Check BULLION_API_KEY, or ask the broker for a new key: quote its key id, never the key.",
    ),
    (AccessRefused, "Only the broker can change this."),
    (BudgetRefused, "Send fewer calls, and retry later."),
    (MarketRefused, "Run 'bullion-client quote' to see when it is tradable again."),
    (UnknownSymbol, "Run 'bullion-client symbols' to list the codes. They are case-sensitive."),
    (NotFound, "Check the id."),
    (
        QuantityRefused,
        "Run 'bullion-client symbols' for the sizes, and 'bullion-client positions' for the free weight.",
    ),
    (
        KeyReused,
        "This key was used with another body. Run 'bullion-client orders' before you place another order.",
    ),
    (PriceMoved, "Run 'bullion-client quote', and place a new order if you still want it."),
    (OrderRejected, "Place a new order if you still want it."),
    (Unavailable, "Retry later."),
)


class CommandError(Exception):
    """A command that fails, with its exit code and message."""

    def __init__(
        self, exit_code: ExitCode, code: str, message: str, more: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(exit_code, code, message)
        self.exit_code = exit_code
        self.code = code
        """The service's code of a refusal, or one of the command line."""
        self.message = message
        self.more = dict(more or {})
        """Further fields of the JSON output."""

    def view(self) -> Json:
        """The fields of the JSON output."""
        return {"code": self.code, "message": self.message, "exit_code": int(self.exit_code), **self.more}

    def print(self, *, as_json: bool) -> None:
        """Print it to stderr, so that stdout has a result or nothing."""
        if as_json:
            sys.stderr.write(document({"error": self.view()}) + "\n")
            return
        for line in self.message.splitlines():
            sys.stderr.write(f"bullion-client: {formatting.text(line)}\n")


def usage_error(message: str) -> CommandError:
    """An error that the user must correct; nothing was sent."""
    return CommandError(ExitCode.USAGE, "usage", message)


def command_error(error: BullionError, advice: str = "") -> CommandError:
    """The error of a command for an error of the library. `advice` replaces the default advice."""
    if isinstance(error, Unsettled):
        return _unsettled(error, advice)
    if isinstance(error, Refusal):
        return _refused(error, advice)
    if isinstance(error, NoAnswer):
        return CommandError(ExitCode.UNAVAILABLE, "no_answer", _join(str(error), advice), {"url": error.url})
    if isinstance(error, UnexpectedAnswer):
        more = {"url": error.url, "status": error.status, "request_id": error.request_id}
        return CommandError(ExitCode.UNEXPECTED, "unexpected_answer", _join(str(error), advice), more)
    return CommandError(ExitCode.UNEXPECTED, "unexpected", _join(str(error), advice))


def _refused(refusal: Refusal, advice: str) -> CommandError:
    later = isinstance(refusal, Unavailable | BudgetRefused)
    if isinstance(refusal, EventsGone):
        advice = (
            "Run 'bullion-client orders' and 'bullion-client positions' to see how things stand, "
            f"then go on with --after {refusal.newest}."
        )
    advice = advice or next((text for kind, text in _ADVICE if isinstance(refusal, kind)), "")
    if refusal.retry_after is not None:
        advice = f"Try again after {refusal.retry_after} s."
    request = "" if refusal.request_id is None else f"Request id: {refusal.request_id}."
    more = {
        "status": refusal.status,
        "retry_after": refusal.retry_after,
        "request_id": refusal.request_id,
        "detail": refusal.detail,
    }
    if refusal.intent is not None:
        more["intent"] = fields(refusal.intent)
    return CommandError(
        ExitCode.UNAVAILABLE if later else ExitCode.REFUSED,
        refusal.code,
        _join(f"{refusal.code} ({refusal.status}): {refusal.message}", advice, request),
        more,
    )


def _unsettled(error: Unsettled, advice: str) -> CommandError:
    unknown = isinstance(error, OutcomeUnknown)
    more = {
        "tries": error.tries,
        "last_code": error.code,
        "retry_after": error.retry_after,
        "request_id": error.request_id,
        "intent": fields(error.intent),
    }
    return CommandError(
        ExitCode.UNKNOWN if unknown else ExitCode.UNAVAILABLE,
        "outcome_unknown" if unknown else "not_placed",
        _join(str(error), advice),
        more,
    )


def _join(*parts: str) -> str:
    # The message names an argument of the library.
    return " ".join(part for part in parts if part).replace("base_url", "--base-url or BULLION_BASE_URL")
