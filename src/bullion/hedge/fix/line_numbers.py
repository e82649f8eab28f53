"""The numbers that a line begins a connection with: 1, or those that were kept."""

from collections.abc import Callable

from .line_ports import HeldLine, SequenceStore
from .profile import Line
from .session_effects import Numbers


class LineNumbers:
    def __init__(self, line: Line, kept: SequenceStore | None, holder: HeldLine) -> None:
        if not line.profile.reset_on_logon and kept is None:
            raise ValueError(f"line {line.name}: its profile keeps numbers, so it needs a store for them")
        self._line = line
        self._kept = None if line.profile.reset_on_logon else kept
        self._holder = holder
        self.next_outgoing: int | None = None
        """Kept numbers: where our last connection ended. None if another process had the line since."""

    @property
    def kept(self) -> bool:
        return self._kept is not None

    async def first(self, opened_us: Callable[[], int | None], *, reset: bool) -> tuple[Numbers, int | None]:
        """The numbers to begin with, and the outgoing number that is not reserved yet.

        `opened_us`: when the timetable opened the line, if it did.
        """
        if self._kept is None:
            return Numbers(), None
        found = await self._kept.numbers(self._line.name)
        began_us = opened_us() if self._line.profile.numbers_by_window else None
        over = found is not None and began_us is not None and found.stored_us < began_us
        if found is None or over or reset:
            await self._kept.begin_numbers(self._line.name, self._holder.holder, Numbers())
            return Numbers(), 1
        # The store knows only what is reserved. The numbers between are skipped if nobody knows better.
        outgoing = min(found.outgoing, self.next_outgoing or found.outgoing)
        return Numbers(outgoing, found.incoming), found.outgoing

    async def reserve(self, below: int) -> None:
        if self._kept is not None:
            await self._kept.reserve_numbers(self._line.name, self._holder.holder, below)

    async def restart_incoming(self) -> None:
        if self._kept is not None:
            await self._kept.restart_incoming(self._line.name, self._holder.holder)
