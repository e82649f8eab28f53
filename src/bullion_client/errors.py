"""Everything that can go wrong with a call.

    BullionError
    ├── Refusal                 the service answered, and refused: `code` says why
    │   ├── CredentialRefused   401: the key is not accepted
    │   ├── AccessRefused       403: the key is good, but this is not open to it now
    │   ├── BudgetRefused       429: too many calls; `retry_after` says how long to wait
    │   ├── RequestRefused      other 4xx: the request cannot be carried out as sent
    │   └── Unavailable         503 and other 5xx: the service cannot do it now
    ├── NoAnswer                the connection failed or timed out, so the outcome is not known
    └── UnexpectedAnswer        something answered, but not as the service does

Catch a family to handle it, and branch on `Refusal.code`, which is stable; texts may change.

Each class hands its fields to `Exception.__init__` in order, so that an error survives pickling on its way
out of a worker process.
"""

from typing import ClassVar


class BullionError(Exception):
    """The root of all errors that a call can raise."""


class Refusal(BullionError):
    """The service refused the call. Nothing was done unless the code says otherwise."""

    code: str
    """The stable machine code. Branch on this."""

    status: int
    """The HTTP status of the answer."""

    message: str
    """The service's own words for people. They may change."""

    retry_after: int | None
    """Seconds to wait before trying again, if the service named them."""

    request_id: str | None
    """The service's id of the request: quote it to the operator."""

    detail: dict[str, object]
    """The whole refusal as sent: some codes bring more fields, such as `reason` or `errors`."""

    _advice: ClassVar[str] = "Look the code up in the service's documentation."

    def __init__(
        self,
        code: str,
        status: int,
        message: str,
        retry_after: int | None = None,
        request_id: str | None = None,
        detail: dict[str, object] | None = None,
    ) -> None:
        super().__init__(code, status, message, retry_after, request_id, detail)
        self.code = code
        self.status = status
        self.message = message
        self.retry_after = retry_after
        self.request_id = request_id
        self.detail = {} if detail is None else detail

    def __str__(self) -> str:
        # The service's word on when to try again is better than the family's general advice.
        advice = self._advice if self.retry_after is None else f"Try again after {self.retry_after} s"
        return _sentences(f"{self.code} ({self.status}): {self.message}", advice, _reference(self.request_id))


class CredentialRefused(Refusal):
    """401: the key is missing, malformed, unknown, revoked, rotated, expired or of another environment."""

    _advice = "Check the API key or ask the operator for a new one; quote its key id, never the key"


class AccessRefused(Refusal):
    """403: the key is good, but what it asked for is not open to it, to its account or to anyone now."""

    _advice = "Only the operator can change this: trying again will not help until then"


class BudgetRefused(Refusal):
    """429: too many calls, or too many failed credentials from this address. It cost no budget."""

    _advice = "Send fewer calls, and try again later"


class RequestRefused(Refusal):
    """Any other 4xx: the request was understood, but cannot be carried out as sent."""

    _advice = "Unless the code asks for a retry, change the request before sending it again"


class Unavailable(Refusal):
    """503 and other 5xx: the service itself cannot do it now."""

    _advice = "Try again later"


class NoAnswer(BullionError):
    """No whole answer arrived: the connection failed, broke off or timed out.

    Whether the service acted on the request is not known. `__cause__` is httpx's own error.
    """

    url: str
    """The address that was called."""

    reason: str
    """What went wrong on the way."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.url = url
        self.reason = reason

    def __str__(self) -> str:
        return _sentences(
            f"No answer from {self.url}: {self.reason}",
            "Check the address and the network, or try again later",
        )


class UnexpectedAnswer(BullionError):
    """The answer is not one that the service gives: a wrong address, a proxy, or another version."""

    problem: str
    """What is wrong with the answer."""

    advice: str
    """What to do about it."""

    url: str
    """The address that was called."""

    status: int | None
    """The HTTP status of the answer, if it could be read that far."""

    request_id: str | None
    """The service's id of the request, if the answer carried one."""

    field: str | None
    """The field that is missing or wrongly typed, if that is the problem."""

    def __init__(
        self,
        problem: str,
        advice: str,
        url: str,
        status: int | None = None,
        request_id: str | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(problem, advice, url, status, request_id, field)
        self.problem = problem
        self.advice = advice
        self.url = url
        self.status = status
        self.request_id = request_id
        self.field = field

    def __str__(self) -> str:
        status = "" if self.status is None else f" with status {self.status}"
        return _sentences(
            f"{self.url} answered{status}, but {self.problem}", self.advice, _reference(self.request_id)
        )


def _reference(request_id: str | None) -> str:
    return "" if request_id is None else f"Request id: {request_id}"


def _sentences(*parts: str) -> str:
    """Join texts, of which some end in a full stop and some are empty, into sentences."""
    return " ".join(f"{part.rstrip(' .:')}." for part in parts if part)
