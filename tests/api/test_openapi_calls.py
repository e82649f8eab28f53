"""The description of each call: its scope, its bounds, its shapes, and the refusals it can meet."""

from decimal import Decimal

import pytest
from jsonschema import ValidationError

from bullion.api.wire.values import TIME_WITHOUT_ZONE
from bullion.orders.instant import read_instant_us
from tests.api.description import (
    BELOW,
    DESCRIPTION,
    EVENTS,
    ME_CODES,
    ORDER,
    ORDER_CODES,
    ORDERS,
    POSITIONS,
    PRODUCTION,
    QUOTES,
    READS,
    REAL_EVENTS,
    REAL_ORDERS,
    REAL_QUOTES,
    REAL_SYMBOLS,
    STREAMS,
    SYMBOLS,
    TEST,
    WEBHOOKS,
    Json,
    check,
    examples,
    in_earnest,
    operation,
    operations,
    refused_in_earnest,
    responses,
)


def test_an_order_lists_the_codes_it_can_meet() -> None:
    assert refused_in_earnest(ORDERS, "post") == ORDER_CODES


def test_reads_list_the_codes_they_can_meet() -> None:
    listed = ME_CODES | {"422": ["invalid_request"]}
    assert refused_in_earnest(ORDERS) == refused_in_earnest(QUOTES) == listed
    assert refused_in_earnest(ORDER) == ME_CODES | {"404": ["order_not_found"]}
    assert refused_in_earnest(POSITIONS) == refused_in_earnest(SYMBOLS) == ME_CODES


@pytest.mark.parametrize("base", [TEST, PRODUCTION])
@pytest.mark.parametrize(
    ("path", "method", "scope"),
    [("/orders", "post", "orders:write"), *((path, "get", "orders:read") for path in BELOW)],
)
def test_each_call_names_its_scope(base: str, path: str, method: str, scope: str) -> None:
    assert operation(base + path, method)["security"] == [{"ApiKey": [scope]}]


def test_what_is_beyond_the_specification_is_marked() -> None:
    marked = {(path, method) for path, method in operations() if operation(path, method).get("x-extension")}
    extensions = (SYMBOLS, QUOTES, EVENTS, REAL_SYMBOLS, REAL_QUOTES, REAL_EVENTS, *STREAMS)
    of_webhooks = {(path, method) for path, methods in WEBHOOKS.items() for method in methods}
    assert marked == {(path, "get") for path in extensions} | of_webhooks
    for path, method in of_webhooks:
        assert operation(path, method)["security"] == [{"ApiKey": ["webhooks:manage"]}]
    for path, method in marked:
        assert "An extension" in operation(path, method)["description"]
    for path in (ORDERS, REAL_ORDERS):
        (extension,) = [each for each in in_earnest(path)["parameters"] if each.get("x-extension")]
        assert extension["name"] == "client_order_id"
        assert "An extension" in extension["description"]


NO_NUL = "^[^\\u0000]*$"
TIMES = [
    {"type": "string", **each}
    for each in ({"format": "date-time"}, {"format": "date"}, {"pattern": TIME_WITHOUT_ZONE})
]


@pytest.mark.parametrize(
    "time", ["2026-11-15T09:00", "2024-02-28T23:59:59.5", "2026-12-31T00:00:00", "9999-04-30T10:10:10.123456"]
)
def test_a_time_without_a_zone_is_read_as_it_is_described(time: str) -> None:
    check(time, {"pattern": TIME_WITHOUT_ZONE})
    assert read_instant_us(time) is not None
    for bad in (f"{time}Z", f"{time}+05:30", time[:10], time.replace("T", " "), f"0000{time[4:]}"):
        with pytest.raises(ValidationError):
            check(bad, {"pattern": TIME_WITHOUT_ZONE})


def test_parameters_have_their_bounds() -> None:
    taken = {each["name"]: each["schema"] for each in in_earnest(ORDERS)["parameters"]}
    assert taken == {
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
        "offset": {"type": "integer", "minimum": 0, "default": 0},
        "symbol_code": {"type": "string", "maxLength": 32, "pattern": NO_NUL},
        "trade_type": {"type": "string", "maxLength": 8, "pattern": NO_NUL},
        "since": {"type": "string", "anyOf": TIMES},
        "client_order_id": {"type": "string", "maxLength": 64, "pattern": NO_NUL},
    }
    for path, method in operations():
        for each in operation(path, method).get("parameters", ()):
            if "example" in each:
                check(each["example"], each["schema"])


def test_an_idempotency_key_is_required_and_printable() -> None:
    (key,) = in_earnest(ORDERS, "post")["parameters"]
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
    assert set(example) == set(schema["properties"])
    if name != "TestOrder":
        assert set(schema["required"]) == set(schema["properties"])
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
