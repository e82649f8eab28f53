"""The service with a line to its venue that can be held: `python -m tests.support.held_venue serve`.

While a file `held` is in its working directory, submissions wait on the line: the call ends in a timeout, and
the order arrives at the venue once the file is gone. `LATE_S` shortens the time after which a deleted order
that the venue does not know is no longer asked for.
"""

import asyncio
import os
from pathlib import Path

from bullion.__main__ import main
from bullion.booking import hedging
from bullion.hedge.simulated import SimulatedVenue
from bullion.hedge.venue import HedgeRequest, SubmitAnswer

HELD = "held"
_LOOK_S = 0.02
_submit = SimulatedVenue.submit


async def _arrive(venue: SimulatedVenue, request: HedgeRequest) -> SubmitAnswer:
    while Path(HELD).exists():  # noqa: ASYNC240 - another process removes it
        await asyncio.sleep(_LOOK_S)
    return await _submit(venue, request)


_arriving: set["asyncio.Task[SubmitAnswer]"] = set()


async def _submit_when_released(venue: SimulatedVenue, request: HedgeRequest) -> SubmitAnswer:
    arriving = asyncio.get_running_loop().create_task(_arrive(venue, request))
    _arriving.add(arriving)
    return await asyncio.shield(arriving)


if __name__ == "__main__":
    setattr(SimulatedVenue, "submit", _submit_when_released)  # noqa: B010 - mypy forbids it otherwise
    hedging.LATE_US = int(os.environ["LATE_S"]) * 1_000_000
    main()
