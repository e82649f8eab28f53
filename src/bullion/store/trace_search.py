"""Searches decision traces from the newest to older ones, within bounds on the bytes that are read.

Traces are stored many to a row. The store itself leaves out rows that lack a text that every wanted trace
has. Of the other rows, only the traces that match are decoded whole.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from bullion.orders.trace import Trace
from bullion.records.refusals import RefusalFilter, TracePlace

from .engine import Row, Transaction
from .trace_reader import DecisionHead, decode_heads, decode_traces

SEARCHED_BYTES_MAX = 4 * 1024 * 1024
"""So much of the newest traces one search reads: about twelve thousand decisions."""
LISTED_BYTES_MAX = 4 * 1024 * 1024
"""So much one page of refusals reads. The next page goes on from there."""
_WINDOW_BYTES = 2 * 1024 * 1024
_WINDOW_ROWS = 4_096
_LATE_ROWS = 200
"""Nodes write at about the same time, but not in one order: a range of times is widened by so many rows."""
_TEXTS_IN_QUERY = 2

_decode_raw = msgspec.json.Decoder(list[msgspec.Raw]).decode
"""Finds where each trace of a row begins and ends, without decoding them."""
_decode_one = msgspec.json.Decoder(Trace).decode

Matches = Callable[[Trace], bool]
Placed = tuple[TracePlace, Trace]


@dataclass(frozen=True, slots=True)
class Window:
    """Rows with ordinals from `low` up to but not including `high`."""

    low: int
    high: int


async def windows(
    transaction: Transaction, low: int, high: int | None, bytes_max: int
) -> AsyncIterator[Window]:
    """The rows before ordinal `high`, newest first, in parts of bounded size.

    They end with ordinal `low`, or when `bytes_max` are read.
    """
    newest = await transaction.one("trace_row_before", high)
    oldest = await transaction.one("oldest_trace_row")
    read_bytes = 0
    while oldest is not None and newest is not None and newest["ordinal"] >= low and read_bytes < bytes_max:
        end, rows = newest["ordinal"] + 1, _WINDOW_ROWS
        while True:
            # `bytes_through` of the row before a window tells its size without reading the traces.
            begin = max(low, end - rows)
            older = await transaction.one("trace_row_before", begin)
            size = newest["bytes_through"] - (older or oldest)["bytes_through"]
            if size <= _WINDOW_BYTES or rows == 1:
                break
            rows = max(1, rows * _WINDOW_BYTES // (2 * size))
        yield Window(begin, end)
        read_bytes += size
        newest = older


async def newest_matching(
    transaction: Transaction, broker: str, matches: Matches, texts: Sequence[str], limit: int
) -> list[Trace]:
    """The broker's newest matching traces. Each contains all the texts, as JSON."""
    found: list[Trace] = []
    async for window in windows(transaction, 0, None, SEARCHED_BYTES_MAX):
        for row in await _rows(transaction, window, [f'"{broker}"', *texts]):
            needles = [each.encode() for each in texts]
            for raw in reversed(_decode_raw(row["traces"])):
                if all(needle in bytes(raw) for needle in needles):
                    trace = _decode_one(raw)
                    found += [trace] if trace.broker == broker and matches(trace) else []
        if len(found) >= limit:
            break
    return found[:limit]


async def of_requests(
    transaction: Transaction, broker: str, beginning: str, times_ms: tuple[int, int], limit: int
) -> list[Trace]:
    """The broker's traces of requests whose ids begin so, newest first."""
    found = [
        each
        for row in await transaction.all("trace_rows_between", *times_ms, f'"{beginning}', limit)
        for each in decode_traces(row["traces"])
        if each.broker == broker and each.request_id.startswith(beginning)
    ]
    return sorted(found, key=lambda each: each.request_id, reverse=True)[:limit]


async def refusals(
    transaction: Transaction,
    broker: str,
    account_id: int | None,
    wanted: RefusalFilter,
    before: TracePlace | None,
    limit: int,
) -> tuple[list[Trace], TracePlace | None]:
    """Refused calls, newest first, from a place down; and the place of the next page, if there is more."""
    low, high = await _ordinals(transaction, wanted)
    if before is not None:
        end = before.ordinal + (before.position > 0)
        high = end if high is None else min(high, end)
    texts = [f'"{broker}"' if account_id is None else f'"{broker}",{account_id},']
    texts += [f'"{code}"' for code in wanted.codes] if len(wanted.codes) == 1 else []
    texts += [] if wanted.symbol_code is None else [f'"{wanted.symbol_code}"']
    found: list[Placed] = []
    reached: Window | None = None
    async for window in windows(transaction, low, high, LISTED_BYTES_MAX):
        reached = window
        for row in await _rows(transaction, window, texts):
            found += [
                each
                for each in _refusals_in(row, broker, account_id, wanted)
                if before is None or each[0] < before
            ]
            if len(found) > limit:
                return [trace for _, trace in found[:limit]], found[limit - 1][0]
    older = None if reached is None else await transaction.one("trace_row_before", reached.low)
    more = reached is not None and older is not None and older["ordinal"] >= low
    return [trace for _, trace in found], TracePlace(reached.low, 0) if reached and more else None


async def _ordinals(transaction: Transaction, wanted: RefusalFilter) -> tuple[int, int | None]:
    """The first row for a range of times, and the row after its last one."""
    low, high = 0, None
    if wanted.since_us is not None:
        first = await transaction.one("first_trace_row_from", wanted.since_us // 1000)
        if first is None:
            # Nothing is that new: look at the newest rows only.
            first = await transaction.one("trace_row_before", None)
        low = 0 if first is None else first["ordinal"] - _LATE_ROWS
    if wanted.until_us is not None:
        last = await transaction.one("first_trace_row_from", wanted.until_us // 1000)
        high = None if last is None else last["ordinal"] + _LATE_ROWS
    return low, high


async def _rows(transaction: Transaction, window: Window, texts: Sequence[str]) -> Sequence[Row]:
    """The rows of a window that contain all these texts, newest first."""
    given = (*texts, "", "")[:_TEXTS_IN_QUERY]
    rows = await transaction.all("trace_rows", window.low, window.high, *given)
    return [row for row in rows if all(text in row["traces"] for text in texts[_TEXTS_IN_QUERY:])]


def _refusals_in(row: Row, broker: str, account_id: int | None, wanted: RefusalFilter) -> Iterator[Placed]:
    heads = decode_heads(row["traces"])
    indexes = [index for index, head in enumerate(heads) if _is_wanted(head, broker, account_id, wanted)]
    if not indexes:
        return
    raws = _decode_raw(row["traces"])
    for index in reversed(indexes):
        trace = _decode_one(raws[index])
        asked, code = trace.asked, wanted.symbol_code
        if code is None or (asked is not None and asked.symbol_code == code):
            yield TracePlace(row["ordinal"], index), trace


def _is_wanted(head: DecisionHead, broker: str, account_id: int | None, wanted: RefusalFilter) -> bool:
    return (
        head.broker == broker
        and head.outcome in wanted.codes
        and account_id in (None, head.account_id)
        and wanted.environment in (None, head.environment)
        and (wanted.since_us is None or head.at_us >= wanted.since_us)
        and (wanted.until_us is None or head.at_us < wanted.until_us)
    )
