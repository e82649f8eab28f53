"""Metrics of the desk's reports: where they were read."""

from prometheus_client import CollectorRegistry, Counter

from bullion.store.standby import OUTCOMES, Reports

from .counter_copy import CounterCopy


class ReportGauges:
    def __init__(self, registry: CollectorRegistry, reports: Reports) -> None:
        counter = Counter(
            "bullion_reports",
            "Reports read at the standby, or why they were read at the primary.",
            ["outcome"],
            registry=registry,
        )
        self._reports = reports
        self._copies = {each: CounterCopy(counter.labels(each)) for each in OUTCOMES}

    def publish(self) -> None:
        for outcome, copy in self._copies.items():
            copy.update(self._reports.outcomes[outcome])
