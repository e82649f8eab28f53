"""Budgets counted in Redis, for all nodes together: one script, one round trip a call."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha1
from importlib.resources import files
from typing import Any

import hiredis
import structlog

from .limiter import Charge, Exceeded, LimiterUnavailable, Standing, Taken, Throttled
from .memory import MemoryLimiter
from .redis_link import LinkDown, RedisLink, packed

_SCRIPT = files("bullion.budgets").joinpath("take.lua").read_text("utf-8")
_SCRIPT_SHA = sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()
_US_PER_S = 1_000_000
_MS_PER_S = 1_000

_log = structlog.get_logger("redis")

_TAKEN, _THROTTLED, _EXCEEDED = range(3)


class RedisLimiter:
    """Exact across nodes. Failures are noted in this node's memory too, for when Redis is away."""

    def __init__(self, link: RedisLink, memory: MemoryLimiter) -> None:
        self._link = link
        self._memory = memory
        self._telling = True

    def throttled(self, failures: Charge) -> Throttled | None:
        return self._memory.throttled(failures)

    async def take(
        self, failures: Charge, *, failed: bool, charges: Sequence[Charge] = ()
    ) -> Taken | Throttled | Exceeded:
        known = self._memory.throttled(failures)
        if known is not None:
            return known
        try:
            outcome = _outcome(await self._run(failures, failed, tuple(charges)))
        except (LinkDown, hiredis.ReplyError, ValueError) as error:
            if isinstance(error, ValueError):
                self._link.distrust()
            self._tell(error)
            if charges:
                raise LimiterUnavailable(str(error)) from error
            return await self._memory.take(failures, failed=failed)
        self._telling = True
        if failed and isinstance(outcome, Taken):
            await self._memory.take(failures, failed=True)
        return outcome

    def _tell(self, error: Exception) -> None:
        """Once for each time that it stops working: a Redis that answers with errors is still connected."""
        if self._telling:
            _log.error("not_counting", error=repr(error))
        self._telling = False

    async def _run(self, failures: Charge, failed: bool, charges: tuple[Charge, ...]) -> Any:
        try:
            return await self._link.send(_known_command(failures, failed, charges))
        except hiredis.ReplyError as error:
            if not str(error).startswith("NOSCRIPT"):
                raise
            # A new Redis, or one whose scripts were flushed; nothing was counted. This loads it again.
            return await self._link.send(_command("EVAL", _SCRIPT, failures, failed, charges))


@lru_cache(maxsize=8192)
def _known_command(failures: Charge, failed: bool, charges: tuple[Charge, ...]) -> bytes:
    """The same callers come again and again, and what is sent for them never changes."""
    return _command("EVALSHA", _SCRIPT_SHA, failures, failed, charges)


def _command(verb: str, script: str, failures: Charge, failed: bool, charges: tuple[Charge, ...]) -> bytes:
    counted = (failures, *charges)
    words: list[str | int] = [verb, script, len(counted)]
    words += [f"bullion:{charge.subject}:{charge.window_s}" for charge in counted]
    words.append(int(failed))
    for charge in counted:
        words += (charge.limit, charge.window_s * _MS_PER_S)
    return packed(*words)


def _outcome(reply: Any) -> Taken | Throttled | Exceeded:
    """Raises ValueError for an answer that the script could not have given."""
    if type(reply) is not list or len(reply) != 5:
        raise ValueError(f"not an answer of the script: {str(reply)[:80]}")
    verdict, limit, remaining, reset_us, room_us = reply
    if not (type(verdict) is type(limit) is type(remaining) is type(reset_us) is type(room_us) is int):
        raise ValueError(f"not an answer of the script: {str(reply)[:80]}")
    if verdict == _TAKEN:
        return Taken(None if limit == -1 else Standing(limit, remaining, _seconds(reset_us)))
    standing = Standing(limit, 0, max(1, _seconds(reset_us)))
    if verdict == _THROTTLED:
        return Throttled(standing, max(1, _seconds(room_us)))
    if verdict == _EXCEEDED:
        return Exceeded(standing, max(1, _seconds(room_us)))
    raise ValueError(f"not a verdict of the script: {verdict}")


def _seconds(microseconds: int) -> int:
    return -(-microseconds // _US_PER_S)
