"""The guide for writers of venue adapters says what the code does."""

from collections.abc import AsyncIterator
from textwrap import dedent
from typing import Any

import pytest

from bullion.booking import breaks, hedge_requests, hedging, reconciliation, venue_calls
from bullion.hedge import venue, venues, watch
from tests.docs.markdown import ROOT, blocks, prose, quoted
from tests.support.venue_contract import VenueContract, VenueTrial

VENUES = ROOT / "docs/venues.md"


def limits() -> dict[str, str]:
    lines = [line for line in prose(VENUES).splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def test_every_venue_has_its_row() -> None:
    lines = [line for line in prose(VENUES).splitlines() if line.startswith("| `")]
    cells = [[cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in lines]
    adapters = {row[0] for row in cells if " in `bullion.hedge." in row[1]}
    assert adapters == set(venues.VENUES)


def test_the_limits_of_time_are_those_of_the_code() -> None:
    told = limits()
    wanted = {
        "one `submit` or `order_status`": f"{hedging._CALL_S:.0f} seconds",
        "a client waits for the first answer": f"{hedging.WAIT_S:.0f} seconds",
        "the lease on a request": f"{hedge_requests.LEASE_US // 1_000_000} seconds",
        "a deleted order that the venue does not know": f"is {hedging.LATE_US // 1_000_000} seconds old",
        "one call of `executions`": f"{reconciliation._LIST_S:.0f} seconds; asked again after 3 seconds",
        "one call of `instruments`": f"{watch._CALL_S:.0f} seconds",
        "a venue counts as reached": f"for {watch._REACHED_AGE_S_MAX:.0f} seconds",
        "a word on an instrument counts": f"for {watch._TRADEABILITY_AGE_S_MAX:.0f} seconds",
        "asked again after `Unconfirmed`": "after 1 second, then 2, then every 4",
        "the log says `hedge_backlog_late`": f"is {hedging._OLD_US // 1_000_000} seconds old",
    }
    for name, words in wanted.items():
        assert words in told[name], name
    assert reconciliation.EVERY_S == 3.0
    assert (venue_calls.FIRST_PAUSE_S, venue_calls.PAUSE_S_MAX) == (1.0, 4.0)
    assert watch._EVERY_S == 0.5
    assert "every half second" in prose(VENUES)


def test_every_word_and_call_of_the_port_is_in_the_guide() -> None:
    words = {
        "Confirmed",
        "PartiallyFilled",
        "OutcomeReport",
        "Fill",
        "VenueAbilities",
        "Declined",
        "Unconfirmed",
        "Duplicate",
        "UnknownOrder",
        "VenueUnreachable",
    }
    calls = {"submit", "order_status", "instruments", "executions", "reports", "abilities"}
    mismatches = {each.value for each in breaks.Mismatch}
    assert all(hasattr(venue, word) for word in words)
    assert {name for name in vars(venue.Venue) if not name.startswith("_")} == calls
    assert words | calls | mismatches | {"ListedExecution"} | {
        word.value for word in venue.Tradeability
    } <= set(quoted(VENUES))


def test_the_contract_is_taken_up_as_shown() -> None:
    """With the names that tests/contract/test_venue.py imports; the trial is for the reader to write."""
    (block,) = blocks(VENUES)
    names: dict[str, Any] = {
        "AsyncIterator": AsyncIterator,
        "VenueContract": VenueContract,
        "VenueTrial": VenueTrial,
        "pytest": pytest,
    }
    exec(dedent(block.text.partition("\n")[2]), names)  # noqa: S102 - it is our own page
    taken = names["TestMyVenue"]
    assert issubclass(taken, VenueContract)
    assert [name for name in dir(taken) if name.startswith("test_")]
