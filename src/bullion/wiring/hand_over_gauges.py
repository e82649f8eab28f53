"""Metrics of the connections that workers hand over to each other."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter

from bullion.web.hand_over import Outcome

from .counter_copy import CounterCopy


class HandOverGauges:
    def __init__(self, registry: CollectorRegistry, counts: Mapping[Outcome, int]) -> None:
        self._counts = counts
        counter = Counter(
            "bullion_connections_handed_over",
            "Connections that belong to another worker, and what became of them.",
            ["outcome"],
            registry=registry,
        )
        self._copies = {outcome: CounterCopy(counter.labels(outcome.value)) for outcome in Outcome}

    def publish(self) -> None:
        for outcome, copy in self._copies.items():
            copy.update(self._counts[outcome])
