"""Rate limits counted in Redis for all nodes: one script and one round trip per call."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha1
from importlib.resources import files
from time import monotonic
from typing import Any

import hiredis
import structlog

from .limiter import Allowed, BudgetState, Charge, Exceeded, LimiterUnavailable, Throttled
from .memory import MemoryLimiter
from .redis_link import LinkDown, RedisLink, packed

_SCRIPT = files("bullion.budgets").joinpath("take.lua").read_text("utf-8")
_SCRIPT_SHA = sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()
_US_PER_S = 1_000_000
_MS_PER_S = 1_000
_LOG_REPAIRED_EVERY_S = 60
_PROBE_EVERY_S = 1.0
_PROBE_FAILURES, _PROBE = Charge("probe failures", 1, 1), Charge("probe", 1_000_000, 1)
_FAILURES = (LinkDown, hiredis.ReplyError, ValueError)

_log = structlog.get_logger("redis")

_TAKEN, _THROTTLED, _EXCEEDED = range(3)
_REPLY_TYPES = [int] * 6


class RedisLimiter:
    """Exact across nodes. Failures are counted in this node's memory too, for when Redis is down."""

    def __init__(self, link: RedisLink, memory: MemoryLimiter) -> None:
        self._link = link
        self._memory = memory
        self.failures = 0
        """How many calls could not be counted."""
        self._counted = True
        """Whether the last call could be counted."""
        self._log_repaired_at_s = 0.0

    @property
    def up(self) -> bool:
        """Whether calls can be counted. A Redis that is full, or forbids the script, is still connected."""
        return self._link.connected and self._counted

    async def watch(self) -> None:
        """Probe it for as long as the node runs, also if nobody calls."""
        while True:
            if self._link.connected:
                with suppress(*_FAILURES):
                    await self.probe()
            await asyncio.sleep(_PROBE_EVERY_S)

    async def probe(self) -> None:
        """Count a call of nobody's. LinkDown, ReplyError or ValueError if that fails."""
        await self._count(_PROBE_FAILURES, failed=False, charges=(_PROBE,))

    def throttled(self, failures: Charge) -> Throttled | None:
        return self._memory.throttled(failures)

    async def take(
        self, failures: Charge, *, failed: bool, charges: Sequence[Charge] = ()
    ) -> Allowed | Throttled | Exceeded:
        known = self._memory.throttled(failures)
        if known is not None:
            return known
        try:
            outcome, repaired = await self._count(failures, failed=failed, charges=tuple(charges))
        except _FAILURES as error:
            self.failures += 1
            if charges:
                raise LimiterUnavailable(str(error)) from error
            return await self._memory.take(failures, failed=failed)
        if repaired:
            self._log_repaired((failures, *charges)[repaired - 1])
        if failed and isinstance(outcome, Allowed):
            await self._memory.take(failures, failed=True)
        return outcome

    async def _count(
        self, failures: Charge, *, failed: bool, charges: tuple[Charge, ...]
    ) -> tuple[Allowed | Throttled | Exceeded, int]:
        """The outcome, and which of the keys was repaired: see `_outcome`."""
        try:
            try:
                reply = await self._link.send(_known_command(failures, failed, charges))
            except hiredis.ReplyError as error:
                if not str(error).startswith("NOSCRIPT"):
                    raise
                # Redis was restarted, or its scripts were flushed. Nothing was counted; EVAL loads it again.
                reply = await self._link.send(_command("EVAL", _SCRIPT, failures, failed, charges))
            answer = _outcome(reply)
        except _FAILURES as error:
            if isinstance(error, ValueError):
                self._link.reconnect("an answer that makes no sense")
            elif "READONLY" in str(error):  # The master became a replica while we were connected.
                self._link.reconnect("it became a replica")
            if self._counted:  # Log once each time it stops working.
                _log.error("rate_limiter_failed", error=repr(error))
            self._counted = False
            raise
        if charges:  # Otherwise nothing may have been written: a Redis that is full answers that.
            self._counted = True
        return answer

    def _log_repaired(self, charge: Charge) -> None:
        """At most once a minute: a program that writes to our keys may do so again and again."""
        now_s = monotonic()
        if now_s >= self._log_repaired_at_s:
            self._log_repaired_at_s = now_s + _LOG_REPAIRED_EVERY_S
            _log.warning(
                "budget_repaired",
                key=_key(charge),
                why="the key held foreign data, or times ahead of this Redis's clock",
            )


@lru_cache(maxsize=8192)
def _known_command(failures: Charge, failed: bool, charges: tuple[Charge, ...]) -> bytes:
    """Cached: the same callers come again and again, and their commands never change."""
    return _command("EVALSHA", _SCRIPT_SHA, failures, failed, charges)


def _command(verb: str, script: str, failures: Charge, failed: bool, charges: tuple[Charge, ...]) -> bytes:
    counted = (failures, *charges)
    words: list[str | int] = [verb, script, len(counted)]
    words += map(_key, counted)
    words.append(int(failed))
    for charge in counted:
        words += (charge.limit, charge.window_s * _MS_PER_S)
    return packed(*words)


def _key(charge: Charge) -> str:
    return f"bullion:{charge.subject}:{charge.window_s}"


def _outcome(reply: Any) -> tuple[Allowed | Throttled | Exceeded, int]:
    """The outcome, and which of the keys was repaired, counted from 1, or 0.

    Raises ValueError for a reply that the script cannot have given.
    """
    if type(reply) is not list or [*map(type, reply)] != _REPLY_TYPES:
        raise ValueError(f"not an answer of the script: {str(reply)[:80]}")
    verdict, limit, remaining, reset_us, room_us, repaired = reply
    if verdict == _TAKEN:
        reset_s = -(-reset_us // _US_PER_S)  # As `_seconds` rounds, without a call of it.
        return Allowed(None if limit == -1 else BudgetState(limit, remaining, reset_s)), repaired
    budget_state = BudgetState(limit, 0, max(1, _seconds(reset_us)))
    if verdict == _THROTTLED:
        return Throttled(budget_state, max(1, _seconds(room_us))), repaired
    if verdict == _EXCEEDED:
        return Exceeded(budget_state, max(1, _seconds(room_us))), repaired
    raise ValueError(f"not a verdict of the script: {verdict}")


def _seconds(microseconds: int) -> int:
    return -(-microseconds // _US_PER_S)
