"""A response that stays open: server-sent events, read message by message."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx

from bullion_conformance.verdict import CheckFailed

PATIENCE_S = 10.0
END = "\n\n"
"""What ends a message."""


@dataclass(slots=True)
class OpenStream:
    response: httpx.Response
    text: str = ""
    """All that has come so far."""
    _chunks: Iterator[str] = field(init=False)
    _read: int = 0

    def __post_init__(self) -> None:
        self._chunks = self.response.iter_text()

    def read(self, containing: str = "") -> str:
        """The messages up to the one that contains the text."""
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            found = self.text.find(containing, self._read)
            end = self.text.find(END, found) if found >= 0 else -1
            if end >= 0:
                messages, self._read = self.text[self._read : end], end + len(END)
                return messages
            if time.monotonic() > give_up_at or not self._more():
                told = (
                    f"A stream told no message with {containing} in it"
                    if containing
                    else "A stream was silent"
                )
                raise CheckFailed(f"{told}; it told {self.text[-200:]!r}.")

    def read_to_end(self) -> None:
        """Until the service ends it."""
        while self._more():
            pass

    def _more(self) -> bool:
        try:
            self.text += next(self._chunks).replace("\r\n", "\n")
        except StopIteration:
            return False
        except httpx.ReadTimeout:
            raise CheckFailed(f"A stream was silent for {PATIENCE_S:.0f} s.") from None
        except httpx.RemoteProtocolError:
            return False  # Cut off in the middle.
        return True
