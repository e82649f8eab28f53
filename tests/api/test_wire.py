"""What is written, described, read by the client and known to the conformance kit has the same fields."""

import json
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any

import httpx
import msgspec
import pytest

import bullion_client
from bullion.api.list_query import read_list_query
from bullion.api.openapi.examples import CLOSED_SELL, TEST_BUY
from bullion.api.order_body import read_place_order
from bullion.api.problems import Problems
from bullion.api.wire import account, market, orders, positions, refusals
from bullion.metals.metal import Metal
from bullion.orders.order import Order
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.refusals.refusal import RefusalError
from bullion.web.headers import values_by_name
from bullion.web.response import encode_json
from bullion_client.models import ProductionOrder, TestOrder
from bullion_client.responses import Answer, read
from bullion_conformance.requirement import REQUIREMENTS
from bullion_conformance.shapes import AMOUNTS, TIMES
from tests.api.description import DESCRIPTION, REAL_ORDERS, Json, check, detail_of, operation, schema_of

SHAPES: list[tuple[type[msgspec.Struct], type[Any]]] = [
    (account.Account, bullion_client.Account),
    (orders.TestOrder, bullion_client.TestOrder),
    (orders.ProductionOrder, bullion_client.ProductionOrder),
    (orders.ProductionOrderList, bullion_client.OrderPage),
    (positions.MetalPosition, bullion_client.MetalPosition),
    (positions.SymbolPosition, bullion_client.SymbolPosition),
    (positions.ProductionPositions, bullion_client.Positions),
    (market.Symbol, bullion_client.Symbol),
    (market.Quote, bullion_client.Quote),
]


def written(status: Status) -> Json:
    asked = PlaceOrder("GOLD", "buy", 10_000, None, "mine")
    order = Order(
        book_id=2 if status is Status.FILLED else 3,
        ordinal=1,
        id=TEST_BUY["id"],
        source="api",
        idempotency_key="key",
        asked=asked,
        metal=Metal.GOLD,
        price_paise=7_000_000,
        total_paise=7_000_000,
        status=status,
        key_id=None,
        request_id="r",
        created_at_us=0,
        price_anatomy="{}",
    )
    found: Json = json.loads(encode_json(orders.order_view(order)))
    return found


@pytest.mark.parametrize(
    ("status", "struct"),
    [
        (Status.FILLED, orders.TestOrder),
        (Status.PENDING, orders.ProductionOrder),
        (Status.REJECTED, orders.RejectedOrder),
    ],
)
def test_an_order_is_written_with_the_fields_of_its_struct_and_schema(
    status: Status, struct: type[msgspec.Struct]
) -> None:
    schema = schema_of(struct.__name__)
    assert list(written(status)) == list(struct.__struct_fields__) == list(schema["properties"])
    check(written(status), schema)


@pytest.mark.parametrize(("struct", "dataclass"), SHAPES)
def test_the_client_has_the_fields_of_the_struct(struct: type[msgspec.Struct], dataclass: type[Any]) -> None:
    assert [field.name for field in fields(dataclass)] == list(struct.__struct_fields__)


@pytest.mark.parametrize(
    ("sent", "order"),
    [
        (TEST_BUY, partial(read, TestOrder)),
        (CLOSED_SELL | {"client_order_id": "mine"}, partial(read, ProductionOrder)),
    ],
)
def test_the_client_reads_every_field(sent: Json, order: Any) -> None:
    read = order(Answer(httpx.Response(200), sent))
    for name, value in sent.items():
        found = getattr(read, name)
        if isinstance(found, datetime):
            assert found == datetime.fromisoformat(value), name
        elif isinstance(found, Decimal | StrEnum):
            assert str(found) == value, name
        else:
            assert found == value, name


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [("TestOrder", ("order.", "test-order.")), ("ProductionOrder", ("production-order.",))],
)
def test_the_kit_knows_every_field_that_is_no_extension(name: str, prefixes: tuple[str, ...]) -> None:
    properties = schema_of(name)["properties"]
    specified = {field for field, schema in properties.items() if not schema.get("x-extension")}
    rows = {
        row.removeprefix(prefix).partition(".")[0]
        for row in REQUIREMENTS
        for prefix in prefixes
        if row.startswith(prefix)
    }
    amounts = {field for field in specified if properties[field].get("format") == "decimal"}
    times = {field for field in specified if properties[field].get("format") == "date-time"}
    assert specified - rows - AMOUNTS - TIMES == set()
    assert {row for row in rows if "_" in row} <= specified
    assert amounts <= AMOUNTS
    assert times <= TIMES


def test_refusals_are_written_with_the_fields_of_their_structs() -> None:
    problems = Problems()
    problems.add(("body", "quantity"), "…", "missing")
    detail = json.loads(encode_json(problems.to_error().body()))["detail"]
    assert (
        list(detail) == list(refusals.InvalidRequest.__struct_fields__) == list(detail_of("InvalidRequest"))
    )
    assert list(detail["errors"][0]) == list(schema_of("Problem")["properties"])


@pytest.mark.parametrize("name", DESCRIPTION["components"]["schemas"])
def test_the_examples_of_fields_are_as_described(name: str) -> None:
    for field in schema_of(name).get("properties", {}).values():
        for example in field.get("examples", ()):
            check(example, field)


# --- The readers hold the bounds that are described -----------------------------------------------------


@pytest.mark.parametrize("parameter", operation(REAL_ORDERS)["parameters"], ids=lambda each: each["name"])
def test_a_query_is_read_within_its_bounds_and_no_further(parameter: Json) -> None:
    name, schema = parameter["name"], parameter["schema"]
    good = list(schema.get("enum", ()))
    bad = []
    if "maxLength" in schema:
        good.append("x" * schema["maxLength"])
        bad.append("x" * (schema["maxLength"] + 1))
    if "minimum" in schema:
        good.append(schema["minimum"])
        bad.append(schema["minimum"] - 1)
    if "maximum" in schema:
        good.append(schema["maximum"])
        bad.append(schema["maximum"] + 1)
    assert good or name == "since"
    default = getattr(read_list_query(b"", with_status=True), "since_us" if name == "since" else name)
    assert default == schema.get("default")
    for value in good:
        read_list_query(f"{name}={value}".encode(), with_status=True)
    for value in bad:
        with pytest.raises(RefusalError):
            read_list_query(f"{name}={value}".encode(), with_status=True)


BUY: Json = {"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}
HEADERS = [(b"idempotency-key", b"1"), (b"content-type", b"application/json")]


@pytest.mark.parametrize("name", orders.PlaceOrder.__struct_fields__)
def test_a_body_is_read_within_its_bounds_and_no_further(name: str) -> None:
    schema = schema_of("PlaceOrder")["properties"][name]
    good = schema.get("enum", [])
    bad: list[object] = [[], True]
    if "maxLength" in schema:
        good = ["x" * schema["maxLength"]]
        bad.append("x" * (schema["maxLength"] + 1))
    if "maximum" in schema:
        good = [schema["maximum"]]
        bad.append(schema["maximum"] + 1)
    if "exclusiveMinimum" in schema:
        bad.append(schema["exclusiveMinimum"])
    if "null" in schema["type"]:
        good = [*good, None]
    else:
        bad.append(None)
    for value in good:
        read_place_order(values_by_name(HEADERS), json.dumps(BUY | {name: value}).encode())
    for value in bad:
        with pytest.raises(RefusalError):
            read_place_order(values_by_name(HEADERS), json.dumps(BUY | {name: value}).encode())
