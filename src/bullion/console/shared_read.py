"""A read of the store that all open pages share: at most one at a time, about one per second.

Only open pages cause reads. A slow read is repeated less often, so that pages never take more than a small
part of the store's time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Generic, TypeVar

import structlog

from bullion.faults import StoreFault
from bullion.records.token import Actor
from bullion.refusals.catalogue import SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError

T = TypeVar("T")

EVERY_S = 0.8
"""A little less than the second after which a page asks again, so that each request gets fresh data."""
SLOWER_S = 2.8
"""For what may be a few seconds old. A change that is made in this console is read at once all the same."""
_SHARE = 20
"""At most one part in this many of the time between two reads is spent reading."""
_EVERY_S_MAX = 10.0
_PATIENCE_S = 1.0
"""A page does not wait longer for a read: it shows the last data, and how old that is."""
STORE_AWAY = "The store cannot be reached."
STORE_SLOW = "The store is slow to answer."
_SLOW_S = 5.0
"""A read that takes longer counts as failed."""
_FAILED = "This could not be read. The log says why."

_log = structlog.get_logger("console")


class ReadPending(Exception):
    """The read has not finished yet. Its message is for people."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """The last data, and the error since then, if any."""

    value: T | None = None
    read_at: float | None = None
    error: str | None = None
    error_since: float | None = None
    refused: RefusalError | None = None
    """The error is a refusal of the desk: trying again gives the same."""

    def require(self) -> T:
        """The data, for a page that shows nothing else. Without it, the page is an error."""
        if self.value is None:
            if self.error == STORE_SLOW:
                raise ReadPending(self.error)
            raise self.refused or RefusalError(SERVICE_UNAVAILABLE, self.error or "Loading.", retry_after_s=1)
        return self.value

    @property
    def age_s(self) -> int:
        return 0 if self.read_at is None else int(monotonic() - self.read_at)

    @property
    def error_age_s(self) -> int:
        return 0 if self.error_since is None else int(monotonic() - self.error_since)


class SharedRead(Generic[T]):
    def __init__(
        self, read: Callable[[Actor], Awaitable[T]], every_s: float = EVERY_S, *, share: int = _SHARE
    ) -> None:
        """`share`: 1 for what must not get older because the store is slow."""
        self._read = read
        self._share = share
        self._every_s = every_s
        self._due_at = 0.0
        self._expired = False
        """Whether data was changed after the last read began."""
        self._task: asyncio.Task[None] | None = None
        self._started_at = 0.0
        self.reading: Reading[T] = Reading()

    def expire(self) -> None:
        """Data was changed: the next request reads again."""
        self._due_at = 0.0
        self._expired = True

    async def get(self, actor: Actor) -> Reading[T]:
        """The freshest data allowed. The first to ask reads as themselves for everybody of their broker."""
        # A read that began before a change may not have seen it, so another one follows.
        if self._expired and not await self._is_finished():
            return self.reading
        if self._task is None and monotonic() >= self._due_at:
            self._started_at, self._expired = monotonic(), False
            self._task = asyncio.create_task(self._run(actor))
        await self._is_finished()
        return self.reading

    async def _is_finished(self) -> bool:
        """Wait for the read that is running, if any, but not for long."""
        task = self._task
        if task is None:
            return True
        await asyncio.wait({task}, timeout=_PATIENCE_S)
        if not task.done():
            waited_s = monotonic() - self._started_at
            self._set_error(STORE_SLOW if waited_s < _SLOW_S else STORE_AWAY)
        return task.done()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self, actor: Actor) -> None:
        try:
            value = await self._read(actor)
        except StoreFault:
            self._set_error(STORE_AWAY)
        except RefusalError as refused:
            self._set_error(refused.message, refused)
        except Exception:  # noqa: BLE001 - one failed read must not fail the whole page
            _log.exception("internal_error")
            self._set_error(_FAILED)
        else:
            self.reading = Reading(value, monotonic())
        finally:
            took_s = monotonic() - self._started_at
            wait_s = min(_EVERY_S_MAX, max(self._every_s, took_s * self._share))
            self._due_at = self._started_at + (0.0 if self._expired else wait_s)
            self._task = None

    def _set_error(self, message: str, refused: RefusalError | None = None) -> None:
        since = self.reading.error_since
        self.reading = replace(
            self.reading, error=message, error_since=monotonic() if since is None else since, refused=refused
        )
