"""The description of the interface: valid, complete, and true of what the service answers."""

import asyncio
import json
from collections.abc import Iterator, MutableMapping
from decimal import Decimal
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator, ValidationError
from openapi_spec_validator import OpenAPIV31SpecValidator
from prometheus_client import CollectorRegistry
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from bullion.accounts.account import Account
from bullion.accounts.switches import Switches
from bullion.api.app import TradingApi
from bullion.api.endpoints import endpoints
from bullion.api.gate import Gate
from bullion.api.market_data import MarketData
from bullion.api.me import Me, me
from bullion.api.openapi import openapi
from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.endpoints.account import ME as ME_ENDPOINT
from bullion.api.openapi.refused import WITH_KEY
from bullion.api.orders import Orders
from bullion.api.positions import Positions
from bullion.environment import Environment
from bullion.keys.key import Key, Scope
from bullion.refusals.catalogue import CATALOGUE, OUT_OF_STOCK
from bullion.refusals.refusal import Env, Refused, Retry
from bullion.web import health
from bullion.web.answer import NOT_FOUND, Answer, encode_json
from bullion.web.calls import CallJournal

Json = dict[str, Any]

DESCRIPTION = openapi()
ME = ["/api/trading/test/v1/me", "/api/trading/v1/me"]
TEST = "/api/trading/test/v1"
ORDERS = f"{TEST}/orders"
ORDER = f"{TEST}/orders/{{order_id}}"
POSITIONS, SYMBOLS, QUOTES = (f"{TEST}/{name}" for name in ("positions", "symbols", "quotes"))
READS = [ORDERS, ORDER, POSITIONS, SYMBOLS, QUOTES]
OPEN = ["/health/live", "/health/ready", "/openapi.json"]
ROWS = {row.code: row for row in CATALOGUE}
ME_CODES = {
    "400": ["malformed_http"],
    "401": [
        "missing_credential",
        "malformed_credential",
        "wrong_tenant",
        "wrong_environment",
        "invalid_credential",
        "credential_revoked",
        "credential_rotated",
        "credential_expired",
    ],
    "403": ["address_not_allowed", "api_access_disabled", "account_inactive", "insufficient_scope"],
    "405": ["method_not_allowed"],
    "408": ["request_timeout"],
    "429": ["auth_throttled", "rate_limited"],
    "431": ["headers_too_large"],
    "500": ["internal_error"],
    "503": ["service_unavailable"],
}
ORDER_CODES = ME_CODES | {
    "400": [
        "malformed_http",
        "idempotency_key_required",
        "symbol_not_trading",
        "invalid_side",
        "no_live_price",
        "unpriced",
        "symbol_frozen",
        "quantity_rule",
        "group_quantity_rule",
        "limit_exceeded",
    ],
    "403": [*ME_CODES["403"], "side_not_offered", "trading_halted", "group_trading_disabled"],
    "404": ["unknown_symbol"],
    "409": ["price_moved"],
    "413": ["request_too_large"],
    "415": ["unsupported_encoding"],
    "422": ["invalid_request", "idempotency_key_reused"],
    "503": [
        "rate_limiter_unavailable",
        "rates_not_ready",
        "stale_rate",
        "pricing_unavailable",
        "service_unavailable",
    ],
}
SAID = {
    "limit_exceeded": (
        "The order would take the gold position past the weight allocation: "
        "900.0000 g of 1000.0000 g are free."
    )
}
"""Examples whose message says more than the catalogue's."""


def operation(path: str, method: str = "get") -> Json:
    found: Json = DESCRIPTION["paths"][path][method]
    return found


def responses(path: str, method: str = "get") -> Json:
    found: Json = operation(path, method)["responses"]
    return found


def operations() -> Iterator[tuple[str, str]]:
    for path, item in DESCRIPTION["paths"].items():
        for method in item:
            yield path, method


def codes(response: Json) -> list[str]:
    """The codes that its schema allows, in the order of its examples, which must be the same."""
    schema = response["content"]["application/json"]["schema"]
    allowed: set[str] = set()
    for body in schema.get("oneOf", [schema]):
        if "properties" not in body:
            body = DESCRIPTION["components"]["schemas"][body["$ref"].rpartition("/")[2]]
        allowed |= set(body["properties"]["detail"]["properties"]["code"]["enum"])
    shown = list(response["content"]["application/json"]["examples"])
    assert set(shown) == allowed
    return shown


def refused(path: str, method: str = "get") -> dict[str, list[str]]:
    return {
        status: codes(response)
        for status, response in responses(path, method).items()
        if is_refused(response)
    }


def is_refused(response: Json) -> bool:
    return "examples" in response["content"]["application/json"]


def check(value: Any, schema: Json) -> None:
    """Raise unless the value is as the schema says; references in it are to the description."""
    resource = DRAFT202012.create_resource({**DESCRIPTION, "schema": schema})
    registry: Registry[Any] = Registry().with_resource("urn:description", resource)
    Draft202012Validator({"$ref": "urn:description#/schema"}, registry=registry).validate(value)


def every_response() -> Iterator[Json]:
    for item in DESCRIPTION["paths"].values():
        for operation in item.values():
            yield from operation["responses"].values()
    yield from DESCRIPTION["components"]["responses"].values()


def examples(response: Json) -> list[Any]:
    media = response["content"]["application/json"]
    if "example" in media:
        return [media["example"]]
    shared = DESCRIPTION["components"]["examples"]
    return [example.get("value") or shared[code]["value"] for code, example in media["examples"].items()]


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
    assert refused(path) == ME_CODES


def test_statuses_and_messages_are_the_catalogues() -> None:
    met = set()
    for path, method in operations():
        for status, response in responses(path, method).items():
            for code in codes(response) if is_refused(response) else ():
                met.add(code)
                assert status == str(ROWS[code].status)
                assert ROWS[code].when in response["description"]
    given = DESCRIPTION["components"]["examples"]
    assert set(given) == met - {"invalid_request"}, "whose examples are each call's own"
    for code, example in given.items():
        body = Refused(ROWS[code], SAID.get(code)).body()
        assert example["value"] == body


def test_the_whole_catalogue_is_there_in_its_order() -> None:
    rows = DESCRIPTION["x-refusals"]
    assert [(row["code"], row["status"], row["retry"]) for row in rows] == [
        (row.code, row.status, row.retry.value) for row in CATALOGUE
    ]
    assert set(DESCRIPTION["x-retry-advice"]) == {retry.value for retry in Retry}


def test_what_production_alone_refuses_is_left_out_of_test() -> None:
    refusals = (*WITH_KEY, OUT_OF_STOCK)
    endpoint = Endpoint("buy", "get", "/buy", Scope.ORDERS_WRITE, ME_ENDPOINT.describe, refusals)
    status = str(OUT_OF_STOCK.status)
    in_test = endpoint.operation(Environment.TEST)["responses"][status]
    in_production = endpoint.operation(Environment.PRODUCTION)["responses"][status]
    assert codes(in_production) == [*codes(in_test), OUT_OF_STOCK.code]


def test_every_example_is_as_its_schema_says() -> None:
    checked = 0
    for response in every_response():
        for example in examples(response):
            check(example, response["content"]["application/json"]["schema"])
            checked += 1
    assert checked >= 2 * sum(map(len, ME_CODES.values()))


def test_a_status_takes_no_other_code() -> None:
    schema = responses(ME[0])["401"]["content"]["application/json"]["schema"]
    for body in (
        {"detail": {"code": "rate_limited", "message": "…"}},
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
        found = {status: set(response["headers"]) for status, response in responses(path).items()}
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


# --- The calls of the test environment ----------------------------------------------------------------


def test_an_order_lists_the_codes_it_can_meet() -> None:
    assert refused(ORDERS, "post") == ORDER_CODES


def test_reads_list_the_codes_they_can_meet() -> None:
    assert refused(ORDERS) == refused(QUOTES) == ME_CODES | {"422": ["invalid_request"]}
    assert refused(ORDER) == ME_CODES | {"404": ["order_not_found"]}
    assert refused(POSITIONS) == refused(SYMBOLS) == ME_CODES


def test_codes_stand_in_the_order_of_the_checks_and_each_is_met_somewhere() -> None:
    order = [row.code for row in CATALOGUE]
    met: set[str] = set()
    for path, method in operations():
        for found in refused(path, method).values():
            assert found == sorted(found, key=order.index)
            met.update(found)
    assert met == {row.code for row in CATALOGUE if row.env is Env.BOTH}


def test_production_has_the_account_alone() -> None:
    production = Environment.PRODUCTION.base_path
    assert [path for path, _ in operations() if path.startswith(production + "/")] == [ME[1]]
    test, live = (dict(operation(path)) for path in ME)
    live["responses"] = live["responses"] | {"200": test["responses"]["200"]}
    assert live | {"operationId": ""} == test | {"operationId": ""}, "but for the environment of the example"


@pytest.mark.parametrize(
    ("path", "method", "scope"),
    [(ORDERS, "post", "orders:write"), *((path, "get", "orders:read") for path in READS)],
)
def test_each_call_names_its_scope(path: str, method: str, scope: str) -> None:
    assert operation(path, method)["security"] == [{"ApiKey": [scope]}]


def test_what_is_beyond_the_specification_is_marked() -> None:
    marked = {(path, method) for path, method in operations() if operation(path, method).get("x-extension")}
    assert marked == {(SYMBOLS, "get"), (QUOTES, "get")}
    for path, method in marked:
        assert "An extension" in operation(path, method)["description"]
    parameters = {each["name"]: each for each in operation(ORDERS)["parameters"]}
    assert [name for name, each in parameters.items() if each.get("x-extension")] == ["client_order_id"]
    assert "An extension" in parameters["client_order_id"]["description"]


def test_parameters_have_their_bounds() -> None:
    taken = {each["name"]: each["schema"] for each in operation(ORDERS)["parameters"]}
    assert taken == {
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
        "offset": {"type": "integer", "minimum": 0, "default": 0},
        "symbol_code": {"type": "string", "maxLength": 32},
        "trade_type": {"type": "string", "maxLength": 8},
        "since": {"type": "string"},
        "client_order_id": {"type": "string", "maxLength": 64},
    }
    for path, method in operations():
        for each in operation(path, method).get("parameters", ()):
            if "example" in each:
                check(each["example"], each["schema"])


def test_an_idempotency_key_is_required_and_printable() -> None:
    (key,) = operation(ORDERS, "post")["parameters"]
    assert (key["name"], key["in"], key["required"]) == ("Idempotency-Key", "header", True)
    for good in ("a", "A b~!", "x" * 64):
        check(good, key["schema"])
    for bad in ("", " ", " a", "a ", "x" * 65, "ключ", "a\tb"):
        with pytest.raises(ValidationError):
            check(bad, key["schema"])


BUY: Json = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"quantity": 0.0001},
        {"quantity": 0.3},
        {"quantity": 1_000_000},
        {"expected_price": 71250.5},
        {"expected_price": None, "client_order_id": None},
        {"client_order_id": ""},
        {"client_order_id": "x" * 64, "symbol_code": "x" * 32},
    ],
)
def test_good_orders(change: Json) -> None:
    check(BUY | change, DESCRIPTION["components"]["schemas"]["PlaceOrder"])


@pytest.mark.parametrize(
    "change",
    [
        {"quantity": 0},
        {"quantity": -1},
        {"quantity": 1_000_001},
        {"quantity": "1"},
        {"quantity": True},
        {"quantity": None},
        {"expected_price": 0},
        {"expected_price": "71250"},
        {"expectedPrice": 71250},
        {"trade_type": "hold"},
        {"trade_type": None},
        {"symbol_code": ""},
        {"symbol_code": "x" * 33},
        {"client_order_id": "x" * 65},
    ],
)
def test_bad_orders(change: Json) -> None:
    with pytest.raises(ValidationError):
        check(BUY | change, DESCRIPTION["components"]["schemas"]["PlaceOrder"])


def test_examples_in_schemas_are_good() -> None:
    schema = DESCRIPTION["components"]["schemas"]["PlaceOrder"]
    media = operation(ORDERS, "post")["requestBody"]["content"]["application/json"]
    for example in (media["example"], *schema["examples"]):
        check(example, schema)
    problem = DESCRIPTION["components"]["schemas"]["Problem"]
    for example in problem["examples"]:
        check(example, problem)


def test_an_order_says_when_it_was_sent_before() -> None:
    found = {status: response["headers"] for status, response in responses(ORDERS, "post").items()}
    assert {status for status, headers in found.items() if "Idempotent-Replayed" in headers} == {"200", "409"}
    assert all("RateLimit-Limit" in found[status] for status in ("200", "201", "409", "422", "429"))
    assert all("Retry-After" in found[status] for status in ("429", "503"))
    for path in READS:
        assert all("Idempotent-Replayed" not in each["headers"] for each in responses(path).values())


@pytest.mark.parametrize(
    ("name", "field", "bad"),
    [
        ("TestOrder", "quantity", "100.00"),
        ("TestOrder", "quantity", 100),
        ("TestOrder", "price", "71250.5"),
        ("TestOrder", "price", "7.1e4"),
        ("TestOrder", "price", None),
        ("TestOrder", "total", "0712505.00"),
        ("TestOrder", "status", "open"),
        ("TestOrder", "environment", "production"),
        ("TestOrder", "deal_label", "T-0"),
        ("TestOrder", "created_at", "2026-11-15T04:31:21.250417Z"),
        ("TestOrder", "created_at", "2026-11-15T04:31:21+00:00"),
        ("MetalPosition", "net", "-0.0000"),
        ("MetalPosition", "used", "-1.0000"),
        ("Quote", "buy", "71250"),
        ("Quote", "at", "yesterday"),
        ("Symbol", "sides", ["buy", "buy"]),
    ],
)
def test_amounts_times_and_names_are_written_in_one_way(name: str, field: str, bad: object) -> None:
    shown = {
        "TestOrder": responses(ORDER)["200"],
        "MetalPosition": responses(POSITIONS)["200"],
        "Quote": responses(QUOTES)["200"],
        "Symbol": responses(SYMBOLS)["200"],
    }[name]
    (example,) = examples(shown)
    if name == "MetalPosition":
        example = example["gold"]
    elif "items" in example:
        example = example["items"][0]
    schema = DESCRIPTION["components"]["schemas"][name]
    check(example, schema)
    assert set(example) == set(schema["properties"]) == set(schema["required"])
    with pytest.raises(ValidationError):
        check(example | {field: bad}, schema)


def test_a_quote_may_have_no_price() -> None:
    empty = {"symbol_code": "GOLD", "buy": None, "sell": None, "at": None}
    schema = DESCRIPTION["components"]["schemas"]["Quote"]
    check(empty | {"tradable": False, "reason": "no_live_price"}, schema)


def test_problems_are_listed_with_their_place() -> None:
    schema = responses(ORDERS, "post")["422"]["content"]["application/json"]["schema"]
    problem = {"loc": ["header", "Idempotency-Key"], "msg": "…", "type": "too_long"}
    detail = {"code": "invalid_request", "message": "…"}
    check({"detail": detail | {"errors": [problem]}}, schema)
    check({"detail": detail | {"code": "idempotency_key_reused"}}, schema)
    bad: list[Json] = [{}, {"errors": []}, {"errors": ["…"]}, {"errors": [problem | {"loc": "body"}]}]
    for errors in bad:
        with pytest.raises(ValidationError):
            check({"detail": detail | errors}, schema)


def test_the_numbers_of_the_examples_agree() -> None:
    (listed,) = examples(responses(ORDERS)["200"])
    (positions,) = examples(responses(POSITIONS)["200"])
    (symbols,) = examples(responses(SYMBOLS)["200"])
    of_code = {symbol["symbol_code"]: symbol for symbol in symbols["items"]}
    net = {metal: Decimal() for metal in positions}
    for order in listed["items"]:
        symbol = of_code[order["symbol_code"]]
        quantity = Decimal(order["quantity"])
        assert Decimal(order["total"]) == Decimal(order["price"]) * quantity / Decimal(
            symbol["quoted_weight"]
        )
        assert order["unit"] == symbol["unit"]
        net[symbol["metal"]] += quantity if order["trade_type"] == "buy" else -quantity
    for metal, position in positions.items():
        assert Decimal(position["net"]) == net[metal]
        assert Decimal(position["used"]) == abs(net[metal])
        assert Decimal(position["free"]) == Decimal(position["limit"]) - Decimal(position["used"])
    assert listed["total"] == len(listed["items"])
    assert [order["created_at"] for order in listed["items"]] == sorted(
        (order["created_at"] for order in listed["items"]), reverse=True
    )


# --- True of what the service answers -----------------------------------------------------------------


def account_answer(firm_name: str | None) -> Json:
    key = Key("9f2c41d07ab8e356", "demo", 1, Environment.TEST, "engine", frozenset(Scope), b"", (), 0)
    account = Account(1, "demo", "mehta", firm_name, "retail", True, True, False)  # noqa: FBT003
    return me(key, account, Switches("demo"), deploy_on=True)


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

    journal = CallJournal(CollectorRegistry(), log_all=False)
    pages = {"/openapi.json": Answer(200, encode_json(DESCRIPTION))}
    nothing: Any = None
    orders = Orders(nothing, nothing, nothing, nothing, nothing)
    routed = endpoints(Me(deploy_on=False), orders, Positions(nothing), MarketData(nothing, nothing))
    app = TradingApi(cast("Gate", None), journal, checks, pages, routed)
    scope: Json = {"type": "http", "method": method, "path": path, "headers": [], "client": None}
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_each_path_is_there_and_takes_the_methods_described() -> None:
    assert set(DESCRIPTION["paths"]) == {*ME, *READS, *OPEN}
    for path, item in DESCRIPTION["paths"].items():
        status, headers = call("DELETE", path)
        assert status == ROWS["method_not_allowed"].status
        assert headers["allow"].split(", ") == sorted(method.upper() for method in item)


def test_an_unknown_path_is_described() -> None:
    response = DESCRIPTION["components"]["responses"]["UnknownPath"]
    assert call("GET", "/nothing-here")[0] == 404
    assert "404" in response["description"]
    assert examples(response) == [{"detail": "Not Found"}]
