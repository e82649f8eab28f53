"""Reads server-sent events (the format `text/event-stream`) from bytes that arrive in any pieces."""

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_EVENT_BYTES_MAX = 4 * 1024 * 1024
"""No event of the service comes near: a longer one is no event stream."""


class TooLong(ValueError):
    """An event that does not end."""


@dataclass(frozen=True, slots=True)
class Message:
    """One event of a stream: its name, and its lines of data joined."""

    event: str
    data: str


class MessageReader:
    """The state of reading a stream."""

    def __init__(self) -> None:
        self.last_id: str | None = None
        """The id of the last event that ended, also of one without data."""
        self.retry_ms: int | None = None
        """How long to wait before a reconnection, if the stream named it."""
        self._line = bytearray()
        self._lines_seen = False
        self._after_cr = False
        self._id: str | None = None
        self._event = ""
        self._data: list[str] = []
        self._data_bytes = 0

    def feed(self, chunk: bytes) -> list[Message]:
        """The events that these bytes complete."""
        if not chunk:
            return []
        second_half = self._after_cr and chunk.startswith(b"\n")  # Of a line end that was split.
        self._after_cr = chunk.endswith(b"\r")
        if second_half:
            chunk = chunk[1:]
        messages: list[Message] = []
        *ended, rest = _LINE_END.split(chunk)
        for line in ended:
            self._line += line
            message = self._take(bytes(self._line))
            self._line.clear()
            if message is not None:
                messages.append(message)
        self._line += rest
        self._check_size()
        return messages

    def _take(self, line: bytes) -> Message | None:
        if not self._lines_seen:
            self._lines_seen = True
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        name, _, value = line.decode("utf-8", "replace").partition(":")
        self._set(name, value.removeprefix(" "))
        return None

    def _set(self, name: str, value: str) -> None:
        """Set a field. A comment has an empty name; unknown fields are ignored."""
        match name:
            case "data":
                self._data.append(value)
                self._data_bytes += len(value)
                self._check_size()
            case "event":
                self._event = value
            case "id" if "\0" not in value:
                self._id = value
            case "retry" if re.fullmatch("[0-9]{1,9}", value):
                self.retry_ms = int(value)

    def _dispatch(self) -> Message | None:
        """The event that an empty line ends. Without data there is none."""
        message = Message(self._event or "message", "\n".join(self._data)) if self._data else None
        self.last_id, self._event = self._id, ""
        self._data, self._data_bytes = [], 0
        return message

    def _check_size(self) -> None:
        if len(self._line) + self._data_bytes > _EVENT_BYTES_MAX:
            raise TooLong
