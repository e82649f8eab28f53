"""How often orders were decided is read from a service's own metrics."""

from bench.decisions import read_counts

METRICS = """\
# TYPE bullion_booking_decisions_total counter
bullion_booking_decisions_total{environment="production"} 7.0
bullion_booking_decisions_total{environment="test"} 30.0
bullion_booking_batch_orders_sum{environment="test"} 20.0
bullion_booking_batch_orders_bucket{environment="test",le="1.0"} 4.0
"""


def test_those_of_test_orders_count() -> None:
    assert read_counts(METRICS) == {
        "bullion_booking_decisions_total": 30,
        "bullion_booking_batch_orders_sum": 20,
    }


def test_a_service_that_does_not_tell_has_none() -> None:
    assert read_counts("") == {}
