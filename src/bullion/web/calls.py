"""The call log: counts calls for the metrics, and logs them in the background."""

import asyncio
from bisect import bisect_left
from collections import deque

import msgspec
import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram

_WRITE_EVERY_S = 0.25
_WAITING_MAX = 10_000
_BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)

_log = structlog.get_logger("calls")


class Call(msgspec.Struct):
    """One call. Its fields are filled in while it is handled."""

    request_id: bytes
    method: str
    route: str = "unknown"
    address: str = ""
    key_id: str | None = None
    status: int = 0
    """0: the connection was aborted without a response."""
    code: str | None = None
    ms: float = 0.0
    note: str | None = None
    """Anything else for the log."""
    header_lines: bytes = b""
    """Header lines to add to those of the response."""


class _RouteCounts:
    """The calls of one route and status since the last publication.

    Plain numbers: counters of the Prometheus library take locks, which costs more than a short response.
    """

    __slots__ = ("by_seconds", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self.by_seconds = [0] * (len(_BOUNDS_S) + 1)


class CallLog:
    """Counts every call. Logs refused calls, or all calls if `log_all` is set."""

    def __init__(self, registry: CollectorRegistry, *, log_all: bool) -> None:
        self._log_all = log_all
        self._waiting: deque[Call] = deque()
        self._dropped = 0
        self._counts: dict[tuple[str, int], _RouteCounts] = {}
        self._refused: dict[str, int] = {}
        self._calls = Counter("bullion_calls", "Calls answered.", ["route", "status"], registry=registry)
        self._refusals = Counter("bullion_refusals", "Calls refused.", ["code"], registry=registry)
        self._seconds = Histogram(
            "bullion_call_seconds",
            "Time from a call's headers to its response.",
            ["route"],
            registry=registry,
            buckets=_BOUNDS_S,
        )

    def add(self, call: Call) -> None:
        counts = self._counts.get((call.route, call.status))
        if counts is None:
            counts = self._counts[call.route, call.status] = _RouteCounts()
        seconds = call.ms / 1000
        counts.seconds += seconds
        counts.by_seconds[bisect_left(_BOUNDS_S, seconds)] += 1
        if call.code is not None:
            self._refused[call.code] = self._refused.get(call.code, 0) + 1
        elif not self._log_all:
            return
        if len(self._waiting) >= _WAITING_MAX:
            self._dropped += 1
        else:
            self._waiting.append(call)

    def publish(self) -> None:
        """Add the counts to the metrics. Also called just before the metrics are read."""
        pending, self._counts = self._counts, {}
        for (route, status), counts in pending.items():
            self._calls.labels(route, str(status)).inc(sum(counts.by_seconds))
            # The library has no way of its own to add many observations at once.
            histogram = self._seconds.labels(route)
            histogram._sum.inc(counts.seconds)  # noqa: SLF001
            for bucket, number in zip(histogram._buckets, counts.by_seconds, strict=True):  # noqa: SLF001
                if number:
                    bucket.inc(number)
        refused, self._refused = self._refused, {}
        for code, number in refused.items():
            self._refusals.labels(code).inc(number)

    async def run(self) -> None:
        """Write and publish in the background, until cancelled."""
        while True:
            await asyncio.sleep(_WRITE_EVERY_S)
            self.write()
            self.publish()

    def write(self) -> None:
        while self._waiting:
            call = self._waiting.popleft()
            _log.info(
                "call",
                request_id=call.request_id.decode("ascii"),
                method=call.method,
                route=call.route,
                status=call.status,
                code=call.code,
                address=call.address,
                key_id=call.key_id,
                ms=round(call.ms, 2),
                **({"note": call.note} if call.note else {}),
            )
        if self._dropped:
            _log.warning("calls_not_logged", count=self._dropped)
            self._dropped = 0
