"""Finds decision traces again: one by the time that its request's id begins with, or the newest of a kind."""

from collections.abc import Iterator

import msgspec

from bullion.orders.trace import Trace

from .engine import Transaction

_TIME_DIGITS = 12
_LOOK_BACK_STEP = 20
_LOOK_BACK_ROWS = 2_000

_decode = msgspec.json.Decoder(list[Trace]).decode


def time_ms(request_id: str) -> int:
    """A request id begins with its time."""
    return int(request_id[:_TIME_DIGITS], 16)


async def trace_of(transaction: Transaction, broker: str, request_id: str) -> Trace | None:
    for row in await transaction.all("trace_batches_at", time_ms(request_id)):
        for trace in _newest_first(row["traces"], f'"{request_id}"'):
            if trace.request_id == request_id and trace.broker == broker:
                return trace
    return None


async def newest_traces(
    transaction: Transaction, broker: str, account_id: int | None, outcome: str | None, limit: int
) -> list[Trace]:
    """The newest that match, newest first, as far as a bounded look back finds them."""
    found: list[Trace] = []
    before = None
    for _ in range(_LOOK_BACK_ROWS // _LOOK_BACK_STEP):
        rows = await transaction.all("trace_batches_before", before, _LOOK_BACK_STEP)
        for row in rows:
            before = row["ordinal"]
            for trace in _newest_first(row["traces"], f'"{outcome or broker}"'):
                if (
                    trace.broker == broker
                    and account_id in (None, trace.account_id)
                    and outcome in (None, trace.outcome)
                ):
                    found.append(trace)
                    if len(found) == limit:
                        return found
        if len(rows) < _LOOK_BACK_STEP:
            break
    return found


def _newest_first(traces: str, must_have: str) -> Iterator[Trace]:
    """A row may hold a thousand: one without the word that is looked for is not taken apart."""
    if must_have in traces:
        yield from reversed(_decode(traces))
