"""How many rows of the store this node cannot read, for the operator's monitoring."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge


class UnreadableGauge:
    """Every node finds the same in the same store: with several workers the newest number counts."""

    def __init__(self, registry: CollectorRegistry, count: Callable[[], int]) -> None:
        self._count = count
        self._gauge = Gauge(
            "bullion_rows_unreadable",
            "Rows of the store that cannot be read: what they describe is out of trade.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )

    def publish(self) -> None:
        self._gauge.set(self._count())
