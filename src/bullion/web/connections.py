"""Limits the open connections of each address, so that one address cannot use up the memory."""

import time
from collections.abc import Callable

import structlog

from .address import client_network

EXEMPT = ""
_WARN_EVERY_S = 60.0

_log = structlog.get_logger("web")


class ConnectionCount:
    """Counts the connections of one port of one process."""

    def __init__(self, limit: int, exempt: Callable[[str], bool]) -> None:
        """`limit`: connections of one address. `exempt`: whether an address has no limit, as our proxies."""
        self._limit = limit
        self._exempt = exempt
        self._warned_at = -_WARN_EVERY_S
        self.open: dict[str, int] = {}
        """The open connections of each address that has any."""

    def enter(self, peer: str) -> str | None:
        """Count a new connection. Return the argument for `leave`, or None if the limit is reached."""
        if self._exempt(peer):
            return EXEMPT
        address = client_network(peer)
        number = self.open.get(address, 0)
        if number >= self._limit:
            self._warn(address)
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

    def _warn(self, address: str) -> None:
        """Log at most once a minute: refused clients can reconnect at once, and must not fill the log."""
        now = time.monotonic()
        if now - self._warned_at >= _WARN_EVERY_S:
            self._warned_at = now
            _log.warning("connections_refused", address=address, open=self._limit)
