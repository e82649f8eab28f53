"""The description of the interface as a whole: valid, complete, and true of what the service answers."""

import asyncio
import json
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from typing import Any, cast

import pytest
from jsonschema import ValidationError
from openapi_spec_validator import OpenAPIV31SpecValidator
from prometheus_client import CollectorRegistry

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.api.app import TradingApi
from bullion.api.endpoints import endpoints
from bullion.api.event_stream import EventStreams
from bullion.api.events import Events
from bullion.api.gate import Gate
from bullion.api.market_data import MarketData
from bullion.api.me import Me, me
from bullion.api.openapi.endpoints import ME as ME_ENDPOINT
from bullion.api.openapi.refusals import WITH_KEY
from bullion.api.orders import Orders, ProductionOrders
from bullion.api.positions import Positions
from bullion.api.quote_stream import QuoteStreams
from bullion.api.scenarios import Scenarios
from bullion.api.webhooks import Webhooks
from bullion.environment import Environment
from bullion.keys.key import Key, Scope
from bullion.refusals.catalogue import CATALOGUE, OUT_OF_STOCK
from bullion.refusals.refusal import RefusalError, Retry
from bullion.web import health
from bullion.web.calls import CallLog
from bullion.web.response import NOT_FOUND, Response, encode_json
from tests.api.description import (
    DESCRIPTION,
    ME,
    ME_CODES,
    OPEN,
    READS,
    REAL_READS,
    ROWS,
    STREAMS,
    WEBHOOKS,
    Json,
    body_of,
    check,
    codes,
    every_response,
    examples,
    in_earnest,
    is_refused,
    media_of,
    operations,
    refused,
    refused_in_earnest,
    responses,
    schema_of,
)

SAID = {
    "limit_exceeded": (
        "The order would take the gold position past the weight allocation: "
        "900.0000 g of 1000.0000 g are free."
    )
}
"""Examples whose message says more than the catalogue's."""


FURTHER = {
    "invalid_request": "InvalidRequest",
    "production_trading_disabled": "ProductionTradingDisabled",
    "order_rejected": "OrderRejected",
    "events_gone": "EventsGone",
}
"""Refusals that have more than a code and a message, and their schemas."""


def objects_with_references(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value
        for inner in value.values():
            yield from objects_with_references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects_with_references(inner)


def names_of_keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from names_of_keys(inner)


def test_it_is_valid_openapi() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(DESCRIPTION).iter_errors()] == []
    assert DESCRIPTION["openapi"].startswith("3.1.")
    assert DESCRIPTION["info"]["title"] == "Bullion Trading API"
    assert DESCRIPTION["info"]["version"] == "1.0.0"


def test_it_survives_the_way_to_the_wire() -> None:
    assert json.loads(encode_json(DESCRIPTION)) == DESCRIPTION


@pytest.mark.parametrize("path", ME)
def test_me_lists_the_codes_it_can_answer_with(path: str) -> None:
    assert refused_in_earnest(path) == ME_CODES


def test_statuses_and_messages_are_the_catalogues() -> None:
    met = set()
    for path, method in operations():
        for status, response in responses(path, method).items():
            for code in codes(response) if is_refused(response) else ():
                met.add(code)
                assert status == str(ROWS[code].status)
                assert ROWS[code].when in response["description"]
    given = DESCRIPTION["components"]["examples"]
    assert set(given) == met - FURTHER.keys(), "whose examples are each call's own"
    for code, example in given.items():
        body = RefusalError(ROWS[code], SAID.get(code)).body()
        assert example["value"] == body


def test_the_whole_catalogue_is_there_in_its_order() -> None:
    rows = DESCRIPTION["x-refusals"]
    assert [(row["code"], row["status"], row["retry"]) for row in rows] == [
        (row.code, row.status, row.retry.value) for row in CATALOGUE
    ]
    assert set(DESCRIPTION["x-retry-advice"]) == {retry.value for retry in Retry}


def test_what_production_alone_refuses_is_left_out_of_test() -> None:
    endpoint = replace(ME_ENDPOINT, refusals=(*WITH_KEY, OUT_OF_STOCK))
    status = str(OUT_OF_STOCK.status)
    in_test = endpoint.operation(Environment.TEST)["responses"][status]
    in_production = endpoint.operation(Environment.PRODUCTION)["responses"][status]
    assert codes(in_test) == ["malformed_http", "unknown_scenario"]
    assert codes(in_production) == ["malformed_http", OUT_OF_STOCK.code]


def test_every_example_is_as_its_schema_says() -> None:
    checked = 0
    for response in every_response():
        for example in examples(response):
            check(example, media_of(response)["schema"])
            checked += 1
    assert checked >= 2 * sum(map(len, ME_CODES.values()))


def test_nothing_stands_beside_a_reference() -> None:
    """Generators drop what does, and Spectral and Redocly find fault with it."""
    references = list(objects_with_references(DESCRIPTION))
    assert len(references) > len(CATALOGUE)
    assert [each for each in references if len(each) > 1] == []


def test_every_code_has_one_body() -> None:
    assert {body_of(row.code) for row in CATALOGUE if row.code not in FURTHER} == {"Refusal"}
    assert {code: body_of(code) for code in FURTHER} == FURTHER


def test_a_refusal_takes_no_other_body() -> None:
    schema = responses(ME[0])["401"]["content"]["application/json"]["schema"]
    check({"detail": {"code": "wrong_tenant", "message": "…"}}, schema)
    for body in (
        {"detail": {"code": "no_such_code", "message": "…"}},
        {"detail": {"code": "invalid_request", "message": "…", "errors": []}},
        {"detail": {"code": "wrong_tenant"}},
        json.loads(NOT_FOUND.body),
    ):
        with pytest.raises(ValidationError):
            check(body, schema)


def test_answers_have_no_defaults() -> None:
    names = set(names_of_keys(DESCRIPTION["components"])) | set(names_of_keys(list(every_response())))
    assert "required" in names
    assert "default" not in names


def test_headers() -> None:
    budget = {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}
    assert all("X-Request-Id" in response["headers"] for response in every_response())
    for path in ME:
        told = in_earnest(path)["responses"]
        found = {status: set(response["headers"]) for status, response in told.items()}
        assert found["200"] == {"X-Request-Id"} | budget
        assert found["429"] == {"X-Request-Id", "Retry-After"} | budget
        assert {"X-Request-Id", "Retry-After"} <= found["503"]
        assert found["405"] == {"X-Request-Id", "Allow"}
        assert found["401"] == found["403"] == {"X-Request-Id"}
    for path in OPEN:
        assert all(budget.isdisjoint(response["headers"]) for response in responses(path).values())


def test_keys() -> None:
    scheme = DESCRIPTION["components"]["securitySchemes"]["ApiKey"]
    assert (scheme["type"], scheme["in"], scheme["name"]) == ("apiKey", "header", "X-API-Key")
    for path in ME:
        assert DESCRIPTION["paths"][path]["get"]["security"] == [{"ApiKey": ["account:read"]}]
    for path in OPEN:
        assert DESCRIPTION["paths"][path]["get"]["security"] == []


def test_codes_stand_in_the_order_of_the_checks_and_each_is_met_somewhere() -> None:
    order = [row.code for row in CATALOGUE]
    met: set[str] = set()
    for path, method in operations():
        for found in refused(path, method).values():
            assert found == sorted(found, key=order.index)
            met.update(found)
    assert met == {row.code for row in CATALOGUE}


def test_the_account_is_described_alike_in_both_environments() -> None:
    test, live = (in_earnest(path) for path in ME)
    live["responses"] = live["responses"] | {"200": test["responses"]["200"]}
    names = {"operationId": "", "summary": ""}
    assert live | names == test | names, "but for the environment of the example"


# --- True of what the service answers -----------------------------------------------------------------


def account_answer(firm_name: str | None) -> Json:
    key = Key("9f2c41d07ab8e356", "demo", 1, Environment.TEST, "engine", frozenset(Scope), b"", (), 0)
    account = Account(1, "demo", "mehta", firm_name, "retail", True, True, False)  # noqa: FBT003
    answer: Json = json.loads(encode_json(me(key, account, Switches("demo"), deploy_on=True)))
    return answer


@pytest.mark.parametrize("firm_name", ["Mehta Jewels", None])
def test_the_account_is_described_field_by_field(firm_name: str | None) -> None:
    answer = account_answer(firm_name)
    schema = DESCRIPTION["components"]["schemas"]["Account"]
    check(answer, schema)
    assert list(answer) == list(schema["properties"]) == schema["required"]


def test_health_is_described() -> None:
    async def checks() -> dict[str, bool]:
        return {"store": False, "catalogue": True}

    schemas = DESCRIPTION["components"]["schemas"]
    check(json.loads(health.live().body), schemas["Liveness"])
    answer = asyncio.run(health.ready(checks))
    check(json.loads(answer.body), schemas["Readiness"])
    assert str(answer.status) in responses("/health/ready")


def call(method: str, path: str) -> tuple[int, dict[str, str]]:
    """Call the real application, far enough for it to answer about the route."""

    async def checks() -> dict[str, bool]:
        return {}

    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError

    journal = CallLog(CollectorRegistry(), log_all=False)
    pages = {"/openapi.json": Response(200, encode_json(DESCRIPTION))}
    nothing: Any = None
    orders = Orders(nothing, nothing, nothing, nothing, nothing)
    real_orders = ProductionOrders(nothing, nothing, nothing, nothing, nothing)
    market_data = MarketData(nothing, nothing)
    routed = endpoints(
        Me(deploy_on=False),
        Positions(nothing),
        (orders, market_data),
        (real_orders, market_data),
        Events(nothing, nothing, nothing),
        Webhooks(*[nothing] * 5, allow_private=False),
        Scenarios(nothing, nothing, nothing, orders),
        EventStreams(nothing, nothing, nothing),
        (QuoteStreams(nothing, market_data, nothing),) * 2,
    )
    app = TradingApi(cast("Gate", None), journal, checks, pages, routed)
    scope: Json = {"type": "http", "method": method, "path": path, "headers": [], "client": None}
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_every_call_is_described_and_nothing_else() -> None:
    assert set(DESCRIPTION["paths"]) == {*ME, *READS, *REAL_READS, *STREAMS, *WEBHOOKS, *OPEN}


@pytest.mark.parametrize("path", STREAMS)
def test_streams_are_described(path: str) -> None:
    content = responses(path)["200"]["content"]
    assert list(content) == ["text/event-stream"]
    message = content["text/event-stream"]["example"]
    assert ("id" in message) == ("events" in path)
    items = DESCRIPTION["paths"][path.removesuffix("/stream")]["get"]["responses"]["200"]["content"]
    schema = items["application/json"]["schema"]["$ref"].rpartition("/")[2]
    check(json.loads(message["data"]), schema_of(schema)["properties"]["items"]["items"])
    assert "too_many_streams" in refused(path)["429"]
    assert ("quote_stream_disabled" in refused(path)["403"]) == ("quotes" in path)
    assert ("410" in refused(path)) == ("events" in path)


@pytest.mark.parametrize("path", DESCRIPTION["paths"])
def test_each_path_is_there_and_takes_the_methods_described(path: str) -> None:
    status, headers = call("PUT", path)
    assert status == ROWS["method_not_allowed"].status
    described = {method.upper() for method in DESCRIPTION["paths"][path]}
    if path in (health.LIVE, health.READY):
        assert "`HEAD`" in DESCRIPTION["paths"][path]["get"]["description"]
        described.add("HEAD")
    assert headers["allow"].split(", ") == sorted(described)


def test_an_unknown_path_is_described() -> None:
    response = DESCRIPTION["components"]["responses"]["UnknownPath"]
    assert call("GET", "/nothing-here")[0] == 404
    assert "404" in response["description"]
    assert examples(response) == [{"detail": "Not Found"}]
