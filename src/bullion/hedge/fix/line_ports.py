"""What a line needs of its process, what it tells its owner, and what it says of itself."""

from itertools import count
from typing import Protocol

import msgspec

from .codec import Message
from .connection import Chunk
from .session_effects import LineState, Numbers


class KeptNumbers(msgspec.Struct, frozen=True):
    outgoing: int
    """No number from this one on was used."""
    incoming: int
    stored_us: int


class SequenceStore(Protocol):
    """Kept numbers of a line. Only its holder may change them: NotHolder for others.

    The incoming number is stored by the line's owner, together with what it learned from the messages.
    """

    async def numbers(self, line: str) -> KeptNumbers | None: ...

    async def begin_numbers(self, line: str, holder: str, numbers: Numbers) -> None:
        """Begin both numbers anew with these."""

    async def restart_incoming(self, line: str, holder: str) -> None:
        """The venue began anew: the incoming number is 1 again. A lower one is always safe."""

    async def reserve_numbers(self, line: str, holder: str, below: int) -> None:
        """Outgoing numbers below this one may be used; it is never lowered by this."""


class HeldLine(Protocol):
    """This process's hold on the line."""

    holder: str

    def held(self) -> bool:
        """Whether this process may write to the line now. Asked before every write."""

    async def begin_connection(self) -> int:
        """The number of a new connection, which no other one of this line ever has. May raise NotHolder."""


class SoleHolder:
    """For a line that no other process can have: tests, commands, and what has a lease of its own."""

    holder = "sole"

    def __init__(self) -> None:
        self._numbers = count(1)

    def held(self) -> bool:
        return True

    async def begin_connection(self) -> int:
        return next(self._numbers)


class LineOwner(Protocol):
    """Callbacks. They must not wait."""

    def logged_on(self, connection_no: int, logon: Message) -> None:
        """Recover, then call `FixLine.recovered`."""

    def received(self, connection_no: int, chunk: Chunk) -> None: ...

    def lost(self, connection_no: int, reason: str) -> None:
        """The connection with this number is closed. Called only after `logged_on`."""


class LineStatus(msgspec.Struct, frozen=True):
    name: str
    state: LineState
    since_us: int
    reason: str
    """Why the last connection ended."""
    alarm: str
    """What the desk has to decide; empty if nothing."""
    numbers: Numbers
    in_us: int
    out_us: int
    connection_no: int
    logons: int
    losses: int
    gaps: int
    garbled: int
    refused: bool
    """Whether the venue refused the last logon."""
