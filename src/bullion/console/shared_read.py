"""A read of the store that all open pages share: at most one under way, about one a second.

Pages ask for it and nobody else: when none is open, nothing is read. A read that is slow is done more seldom,
so that looking never takes more than a small part of the store's time.
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
"""A little less than the second after which a page asks again: what is a whole second old by then is news."""
_SHARE = 20
"""Of the time between two reads, one in so many parts may be spent on reading."""
_EVERY_S_MAX = 10.0
_PATIENCE_S = 1.0
"""A page does not wait longer for news: it shows what is known, and how old that is."""
STORE_AWAY = "The store cannot be reached."
STORE_SLOW = "The store takes long to answer."
_SLOW_S = 5.0
"""After so long without a word it counts as away."""
_BROKEN = "This could not be read: the log says why."

_log = structlog.get_logger("console")


class NotYet(Exception):
    """The read is under way. Its message is for people."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """What was read last, and what is wrong since, if anything is."""

    value: T | None = None
    read_at: float | None = None
    trouble: str | None = None
    troubled_since: float | None = None
    refused: RefusalError | None = None
    """The trouble is the desk's own answer, not the store's: asking again gives the same."""

    def required(self) -> T:
        """What was read, for a page that is about this one thing. Without it, the page is an error."""
        if self.value is None:
            if self.trouble == STORE_SLOW:
                raise NotYet(self.trouble)
            raise self.refused or RefusalError(
                SERVICE_UNAVAILABLE, self.trouble or "Not read yet.", retry_after_s=1
            )
        return self.value

    @property
    def age_s(self) -> int:
        return 0 if self.read_at is None else int(monotonic() - self.read_at)

    @property
    def trouble_s(self) -> int:
        return 0 if self.troubled_since is None else int(monotonic() - self.troubled_since)


class SharedRead(Generic[T]):
    def __init__(self, read: Callable[[Actor], Awaitable[T]], every_s: float = EVERY_S) -> None:
        self._read = read
        self._every_s = every_s
        self._due_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self._started_at = 0.0
        self.reading: Reading[T] = Reading()

    def expire(self) -> None:
        """Something was changed: whoever asks next is told the news."""
        self._due_at = 0.0

    async def get(self, actor: Actor) -> Reading[T]:
        """As fresh as it may be. The first to ask reads in their own name for all of their broker."""
        if self._task is None and monotonic() >= self._due_at:
            self._started_at = monotonic()
            self._task = asyncio.create_task(self._run(actor))
        task = self._task
        if task is not None:
            await asyncio.wait({task}, timeout=_PATIENCE_S)
            if not task.done():
                waited_s = monotonic() - self._started_at
                self._note_trouble(STORE_SLOW if waited_s < _SLOW_S else STORE_AWAY)
        return self.reading

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self, actor: Actor) -> None:
        try:
            value = await self._read(actor)
        except StoreFault:
            self._note_trouble(STORE_AWAY)
        except RefusalError as refused:
            self._note_trouble(refused.message, refused)
        except Exception:  # noqa: BLE001 - a page must not end with what one of its parts met
            _log.exception("internal_error", request_id=None)
            self._note_trouble(_BROKEN)
        else:
            self.reading = Reading(value, monotonic())
        finally:
            took_s = monotonic() - self._started_at
            self._due_at = self._started_at + min(_EVERY_S_MAX, max(self._every_s, took_s * _SHARE))
            self._task = None

    def _note_trouble(self, words: str, refused: RefusalError | None = None) -> None:
        since = self.reading.troubled_since
        self.reading = replace(
            self.reading,
            trouble=words,
            troubled_since=monotonic() if since is None else since,
            refused=refused,
        )
