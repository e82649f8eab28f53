"""What became of each call: counted for the metrics, and logged off the call's own path."""

import asyncio
from collections import deque
from dataclasses import dataclass

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram

_WRITE_EVERY_S = 0.25
_WAITING_MAX = 10_000

_log = structlog.get_logger("calls")


@dataclass(slots=True)
class Call:
    """One call, as far as it is known; filled in on its way."""

    request_id: bytes
    method: str
    route: str = "unknown"
    address: str = ""
    key_id: str | None = None
    status: int = 0
    code: str | None = None
    ms: float = 0.0
    note: str | None = None
    """What else whoever reads the log should know."""


class CallJournal:
    """Counts every call. Refused ones are logged, all of them if asked for."""

    def __init__(self, registry: CollectorRegistry, *, log_all: bool) -> None:
        self._log_all = log_all
        self._waiting: deque[Call] = deque()
        self._dropped = 0
        self._calls = Counter("bullion_calls", "Calls answered.", ["route", "status"], registry=registry)
        self._refusals = Counter("bullion_refusals", "Calls refused.", ["code"], registry=registry)
        self._seconds = Histogram(
            "bullion_call_seconds",
            "Time from a call's headers to its answer.",
            ["route"],
            registry=registry,
            buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
        )
        # Looking a metric's labels up costs more than counting: keep what was looked up.
        self._counted: dict[tuple[str, int], Counter] = {}
        self._timed: dict[str, Histogram] = {}

    def note(self, call: Call) -> None:
        counted = self._counted.get((call.route, call.status))
        if counted is None:
            counted = self._counted[call.route, call.status] = self._calls.labels(
                call.route, str(call.status)
            )
            self._timed[call.route] = self._seconds.labels(call.route)
        counted.inc()
        self._timed[call.route].observe(call.ms / 1000)
        if call.code is not None:
            self._refusals.labels(call.code).inc()
        elif not self._log_all:
            return
        if len(self._waiting) >= _WAITING_MAX:
            self._dropped += 1
        else:
            self._waiting.append(call)

    async def keep(self) -> None:
        """Run for as long as the node does."""
        while True:
            await asyncio.sleep(_WRITE_EVERY_S)
            self.write()

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
