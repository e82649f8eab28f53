"""The header of a scenario, read strictly: what it may say, and what is told of everything else."""

from typing import Any

import pytest

from bullion.api.endpoints import endpoints
from bullion.api.event_stream import EventStreams
from bullion.api.events import Events
from bullion.api.market_data import MarketData
from bullion.api.me import Me
from bullion.api.openapi.endpoints import ENDPOINTS, PLACE_ORDER
from bullion.api.orders import Orders, ProductionOrders
from bullion.api.positions import Positions
from bullion.api.quote_stream import QuoteStreams
from bullion.api.scenario import ANSWER_LOST, CallScenarios, Scenario, requestable
from bullion.api.scenarios import Scenarios
from bullion.api.webhooks import Webhooks
from bullion.environment import Environment
from bullion.refusals.catalogue import (
    BOOKING_OUTCOME_UNKNOWN,
    PRODUCTION_TRADING_DISABLED,
    RATE_LIMITED,
    STALE_RATE,
    UNKNOWN_SCENARIO,
    UNPRICED,
)
from bullion.refusals.refusal import RefusalCode, RefusalError

ORDERS = CallScenarios("POST /orders", requestable(PLACE_ORDER.refusals), {}, places_order=True)
READS = CallScenarios(
    "GET /x", requestable(PLACE_ORDER.refusals), {"order_not_found": "GET /y"}, places_order=False
)


def read(text: str, scenarios_of: CallScenarios = ORDERS) -> Scenario:
    return scenarios_of.read([text.encode("latin-1")])


def told(text: str, scenarios_of: CallScenarios = ORDERS) -> str:
    with pytest.raises(RefusalError) as caught:
        read(text, scenarios_of)
    assert caught.value.refusal is UNKNOWN_SCENARIO
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "row", "more"),
    [
        ("unpriced", UNPRICED, {}),
        ("stale_rate", STALE_RATE, {"retry_after_s": 2}),
        (" \tunpriced ", UNPRICED, {}),
        ("rate_limited", RATE_LIMITED, {"retry_after_s": 2}),
        ("rate_limited;retry_after=1", RATE_LIMITED, {"retry_after_s": 1}),
        ("rate_limited ; retry_after=3600", RATE_LIMITED, {"retry_after_s": 3600}),
        ("production_trading_disabled", PRODUCTION_TRADING_DISABLED, {"reason": "account"}),
        ("production_trading_disabled; reason=deploy", PRODUCTION_TRADING_DISABLED, {"reason": "deploy"}),
        (ANSWER_LOST, None, {}),
        (f"{ANSWER_LOST}; order=booked", None, {"booked": True}),
        ("unpriced; until=1970-01-01T00:00:01Z", UNPRICED, {"until_us": 1_000_000}),
        ("unpriced; until=1970-01-01T05:30:00+05:30", UNPRICED, {"until_us": 0}),
        (
            "booking_outcome_unknown; until=1970-01-02; order=booked; retry_after=9",
            BOOKING_OUTCOME_UNKNOWN,
            {"until_us": 86_400_000_000, "booked": True, "retry_after_s": 9},
        ),
    ],
)
def test_what_it_may_say(text: str, row: RefusalCode | None, more: dict[str, object]) -> None:
    name = ANSWER_LOST if row is None else row.code
    assert read(text) == Scenario(text.strip(), name, row, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 'has no scenario ""'),
        ("STALE_RATE", "STALE_RATE"),
        ("stale_rate, stale_rate", "stale_rate, stale_rate"),
        ("unpriced;", 'takes no "". It takes until.'),
        ("unpriced; retry_after=1", 'takes no "retry_after"'),
        ("stale_rate; reason=global", 'takes no "reason"'),
        ("price_moved; order=booked", 'takes no "order"'),
        ("booking_not_completed; order=booked", "It takes until, retry_after."),
        ("rate_limited; RETRY_AFTER=1", "RETRY_AFTER"),
        ("rate_limited; retry_after=1; retry_after=1", "more than once"),
        ("production_trading_disabled; reason=whim", "deploy, global or account"),
        ("answer_lost; order=twice", "order has to be booked"),
        ("answer_lost; order", 'this is ""'),
        ("stale_rate; until=soon", "ISO 8601"),
        ("stale_rate; until=", "ISO 8601"),
        ("x" * 5_000, "has 5000 characters"),
        ("\x07\xe9", "\\x07é"),
        *(
            (f"rate_limited; retry_after={bad}", "from 1 to 3600")
            for bad in ("0", "3601", "-1", "1.5", "", "²")
        ),
    ],
)
def test_what_it_may_not(text: str, words: str) -> None:
    message = told(text)
    assert words in message
    assert "/openapi.json lists the scenarios" in message
    assert len(message) < 300


def test_production_has_nothing_to_play_one_with() -> None:
    nothing: Any = None
    orders, real = Orders(nothing, nothing, nothing, nothing, nothing), ProductionOrders(*[nothing] * 5)
    data, scenarios = MarketData(nothing, nothing), Scenarios(nothing, nothing, nothing, orders)
    events, webhooks = Events(nothing, nothing, nothing), Webhooks(*[nothing] * 5, allow_private=False)
    both = (orders, data), (real, data)
    streams = EventStreams(nothing, nothing, nothing), (QuoteStreams(nothing, data, nothing),) * 2
    found = endpoints(Me(deploy_on=True), Positions(nothing), *both, events, webhooks, scenarios, *streams)
    for path, methods in found.items():
        for endpoint in methods.values():
            plays = endpoint.simulate is not None
            assert (
                plays == (endpoint.environment is Environment.TEST) == path.startswith("/api/trading/test/")
            )


def test_it_is_sent_once() -> None:
    with pytest.raises(RefusalError, match="unknown_scenario"):
        ORDERS.read([b"stale_rate", b"stale_rate"])


def test_a_call_that_places_no_order_books_none() -> None:
    for name in (ANSWER_LOST, "service_unavailable", "internal_error"):
        assert read(name, READS).booked is False
        assert 'takes no "order"' in told(f"{name}; order=booked", READS)


def test_a_name_of_another_call_is_told_with_it() -> None:
    assert "GET /x cannot meet order_not_found" in told("order_not_found", READS)
    assert "Try GET /y." in told("order_not_found", READS)


def test_no_call_can_be_asked_for_what_says_that_nothing_was_played() -> None:
    for described in ENDPOINTS:
        names = requestable(described.refusals)
        assert names.keys().isdisjoint({"scenario_not_allowed", "unknown_scenario", "malformed_http"})
        assert names["internal_error"].status == 500
