"""`me()` through both clients: what is sent, and how a good answer is read."""

import logging
import re
from typing import Any

import httpx
import pytest

import bullion_client
from bullion_client import Account, AsyncClient, Client, Environment, UnexpectedAnswer
from tests.client.calls import LIVE_KEY, SECRET, TEST_KEY, Me
from tests.client.stub_server import StubServer

ANSWER: dict[str, Any] = {
    "login_id": "asha",
    "firm_name": "Asha Jewels",
    "environment": "test",
    "key_id": "k7",
    "key_name": "till",
    "scopes": ["account:read", "orders:read"],
    "production_trading_available": False,
}

ACCOUNT = Account(
    login_id="asha",
    firm_name="Asha Jewels",
    environment=Environment.TEST,
    key_id="k7",
    key_name="till",
    scopes=("account:read", "orders:read"),
    production_trading_available=False,
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_returns_the_account(service: StubServer, me: Me) -> None:
    service.answer(200, ANSWER)
    assert me(service.url, TEST_KEY) == ACCOUNT


@pytest.mark.parametrize(
    ("key", "path"), [(TEST_KEY, "/api/trading/test/v1/me"), (LIVE_KEY, "/api/trading/v1/me")]
)
@pytest.mark.parametrize("prefix", ["", "/", "/broker/one", "/broker/one/", "/a%2Fb"])
def test_the_path_follows_from_key_and_address(
    service: StubServer, me: Me, key: str, path: str, prefix: str
) -> None:
    service.answer(200, ANSWER)
    me(service.url + prefix, key)
    [request] = service.requests
    assert (request.method, request.path) == ("GET", prefix.rstrip("/") + path)


def test_the_key_travels_in_its_header_alone(service: StubServer, me: Me) -> None:
    service.answer(200, ANSWER)
    me(service.url, TEST_KEY)
    [request] = service.requests
    assert request.values("X-API-Key") == [TEST_KEY]
    others = [header for header in request.headers if header[0].lower() != "x-api-key"]
    assert SECRET not in f"{request.path} {others}"


def test_names_itself_and_asks_for_json(service: StubServer, me: Me) -> None:
    service.answer(200, ANSWER)
    me(service.url, TEST_KEY)
    [request] = service.requests
    assert request.values("User-Agent") == [f"bullion-client/{bullion_client.__version__}"]
    assert request.values("Accept") == ["application/json"]


def test_firm_name_may_be_null(service: StubServer, me: Me) -> None:
    service.answer(200, ANSWER | {"firm_name": None})
    assert me(service.url, TEST_KEY).firm_name is None


def test_ignores_fields_it_does_not_know(service: StubServer, me: Me) -> None:
    service.answer(200, ANSWER | {"favourite_metal": {"name": "gold"}})
    assert me(service.url, TEST_KEY) == ACCOUNT


def test_keeps_an_environment_it_does_not_know(service: StubServer, me: Me) -> None:
    service.answer(200, ANSWER | {"environment": "rehearsal"})
    environment = me(service.url, TEST_KEY).environment
    assert isinstance(environment, Environment)
    assert environment == "rehearsal"
    assert not environment.known


@pytest.mark.parametrize("field", ANSWER)
def test_a_missing_field_is_named(service: StubServer, me: Me, field: str) -> None:
    service.answer(200, {name: value for name, value in ANSWER.items() if name != field}, X_Request_Id="r-1")
    with pytest.raises(UnexpectedAnswer, match=f"'{field}' is missing") as caught:
        me(service.url, TEST_KEY)
    error = caught.value
    assert (error.field, error.status, error.request_id) == (field, 200, "r-1")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("login_id", 7, "a string"),
        ("login_id", None, "a string"),
        ("firm_name", False, "a string"),
        ("environment", ["test"], "a string"),
        ("key_id", {}, "a string"),
        ("key_name", 1.5, "a string"),
        ("scopes", "orders:read", "an array"),
        ("scopes[1]", ["orders:read", None], "a string"),
        ("production_trading_available", 1, "a boolean"),
        ("production_trading_available", "true", "a boolean"),
    ],
)
def test_a_wrongly_typed_field_is_named(
    service: StubServer, me: Me, field: str, value: object, expected: str
) -> None:
    service.answer(200, ANSWER | {field.partition("[")[0]: value})
    with pytest.raises(UnexpectedAnswer, match=f"'{re.escape(field)}' is not {expected}\\.") as caught:
        me(service.url, TEST_KEY)
    assert caught.value.field == field


def test_no_log_record_holds_the_key(service: StubServer, me: Me, caplog: pytest.LogCaptureFixture) -> None:
    for name in (None, "httpx", "httpcore"):  # Other tests in this process may have made them quiet.
        caplog.set_level(logging.DEBUG, name)
    service.answer(200, ANSWER)
    me(service.url, TEST_KEY)
    assert service.url in caplog.text  # httpx does log the call
    assert SECRET not in caplog.text


def test_a_client_keeps_its_connection_and_no_cookies(service: StubServer) -> None:
    service.answer(200, ANSWER, Set_Cookie="sticky=1")
    with Client(service.url, TEST_KEY) as client:
        assert client.me() == client.me() == ACCOUNT
    assert len(service.connections) == 1
    assert [request.values("Cookie") for request in service.requests] == [[], []]


@pytest.mark.anyio
async def test_an_async_client_keeps_its_connection_and_no_cookies(service: StubServer) -> None:
    service.answer(200, ANSWER, Set_Cookie="sticky=1")
    async with AsyncClient(service.url, TEST_KEY) as client:
        assert await client.me() == await client.me() == ACCOUNT
    assert len(service.connections) == 1
    assert [request.values("Cookie") for request in service.requests] == [[], []]


def _answer(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json=ANSWER | {"login_id": request.url.host})


def test_takes_a_transport() -> None:
    with Client("https://nowhere.invalid", TEST_KEY, transport=httpx.MockTransport(_answer)) as client:
        assert client.me().login_id == "nowhere.invalid"


@pytest.mark.anyio
async def test_async_takes_a_transport() -> None:
    transport = httpx.MockTransport(_answer)
    async with AsyncClient("https://nowhere.invalid", TEST_KEY, transport=transport) as client:
        assert (await client.me()).login_id == "nowhere.invalid"


@pytest.mark.parametrize(("options", "seconds"), [({}, 10.0), ({"timeout": 2.5}, 2.5)])
@pytest.mark.anyio
async def test_the_timeout_holds_for_every_wait(options: dict[str, Any], seconds: float) -> None:
    timeouts: list[dict[str, float]] = []

    def record(request: httpx.Request) -> httpx.Response:
        timeouts.append(request.extensions["timeout"])
        return _answer(request)

    transport = httpx.MockTransport(record)
    with Client("https://nowhere.invalid", TEST_KEY, transport=transport, **options) as client:
        client.me()
    async with AsyncClient("https://nowhere.invalid", TEST_KEY, transport=transport, **options) as other:
        await other.me()
    assert timeouts == 2 * [dict.fromkeys(["connect", "read", "write", "pool"], seconds)]


def test_leaving_the_context_closes(service: StubServer) -> None:
    service.answer(200, ANSWER)
    with Client(service.url, TEST_KEY) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        client.me()


@pytest.mark.anyio
async def test_leaving_the_async_context_closes(service: StubServer) -> None:
    service.answer(200, ANSWER)
    async with AsyncClient(service.url, TEST_KEY) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        await client.me()
