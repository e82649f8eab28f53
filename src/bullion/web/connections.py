"""How many connections each address has open: one address must not take the memory of all."""

import time
from collections.abc import Callable

import structlog

from .address import subscriber

EXEMPT = ""
_TELL_EVERY_S = 60.0

_log = structlog.get_logger("web")


class ConnectionCount:
    """Of one port of one process. It costs a look-up when a connection is made, and one when it ends."""

    def __init__(self, most: int, exempt: Callable[[str], bool]) -> None:
        """`most`: of one address. `exempt`: whether an address may have any number, as our proxies may."""
        self._most = most
        self._exempt = exempt
        self._told_at = -_TELL_EVERY_S
        self.open: dict[str, int] = {}
        """The open connections of each address that has any."""

    def enter(self, peer: str) -> str | None:
        """Count a new connection. Return whom to hand to `leave` when it ends; None: it is one too many."""
        if self._exempt(peer):
            return EXEMPT
        address = subscriber(peer)
        number = self.open.get(address, 0)
        if number >= self._most:
            self._tell(address)
            return None
        self.open[address] = number + 1
        return address

    def leave(self, address: str) -> None:
        if address == EXEMPT:
            return
        number = self.open[address] - 1
        if number:
            self.open[address] = number
        else:
            del self.open[address]

    def _tell(self, address: str) -> None:
        """Now and then: whoever is refused can come again at once, and must not fill the log."""
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY_S:
            self._told_at = now
            _log.warning("connections_refused", address=address, open=self._most)
