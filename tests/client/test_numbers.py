"""Numbers and texts that a caller hands in: exact, or refused before anything is sent, in words that help."""

import json
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bullion.api.order_body import read_place_order
from bullion.web.headers import values_by_name
from bullion_client import Environment, Intent
from bullion_client.intent import make_intent
from bullion_client.numbers import json_number, read_price, read_quantity
from tests.client.calls import INTENT


def made(**changes: Any) -> Intent:
    fields: dict[str, Any] = {
        "symbol_code": "GOLD",
        "trade_type": "buy",
        "quantity": 5,
        "expected_price": None,
        "client_order_id": None,
    }
    key = changes.pop("idempotency_key", "k-1")
    return make_intent(Environment.TEST, key, INTENT.made_at, **{**fields, **changes})


@pytest.mark.parametrize(
    ("given_as", "sent"),
    [
        (5, "5"),
        ("5", "5"),
        ("5.0000", "5"),
        (Decimal("2.50"), "2.5"),
        (Decimal("1E+5"), "100000"),
        ("1e2", "100"),
        ("0.0001", "0.0001"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+5", "5"),
        (1_000_000, "1000000"),
        ("1." + "0" * 90, "1"),
        (Decimal("123456.7891"), "123456.7891"),
    ],
)
def test_a_quantity_is_sent_as_the_plain_number_that_it_is(given_as: Any, sent: str) -> None:
    quantity = read_quantity(given_as)
    assert json_number(quantity) == sent
    assert quantity == Decimal(given_as)


def test_no_digit_is_lost_to_the_callers_context() -> None:
    with localcontext() as context:
        context.prec = 3
        assert json_number(read_quantity("123456.7891")) == "123456.7891"
        assert json_number(read_price("12345678901234567890.12345")) == "12345678901234567890.12345"


@pytest.mark.parametrize("value", [0.1, 5.0, float("nan"), float("inf")])
@pytest.mark.parametrize("read", [read_quantity, read_price])
def test_a_float_is_refused_with_what_to_write_instead(read: Any, value: float) -> None:
    with pytest.raises(TypeError, match=rf"must not be a float.*write Decimal\('{value}'\)"):
        read(value)


@pytest.mark.parametrize("value", [True, None, b"5", [5], 5j])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="quantity must be a Decimal, an int or a string, not "):
        read_quantity(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "greater than 0"),
        (-1, "greater than 0"),
        ("-0.0001", "greater than 0"),
        ("-0", "greater than 0"),
        (Decimal("NaN"), "must be a number"),
        (Decimal("sNaN"), "must be a number"),
        (Decimal("Infinity"), "must be a number"),
        (Decimal("-Infinity"), "must be a number"),
        ("0.00005", "at most 4 decimals"),
        ("1.00000000000000000001", "at most 4 decimals"),
        (1_000_001, "at most 1000000"),
        ("1000000.0001", "at most 1000000"),
        ("1e9", "at most 1000000"),
        (Decimal("1E+999999"), "100 characters"),
        (Decimal("1E-999999"), "100 characters"),
        (10**200, "100 characters"),
        ("1e9999999", "written like"),
        ("", "written like"),
        ("five", "written like"),
        ("1,000", "written like"),
        ("1_000", "written like"),
        (" 5", "written like"),
        ("5\n", "written like"),
        ("٥", "written like"),
        ("NaN", "written like"),
    ],
)
def test_a_quantity_that_no_symbol_takes_is_refused(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_quantity(value)


@pytest.mark.parametrize("value", [0, "-1", Decimal("NaN"), "1e200", "abc"])
def test_a_price_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="expected_price"):
        read_price(value)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"symbol_code": ""}, ValueError, "symbol_code is empty"),
        ({"symbol_code": "G" * 33}, ValueError, "has 33 characters; it may have up to 32"),
        ({"symbol_code": 7}, TypeError, "symbol_code must be a string, not int"),
        ({"symbol_code": "GO\0LD"}, ValueError, "NUL or an unpaired surrogate"),
        ({"client_order_id": "x" * 65}, ValueError, "has 65 characters; it may have up to 64"),
        ({"client_order_id": "\ud800"}, ValueError, "NUL or an unpaired surrogate"),
        ({"trade_type": "hold"}, ValueError, "must be 'buy' or 'sell'; this is 'hold'"),
        ({"trade_type": "BUY"}, ValueError, "must be 'buy' or 'sell'"),
        ({"idempotency_key": ""}, ValueError, "1 to 64 printable"),
        ({"idempotency_key": "k" * 65}, ValueError, "1 to 64 printable"),
        ({"idempotency_key": " k"}, ValueError, "without blanks around"),
        ({"idempotency_key": "k\n"}, ValueError, "1 to 64 printable"),
        ({"idempotency_key": "ü"}, ValueError, "1 to 64 printable"),
    ],
)
def test_texts_are_held_to_the_bounds_of_the_service(
    changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        made(**changes)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=32)
HEADERS = [(b"idempotency-key", b"k-1"), (b"content-type", b"application/json")]


@given(
    quantity=st.decimals("0.0001", 1_000_000, places=4),
    price=st.none() | st.decimals("0.01", 10**9, places=2),
    symbol_code=TEXTS.filter(bool),
    client_order_id=st.none() | TEXTS,
)
def test_the_service_reads_the_very_values_that_were_meant(
    quantity: Decimal, price: Decimal | None, symbol_code: str, client_order_id: str | None
) -> None:
    intent = made(
        quantity=quantity, expected_price=price, symbol_code=symbol_code, client_order_id=client_order_id
    )
    _, order = read_place_order(values_by_name(HEADERS), intent.body())
    assert Decimal(order.quantity_e4) / 10_000 == quantity
    assert (order.symbol_code, order.client_order_id) == (symbol_code, client_order_id)
    assert (None if order.expected_price is None else Decimal(order.expected_price)) == price
    assert json.loads(intent.body(), parse_float=Decimal)["quantity"] == quantity
