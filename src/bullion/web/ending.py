"""Ends calls that wait on purpose, when the node is about to stop: its other calls are soon finished."""

from collections.abc import Callable

_waiting: list[Callable[[], None]] = []


def on_stop(end: Callable[[], None]) -> None:
    """Call `end` when the node begins to stop."""
    _waiting.append(end)


def end_waiting_calls() -> None:
    while _waiting:
        _waiting.pop()()
