"""The states of a connection, and what leads from one to the next.

A transition that is not listed here is a bug, and raises KeyError.
"""

from enum import Enum


class State(Enum):
    IDLE = "idle"
    """No byte of the next request has arrived."""
    READING_HEAD = "reading head"
    READING_BODY = "reading body"
    """The application has the request, and its body is still arriving."""
    ANSWERING = "answering"
    """The request has arrived completely, and the application has not completed its response."""
    STREAMING = "streaming"
    """The response is a stream, which stays open. Bytes from the client are dropped."""
    DRAINING = "draining"
    """The response is complete. The rest of the body is read and dropped, so that the connection can be
    reused."""
    CLOSING = "closing"
    """Nothing more is sent. Bytes from the client are dropped until it closes or the time limit passes."""

    __hash__ = object.__hash__  # Enum's own is written in Python, and these are looked up for every request.


IDLE, READING_HEAD, READING_BODY, ANSWERING, STREAMING, DRAINING, CLOSING = State

READS_BODY = frozenset({READING_BODY, DRAINING})
RUNS_APP = frozenset({READING_BODY, ANSWERING})
"""The application has not completed its response."""

# Any state can also become CLOSING.
ON_FIRST_BYTE = {IDLE: READING_HEAD}
ON_HEAD_WITHOUT_BODY = {READING_HEAD: ANSWERING}
"""The body is empty, or arrived together with the end of the head."""
ON_HEAD_BEFORE_BODY = {READING_HEAD: READING_BODY}
ON_BODY_END = {READING_BODY: ANSWERING, DRAINING: IDLE}
ON_STREAM = {READING_BODY: STREAMING, ANSWERING: STREAMING}
ON_ANSWERED = {READING_BODY: DRAINING, ANSWERING: IDLE, CLOSING: CLOSING}
