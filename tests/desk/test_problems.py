"""Every problem of a request is told at once, each with its place; the service answers over HTTP."""

from typing import Any

import pytest

from tests.support.desk import KEY, SYMBOL, Office, nothing_changed

PRICING = {"kind": "landed", "spot": "", "currency": "USDINR", "premium_usd": "x", "conversion": "0"}
CASES: dict[str, tuple[str, str, Any, set[tuple[Any, ...]]]] = {
    "an account": (
        "POST",
        "/accounts",
        {"login_id": 7, "allocation": {"gold": "1,000", "silver": "-1", "copper": "1"}, "active": "yes"},
        {
            ("login_id", "not_a_string"),
            ("group", "missing"),
            ("allocation", "gold", "invalid"),
            ("allocation", "silver", "invalid"),
            ("allocation", "copper", "unknown_field"),
            ("active", "not_a_boolean"),
        },
    ),
    "fields of an account": (
        "PATCH",
        "/accounts/client",
        {"allocation": {"gold": "x"}, "firm_name": "f" * 201, "nonsense": 1},
        {
            ("allocation", "gold", "invalid"),
            ("firm_name", "too_long"),
            ("nonsense", "unknown_field"),
        },
    ),
    "a symbol": (
        "PUT",
        "/symbols/GOLD",
        {**SYMBOL, "minimum": "0", "step": "1e3", "sides": ["buy", "lend"], "pricing": PRICING},
        {
            ("minimum", "invalid"),
            ("step", "invalid"),
            ("sides", 1, "not_a_choice"),
            ("pricing", "spot", "empty"),
            ("pricing", "premium_usd", "invalid"),
            ("pricing", "interbank", "missing"),
            ("pricing", "conversion", "invalid"),
            ("pricing", "duty", "missing"),
            ("pricing", "margin", "missing"),
        },
    ),
    "a symbol of no kind": (
        "PUT",
        "/symbols/GOLD",
        {**SYMBOL, "pricing": {"kind": "guessed"}},
        {("pricing", "kind", "not_a_choice")},
    ),
    "terms": (
        "PUT",
        "/groups/retail",
        {"terms": {"GOLD": {"step": "0"}, "no such code": {}}, "default_terms": {"minimum": 5}},
        {
            ("terms", "GOLD", "step", "invalid"),
            ("terms", "no such code", "bad_character"),
            ("default_terms", "minimum", "not_a_string"),
        },
    ),
    "duties": (
        "PUT",
        "/duties/gold",
        [{"from": "2026-02-30", "rupees": "-1"}, {"rupees": "1"}],
        {(0, "from", "invalid"), (0, "rupees", "invalid"), (1, "from", "missing")},
    ),
    "a key": (
        "POST",
        "/accounts/client/keys",
        {**KEY, "scopes": [], "expires_at": "soon", "allowed_addresses": ["10.0.0.1", "nowhere"]},
        {("scopes", "empty"), ("expires_at", "invalid"), ("allowed_addresses", 1, "invalid")},
    ),
    "hours": (
        "PATCH",
        "/switches",
        {"trading_hours": {"zone": "Moon", "week": {"mon": [["9", "25:00"]]}}, "budgets": {"x": 1}},
        {
            ("trading_hours", "zone", "invalid"),
            ("trading_hours", "week", "mon", 0, 0, "invalid"),
            ("trading_hours", "week", "mon", 0, 1, "invalid"),
            ("budgets", "x", "unknown_field"),
        },
    ),
    "a rule between fields": (
        "PUT",
        "/rates/GOLD",
        {"bid": "2", "ask": "1"},
        {("ask", "invalid")},
    ),
}


@pytest.mark.parametrize(("method", "path", "body", "expected"), CASES.values(), ids=CASES)
def test_every_problem_is_told_with_its_place(
    standing: Office, method: str, path: str, body: Any, expected: set[tuple[Any, ...]]
) -> None:
    with nothing_changed(standing.desk):
        answer = standing.desk.request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    errors = answer.json()["detail"]["errors"]
    assert {(*error["loc"][1:], error["type"]) for error in errors} == expected
    assert {error["loc"][0] for error in errors} == {"body"}


@pytest.mark.parametrize(
    ("path", "loc"),
    [
        ("/accounts?limit=0", ["query", "limit"]),
        ("/orders?since=yesterday", ["query", "since"]),
        ("/orders?status=a&status=b", ["query", "status"]),
        ("/traces?outcome=nothing", ["query", "outcome"]),
        ("/traces/counts?minutes=0", ["query", "minutes"]),
        ("/hedge/executions?order_id=1", ["query", "order_id"]),
    ],
)
def test_a_parameter_of_the_query_is_named(standing: Office, path: str, loc: list[str]) -> None:
    errors = standing.desk.get(path).json()["detail"]["errors"]
    assert [error["loc"] for error in errors] == [loc]


@pytest.mark.parametrize(
    ("minimum", "told"), [("0", "above 0"), ("-1", "above 0"), ("1000000000.0001", "at most 1000000000")]
)
def test_a_number_out_of_bounds_is_told_the_bound(standing: Office, minimum: str, told: str) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused("PUT", "/symbols/GOLD", SYMBOL | {"minimum": minimum})
    assert message == f"minimum: must be {told}."


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/keys/none/revoke", "there are none"),
        ("/orders/none/delete", "the only field is reason"),
        ("/tokens", "the fields are name, role, broker"),
    ],
)
def test_a_field_that_is_unknown_is_told_the_known_ones(standing: Office, path: str, known: str) -> None:
    with nothing_changed(standing.desk):
        message = standing.desk.refused("POST", path, {"colour": "red"})
    assert f"colour: is not a field here; {known}." in message


def test_more_problems_than_are_listed_are_counted(standing: Office) -> None:
    body = {f"field{number}": 0 for number in range(100)}
    with nothing_changed(standing.desk):
        detail = standing.desk.request("PATCH", "/switches", json=body).json()["detail"]
    assert len(detail["errors"]) == 21
    assert detail["errors"][-1] == {
        "loc": ["body"],
        "msg": "80 more problems are not listed.",
        "type": "more_problems",
    }
    assert detail["message"].endswith("…." if len(detail["message"]) > 300 else "and 97 more.")


def test_a_refusal_that_is_not_about_fields_lists_none(standing: Office) -> None:
    assert standing.desk.get("/accounts/nobody").json()["detail"].keys() == {"code", "message"}
