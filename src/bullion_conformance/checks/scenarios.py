"""Scenarios: refusals that a client of the test environment can ask for."""

import re

from bullion_conformance.check import Need, check
from bullion_conformance.client import Client, encoded
from bullion_conformance.codes import CODES, Code
from bullion_conformance.context import Context
from bullion_conformance.exchange import SCENARIO, Exchange
from bullion_conformance.verdict import expect, expect_equal

_ASKED_S = 7
_OF_OTHER_CALLS = {"order_not_found"}


def asked_for(c: Context) -> list[tuple[Code, Exchange]]:
    """Every code that an order can meet."""
    client = c.new_client(scenarios=True)
    return [(code, _played(client, code.name)) for code in CODES if code.name not in _OF_OTHER_CALLS]


def _played(client: Client, scenario: str) -> Exchange:
    return client.send(encoded(client.order_body()), "conformance-scenario", **{SCENARIO: scenario})


@check("bullion.scenarios", need=Need.DESK, orders=len(CODES))
def scenarios_are_played(c: Context) -> None:
    for code, answer in c.once(asked_for):
        expected = (code.status, code.name)
        expect_equal((answer.status, answer.code), expected, f"The response in the scenario {code.name}")
        expect_equal(answer.headers.get(SCENARIO.lower()), code.name, f"{SCENARIO} of {code.name}")


@check("bullion.scenarios.wait", need=Need.DESK, orders=1)
def scenarios_name_the_wait(c: Context) -> None:
    for code, answer in c.once(asked_for):
        if code.status in (429, 503):
            found = answer.headers.get("retry-after", "")
            whole = bool(re.fullmatch("[1-9][0-9]*", found))
            expect(whole, f"Retry-After of {code.name} is {found!r}; expected whole seconds, at least 1.")
    answer = _played(c.new_client(scenarios=True), f"booking_not_completed; retry_after={_ASKED_S}")
    expect_equal(answer.headers.get("retry-after"), f"{_ASKED_S}", "Retry-After of what was asked for")
