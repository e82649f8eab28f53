"""The parts that place orders, for a process that seldom does: they run only while they are used."""

import asyncio
from time import monotonic

import structlog

from .trading import Trading

_IDLE_S = 120.0
"""After this long without use they stop. Nobody is then left who waits for an order: it has seconds."""
_CHECK_S = 5.0
_log = structlog.get_logger("trading")


class TradingOnDemand:
    def __init__(self, trading: Trading, *, idle_s: float = _IDLE_S, check_s: float = _CHECK_S) -> None:
        self._trading = trading
        self._idle_s = idle_s
        self._check_s = check_s
        self._tasks: list[asyncio.Task[None]] = []
        self._used_at = 0.0
        self._starting = asyncio.Lock()

    def running(self) -> bool:
        return bool(self._tasks) and not any(task.done() for task in self._tasks)

    async def start(self) -> None:
        """Bring memory up to date and keep it so. May raise StoreFault."""
        self._used_at = monotonic()
        async with self._starting:
            if self.running():
                return
            await self._stop()
            await self._trading.refresh()
            await self._trading.check()
            self._tasks = [asyncio.create_task(each) for each in self._trading.background_tasks()]
            _log.info("trading_started")

    async def refresh(self) -> None:
        """Bring memory up to date if it is in use. May raise StoreFault."""
        if self.running():
            await self._trading.refresh()

    async def run(self) -> None:
        """Stop the parts when they are no longer used, until cancelled."""
        try:
            while True:
                await asyncio.sleep(self._check_s)
                if self._tasks and monotonic() - self._used_at > self._idle_s:
                    async with self._starting:
                        await self._stop()
                    _log.info("trading_stopped")
        finally:
            await self._stop()

    async def _stop(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(error, Exception):
                _log.error("trading_failed", error=repr(error))
