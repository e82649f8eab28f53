"""The places of all workers, as the parent process keeps them."""

import json
import os
import socket
import sys
from typing import NamedTuple

import structlog

from .place import ENVIRON, RECEIVED_BYTES_MAX
from .place_table import PlaceTable

_PACKET_BYTES = RECEIVED_BYTES_MAX + 1024

_log = structlog.get_logger("bullion")


class _Queue(NamedTuple):
    receives: socket.socket
    sends: socket.socket


class Places:
    """No worker that ends takes a queue with it: both ends are open here too."""

    def __init__(self) -> None:
        self._table = PlaceTable.make()
        self._queues: list[_Queue] = []

    def grow(self, count: int) -> None:
        """Make the queues of that many places. Only workers that start from now on know the new ones.

        Elsewhere than on Linux there are none: such sockets do not exist there.
        """
        while sys.platform == "linux" and len(self._queues) < count:
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for end in pair:
                end.settimeout(0)
            self._queues.append(_Queue(*pair))

    def spread_over(self, count: int) -> None:
        """Let the workers spread the accounts over so many places."""
        self._table.count = count

    def give(self, place: int, count: int) -> tuple[dict[str, str], list[int]]:
        """What a worker needs that starts at this place of so many: its environment, and descriptors."""
        if not self._queues:
            return {}, []
        queue = self._queues[place].receives.fileno()
        owners = [each.sends.fileno() for each in self._queues[:count]]
        table = self._table.descriptor
        given = {"place": place, "table": table, "queue": queue, "owners": owners}
        return {ENVIRON: json.dumps(given)}, [table, queue, *owners]

    def forget(self, pid: int) -> None:
        """The worker has ended, perhaps without a word."""
        for place in range(len(self._queues)):
            self._table.leave(place, pid)

    def shut(self) -> None:
        """The service stops. Every worker serves what it has, and what waits in its queue.

        What waits at a place that nobody serves goes to one that is served.
        """
        served = [queue for place, queue in enumerate(self._queues) if self._table.is_served(place)]
        for queue in self._queues:
            if queue not in served:
                queue.receives.shutdown(socket.SHUT_RD)
                if served:
                    _move(queue, served[0])
        for queue in served:
            queue.receives.shutdown(socket.SHUT_RD)

    def shrink(self, count: int) -> None:
        """Remove the last places, whose workers have ended. What waits there goes to the first place."""
        while len(self._queues) > count:
            queue = self._queues.pop()
            # First: a worker that sends to it now serves the connection itself.
            queue.receives.shutdown(socket.SHUT_RD)
            if self._queues:
                _move(queue, self._queues[0])
            queue.receives.close()
            queue.sends.close()


def _move(queue: _Queue, to: _Queue) -> None:
    """Empty a queue that is shut."""
    while True:
        packet, descriptors, _, _ = socket.recv_fds(queue.receives, _PACKET_BYTES, 1)
        if not packet:
            return
        try:
            socket.send_fds(to.sends, [packet], descriptors)
        except OSError as error:
            _log.error("connection_not_handed_over", error=str(error))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
