"""The call log: counts calls for the metrics, and logs them in the background."""

import asyncio
import logging
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator

import msgspec
import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram

from bullion.environment import Environment
from bullion.refusals.catalogue import (
    BOOKING_NOT_COMPLETED,
    BOOKING_OUTCOME_UNKNOWN,
    CATALOGUE,
    INTERNAL_ERROR,
)
from bullion.refusals.refusal import Env

from .metrics import add_counts

_WRITE_EVERY_S = 0.25
_WAITING_MAX = 10_000
# fmt: off
_BOUNDS_S = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 2.5, 3.0, 6.0, 10.0,
)
# fmt: on
"""Includes the time limits of the service: 2 s for the venue, 6 s for a booking."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ENVIRONMENTS = (*((f"{each.base_path}/", each.value) for each in Environment), ("/desk/", "desk"))

_log = structlog.get_logger("calls")
_standard_log = logging.getLogger("calls")


class Call(msgspec.Struct, gc=False):
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
    """Header lines to add to those of the response. The endpoint may append to them."""


class _RouteCounts:
    """The calls of one route, method and status since the last publication.

    Plain numbers: counters of the Prometheus library take locks, which costs more than a short response.
    """

    __slots__ = ("by_seconds", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self.by_seconds = [0] * (len(_BOUNDS_S) + 1)


class CallLog:
    """Counts every call. Logs refused calls; all calls if `log_all` is set, or at level debug."""

    def __init__(self, registry: CollectorRegistry, *, log_all: bool) -> None:
        self._log_all = log_all
        self._debug = False
        self._waiting: deque[Call] = deque()
        self._dropped = 0
        self._counts: dict[tuple[str, str, int], _RouteCounts] = {}
        self._refused: dict[tuple[str, str], int] = {}
        self._calls = Counter(
            "bullion_calls",
            "Calls answered.",
            ["route", "method", "status", "environment"],
            registry=registry,
        )
        self._refusals = Counter(
            "bullion_refusals", "Calls refused.", ["code", "environment"], registry=registry
        )
        # From 0 on: a counter that appears with its first count shows no increase to Prometheus.
        for code, environment in _refusals():
            self._refusals.labels(code, environment)
        self._seconds = Histogram(
            "bullion_call_seconds",
            "Time from a call's headers to its response.",
            ["route", "method"],
            registry=registry,
            buckets=_BOUNDS_S,
        )

    def add(self, call: Call) -> None:
        name = (call.route, call.method, call.status)
        counts = self._counts.get(name)
        if counts is None:
            counts = self._counts[name] = _RouteCounts()
        seconds = call.ms / 1000
        counts.seconds += seconds
        counts.by_seconds[bisect_left(_BOUNDS_S, seconds)] += 1
        if call.code is not None:
            refused = (call.code, call.route)
            self._refused[refused] = self._refused.get(refused, 0) + 1
        elif not (self._log_all or self._debug):
            return
        if len(self._waiting) >= _WAITING_MAX:
            self._dropped += 1
        else:
            self._waiting.append(call)

    def publish(self) -> None:
        """Add the counts to the metrics. Also called just before the metrics are read."""
        pending, self._counts = self._counts, {}
        for (route, sent_method, status), counts in pending.items():
            # Callers choose the method, so unusual ones share a label.
            method = sent_method if sent_method in METHODS else "other"
            number = sum(counts.by_seconds)
            self._calls.labels(route, method, str(status), _environment(route)).inc(number)
            add_counts(self._seconds.labels(route, method), counts.seconds, counts.by_seconds)
        refused, self._refused = self._refused, {}
        for (code, route), number in refused.items():
            self._refusals.labels(code, _environment(route)).inc(number)

    async def run(self) -> None:
        """Write and publish in the background, until cancelled."""
        while True:
            self._debug = _standard_log.isEnabledFor(logging.DEBUG)  # Not at every call.
            await asyncio.sleep(_WRITE_EVERY_S)
            self.write()
            self.publish()

    def write(self) -> None:
        while self._waiting:
            call = self._waiting.popleft()
            log = _log.info if call.code is not None or self._log_all else _log.debug
            log(
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


def _environment(route: str) -> str:
    return next((name for base, name in _ENVIRONMENTS if route.startswith(base)), "none")


def _refusals() -> Iterator[tuple[str, str]]:
    """The codes of the trading API with the environments in which they can be met.

    At the desk, which places orders too, those that tell of a fault.
    """
    for row in CATALOGUE:
        if row.env != Env.PROD:
            yield row.code, Environment.TEST.value
        if row.env != Env.TEST:
            yield row.code, Environment.PRODUCTION.value
    for row in (BOOKING_NOT_COMPLETED, BOOKING_OUTCOME_UNKNOWN, INTERNAL_ERROR):
        yield row.code, "desk"
    yield INTERNAL_ERROR.code, "none"
