"""Telling accepted from refused, and refusals into their families."""

import httpx

from bullion_client.advice import Family
from bullion_client.answer import Answer, json_object, request_id, retry_after, unexpected
from bullion_client.errors import (
    AccessRefused,
    BudgetRefused,
    CredentialRefused,
    KeyReused,
    LimitExceeded,
    MarketRefused,
    NotFound,
    OrderRejected,
    PriceMoved,
    QuantityRefused,
    Refusal,
    RequestRefused,
    Unavailable,
    UnexpectedAnswer,
    UnknownSymbol,
)
from bullion_client.order import ProductionOrder
from bullion_client.reading import read
from bullion_client.verdict import advice_on

_CLASSES: dict[Family, type[Refusal]] = {
    Family.CREDENTIAL: CredentialRefused,
    Family.ACCESS: AccessRefused,
    Family.RATE_LIMIT: BudgetRefused,
    Family.REQUEST: RequestRefused,
    Family.NOT_FOUND: NotFound,
    Family.UNKNOWN_SYMBOL: UnknownSymbol,
    Family.QUANTITY: QuantityRefused,
    Family.ALLOCATION: LimitExceeded,
    Family.KEY_REUSED: KeyReused,
    Family.MARKET: MarketRefused,
    Family.PRICE_MOVED: PriceMoved,
    Family.ORDER_REJECTED: OrderRejected,
    Family.UNAVAILABLE: Unavailable,
}


def accepted(response: httpx.Response) -> Answer:
    """Return the answer to read if the call was accepted; raise the refusal, or what else it is, if not."""
    if response.has_redirect_location:
        # Following would carry the key to wherever the redirect points.
        location = response.headers["Location"][:200]
        raise unexpected(
            response, f"it redirects to {location!r}, and the key is not sent there", "Check base_url"
        )
    fields = json_object(response, _foreign_advice(response.status_code))
    if response.is_success:
        return Answer(response, fields)
    raise _refusal(response, fields)


def _refusal(response: httpx.Response, fields: dict[str, object]) -> Refusal | UnexpectedAnswer:
    detail = fields.get("detail")
    if not response.is_error or not isinstance(detail, dict) or not isinstance(detail.get("code"), str):
        advice = _foreign_advice(response.status_code)
        return unexpected(response, "without the code that a refusal has", advice)
    code, message = detail["code"], detail.get("message")
    refusal = _CLASSES[advice_on(code, response.status_code).family](
        code,
        response.status_code,
        # The message is for people: a refusal without one is still a refusal.
        message if isinstance(message, str) else "",
        retry_after(response),
        request_id(response),
        detail,
    )
    if isinstance(refusal, OrderRejected):
        _tell_order(refusal, Answer(response, detail, "detail."))
    return refusal


def _tell_order(rejected: OrderRejected, detail: Answer) -> None:
    """The code has said all that matters: an order that cannot be read does not make it less of a refusal."""
    try:
        rejected.order = read(ProductionOrder, detail.inner("order"))
    except UnexpectedAnswer:
        rejected.order = None


def _foreign_advice(status: int) -> str:
    if status == 404:
        return "A 404 without a code comes from a wrong host or path: check base_url"
    if status >= 500:
        return "It seems to come from a proxy in front of the service: try again later"
    return "Check base_url, and any proxy on the way"
