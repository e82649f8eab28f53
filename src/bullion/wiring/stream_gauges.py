"""Metrics of the open streams of a node."""

from prometheus_client import CollectorRegistry, Counter, Gauge

from bullion.api.open_streams import StreamCounts

from .counter_copy import CounterCopy


class StreamGauges:
    def __init__(self, registry: CollectorRegistry, counts: StreamCounts) -> None:
        self._counts = counts
        self._open = Gauge(
            "bullion_streams_open",
            "Streams that clients have open.",
            ["kind"],
            registry=registry,
            multiprocess_mode="livesum",
        )
        sent = Counter("bullion_stream_events", "Events sent on streams.", ["kind"], registry=registry)
        ended = Counter(
            "bullion_streams_ended", "Streams that ended, and why.", ["kind", "reason"], registry=registry
        )
        # From 0 on: a counter that appears with its first count shows no increase to Prometheus.
        self._sent = {kind: CounterCopy(sent.labels(kind.value)) for kind in counts.sent}
        self._ended = {
            (kind, why): CounterCopy(ended.labels(kind.value, why.value)) for kind, why in counts.ended
        }

    def publish(self) -> None:
        for kind, number in self._counts.open.items():
            self._open.labels(kind.value).set(number)
        for kind, number in self._counts.sent.items():
            self._sent[kind].update(number)
        for name, number in self._counts.ended.items():
            self._ended[name].update(number)
