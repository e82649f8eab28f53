"""The ids of the calls that the running code works for. The log adds them to its lines."""

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Union

RequestIds = Union[bytes, str, tuple["RequestIds", ...]]  # noqa: UP007 - it refers to itself

CURRENT: ContextVar[RequestIds] = ContextVar("request_ids", default=())
"""Each call sets its id in its own task. A task that works for several calls sets a tuple of theirs: it would
inherit the id of the call that started it."""


def current_ids() -> tuple[str, ...]:
    return tuple(_flat(CURRENT.get()))


def log_fields() -> dict[str, str | tuple[str, ...]]:
    ids = current_ids()
    if not ids:
        return {}
    return {"request_id": ids[0]} if len(ids) == 1 else {"request_ids": ids}


def _flat(ids: RequestIds) -> Iterator[str]:
    if isinstance(ids, tuple):
        for each in ids:
            yield from _flat(each)
    else:
        yield ids.decode("ascii") if isinstance(ids, bytes) else ids
