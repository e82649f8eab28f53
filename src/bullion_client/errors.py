"""Everything that can go wrong with a call.

    BullionError
    ├── Refusal                 the service answered, and refused: `code` says why
    │   ├── CredentialRefused   401: the key is not accepted
    │   ├── AccessRefused       403: the key is good, but this is not open to it now
    │   ├── BudgetRefused       429: too many calls; `retry_after` says how long to wait
    │   ├── MarketRefused       the market is shut for this symbol, side or group
    │   ├── RequestRefused      other 4xx: the request cannot be carried out as sent
    │   │   ├── NotFound        there is no such order
    │   │   │   └── UnknownSymbol   there is no such symbol
    │   │   ├── QuantityRefused the weight breaks a size rule, the allocation or the stock
    │   │   │   └── LimitExceeded   the order would take the position past the allocation
    │   │   └── KeyReused       the idempotency key has an outcome already, with another body
    │   ├── PriceMoved          the price went too far from `expected_price`; nothing was booked
    │   ├── OrderRejected       the hedge refused the order; nothing was booked
    │   └── Unavailable         503 and other 5xx: the service cannot do it now
    ├── Unsettled               placing gave up; `intent` goes on with it
    │   ├── NotPlaced           nothing is booked, for certain
    │   └── OutcomeUnknown      the order may be booked or not
    ├── NoAnswer                the connection failed or timed out, so the outcome is not known
    └── UnexpectedAnswer        something answered, but not as the service does

Catch a family to handle it, and branch on `Refusal.code`, which is stable; texts may change.

Placing raises a `Refusal` when that is the last word on the order: nothing is booked, and nothing will be
unless the order is sent again. Otherwise it raises one of the two kinds of `Unsettled`, which say how much is
known. All of them carry the `Intent`. Reading never raises `Unsettled`.

Each class hands its fields to `Exception.__init__` in order, so that an error survives pickling on its way
out of a worker process.
"""

from typing import ClassVar

from bullion_client.intent import Intent
from bullion_client.order import ProductionOrder


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

    intent: Intent | None = None
    """The order that was refused, if the call was one that places."""

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


class MarketRefused(Refusal):
    """The market is shut for now: halted, frozen, without a price, or this side or symbol is not offered."""

    _advice = "Watch `tradable` in the quotes, and decide anew when the market is open"


class RequestRefused(Refusal):
    """Any other 4xx: the request was understood, but cannot be carried out as sent."""

    _advice = "Change the request before sending it again"


class NotFound(RequestRefused):
    """There is no such order on the account, or no such symbol."""

    _advice = "Check the id or the code"


class UnknownSymbol(NotFound):
    """There is no symbol of this code. `quotes` raises it too, where the service answers an empty list."""

    _advice = "Check the code: upper and lower case differ, and `symbols()` lists them all"


class QuantityRefused(RequestRefused):
    """The weight breaks the symbol's or the group's size rule, the allocation, or the stock."""

    _advice = "Order another weight: `symbols()` tells the sizes, `positions()` what is free"


class LimitExceeded(QuantityRefused):
    """The order would take the open position in the metal past the weight allocation."""


class KeyReused(RequestRefused):
    """The idempotency key was used before with another body, and has its outcome.

    This call booked nothing, but most likely there is an order under the key. Look for it before you decide
    on another one.
    """

    _advice = "Resume the first intent, or look for its client_order_id, before you place anything more"


class PriceMoved(Refusal):
    """The price went too far from `expected_price`. Nothing was booked, and the key is spent."""

    _advice = "Look at the quote, and place a new order if you still want it"


class OrderRejected(Refusal):
    """The hedge refused the order. Nothing was booked, and the key is spent."""

    order: ProductionOrder | None = None
    """The refused order; None if the service did not tell it in a form that this client reads."""

    _advice = "Place a new order if you still want it"

    @property
    def order_id(self) -> str | None:
        """The id of the refused order."""
        order_id = self.detail.get("order_id")
        return order_id if isinstance(order_id, str) else None


class Unavailable(Refusal):
    """503 and other 5xx: the service itself cannot do it now."""

    _advice = "Retry later"


class Unsettled(BullionError):
    """Placing gave up before the order was settled: the deadline has passed, or trying is of no use now.

    `resume(error.intent)` goes on with the same key and body, now or in a later run. Placing the order anew,
    with another key, could book it twice.
    """

    intent: Intent
    """What was to be placed: the key and the body."""

    tries: int
    """How often it was sent."""

    last: BullionError | None
    """What ended the last try, and tells most about the reason."""

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
        """Seconds to wait before going on, if the service named them."""
        return self.last.retry_after if isinstance(self.last, Refusal | UnexpectedAnswer) else None

    @property
    def request_id(self) -> str | None:
        """The service's id of the last request that it answered: quote it to the operator."""
        return self.last.request_id if isinstance(self.last, Refusal | UnexpectedAnswer) else None


class NotPlaced(Unsettled):
    """Placing gave up, and nothing is booked: every try that can have reached the service was refused."""

    _verdict = "The order was not placed, and nothing is booked"


class OutcomeUnknown(Unsettled):
    """Placing gave up, and the order may be booked or not: a try was not answered, or not for certain.

    Count it neither as bought nor as not bought, and place nothing in its stead, until `resume` has told.
    """

    _verdict = "Whether the order is booked is not known. Resume it, and never place it anew"


class NoAnswer(BullionError):
    """No whole answer arrived: the connection failed, broke off or timed out.

    Whether the service acted on the request is not known, unless it was never sent. `__cause__` is httpx's
    own error.
    """

    url: str
    """The address that was called."""

    reason: str
    """What went wrong on the way."""

    sent: bool
    """Whether any of the request can have reached the service: false where no connection was made."""

    broke: bool
    """Whether a connection was there and broke, as one that was idle for too long does."""

    def __init__(self, url: str, reason: str, *, sent: bool = True, broke: bool = False) -> None:
        super().__init__(url, reason)
        self.url = url
        self.reason = reason
        self.sent = sent
        self.broke = broke

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

    retry_after: int | None
    """Seconds to wait before trying again, if the answer named them."""

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


def _reference(request_id: str | None) -> str:
    return "" if request_id is None else f"Request id: {request_id}"


def _sentences(*parts: str) -> str:
    """Join texts, of which some end in a full stop and some are empty, into sentences."""
    return " ".join(f"{part.rstrip(' .:')}." for part in parts if part)
