"""Metrics of the FIX lines of a node."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from bullion.hedge.fix.line_counts import ANSWER_BOUNDS_S
from bullion.hedge.fix.session_effects import LineState
from bullion.web.metrics import add_counts

from .counter_copy import CounterCopy
from .fix_lines import BrokerLine, FixLines

_KINDS = frozenset("0123459ADHhfjy8") | {"AF"}


class LineGauges:
    """Only the node that holds a line has it up. All nodes know whether it should be."""

    def __init__(self, registry: CollectorRegistry, lines: FixLines) -> None:
        def gauge(name: str, text: str) -> Gauge:
            return Gauge(name, text, ["line"], registry=registry, multiprocess_mode="livemax")

        self._lines = lines
        self._up = gauge("bullion_line_up", "Whether this node holds the line and it is up.")
        self._expected = gauge("bullion_line_expected", "Whether the line should be up now.")
        self._unknown = gauge(
            "bullion_line_orders_unknown", "Orders whose outcome should be known by now, and is not."
        )
        self._logons = Counter("bullion_line_logons", "Logons at the venue.", ["line"], registry=registry)
        self._gaps = Counter("bullion_line_gaps", "Gaps in what the venue sent.", ["line"], registry=registry)
        self._messages = Counter(
            "bullion_line_messages", "FIX messages.", ["line", "direction", "kind"], registry=registry
        )
        self._unknown_ever = Counter(
            "bullion_orders_unknown",
            "Orders whose outcome was not known in time.",
            ["line"],
            registry=registry,
        )
        self._answers = Histogram(
            "bullion_venue_answer_seconds",
            "How long the venue took to report the outcome of an order.",
            ["line"],
            registry=registry,
            buckets=ANSWER_BOUNDS_S,
        )
        self._copies: dict[tuple[Counter, tuple[str, ...]], CounterCopy] = {}
        self._measured: dict[str, tuple[float, list[int]]] = {}

    def publish(self) -> None:
        for line in self._lines.lines:
            self._publish(line.own.line.line.name, line)

    def _publish(self, name: str, line: BrokerLine) -> None:
        status = line.own.line.status()
        self._up.labels(name).set(line.lease.held() and status.state is LineState.UP)
        self._expected.labels(name).set(line.control.expected)
        self._unknown.labels(name).set(line.control.orders.unknown)
        self._copy(self._logons, status.logons, name)
        self._copy(self._gaps, status.gaps, name)
        self._copy(self._unknown_ever, line.own.counts.unknown, name)
        by_label: dict[tuple[str, str], int] = {}
        messages = line.own.line.messages
        for direction, counts in (("in", messages.received), ("out", messages.sent)):
            for kind, number in counts.items():
                labels = (direction, kind if kind in _KINDS else "other")
                by_label[labels] = by_label.get(labels, 0) + number
        for labels, number in by_label.items():
            self._copy(self._messages, number, name, *labels)
        self._copy_answers(name, line.own.counts.answer_s, line.own.counts.answers)

    def _copy(self, counter: Counter, number: int, *labels: str) -> None:
        key = (counter, labels)
        if key not in self._copies:
            self._copies[key] = CounterCopy(counter.labels(*labels))
        self._copies[key].update(number)

    def _copy_answers(self, name: str, total_s: float, numbers: list[int]) -> None:
        before_s, before = self._measured.get(name, (0.0, [0] * len(numbers)))
        new = [now - then for now, then in zip(numbers, before, strict=True)]
        add_counts(self._answers.labels(name), total_s - before_s, new)
        self._measured[name] = (total_s, list(numbers))
