"""How a command ends: the exit codes that scripts can rely on, and what is said with each."""

import sys
from collections.abc import Mapping
from enum import IntEnum

from bullion_client import (
    AccessRefused,
    BudgetRefused,
    BullionError,
    CredentialRefused,
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
from bullion_client.cli import figures
from bullion_client.cli.wire import Json, document, fields


class Exit(IntEnum):
    """What a script can tell a command's end by."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    REFUSED = 3
    UNKNOWN = 4
    PENDING = 5
    UNAVAILABLE = 6
    INTERRUPTED = 130


MEANINGS = {
    Exit.DONE: "done",
    Exit.UNEXPECTED: "something that should not happen, such as an answer of another program",
    Exit.USAGE: "command, settings or journal cannot be used as they are; nothing was sent",
    Exit.REFUSED: "refused: nothing is booked",
    Exit.UNKNOWN: "not known whether the order is booked: go on with 'bullion-client resume'",
    Exit.PENDING: "waited, and the order is still pending",
    Exit.UNAVAILABLE: "the service is out of reach, or cannot do it now: nothing is booked",
    Exit.INTERRUPTED: "broken off with Ctrl+C",
}
"""As `--help` tells them."""

_ADVICE: tuple[tuple[type[Refusal], str], ...] = (
    (
        CredentialRefused,
        "Check BULLION_API_KEY, or ask the broker for a new key: quote its key id, never the key.",
    ),
    (AccessRefused, "Only the broker can change this."),
    (BudgetRefused, "Send less often, and try again later."),
    (MarketRefused, "'bullion-client quote' tells when it can be traded again."),
    (UnknownSymbol, "'bullion-client symbols' lists the codes; upper and lower case differ."),
    (NotFound, "Check the id."),
    (QuantityRefused, "'bullion-client symbols' tells the sizes, 'bullion-client positions' what is free."),
    (
        KeyReused,
        "This key has its outcome, with another body: see 'bullion-client orders' before you place one more.",
    ),
    (PriceMoved, "See 'bullion-client quote', and place a new order if you still want it."),
    (OrderRejected, "Place a new order if you still want it."),
    (Unavailable, "Try again later."),
)


class Ending(Exception):
    """A command that does not end well: with which exit code, and in which words."""

    def __init__(
        self, exit_code: Exit, code: str, message: str, more: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(exit_code, code, message)
        self.exit_code = exit_code
        self.code = code
        """The service's code of a refusal, or one of our own."""
        self.message = message
        self.more = dict(more or {})
        """Further fields, for programs."""

    def view(self) -> Json:
        """For programs."""
        return {"code": self.code, "message": self.message, "exit_code": int(self.exit_code), **self.more}

    def tell(self, *, as_json: bool) -> None:
        """On the stream for errors, so that what a program reads is an answer or nothing."""
        if as_json:
            sys.stderr.write(document({"error": self.view()}) + "\n")
            return
        for line in self.message.splitlines():
            sys.stderr.write(f"bullion-client: {figures.text(line)}\n")


def wrong_use(message: str) -> Ending:
    """What the caller has to put right; nothing was sent."""
    return Ending(Exit.USAGE, "usage", message)


def ending_of(error: BullionError, advice: str = "") -> Ending:
    """What an error of the library means for whoever gave the command. `advice` is told in place of ours."""
    if isinstance(error, Unsettled):
        return _unsettled(error, advice)
    if isinstance(error, Refusal):
        return _refused(error, advice)
    if isinstance(error, NoAnswer):
        return Ending(Exit.UNAVAILABLE, "no_answer", _words(str(error), advice), {"url": error.url})
    if isinstance(error, UnexpectedAnswer):
        more = {"url": error.url, "status": error.status, "request_id": error.request_id}
        return Ending(Exit.UNEXPECTED, "unexpected_answer", _words(str(error), advice), more)
    return Ending(Exit.UNEXPECTED, "unexpected", _words(str(error), advice))


def _refused(refusal: Refusal, advice: str) -> Ending:
    later = isinstance(refusal, Unavailable | BudgetRefused)
    advice = advice or next((words for family, words in _ADVICE if isinstance(refusal, family)), "")
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
    return Ending(
        Exit.UNAVAILABLE if later else Exit.REFUSED,
        refusal.code,
        _words(f"{refusal.code} ({refusal.status}): {refusal.message}", advice, request),
        more,
    )


def _unsettled(error: Unsettled, advice: str) -> Ending:
    unknown = isinstance(error, OutcomeUnknown)
    more = {
        "tries": error.tries,
        "last_code": error.code,
        "retry_after": error.retry_after,
        "request_id": error.request_id,
        "intent": fields(error.intent),
    }
    return Ending(
        Exit.UNKNOWN if unknown else Exit.UNAVAILABLE,
        "outcome_unknown" if unknown else "not_placed",
        _words(str(error), advice),
        more,
    )


def _words(*parts: str) -> str:
    # The library speaks of its own argument.
    return " ".join(part for part in parts if part).replace("base_url", "--base-url or BULLION_BASE_URL")
