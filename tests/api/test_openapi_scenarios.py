"""Scenarios in the description: a header of the test paths, and of nothing in production."""

from itertools import chain

import pytest
from jsonschema import ValidationError

from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Env
from tests.api.description import (
    PRODUCTION,
    ROWS,
    SCENARIO,
    SCENARIO_CODES,
    TEST,
    check,
    in_earnest,
    operation,
    operations,
    refused,
)

NEVER_ASKED = {"headers_too_large", "malformed_http", "method_not_allowed", *SCENARIO_CODES}
IN_TEST = [(path, method) for path, method in operations() if path.startswith(f"{TEST}/")]


@pytest.mark.parametrize(("path", "method"), IN_TEST)
def test_a_call_in_test_takes_what_it_can_meet_in_either_environment(path: str, method: str) -> None:
    header = operation(path, method)["x-scenario-header"]
    assert (header["name"], header["in"], header["x-extension"]) == (SCENARIO, "header", True)
    assert all(each["name"] != SCENARIO for each in operation(path, method).get("parameters", ()))
    assert "An extension" in header["description"]
    real = path.replace(TEST, PRODUCTION)
    met = set(chain(*refused(path, method).values(), *refused(real, method).values()))
    order = [row.code for row in CATALOGUE]
    assert header["x-scenarios"] == [*sorted(met - NEVER_ASKED, key=order.index), "answer_lost"]
    assert set(chain(*refused(path, method).values())) >= SCENARIO_CODES
    for good in (
        header["x-scenarios"][0],
        "answer_lost;until=2026-11-15",
        "internal_error ; until=…; order=booked",
    ):
        check(good, header["schema"])
    for bad in ("", "order_lost", "answer_lost;", "answer_lost; sometimes=1", "Answer_lost"):
        with pytest.raises(ValidationError):
            check(bad, header["schema"])


@pytest.mark.parametrize(("path", "method"), IN_TEST)
def test_what_can_be_made_up_is_marked(path: str, method: str) -> None:
    for status, codes in refused(path, method).items():
        headers = operation(path, method)["responses"][status]["headers"]
        assert (SCENARIO in headers) == bool(set(codes) - NEVER_ASKED)


def test_nothing_else_knows_of_them() -> None:
    others = [each for each in operations() if each not in IN_TEST]
    assert others
    for path, method in others:
        assert operation(path, method) == in_earnest(path, method)


def test_each_code_of_the_specification_can_be_asked_for_somewhere() -> None:
    asked = {
        name
        for path, method in IN_TEST
        for name in operation(path, method)["x-scenario-header"]["x-scenarios"]
    }
    assert asked == set(ROWS) - NEVER_ASKED | {"answer_lost"}
    assert {code for code, row in ROWS.items() if row.specified} <= asked
    assert {code for code, row in ROWS.items() if row.env is Env.TEST} == SCENARIO_CODES
