"""Gauges for the operator's monitoring. With several workers the newest value counts: all read one store."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge

from bullion.booking.hedge_requests import HedgeBacklog


def _gauge(registry: CollectorRegistry, name: str, help_text: str) -> Gauge:
    return Gauge(name, help_text, registry=registry, multiprocess_mode="mostrecent")


class HedgeGauges:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._waiting = _gauge(registry, "bullion_hedges_waiting", "Orders that wait for the venue.")
        self._oldest_s = _gauge(
            registry, "bullion_hedge_oldest_seconds", "How long the oldest of them has waited."
        )
        self._broken = _gauge(
            registry,
            "bullion_hedges_broken",
            "Unresolved breaks: the venue's answer contradicts the state of the order.",
        )

    def show(self, backlog: HedgeBacklog) -> None:
        self._waiting.set(backlog.requests)
        oldest_s = 0.0 if backlog.oldest_at_us is None else time.time() - backlog.oldest_at_us / 1_000_000
        self._oldest_s.set(max(0.0, oldest_s))
        self._broken.set(backlog.breaks)


class UnreadableGauge:
    def __init__(self, registry: CollectorRegistry, count: Callable[[], int]) -> None:
        self._count = count
        self._gauge = _gauge(
            registry,
            "bullion_rows_unreadable",
            "Rows of the store that cannot be read: what they describe is not traded.",
        )

    def publish(self) -> None:
        self._gauge.set(self._count())
