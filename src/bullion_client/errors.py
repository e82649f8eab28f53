"""The errors of calls.

    BullionError
    ├── Refusal                 the service refused the call: `code` says why
    │   ├── CredentialRefused   401: the key is not accepted
    │   ├── AccessRefused       403: the key is valid, but may not do this now
    │   ├── BudgetRefused       429: too many calls; `retry_after` says how long to wait
    │   ├── MarketRefused       the market is closed for this symbol, side or group
    │   ├── RequestRefused      other 4xx: the request cannot be carried out as sent
    │   │   ├── NotFound        there is no such order
    │   │   │   └── UnknownSymbol   there is no such symbol
    │   │   ├── QuantityRefused the weight breaks a size rule, the allocation or the stock
    │   │   │   └── LimitExceeded   the order would exceed the allocation
    │   │   ├── KeyReused       the idempotency key was used with another body
    │   │   └── EventsGone      410: the events after this number are no longer kept
    │   ├── PriceMoved          the price is too far from `expected_price`; nothing was booked
    │   ├── OrderRejected       the hedge refused the order; nothing was booked
    │   └── Unavailable         503 and other 5xx: the service cannot do it now
    ├── Unsettled               placing gave up; `resume(error.intent)` continues
    │   ├── NotPlaced           nothing is booked
    │   └── OutcomeUnknown      the order may be booked or not
    ├── NoAnswer                the connection failed or timed out
    ├── UnexpectedAnswer        the response is not one of the service
    └── WebhookVerificationError    a webhook is not from the service, or too old

Catch a class to handle a group of codes, and branch on `Refusal.code`, which is stable; messages may change.

Placing raises a `Refusal` if that is final: nothing is booked, and nothing will be unless the order is sent
again. Otherwise it raises one of the two kinds of `Unsettled`, which say how much is known. All of them have
the `Intent`. Reading never raises `Unsettled`.

Each class passes its fields to `Exception.__init__` in order, so that an error can be pickled.
"""

from typing import ClassVar

from bullion_client.intent import Intent
from bullion_client.models import ProductionOrder


class BullionError(Exception):
    """The base class of all errors that a call can raise."""


class Refusal(BullionError):
    """The service refused the call. Nothing was done unless the code says otherwise."""

    code: str
    """The stable machine code. Branch on this."""

    status: int
    """The HTTP status of the response."""

    message: str
    """The service's message for people. It may change."""

    retry_after: int | None
    """Seconds to wait before a retry, if the service named them."""

    request_id: str | None
    """The service's id of the request: quote it to the operator."""

    detail: dict[str, object]
    """The whole refusal as sent: some codes have more fields, such as `reason` or `errors`."""

    intent: Intent | None = None
    """The order that was refused, if the call placed one."""

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
        # Retry-After of the service is better than the general advice of the class.
        advice = self._advice if self.retry_after is None else f"Try again after {self.retry_after} s"
        return _sentences(f"{self.code} ({self.status}): {self.message}", advice, _reference(self.request_id))


class CredentialRefused(Refusal):
    """401: the key is missing, malformed, unknown, revoked, rotated, expired or of another environment."""

    _advice = "Check the API key or ask the operator for a new one; quote its key id, never the key"


class AccessRefused(Refusal):
    """403: the key is valid, but it, its account or everyone may not do this now."""

    _advice = "Only the operator can change this: a retry will not help until then"


class BudgetRefused(Refusal):
    """429: too many calls, or too many failed authentications from this address. It did not count."""

    _advice = "Send fewer calls, and try again later"


class MarketRefused(Refusal):
    """The market is closed now: halted, frozen, without a price, or this side or symbol is not offered."""

    _advice = "Wait until `tradable` in the quotes is true, and decide again then"


class RequestRefused(Refusal):
    """Any other 4xx: the request cannot be carried out as sent."""

    _advice = "Change the request before sending it again"


class NotFound(RequestRefused):
    """There is no such order on the account, or no such symbol."""

    _advice = "Check the id or the code"


class UnknownSymbol(NotFound):
    """There is no such symbol. `quotes` raises it too, where the service returns an empty list."""

    _advice = "Check the code: upper and lower case differ, and `symbols()` lists them all"


class QuantityRefused(RequestRefused):
    """The weight breaks the symbol's or the group's size rule, the allocation, or the stock."""

    _advice = "Order another weight: `symbols()` has the sizes, `positions()` the free weight"


class LimitExceeded(QuantityRefused):
    """The order would take the open position in the metal above the weight allocation."""


class KeyReused(RequestRefused):
    """The idempotency key was used before with another body, and has an outcome.

    This call booked nothing, but there is probably an order under the key. Look for it before you place
    another one.
    """

    _advice = "Resume the first intent, or look for its client_order_id, before you place anything more"


class EventsGone(RequestRefused):
    """410: events after this number cannot be read: they are too old, or the service was restored.

    Some events may be missing for you. Read the orders and positions again, then go on after `newest`.
    """

    _advice = "Read the orders and positions again, then go on after the number in `newest`"

    @property
    def oldest(self) -> int | None:
        """The number of the oldest event that is kept."""
        return self._number("oldest")

    @property
    def newest(self) -> int | None:
        """The number of the newest event: go on after it, once the orders are read again."""
        return self._number("newest")

    def _number(self, name: str) -> int | None:
        number = self.detail.get(name)
        return number if isinstance(number, int) and not isinstance(number, bool) else None


class PriceMoved(Refusal):
    """The price is too far from `expected_price`. Nothing was booked, and the key is used up."""

    _advice = "Check the quote, and place a new order if you still want it"


class OrderRejected(Refusal):
    """The hedge refused the order. Nothing was booked, and the key is used up."""

    order: ProductionOrder | None = None
    """The refused order; None if the response had none that this client can read."""

    _advice = "Place a new order if you still want it"

    @property
    def order_id(self) -> str | None:
        """The id of the refused order."""
        order_id = self.detail.get("order_id")
        return order_id if isinstance(order_id, str) else None


class Unavailable(Refusal):
    """503 and other 5xx: the service cannot do it now."""

    _advice = "Retry later"


class Unsettled(BullionError):
    """Placing gave up before the order was settled: the deadline passed, or a retry would not help now.

    `resume(error.intent)` continues with the same key and body, now or in a later run. Placing the order
    again with another key could book it twice.
    """

    intent: Intent
    """The order to place: its key and body."""

    tries: int
    """The number of tries."""

    last: BullionError | None
    """The error of the last try."""

    _verdict: ClassVar[str] = "The order is not settled"

    def __init__(self, intent: Intent, tries: int, last: BullionError | None = None) -> None:
        super().__init__(intent, tries, last)
        self.intent = intent
        self.tries = tries
        self.last = last

    def __str__(self) -> str:
        return _sentences(
            f"{self._verdict}; its idempotency key is {self.intent.idempotency_key}",
            f"Tried {self.tries} time{'' if self.tries == 1 else 's'}",
            "" if self.last is None else str(self.last),
        )

    @property
    def code(self) -> str | None:
        """The code of the last refusal, if the last try was refused."""
        return self.last.code if isinstance(self.last, Refusal) else None

    @property
    def retry_after(self) -> int | None:
        """Seconds to wait before a retry, if the service named them."""
        return self.last.retry_after if isinstance(self.last, Refusal | UnexpectedAnswer) else None

    @property
    def request_id(self) -> str | None:
        """The service's id of the last request with a response: quote it to the operator."""
        return self.last.request_id if isinstance(self.last, Refusal | UnexpectedAnswer) else None


class NotPlaced(Unsettled):
    """Placing gave up, and nothing is booked: every try that may have reached the service was refused."""

    _verdict = "The order was not placed, and nothing is booked"


class OutcomeUnknown(Unsettled):
    """Placing gave up, and the order may be booked: a try had no response, or none that proves the outcome.

    Treat it as neither booked nor not booked, and place no other order for it, until `resume` has the
    outcome.
    """

    _verdict = "It is unknown whether the order is booked. Resume it, and do not place it again"


class NoAnswer(BullionError):
    """No complete response arrived: the connection failed, broke or timed out.

    It is unknown whether the service acted on the request, unless it was never sent. `__cause__` is the error
    of httpx.
    """

    url: str
    """The address that was called."""

    reason: str
    """What went wrong."""

    sent: bool
    """Whether the service may have got the request: false if no connection was made."""

    broke: bool
    """Whether an existing connection broke, as one does that was idle for too long."""

    def __init__(self, url: str, reason: str, *, sent: bool = True, broke: bool = False) -> None:
        super().__init__(url, reason)
        self.url = url
        self.reason = reason
        self.sent = sent
        self.broke = broke

    def __str__(self) -> str:
        return _sentences(
            f"No response from {self.url}: {self.reason}",
            "Check the address and the network, or try again later",
        )


class UnexpectedAnswer(BullionError):
    """The response is not one of the service: a wrong address, a proxy, or another version."""

    problem: str
    """What is wrong with the response."""

    advice: str
    """What to do about it."""

    url: str
    """The address that was called."""

    status: int | None
    """The HTTP status of the response, if it could be read."""

    request_id: str | None
    """The service's id of the request, if the response had one."""

    field: str | None
    """The field that is missing or has a wrong type, if that is the problem."""

    retry_after: int | None
    """Seconds to wait before a retry, if the response named them."""

    def __init__(
        self,
        problem: str,
        advice: str,
        url: str,
        status: int | None = None,
        request_id: str | None = None,
        field: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(problem, advice, url, status, request_id, field, retry_after)
        self.problem = problem
        self.advice = advice
        self.url = url
        self.status = status
        self.request_id = request_id
        self.field = field
        self.retry_after = retry_after

    def __str__(self) -> str:
        status = "" if self.status is None else f" with status {self.status}"
        return _sentences(
            f"{self.url} answered{status}, but {self.problem}", self.advice, _reference(self.request_id)
        )


class WebhookVerificationError(BullionError):
    """A webhook that cannot be trusted, or read: answer it with 400, and do nothing with it."""

    reason: str
    """What is wrong with it. It repeats nothing of the secret or of the right signature."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return _sentences(f"The webhook is refused: {self.reason}")


def _reference(request_id: str | None) -> str:
    return "" if request_id is None else f"Request id: {request_id}"


def _sentences(*parts: str) -> str:
    """Join texts into sentences. Some are empty, and some end in a full stop already."""
    return " ".join(f"{part.rstrip(' .:')}." for part in parts if part)
