"""A row of the refusal table, and the exception for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any


class Env(StrEnum):
    """The environments in which a refusal occurs, in the specification's terms."""

    BOTH = "both"
    PROD = "prod"
    TEST = "test"
    """An extension: the specification has no refusals for test only."""


class Retry(StrEnum):
    """What a caller may do next with the same request."""

    NEVER = "never"
    SAME_KEY = "same_key"
    SAME_KEY_AFTER = "same_key_after"
    NEW_KEY = "new_key"


class Family(StrEnum):
    """How a client program handles it. The Python client has an exception class for each."""

    CREDENTIAL = "credential"
    ACCESS = "access"
    RATE_LIMIT = "rate_limit"
    REQUEST = "request"
    NOT_FOUND = "not_found"
    UNKNOWN_SYMBOL = "unknown_symbol"
    QUANTITY = "quantity"
    ALLOCATION = "allocation"
    KEY_REUSED = "key_reused"
    MARKET = "market"
    PRICE_MOVED = "price_moved"
    ORDER_REJECTED = "order_rejected"
    EVENTS_GONE = "events_gone"
    UNAVAILABLE = "unavailable"


class Proof(StrEnum):
    """What a refusal proves about an earlier request for the same order whose response was lost."""

    NOTHING = "nothing"
    """The check runs before the key is looked up, or the store was not reached."""
    NOT_RECORDED = "not_recorded"
    """The key was looked up, and no order was recorded under it then."""
    SETTLED = "settled"
    """The key has its final outcome, which is not this order."""
    UNSURE = "unsure"
    """This request itself may have booked the order."""


_FAMILIES = {
    HTTPStatus.UNAUTHORIZED: Family.CREDENTIAL,
    HTTPStatus.FORBIDDEN: Family.ACCESS,
    HTTPStatus.GONE: Family.EVENTS_GONE,
    HTTPStatus.TOO_MANY_REQUESTS: Family.RATE_LIMIT,
}


def family_of_status(status: int) -> Family:
    """The family of a refusal whose row names none."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Family.UNAVAILABLE
    return _FAMILIES.get(HTTPStatus(status), Family.REQUEST)


@dataclass(frozen=True, slots=True, eq=False)
class RefusalCode:
    """Compared by identity: each row stands in the catalogue once."""

    code: str
    status: int
    env: Env
    when: str
    """The condition, for the documentation."""
    message: str
    """The default message; the check may pass a more specific one."""
    retry: Retry = Retry.NEVER
    settles_key: bool = False
    """Whether this response uses up the idempotency key."""
    specified: bool = True
    """False for extensions of the specification's table."""
    family: Family = Family.REQUEST
    proves: Proof = Proof.NOTHING
    retry_after_s: int = 1
    """The default `Retry-After` of a 503."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One problem of a request: an element of `detail.errors`."""

    loc: tuple[str | int, ...]
    """Where it is, such as `("body", "allocation", "gold")` or `("query", "limit")`."""
    msg: str
    """A sentence for people, shown beside the field. It may change."""
    type: str
    """For programs, like a refusal's code."""


class RefusalError(Exception):
    """The exception that becomes an error response."""

    def __init__(
        self,
        refusal: RefusalCode,
        message: str | None = None,
        *,
        retry_after_s: int | None = None,
        fields: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        errors: Sequence[FieldError] = (),
    ) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
        self.message = message or refusal.message
        # Set here, so that no 503 lacks it.
        if retry_after_s is None and refusal.status == HTTPStatus.SERVICE_UNAVAILABLE:
            retry_after_s = refusal.retry_after_s
        self.retry_after_s = retry_after_s
        self.fields = fields or {}
        self.headers = headers or {}
        self.errors = tuple(errors)

    def body(self) -> dict[str, Any]:
        detail = {"code": self.refusal.code, "message": self.message, **self.fields}
        if self.errors:
            detail["errors"] = [
                {"loc": list(each.loc), "msg": each.msg, "type": each.type} for each in self.errors
            ]
        return {"detail": detail}
