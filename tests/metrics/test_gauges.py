"""Gauges of a node's state tell ages by the store's clock, and go on while the store is away."""

import time
from math import isnan

import pytest
from prometheus_client import CollectorRegistry

from bullion.booking.book_keeping import BookRisk, KeptBooks
from bullion.booking.booking_counts import BATCH_BOUNDS, BookingCounts
from bullion.booking.hedge_requests import BookState, HedgeBacklog
from bullion.catalogue.catalogue import Catalogue
from bullion.catalogue.source import Changes
from bullion.wiring.gauges import HedgeGauges

MINUTE_US = 60_000_000


def value(registry: CollectorRegistry, name: str) -> float:
    found = registry.get_sample_value(name)
    assert found is not None
    return found


def test_the_oldest_hedge_is_aged_by_the_stores_clock_and_never_freezes() -> None:
    registry = CollectorRegistry()
    monotonic_ns = 5_000_000_000
    catalogue = Catalogue(lambda: monotonic_ns)
    # The node's own clock is ten minutes behind the store's.
    store_us = time.time_ns() // 1000 + 10 * MINUTE_US
    catalogue.apply(Changes(version=1, clock_us=store_us, whole=True, entries=()), monotonic_ns)
    gauges = HedgeGauges(registry)
    gauges.show(HedgeBacklog(2, store_us - 10_900_000, 1))
    gauges.publish(catalogue.now_us())
    assert value(registry, "bullion_hedge_oldest_seconds") == pytest.approx(10.9)
    assert value(registry, "bullion_hedges_waiting") == 2
    assert value(registry, "bullion_hedges_broken") == 1
    monotonic_ns += 30_000_000_000  # The store is away: nobody calls `show`.
    gauges.publish(catalogue.now_us())
    assert value(registry, "bullion_hedge_oldest_seconds") == pytest.approx(40.9)
    gauges.show(HedgeBacklog(0, None, 0))
    gauges.publish(catalogue.now_us())
    assert value(registry, "bullion_hedge_oldest_seconds") == 0


def test_a_hedge_book_is_shown_against_its_limit() -> None:
    registry = CollectorRegistry()
    gauges = HedgeGauges(registry)
    books = (BookState("main", "gold", -1_500, 6_000), BookState("main", "silver", 250, 0))
    gauges.show(HedgeBacklog(0, None, 0, books=books))
    gauges.publish(0)
    gold, silver = ({"broker": "main", "metal": metal} for metal in ("gold", "silver"))
    assert registry.get_sample_value("bullion_book_residual_grams", gold) == -1.5
    assert registry.get_sample_value("bullion_book_limit_used", gold) == 0.25
    assert registry.get_sample_value("bullion_book_residual_grams", silver) == 0.25
    assert registry.get_sample_value("bullion_book_limit_used", silver) is None
    risks = (BookRisk("main", "gold", 12_345), BookRisk("main", "silver", None))
    gauges.show_books(KeptBooks(risks, broken=(("main", "gold"),)))
    assert registry.get_sample_value("bullion_book_value_at_risk", gold) == 123.45
    unknown = registry.get_sample_value("bullion_book_value_at_risk", silver)
    assert unknown is not None
    assert isnan(unknown)
    assert registry.get_sample_value("bullion_book_not_counted", gold) == 1
    assert registry.get_sample_value("bullion_book_not_counted", silver) == 0
    gauges.show_books(KeptBooks(risks))
    assert registry.get_sample_value("bullion_book_not_counted", gold) == 0


def test_what_is_not_known_of_a_book_any_more_is_no_number() -> None:
    registry = CollectorRegistry()
    gauges = HedgeGauges(registry)
    gold = {"broker": "main", "metal": "gold"}

    def shown(name: str) -> float:
        found = registry.get_sample_value(name, gold)
        assert found is not None
        return found

    gauges.show(HedgeBacklog(0, None, 0, books=(BookState("main", "gold", 5_900, 6_000),)))
    gauges.publish(0)
    assert shown("bullion_book_limit_used") > 0.8
    gauges.show(HedgeBacklog(0, None, 0, books=(BookState("main", "gold", 5_900, 0),)))  # The limit is gone.
    gauges.publish(0)
    assert isnan(shown("bullion_book_limit_used"))
    gauges.show(HedgeBacklog(0, None, 0, books=(BookState("main", "gold", 3_000, 6_000),)))
    gauges.publish(0)
    assert shown("bullion_book_limit_used") == 0.5
    gauges.show_books(KeptBooks((BookRisk("main", "gold", 12_345),)))
    gauges.show_books(KeptBooks(broken=(("main", "gold"),)))  # It cannot be read.
    assert isnan(shown("bullion_book_value_at_risk"))


def test_batches_are_counted_by_their_size() -> None:
    counts = BookingCounts()
    for orders in (1, 1, 3, 32, 64):
        counts.add_batch(orders)
    assert counts.orders == 101
    assert dict(zip((*BATCH_BOUNDS, None), counts.batches, strict=True)) == {
        1: 2,
        2: 0,
        4: 1,
        8: 0,
        16: 0,
        32: 1,
        64: 1,
        None: 0,
    }
