"""What the operator's monitoring sees of orders that wait for the venue."""

import time

from prometheus_client import CollectorRegistry, Gauge

from bullion.booking.hedge_requests import Waiting


class HedgeGauges:
    """Every node tells the same, of the whole store: with several workers the newest word counts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, words: str) -> Gauge:
            return Gauge(name, words, registry=registry, multiprocess_mode="mostrecent")

        self._waiting = gauge("bullion_hedges_waiting", "Orders that wait for the venue's word.")
        self._oldest_s = gauge("bullion_hedge_oldest_seconds", "How long the oldest of them has waited.")
        self._broken = gauge(
            "bullion_hedges_broken", "Unresolved breaks: orders whose venue contradicted what became of them."
        )

    def show(self, waiting: Waiting) -> None:
        self._waiting.set(waiting.requests)
        oldest_s = 0.0 if waiting.oldest_at_us is None else time.time() - waiting.oldest_at_us / 1_000_000
        self._oldest_s.set(max(0.0, oldest_s))
        self._broken.set(waiting.broken)
