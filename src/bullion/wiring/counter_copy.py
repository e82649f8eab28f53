"""Prometheus counters that follow plain numbers."""

from prometheus_client import Counter


class CounterCopy:
    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._published = 0

    def update(self, number: int) -> None:
        self._counter.inc(number - self._published)
        self._published = number
