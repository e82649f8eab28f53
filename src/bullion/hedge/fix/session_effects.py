"""What a session is told and what it wants done: its settings, states, numbers and effects."""

from enum import StrEnum

import msgspec

from .codec import BEGIN, Message


class LineState(StrEnum):
    RESTING = "resting"
    """Outside of its hours, or disconnected by the desk."""
    CONNECTING = "connecting"
    LOGGING_ON = "logging on"
    RECOVERING = "recovering"
    """Logged on. The owner asks for its orders that are not final; new orders wait."""
    UP = "up"
    LEAVING = "leaving"
    """A Logout is sent and not answered."""
    WAITING = "waiting"
    """The line was lost; it connects again after a pause."""


LOGGED_ON = frozenset({LineState.RECOVERING, LineState.UP})


class Role(StrEnum):
    INITIATOR = "initiator"
    ACCEPTOR = "acceptor"


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to talk with the other side."""

    sender: str
    target: str
    role: Role = Role.INITIATOR
    begin: str = BEGIN
    heartbeat_s: int = 30
    """An acceptor takes the initiator's."""
    reset_on_logon: bool = True
    logon_fields: tuple[tuple[int, str], ...] = ()
    """Sent in the Logon besides 98, 108 and 141: user name, password and others."""
    header_fields: tuple[tuple[int, str], ...] = ()
    """Sent in every header behind 56: 50, 57 and others."""
    sending_time_s: int = 120
    """How far the other side's SendingTime may be from our clock. 0: it is not checked."""
    logon_s: int = 10
    """How long a logon or a logout may take."""
    logout_s: int = 5


class Numbers(msgspec.Struct):
    """The numbers that the next messages have."""

    outgoing: int = 1
    incoming: int = 1


# --- Effects ------------------------------------------------------------------------------------------


class Send(msgspec.Struct, frozen=True):
    data: bytes
    type: str
    number: int


class Deliver(msgspec.Struct, frozen=True):
    """A message for the owner: all but those that the session answers. Also Reject (35=3)."""

    message: Message


class LoggedOn(msgspec.Struct, frozen=True):
    """The owner recovers now."""

    message: Message
    """The other side's Logon."""
    reset: bool


class Skipped(msgspec.Struct, frozen=True):
    """Messages with these numbers will never arrive. The owner must not rest on having seen all."""

    first: int
    last: int


class Unreadable(msgspec.Struct, frozen=True):
    """A message for the owner that was rejected, because a field of it cannot be read."""

    message: Message


class Reserve(msgspec.Struct, frozen=True):
    """Store that outgoing numbers below this one may be used, then call `reserved`."""

    below: int


class CloseKind(StrEnum):
    LOGOUT = "logout"
    """The other side logged out, or answered our Logout."""
    REFUSED = "refused"
    """It refused our logon."""
    TOO_LOW = "too low"
    """A number was lower than the expected one, at either side: one of them lost its numbers."""
    LOST = "lost"
    """It did not answer in time."""
    VIOLATION = "violation"
    """It broke the protocol."""


class Close(msgspec.Struct, frozen=True):
    """Write what is to be sent, then close the connection."""

    kind: CloseKind
    reason: str


Effect = Send | Deliver | LoggedOn | Skipped | Unreadable | Reserve | Close


class NotLoggedOn(Exception):
    """A message was to be sent outside of a session. Nothing of it was written, unless it is LostInWrite."""


class LostInWrite(NotLoggedOn):
    """The line was lost while the message was written: the other side may have it."""
