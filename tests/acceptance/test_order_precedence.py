"""When an order is at fault in two ways, the earlier fault in the ruled order answers.

Of the faults in `tests.support.precedence`, two are put into the same order. Neighbours are all tried, others
as a random sample.
"""

import random
from collections.abc import Iterator
from itertools import combinations, pairwise

import pytest

from bullion.refusals.catalogue import CATALOGUE
from tests.support.node import Node
from tests.support.orders import UNBOUNDED, Market, refused
from tests.support.precedence import FAULTS, OF_PRODUCTION, Case, Exchange, at_fault, together

KEY = "the one key"
ORDER = [name for name in FAULTS if name not in OF_PRODUCTION]


def sample() -> list[tuple[str, str]]:
    """All neighbours, and some others; the seed is fixed so that a failure can be seen again."""
    near = list(pairwise(ORDER))
    far = [pair for pair in combinations(ORDER, 2) if pair not in near]
    return [pair for pair in near + random.Random(11).sample(far, 60) if together([*pair]) == [*pair]]  # noqa: S311


@pytest.fixture(scope="module")
def exchange(node: Node) -> Iterator[Exchange]:
    with Market.open(node) as market:
        yield Exchange(market)


def test_the_faults_stand_in_the_order_of_the_catalogue() -> None:
    catalogue = [row.code for row in CATALOGUE]
    faults = [code for code in ORDER if code != "not_found"]
    assert faults == sorted(faults, key=catalogue.index)


def test_without_any_fault_the_order_is_booked(exchange: Exchange) -> None:
    assert exchange.code_of(Case()) == "201"


@pytest.mark.parametrize("fault", ORDER)
def test_each_fault_alone_answers_its_own_code(exchange: Exchange, fault: str) -> None:
    assert exchange.code_of(at_fault(fault)) == fault


@pytest.mark.parametrize(("first", "second"), sample())
def test_the_earlier_of_two_faults_answers(exchange: Exchange, first: str, second: str) -> None:
    assert exchange.code_of(at_fault(first, second)) == first


@pytest.mark.parametrize("start", range(len(ORDER)))
def test_the_first_of_all_faults_from_here_on_answers(exchange: Exchange, start: int) -> None:
    """Everything at once that can be: an order with every fault from one place of the table to its end."""
    assert exchange.code_of(at_fault(*together(ORDER[start:]))) == ORDER[start]


@pytest.mark.parametrize("encoding_first", [True, False])
def test_too_large_comes_before_compressed_in_whichever_order_the_headers_are(
    market: Market, encoding_first: bool
) -> None:
    trader = market.trader()
    body = b"{" + b" " * 65 * 1024
    headers = [b"Content-Encoding: gzip", b"Content-Length: %d" % len(body)]
    ordered = headers if encoding_first else headers[::-1]
    answer = trader.raw(body, b"Content-Type: application/json", *ordered, framed=False)
    refused(answer, "request_too_large")


def test_budgets_are_taken_before_the_body_is_judged(own_market: Market) -> None:
    """Refused bodies are paid for, whatever is wrong with them."""
    own_market.switch(budgets=UNBOUNDED | {"orders_per_10_seconds": 4})
    trader = own_market.trader()
    refused(trader.send(b"x" * 70_000, KEY), "request_too_large")
    refused(trader.send(b"x"), "idempotency_key_required")
    refused(trader.send(b"x", KEY), "invalid_request")
    refused(trader.place(KEY, symbol_code="NOWHERE"), "unknown_symbol")
    refused(trader.send(b"x" * 70_000, KEY), "rate_limited")
