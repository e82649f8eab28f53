"""Finds decision traces: one by the time in its request id, or the newest that match a filter."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from bullion.orders.trace import Trace
from bullion.records.orders import DecisionCount

from .engine import Transaction

_TIME_DIGITS = 12
_LOOK_BACK_STEP = 20
_LOOK_BACK_ROWS = 2_000
_COUNTED_CHARACTERS_MAX = 8 * 1024 * 1024
"""About thirty thousand decisions: the most that one count reads."""
_US_PER_MINUTE = 60_000_000


class DecisionHead(msgspec.Struct, frozen=True, array_like=True):
    """The first fields of a trace, which are enough for counting; the rest is not decoded."""

    request_id: str
    at_us: int
    broker: str
    account_id: int
    environment: str
    key_id: str | None
    outcome: str


decode_traces = msgspec.json.Decoder(list[Trace]).decode
decode_heads = msgspec.json.Decoder(list[DecisionHead]).decode


def time_ms(request_id: str) -> int:
    """The time that a request id begins with."""
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
    """The matching traces, newest first, within a bounded number of rows."""
    found: list[Trace] = []
    before = None
    # Rows without the encoded broker and account are skipped without decoding them.
    whose = f'"{broker}"' if account_id is None else f'"{broker}",{account_id},'
    words = [whose] if outcome is None else [whose, f'"{outcome}"']
    for _ in range(_LOOK_BACK_ROWS // _LOOK_BACK_STEP):
        rows = await transaction.all("trace_batches_between", 0, before, _LOOK_BACK_STEP)
        for row in rows:
            before = row["ordinal"]
            for trace in _newest_first(row["traces"], *words):
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


def _newest_first(traces: str, *must_have: str) -> Iterator[Trace]:
    """A row holds up to a thousand traces. It is decoded only if it contains all these texts."""
    if all(each in traces for each in must_have):
        yield from reversed(decode_traces(traces))


async def decision_counts(
    transaction: Transaction, broker: str, after_ordinal: int | None, since_us: int
) -> tuple[list[DecisionCount], int]:
    """Count what was written after `after_ordinal`, back to `since_us`, within bounds: the newest first."""
    counts: Counter[tuple[int, str, str]] = Counter()
    after, before = after_ordinal or 0, None
    newest, characters = after, 0
    while characters < _COUNTED_CHARACTERS_MAX:
        rows = await transaction.all("trace_batches_between", after, before, _LOOK_BACK_STEP)
        recent = [_count(counts, row["traces"], broker, since_us) for row in rows]
        characters += sum(len(row["traces"]) for row in rows)
        newest = max([newest, *(row["ordinal"] for row in rows)])
        if len(rows) < _LOOK_BACK_STEP or not any(recent):
            break
        before = rows[-1]["ordinal"]
    return _decision_counts(counts), newest


def _count(counts: Counter[tuple[int, str, str]], traces: str, broker: str, since_us: int) -> bool:
    """Add the broker's traces to the counts. Returns whether any trace, of any broker, is recent."""
    recent = [each for each in decode_heads(traces) if each.at_us >= since_us]
    counts.update(
        (each.at_us // _US_PER_MINUTE, each.environment, each.outcome)
        for each in recent
        if each.broker == broker
    )
    return bool(recent)


def _decision_counts(counts: Counter[tuple[int, str, str]]) -> list[DecisionCount]:
    return [
        DecisionCount(minute * _US_PER_MINUTE, environment, outcome, count)
        for (minute, environment, outcome), count in sorted(counts.items())
    ]
