"""What a caller may set beyond address and key: headers, times, the program's name, a way to the network."""

import traceback
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest

from bullion_client import AsyncClient, Client, Journal, NoAnswer, UnexpectedAnswer, __version__
from tests.client.calls import INTENT, SECRET, TEST_KEY
from tests.client.mock_service import ADDRESS, MockService, Opened
from tests.client.scripted_network import answer

Kind = type[Client | AsyncClient]
SCENARIO = "X-Bullion-Scenario"

EVERY_CALL: dict[str, Callable[..., Any]] = {
    "me": lambda client, **more: client.me(**more),
    "symbols": lambda client, **more: client.symbols(**more),
    "quotes": lambda client, **more: client.quotes(**more),
    "quote": lambda client, **more: client.quote("GOLD", **more),
    "place": lambda client, **more: client.place("GOLD", "buy", 5, **more),
    "buy": lambda client, **more: client.buy("GOLD", 5, **more),
    "sell": lambda client, **more: client.sell("GOLD", 5, **more),
    "resume": lambda client, **more: client.resume(INTENT, **more),
    "order": lambda client, **more: client.order("7", **more),
    "orders": lambda client, **more: client.orders(**more),
    "order_page": lambda client, **more: client.order_page(**more),
    "positions": lambda client, **more: client.positions(**more),
    "events": lambda client, **more: client.events(**more),
    "event_page": lambda client, **more: client.event_page(**more),
    "stream": lambda client, **more: client.stream(**more),
    "wait": lambda client, **more: client.wait("7", **more),
}
CALLS = pytest.mark.parametrize("name", EVERY_CALL)


def test_these_are_all_calls() -> None:
    """`find` is not among them: an answer to it is a refusal."""
    public = {name for name in vars(Client) if not name.startswith("_")}
    assert public - {"close", "find", "with_raw_response", "webhooks"} == EVERY_CALL.keys()


@CALLS
def test_headers_of_the_client_and_of_the_call_go_along(kind: Kind, name: str) -> None:
    service = MockService()
    opened = Opened(kind, service, headers={"X-Shop": "7", "X-Till": "1"})
    opened.call(lambda client: EVERY_CALL[name](client, headers={SCENARIO: "stale_rate", "x-till": "2"}))
    opened.call(EVERY_CALL[name])
    half = len(service.requests) // 2
    assert half >= 1
    assert service.sent("X-Shop") == ["7"] * half * 2
    assert service.sent("X-Till") == ["2"] * half + ["1"] * half
    assert service.sent(SCENARIO) == ["stale_rate"] * half + [None] * half


def test_headers_go_along_on_every_try(kind: Kind) -> None:
    service = MockService(httpx.RemoteProtocolError("broke"))
    order = Opened(kind, service).call(lambda client: client.buy("GOLD", 5, headers={SCENARIO: "x"}))
    assert (order.deal_label, service.sent(SCENARIO)) == ("T-1", ["x"] * 2)
    assert len(set(service.sent("Idempotency-Key"))) == 1


def test_find_has_headers_too(kind: Kind) -> None:
    service = MockService(answer(422, {"detail": {"code": "idempotency_key_reused"}}))
    found = Opened(kind, service).call(lambda client: client.find(INTENT, headers={"X-Shop": "7"}))
    assert (found.deal_label, service.sent("X-Shop")) == ("T-1", ["7", "7"])


def test_options_change_a_copy(kind: Kind) -> None:
    service = MockService()
    opened = Opened(kind, service, headers={"X-Shop": "7"}, timeout=3.0)
    first = opened.client
    opened.client = first.with_options(timeout=1.5, headers={SCENARIO: "stale_rate"})
    assert type(opened.client) is type(first)
    opened.call(EVERY_CALL["me"])
    opened.client = first
    opened.call(EVERY_CALL["me"])
    assert service.sent(SCENARIO) == ["stale_rate", None]
    assert service.sent("X-Shop") == ["7", "7"]
    assert [request.extensions["timeout"]["read"] for request in service.requests] == [1.5, 3.0]


def test_a_deadline_may_be_set_for_a_read(kind: Kind) -> None:
    service = MockService(httpx.ConnectError("no"), httpx.ConnectError("no"))
    opened = Opened(kind, service)
    opened.client = opened.client.with_options(deadline=0)
    with pytest.raises(NoAnswer):
        opened.call(EVERY_CALL["me"])
    assert len(service.requests) == 1


@pytest.mark.parametrize("options", [{"timeout": -1}, {"deadline": float("nan")}, {"headers": {"a b": "c"}}])
def test_options_are_checked_at_once(kind: Kind, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} "):
        kind(ADDRESS, TEST_KEY).with_options(**options)


def test_a_copy_leaves_the_connections_open(kind: Kind) -> None:
    opened = Opened(kind, MockService())
    closing = "aclose" if kind is AsyncClient else "close"
    first, opened.client = opened.client, opened.client.with_options(timeout=1)
    opened.call(lambda client: getattr(client, closing)())
    opened.client = first
    assert opened.call(EVERY_CALL["me"]).login_id == "aurum"
    opened.call(lambda client: getattr(client, closing)())
    with pytest.raises(RuntimeError, match="closed"):
        opened.call(EVERY_CALL["me"])


def test_a_journal_reads_the_account_once_and_without_the_headers_of_an_order(
    kind: Kind, tmp_path: Any
) -> None:
    service = MockService()
    opened = Opened(kind, service, headers={"X-Shop": "7"}, journal=Journal(tmp_path / "j"))
    opened.client = opened.client.with_options(headers={SCENARIO: "booking_busy"})
    for _ in range(2):
        opened.call(lambda client: client.buy("GOLD", 5, headers={"X-Till": "1"}))
    assert [request.url.path.rpartition("/")[2] for request in service.requests] == ["me", "orders", "orders"]
    assert service.sent("X-Shop") == ["7"] * 3
    assert service.sent(SCENARIO) == [None, "booking_busy", "booking_busy"]
    assert service.sent("X-Till") == [None, "1", "1"]


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"X-API-Key": SECRET}, "cannot set X-API-Key: give api_key to the client"),
        (
            {"idempotency-key": SECRET},
            "cannot set idempotency-key: give idempotency_key to place, buy or sell",
        ),
        ({"User-Agent": SECRET}, "cannot set User-Agent: give application to the client"),
        ({"Content-Type": SECRET}, "cannot set Content-Type: the client sends JSON only"),
        ({"Content-Length": SECRET}, "cannot set Content-Length: it follows from the body"),
        ({"": SECRET}, "a name that no header can have: ''"),
        ({"X Shop": SECRET}, "a name that no header can have: 'X Shop'"),
        ({"X-Shop:": SECRET}, "a name that no header can have: 'X-Shop:'"),
        ({"X-Shop": f"{SECRET}\r\nX-Other: 1"}, "a value for X-Shop that is not printable ASCII"),
        ({"X-Shop": f" {SECRET}"}, "or has blanks around"),
        ({"X-Shop": f"{SECRET}₹"}, "a value for X-Shop that is not printable ASCII"),
    ],
)
def test_headers_that_cannot_be_sent(kind: Kind, headers: dict[str, str], said: str) -> None:
    service = MockService()
    for attempt in (
        lambda: kind(ADDRESS, TEST_KEY, headers=headers),
        lambda: Opened(kind, service).call(lambda client: client.buy("GOLD", 5, headers=headers)),
        lambda: Opened(kind, service).call(lambda client: client.me(headers=headers)),
    ):
        with pytest.raises(ValueError, match="headers ") as caught:
            attempt()
        assert said in str(caught.value)
        assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert service.requests == []


def test_headers_are_not_shown(kind: Kind) -> None:
    client = kind(ADDRESS, TEST_KEY, headers={"Authorization": f"Basic {SECRET}"})
    assert SECRET not in repr(client) + repr(vars(client))


@pytest.mark.parametrize("name", ["till", "till/2.1", "till/2.1 shop-7/1"])
def test_the_program_is_named_in_the_user_agent(kind: Kind, name: str) -> None:
    service = MockService()
    Opened(kind, service, application=name).call(EVERY_CALL["me"])
    Opened(kind, service).call(EVERY_CALL["me"])
    own = f"bullion-client/{__version__}"
    assert service.sent("User-Agent") == [f"{own} {name}", own]


@pytest.mark.parametrize(
    "name", ["", " ", "till\r\nX: y", "till (v2)", "till/", "/1", "t" * 101, "₹", "a  b"]
)
def test_a_name_that_cannot_be_one(kind: Kind, name: str) -> None:
    with pytest.raises(ValueError, match="application must be a name such as 'till'"):
        kind(ADDRESS, TEST_KEY, application=name)


def _own(kind: Kind, service: MockService, **options: Any) -> Any:
    made: Any = httpx.AsyncClient if kind is AsyncClient else httpx.Client
    return made(transport=service.transport, **options)


def test_an_http_client_of_the_callers_is_used_and_left_open(kind: Kind) -> None:
    service = MockService()
    http = _own(kind, service, base_url="https://other.example", headers={"X-Other": "1"}, timeout=1)
    opened = Opened(kind, service, http_client=http)
    opened.call(EVERY_CALL["me"])
    opened.call(lambda client: client.aclose() if kind is AsyncClient else client.close())
    assert not http.is_closed
    opened.call(EVERY_CALL["me"])
    assert [str(request.url) for request in service.requests] == [f"{ADDRESS}/api/trading/test/v1/me"] * 2
    assert service.sent("X-Other") == [None, None]
    assert service.requests[0].extensions["timeout"]["read"] == 10.0


def test_an_http_client_that_follows_redirects_does_not_take_the_key_along(kind: Kind) -> None:
    service = MockService(httpx.Response(307, headers={"Location": "https://other.example/"}))
    http = _own(kind, service, follow_redirects=True)
    with pytest.raises(UnexpectedAnswer, match="the key is not sent there"):
        Opened(kind, service, http_client=http).call(EVERY_CALL["me"])
    assert len(service.requests) == 1


def test_there_is_one_way_to_the_network(kind: Kind) -> None:
    service = MockService()
    http = _own(kind, service)
    for other in ({"transport": service.transport}, {"proxy": "http://proxy.example"}):
        with pytest.raises(ValueError, match="give either an http_client or"):
            kind(ADDRESS, TEST_KEY, http_client=http, **other)
    wrong: Any = httpx.Client() if kind is AsyncClient else httpx.AsyncClient()
    with pytest.raises(TypeError, match=r"http_client must be a httpx\.(Async)?Client"):
        kind(ADDRESS, TEST_KEY, http_client=wrong)
    anyio.run(wrong.aclose) if kind is Client else wrong.close()


def test_an_argument_that_is_wrong_opens_nothing(kind: Kind) -> None:
    with pytest.raises(ValueError, match="proxy must be an address"):
        kind(ADDRESS, TEST_KEY, proxy=f"{SECRET}")
