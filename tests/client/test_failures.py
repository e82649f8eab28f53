"""What the clients raise when a call is refused, gets no answer, or gets a strange one."""

import pickle
import socket
import traceback

import httpx
import pytest

from bullion_client import (
    AccessRefused,
    BudgetRefused,
    BullionError,
    CredentialRefused,
    KeyReused,
    LimitExceeded,
    MarketRefused,
    NoAnswer,
    NotFound,
    NotPlaced,
    OrderRejected,
    OutcomeUnknown,
    PriceMoved,
    QuantityRefused,
    Refusal,
    RequestRefused,
    Unavailable,
    UnexpectedAnswer,
)
from tests.client.calls import INTENT, SECRET, TEST_KEY, Me
from tests.client.stub_server import StubServer, serving


def failure(me: Me, base_url: str, timeout: float = 10.0) -> BullionError:
    """Call, expect an error, and check what must be true of all of them."""
    with pytest.raises(BullionError) as caught:
        me(base_url, TEST_KEY, timeout=timeout)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return caught.value


FAMILIES = [
    (401, "invalid_credential", CredentialRefused),
    (403, "insufficient_scope", AccessRefused),
    (429, "rate_limited", BudgetRefused),
    (400, "limit_exceeded", LimitExceeded),
    (400, "quantity_rule", QuantityRefused),
    (403, "trading_halted", MarketRefused),
    (400, "symbol_frozen", MarketRefused),
    (404, "order_not_found", NotFound),
    (409, "price_moved", PriceMoved),
    (409, "order_rejected", OrderRejected),
    (409, "booking_conflict", Unavailable),
    (422, "idempotency_key_reused", KeyReused),
    (422, "invalid_request", RequestRefused),
    (499, "not_in_the_table", RequestRefused),
    (500, "internal_error", Unavailable),
    (503, "service_unavailable", Unavailable),
]


@pytest.mark.parametrize(("status", "code", "family"), FAMILIES)
def test_a_refusal_is_raised_as_its_family(
    service: StubServer, me: Me, status: int, code: str, family: type[Refusal]
) -> None:
    detail = {"code": code, "message": "The desk says no.", "reason": "account"}
    service.answer(status, {"detail": detail}, X_Request_Id="r-42")
    error = failure(me, service.url)
    assert type(error) is family
    assert (error.code, error.status, error.message) == (code, status, "The desk says no.")
    assert (error.request_id, error.retry_after, error.detail) == ("r-42", None, detail)


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (401, "invalid_credential", "Check the API key"),
        (403, "api_access_disabled", "Only the operator can change this"),
        (429, "rate_limited", "try again later"),
        (422, "invalid_request", "Change the request"),
        (400, "limit_exceeded", "`positions()` the free weight"),
        (503, "stale_rate", "Retry later"),
    ],
)
def test_a_refusal_tells_code_message_request_and_what_to_do(
    service: StubServer, me: Me, status: int, code: str, advice: str
) -> None:
    service.answer(status, {"detail": {"code": code, "message": "No."}}, X_Request_Id="r-42")
    text = str(failure(me, service.url))
    assert text.startswith(f"{code} ({status}): No. ")
    assert advice in text
    assert text.endswith(" Request id: r-42.")


def test_a_refusal_tells_how_long_to_wait(service: StubServer, me: Me) -> None:
    service.answer(429, {"detail": {"code": "rate_limited", "message": "Budget used up"}}, Retry_After="7")
    error = failure(me, service.url)
    assert isinstance(error, BudgetRefused)
    assert error.retry_after == 7
    assert str(error) == "rate_limited (429): Budget used up. Try again after 7 s."


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "1.5", "", "9" * 5000])
def test_a_strange_retry_after_is_ignored(service: StubServer, me: Me, value: str) -> None:
    service.answer(503, {"detail": {"code": "stale_rate", "message": "Old."}}, Retry_After=value)
    error = failure(me, service.url)
    assert isinstance(error, Unavailable)
    assert error.retry_after is None


@pytest.mark.parametrize("detail", [{"code": "stale_rate"}, {"code": "stale_rate", "message": 7}])
def test_a_refusal_needs_no_message(service: StubServer, me: Me, detail: dict[str, object]) -> None:
    service.answer(503, {"detail": detail})
    error = failure(me, service.url)
    assert isinstance(error, Unavailable)
    assert (error.code, error.message, error.request_id) == ("stale_rate", "", None)
    assert str(error) == "stale_rate (503). Retry later."


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"detail": "Not Found"}),
        (429, {"detail": {"message": "no code"}}),
        (503, {"detail": {"code": 7}}),
        (400, {"error": "x"}),
        (401, ["x"]),
        (403, b"<html>"),
        (500, b""),
        (502, b"\xff\xfe\xfa"),
        (404, b"[" * 100_000),
    ],
    ids=["text", "no-code", "number", "other", "array", "html", "empty", "not-utf8", "deep"],
)
def test_an_error_without_a_code_is_not_the_service(
    service: StubServer, me: Me, status: int, body: object
) -> None:
    service.answer(status, body, X_Request_Id="r-9")
    error = failure(me, service.url)
    assert isinstance(error, UnexpectedAnswer)
    assert (error.status, error.request_id, error.field) == (status, "r-9", None)
    assert str(error).startswith(f"{service.url}/api/trading/test/v1/me answered with status {status}, but ")
    assert str(error).endswith("Request id: r-9.")


def test_a_404_without_a_code_points_at_the_address(service: StubServer, me: Me) -> None:
    service.answer(404, {"detail": "Not Found"})
    assert "comes from a wrong host or path: check base_url" in str(failure(me, service.url))


def test_a_5xx_without_a_code_points_at_a_proxy(service: StubServer, me: Me) -> None:
    service.answer(502, b"<html>Bad Gateway</html>")
    assert "proxy in front of the service: try again later" in str(failure(me, service.url))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<html>Welcome</html>", "not in JSON"),
        (b'{"login_id": "as', "not in JSON"),
        (b"[]", "not with a JSON object"),
        (b"null", "not with a JSON object"),
    ],
)
def test_a_good_status_with_a_bad_body(service: StubServer, me: Me, body: bytes, problem: str) -> None:
    service.answer(200, body)
    error = failure(me, service.url)
    assert isinstance(error, UnexpectedAnswer)
    assert (error.problem, error.status) == (problem, 200)


def test_a_body_that_cannot_be_decoded(service: StubServer, me: Me) -> None:
    service.answer(200, b"not gzip at all", Content_Encoding="gzip")
    error = failure(me, service.url)
    assert isinstance(error, UnexpectedAnswer)
    assert isinstance(error.__cause__, httpx.DecodingError)
    assert str(error).startswith(f"{service.url}/api/trading/test/v1/me answered, but its body cannot")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(service: StubServer, me: Me, status: int) -> None:
    with serving() as elsewhere:
        service.answer(status, b"", Location=f"{elsewhere.url}/me")
        error = failure(me, service.url)
        assert isinstance(error, UnexpectedAnswer)
        assert (error.status, len(service.requests)) == (status, 1)
        assert elsewhere.url in str(error)
        assert elsewhere.requests == []


def test_a_redirect_that_leads_nowhere(service: StubServer, me: Me) -> None:
    service.answer(302, {"detail": {"code": "moved", "message": "Away."}})
    error = failure(me, service.url)
    assert isinstance(error, UnexpectedAnswer)
    assert error.status == 302


def test_a_refused_connection(me: Me) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: every connection is refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        error = failure(me, url)
    assert isinstance(error, NoAnswer)
    assert isinstance(error.__cause__, httpx.ConnectError)
    assert error.url == f"{url}/api/trading/test/v1/me"
    assert str(error).startswith(f"No response from {error.url}: ")
    assert "(ConnectError). Check the address and the network" in str(error)


def test_an_answer_that_takes_too_long(service: StubServer, me: Me) -> None:
    service.answering.clear()
    error = failure(me, service.url, timeout=0.1)
    assert isinstance(error, NoAnswer)
    assert isinstance(error.__cause__, httpx.ReadTimeout)
    assert error.reason == "timed out (ReadTimeout)"


def test_an_answer_that_breaks_off(service: StubServer, me: Me) -> None:
    service.answer(200, {"login_id": "asha"})
    service.missing_bytes = 10
    error = failure(me, service.url)
    assert isinstance(error, NoAnswer)
    assert isinstance(error.__cause__, httpx.RemoteProtocolError)


def test_without_a_deadline_no_call_is_sent_twice(service: StubServer, me: Me) -> None:
    service.answer(503, {"detail": {"code": "service_unavailable", "message": "Wait."}}, Retry_After="1")
    failure(me, service.url)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "error",
    [
        BudgetRefused("rate_limited", 429, "Too fast", 7, "r-1", {"code": "rate_limited"}),
        NoAnswer("https://trading.example/me", "timed out"),
        NoAnswer("https://trading.example/me", "refused", sent=False, broke=True),
        UnexpectedAnswer(
            "not in JSON", "Check base_url", "https://trading.example/me", 200, "r-2", "scopes", 7
        ),
        NotPlaced(INTENT, 3, BudgetRefused("rate_limited", 429, "Too fast", 7, "r-1")),
        OutcomeUnknown(INTENT, 1, NoAnswer("https://trading.example/me", "timed out")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_pickling(error: BullionError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made one line ago
    assert type(copy) is type(error)
    assert {**vars(copy), "last": repr(vars(copy).get("last"))} == {
        **vars(error),
        "last": repr(vars(error).get("last")),
    }
    assert str(copy) == str(error)


def test_what_a_refusal_was_given_later_survives_pickling() -> None:
    error = OrderRejected("order_rejected", 409, "No.", None, "r-1", {"order_id": "7"})
    error.intent = INTENT
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made two lines ago
    assert (copy.intent, copy.order_id, copy.order) == (INTENT, "7", None)


def test_an_unsettled_order_tells_of_its_last_refusal() -> None:
    error = NotPlaced(INTENT, 3, BudgetRefused("rate_limited", 429, "Too fast", 7, "r-1"))
    assert (error.code, error.retry_after, error.request_id) == ("rate_limited", 7, "r-1")
    assert str(error).startswith(
        "The order was not placed, and nothing is booked; its idempotency key is k-1. "
        "Tried 3 times. rate_limited"
    )
    unknown = OutcomeUnknown(INTENT, 1, NoAnswer("https://trading.example/me", "timed out"))
    assert (unknown.code, unknown.retry_after, unknown.request_id) == (None, None, None)
    assert "Tried 1 time. No response" in str(unknown)
    assert "do not place it again" in str(unknown)
