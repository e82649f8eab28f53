"""Instruments with a new rate five times a second, written straight into a store; and work beside a test."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from bullion.rates.tick import Tick
from bullion.store.engine import Engine, Transaction
from bullion.store.rates import put_ticks

_EVERY_S = 0.2
_BID_E6, _STEP_E6, _SPREAD_E6 = 71_000_000_000, 1_000_000, 10_000_000


@contextmanager
def ticking(make_engine: Callable[[], Engine], broker: str, instruments: Sequence[str]) -> Iterator[None]:
    async def keep(ended: threading.Event) -> None:
        engine = make_engine()
        await engine.open()
        try:
            turn = 0
            while not ended.is_set():
                turn += 1
                await engine.write("ticks", partial(put, turn))
                await asyncio.sleep(_EVERY_S)
        finally:
            await engine.close()

    async def put(turn: int, transaction: Transaction) -> None:
        at_us, bid_e6 = time.time_ns() // 1000, _BID_E6 + turn * _STEP_E6
        ticks = [Tick(name, bid_e6, bid_e6 + _SPREAD_E6, at_us, at_us) for name in instruments]
        await put_ticks(transaction, broker, ticks, at_us)

    with meanwhile(lambda ended: asyncio.run(keep(ended))):
        yield


@contextmanager
def meanwhile(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Work in a thread of its own until the block ends; what goes wrong there goes wrong here."""
    ended, errors = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            work(ended)
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if errors:
        raise errors[0]
