"""The description of production: what it has beyond the test environment, and nothing that it has not."""

from decimal import Decimal
from typing import Any

import pytest
from jsonschema import ValidationError

from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Env, Retry
from tests.api.description import (
    EVENTS,
    ORDER,
    ORDER_CODES,
    ORDERS,
    POSITIONS,
    QUOTES,
    REAL_ORDER,
    REAL_ORDERS,
    REAL_POSITIONS,
    REAL_QUOTES,
    REAL_READS,
    REAL_SYMBOLS,
    ROWS,
    SYMBOLS,
    Json,
    check,
    examples,
    in_earnest,
    operation,
    operations,
    refused,
    refused_in_earnest,
    responses,
    schema_of,
)

STATUSES = ["pending", "open", "closing", "closed", "rejected", "deleted"]
FIELDS = [
    "id",
    "environment",
    "symbol_code",
    "trade_type",
    "quantity",
    "unit",
    "price",
    "total",
    "status",
    "client_order_id",
    "created_at",
    "deal_no",
    "status_detail",
    "source",
    "close_price",
    "realized_pnl",
    "closed_at",
]
NEVER_NULL = {
    "id",
    "environment",
    "symbol_code",
    "trade_type",
    "quantity",
    "unit",
    "status",
    "status_detail",
}


REQUIRED = {
    "ProductionOrder": ["id", "symbol_code", "trade_type", "quantity", "unit", "status", "status_detail"],
    "TestOrder": ["id", "symbol_code", "trade_type", "quantity", "unit", "status"],
}


def placed(status: str) -> Json:
    found: Json = responses(REAL_ORDERS, "post")[status]
    return found


def example(response: Json) -> Json:
    (found,) = examples(response)
    assert isinstance(found, dict)
    return found


def shown_refusal(status: str, code: str) -> Json:
    found: Json = placed(status)["content"]["application/json"]["examples"][code]["value"]["detail"]
    return found


# --- Placing an order ---------------------------------------------------------------------------------


def test_an_order_can_meet_what_production_alone_refuses() -> None:
    assert refused(REAL_ORDERS, "post") == ORDER_CODES | {
        "400": [*ORDER_CODES["400"], "out_of_stock"],
        "403": [*ORDER_CODES["403"][:4], "production_trading_disabled", *ORDER_CODES["403"][4:]],
        "409": ["price_moved", "order_rejected", "booking_conflict"],
        "503": [
            "rate_limiter_unavailable",
            "production_prerequisites_unmet",
            "rates_not_ready",
            "stale_rate",
            "tradeability_unverified",
            "symbol_unavailable",
            "pricing_unavailable",
            "booking_unavailable",
            "booking_busy",
            "booking_not_completed",
            "booking_outcome_unknown",
            "service_unavailable",
        ],
    }


def test_no_other_call_can_meet_it() -> None:
    alone = {row.code for row in CATALOGUE if row.env is Env.PROD}
    for path, method in operations():
        met = {code for codes in refused(path, method).values() for code in codes}
        assert alone & met == (alone if (path, method) == (REAL_ORDERS, "post") else set())


def test_only_production_answers_that_an_order_is_pending() -> None:
    assert {status for status in responses(ORDERS, "post") if status < "300"} == {"200", "201"}
    assert {status for status in responses(REAL_ORDERS, "post") if status < "300"} == {"200", "201", "202"}
    for status in ("200", "201", "202"):
        schema = placed(status)["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/ProductionOrder"}
    assert (example(placed("201"))["status"], example(placed("202"))["status"]) == ("open", "pending")


def test_whoever_waits_is_told_how() -> None:
    for words in (placed("202")["description"], operation(REAL_ORDER)["description"]):
        assert "every 1 to 2 seconds" in words
        assert "bout 30 seconds" in words
        assert "`status`" in words


def test_its_answers_have_their_headers() -> None:
    found = {status: response["headers"] for status, response in responses(REAL_ORDERS, "post").items()}
    assert {status for status, headers in found.items() if "Idempotent-Replayed" in headers} == {"200", "409"}
    assert {status for status, headers in found.items() if "Retry-After" in headers} == {"429", "503"}
    assert all("RateLimit-Limit" in found[status] for status in ("200", "201", "202", "409", "422", "429"))


def test_a_code_with_retry_after_says_so() -> None:
    told = {
        line.split("`")[1]
        for path, method in operations()
        for response in responses(path, method).values()
        for line in response["description"].splitlines()
        if line.endswith("With `Retry-After`.")
    }
    assert told == {row.code for row in CATALOGUE if row.retry is Retry.SAME_KEY_AFTER}
    assert {row.code for row in CATALOGUE if row.status in (429, 503)} == told


def test_every_503_of_every_call_is_described_with_retry_after() -> None:
    found = [
        response["headers"]
        for path, method in operations()
        for status, response in responses(path, method).items()
        if status == "503"
    ]
    assert len(found) > len(REAL_READS)
    assert all("Retry-After" in headers for headers in found)


def test_the_request_is_that_of_the_test_environment() -> None:
    test, real = in_earnest(ORDERS, "post"), operation(REAL_ORDERS, "post")
    assert (real["parameters"], real["requestBody"]) == (test["parameters"], test["requestBody"])


# --- Refusals with further fields ---------------------------------------------------------------------


def test_further_fields_are_where_they_are_specified_and_nowhere_else() -> None:
    plain = {"code", "message"}
    own = {
        "InvalidRequest": plain | {"errors"},
        "ProductionTradingDisabled": plain | {"reason"},
        "OrderRejected": plain | {"order_id", "order"},
    }
    for name, fields in own.items():
        detail = schema_of(name)["properties"]["detail"]
        assert set(detail["properties"]) == set(detail["required"]) == fields
        assert len(detail["properties"]["code"]["enum"]) == 1
    assert set(schema_of("Refusal")["properties"]["detail"]["properties"]) == plain


@pytest.mark.parametrize("reason", ["deploy", "global", "account"])
def test_a_closed_production_tells_which_switch(reason: str) -> None:
    schema = placed("403")["content"]["application/json"]["schema"]
    detail = shown_refusal("403", "production_trading_disabled")
    check({"detail": detail | {"reason": reason}}, schema)
    for bad in ("broker", None):
        with pytest.raises(ValidationError):
            check({"detail": detail | {"reason": bad}}, schema)
    with pytest.raises(ValidationError):
        check({"detail": {"code": detail["code"], "message": detail["message"]}}, schema)


def test_a_rejected_order_is_shown_whole() -> None:
    schema = placed("409")["content"]["application/json"]["schema"]
    detail = shown_refusal("409", "order_rejected")
    order = detail["order"]
    assert detail["order_id"] == order["id"]
    assert (order["status"], order["price"], order["total"], order["deal_no"]) == ("rejected", *[None] * 3)
    check({"detail": detail}, schema)
    check({"detail": {"code": "price_moved", "message": "…"}}, schema)
    check({"detail": {"code": "booking_conflict", "message": "…"}}, schema)
    for bad in (
        {"order": order | {"status": "open"}},
        {"order": {"status": "rejected"}},
        {"order": None},
        {"order_id": None},
    ):
        with pytest.raises(ValidationError):
            check({"detail": detail | bad}, schema)
    for missing in ("order", "order_id"):
        with pytest.raises(ValidationError):
            check({"detail": {name: detail[name] for name in detail if name != missing}}, schema)


# --- The order ----------------------------------------------------------------------------------------


def test_an_order_has_every_field_and_names_those_that_may_be_null() -> None:
    schema = schema_of("ProductionOrder")
    assert list(schema["properties"]) == FIELDS
    assert schema["properties"]["status"]["enum"] == STATUSES
    assert schema["properties"]["environment"]["enum"] == ["production"]
    order = example(responses(REAL_ORDER)["200"])
    assert list(order) == FIELDS
    for name in FIELDS:
        if name in NEVER_NULL:
            with pytest.raises(ValidationError):
                check(order | {name: None}, schema)
        else:
            check(order | {name: None}, schema)


@pytest.mark.parametrize(("name", "required"), REQUIRED.items())
def test_only_what_the_specification_requires_is_required_and_the_rest_is_always_sent(
    name: str, required: list[str]
) -> None:
    schema = schema_of(name)
    assert schema["required"] == required
    for field, described in schema["properties"].items():
        always = field not in required
        assert ("x-always-sent" in described) == always
        assert described["description"].endswith("This service always sends it.") == always


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("status", "filled"),
        ("status", "all"),
        ("environment", "test"),
        ("price", "71250.5"),
        ("total", "-1.00"),
        ("deal_no", "48213"),
        ("status_detail", 7),
        ("source", 1),
        ("close_price", "-70930.00"),
        ("realized_pnl", "-0.00"),
        ("realized_pnl", "250"),
        ("realized_pnl", "+250.00"),
        ("closed_at", "2026-11-15T04:26:55Z"),
    ],
)
def test_its_values_are_written_in_one_way(field: str, bad: object) -> None:
    *_, closed = example(responses(REAL_ORDERS)["200"])["items"]
    schema = schema_of("ProductionOrder")
    check(closed, schema)
    with pytest.raises(ValidationError):
        check(closed | {field: bad}, schema)


def test_a_loss_and_another_channel_are_good() -> None:
    *_, closed = example(responses(REAL_ORDERS)["200"])["items"]
    for change in ({"realized_pnl": "-250.00"}, {"realized_pnl": "0.00"}, {"source": "telephone"}):
        check(closed | change, schema_of("ProductionOrder"))


# --- Reading ------------------------------------------------------------------------------------------


def test_reads_can_meet_what_they_can_in_the_test_environment() -> None:
    for real, test in zip(REAL_READS, (ORDERS, ORDER, POSITIONS, SYMBOLS, QUOTES, EVENTS), strict=True):
        assert refused(real) == refused_in_earnest(test)


def test_the_list_has_a_filter_more() -> None:
    test = in_earnest(ORDERS)["parameters"]
    *same, status = operation(REAL_ORDERS)["parameters"]
    assert same == test
    assert (status["name"], status["in"], status.get("required", False)) == ("status", "query", False)
    assert status["schema"] == {"type": "string", "enum": [*STATUSES, "all"], "default": "all"}


def test_extensions_are_the_same_in_both_environments() -> None:
    for real, test in ((REAL_SYMBOLS, SYMBOLS), (REAL_QUOTES, QUOTES)):
        names = {"operationId": "", "summary": ""}
        assert operation(real) | names == in_earnest(test) | names


def test_positions_have_the_symbols_too() -> None:
    schema = schema_of("ProductionPositions")
    assert list(schema["properties"]) == schema["required"] == ["gold", "silver", "symbols"]
    assert list(schema_of("TestPositions")["properties"]) == ["gold", "silver"]
    row = schema_of("SymbolPosition")
    assert list(row["properties"]) == row["required"]
    assert row["required"] == ["symbol_code", "metal", "buy", "sell", "net", "unit"]
    shown = example(responses(REAL_POSITIONS)["200"])
    check(shown | {"symbols": []}, schema)
    bad: list[dict[str, Any]] = [{"buy": "-1.0000"}, {"net": "-0.0000"}, {"metal": "tin"}, {"unit": "oz"}]
    for change in bad:
        with pytest.raises(ValidationError):
            check(shown["symbols"][0] | change, row)


# --- The examples, taken together ---------------------------------------------------------------------


def test_the_examples_tell_of_the_same_order() -> None:
    pending, opened = example(placed("202")), example(placed("201"))
    assert example(placed("200")) == example(responses(REAL_ORDER)["200"]) == opened
    told = {"price", "total", "status", "deal_no", "status_detail"}
    assert {name for name in FIELDS if pending[name] != opened[name]} == told
    assert operation(REAL_ORDER)["parameters"][0]["example"] == opened["id"]
    assert ROWS["order_rejected"].message == shown_refusal("409", "order_rejected")["message"]


def test_the_numbers_of_the_examples_agree() -> None:
    listed = example(responses(REAL_ORDERS)["200"])
    positions = example(responses(REAL_POSITIONS)["200"])
    symbols = {row["symbol_code"]: row for row in example(responses(REAL_SYMBOLS)["200"])["items"]}
    open_weight = {code: {"buy": Decimal(), "sell": Decimal()} for code in symbols}
    for order in listed["items"]:
        symbol = symbols[order["symbol_code"]]
        weight = Decimal(order["quantity"]) / Decimal(symbol["quoted_weight"])
        price = Decimal(order["price"])
        assert Decimal(order["total"]) == price * weight
        if order["status"] == "closed":
            gain = (Decimal(order["close_price"]) - price) * weight
            assert Decimal(order["realized_pnl"]) == (gain if order["trade_type"] == "buy" else -gain)
            assert order["closed_at"] > order["created_at"]
        else:
            open_weight[order["symbol_code"]][order["trade_type"]] += Decimal(order["quantity"])
    for row in positions["symbols"]:
        assert {side: Decimal(row[side]) for side in ("buy", "sell")} == open_weight[row["symbol_code"]]
        assert Decimal(row["net"]) == Decimal(row["buy"]) - Decimal(row["sell"])
        metal = positions[row["metal"]]
        assert (metal["net"], metal["unit"]) == (row["net"], row["unit"])
        assert Decimal(metal["free"]) == Decimal(metal["limit"]) - abs(Decimal(row["net"]))
    assert listed["total"] == len(listed["items"])
    times = [order["created_at"] for order in listed["items"]]
    assert times == sorted(times, reverse=True)
