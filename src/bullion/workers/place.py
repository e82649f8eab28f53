"""A worker's place among the workers of its machine: the queue of connections that are handed over to it.

Each place has a queue, a pair of Unix sockets. The parent process holds both ends, so what waits in the queue
of a worker that dies is served by the next worker at that place.
"""

import asyncio
import json
import os
import resource
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

import structlog

from bullion.web.hand_over import HandedOver, Outcome

from .place_table import NOBODY, PlaceTable

ENVIRON = "WORKER_PLACE"
"""The environment variable that tells a worker its place. Not a setting: the parent process sets it."""
RECEIVED_BYTES_MAX = 64 * 1024
_HEADER = struct.Struct("<HBQ")  # the sender's place, whether the connection stays, and when it was sent
_PACKET_BYTES = _HEADER.size + RECEIVED_BYTES_MAX
_AT_ONCE = 16
"""Connections that are taken out of the queue in one turn of the event loop."""
_RENEW_S = 0.5
_WAITED_NS_MAX = 10_000_000_000
"""After so long in a queue a client has most likely given up. Its order must not be executed then."""
_SPARE_DESCRIPTORS = 32
"""One descriptor of this many is spared: without a free one, a connection that is sent here would be lost."""

_log = structlog.get_logger("bullion")


def owner(account_id: int, count: int) -> int:
    """The place of the account's worker. Not the hash that spreads accounts over machines."""
    return crc32(b"%d" % account_id) % count


class WorkerPlace:
    """See `bullion.web.hand_over.Place`."""

    def __init__(
        self, number: int, table: PlaceTable, queue: socket.socket, owners: Sequence[socket.socket]
    ) -> None:
        """`queue`: the receiving end of this place. `owners`: the sending ends of all places."""
        self.number = number
        self._table = table
        self._queue = queue
        self._owners = owners
        self._pid = os.getpid()
        self._leaving = False
        self._renewing: asyncio.TimerHandle | None = None
        self._accept: Callable[[HandedOver], None] | None = None
        self._dropped: Callable[[Outcome], None] | None = None
        self._descriptor_max = 0

    @classmethod
    def given(cls, environ: Mapping[str, str]) -> "WorkerPlace | None":
        """The place that the parent gave this process, if it gave one."""
        text = environ.get(ENVIRON)
        if text is None:
            return None
        given = json.loads(text)
        queue, *owners = [socket.socket(fileno=each) for each in (given["queue"], *given["owners"])]
        for each in (queue, *owners):
            each.settimeout(0)
        return cls(given["place"], PlaceTable(given["table"]), queue, owners)

    @property
    def alone(self) -> bool:
        """Whether it only takes over what was sent while there were others."""
        return len(self._owners) == 1

    def owner(self, account_id: int) -> int | None:
        place = owner(account_id, self._table.count or 1)
        return None if place == self.number or self._leaving else place

    def send(self, place: int, descriptor: int, received: bytes) -> Outcome:
        return self._send(place, descriptor, received, stays=False)

    def send_back(self, handed_over: HandedOver) -> Outcome:
        number, descriptor, received = handed_over.sender, handed_over.descriptor, handed_over.received
        if number == self.number or self._leaving:
            return Outcome.OWNER_AWAY
        return self._send(number, descriptor, received, stays=True)

    def _send(self, place: int, descriptor: int, received: bytes, *, stays: bool) -> Outcome:
        if len(received) > RECEIVED_BYTES_MAX:
            return Outcome.TOO_LARGE
        # During a reload there may be a place that was not there when this worker started.
        if place >= len(self._owners) or not self._table.is_served(place):
            return Outcome.OWNER_AWAY
        try:
            packet = _HEADER.pack(self.number, stays, time.monotonic_ns()) + received
            socket.send_fds(self._owners[place], [packet], [descriptor], socket.MSG_NOSIGNAL)
        except OSError:
            return Outcome.QUEUE_FULL
        return Outcome.HANDED_OVER

    def open(self, accept: Callable[[HandedOver], None], dropped: Callable[[Outcome], None]) -> None:
        if self._leaving:
            return
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._descriptor_max = limit - limit // _SPARE_DESCRIPTORS
        self._accept, self._dropped = accept, dropped
        asyncio.get_running_loop().add_reader(self._queue, self._receive)
        self._table.serve(self.number, self._pid)
        self._renew()

    def _renew(self) -> None:
        if not self._has_room():
            self._table.leave(self.number, self._pid)
        elif self._table.worker(self.number) in (self._pid, NOBODY):  # Otherwise its successor serves.
            self._table.serve(self.number, self._pid)
        self._renewing = asyncio.get_running_loop().call_later(_RENEW_S, self._renew)

    def _has_room(self) -> bool:
        """Whether a connection that is sent here would find a descriptor."""
        try:
            probe = os.dup(self._queue.fileno())
        except OSError:
            return False
        os.close(probe)
        return probe <= self._descriptor_max

    def leave(self) -> None:
        self._leaving = True
        if self._renewing is not None:
            self._renewing.cancel()
        self._table.leave(self.number, self._pid)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._queue)
        while self._table.worker(self.number) == NOBODY and self._receive():
            pass

    def shut(self) -> None:
        """Refuse what is sent from now on, for good. What was sent before stays in the queue."""
        self._queue.shutdown(socket.SHUT_RD)

    def _receive(self) -> bool:
        """Whether there may be more."""
        if self._accept is None or self._dropped is None:  # It was not opened. Its successor takes them.
            return False
        for _ in range(_AT_ONCE):
            try:
                packet, descriptors, _, _ = socket.recv_fds(
                    self._queue, _PACKET_BYTES, 1, socket.MSG_CMSG_CLOEXEC
                )
            except BlockingIOError:
                return False
            if not packet:  # It is shut.
                asyncio.get_running_loop().remove_reader(self._queue)
                return False
            sender, stays, sent_at_ns = _HEADER.unpack_from(packet)
            if not descriptors or descriptors[0] > self._descriptor_max:
                self._table.leave(self.number, self._pid)  # Until it is renewed.
            if not descriptors:
                _log.error("handed_over_connection_lost", sender=sender)
                self._dropped(Outcome.LOST)
            elif time.monotonic_ns() > sent_at_ns + _WAITED_NS_MAX:
                os.close(descriptors[0])
                self._dropped(Outcome.TOO_LATE)
            else:
                self._accept(HandedOver(descriptors[0], packet[_HEADER.size :], sender, bool(stays)))
        return True
