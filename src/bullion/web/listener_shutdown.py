"""Closes a listening socket without resetting connections.

When the last descriptor of a listening socket is closed, the kernel resets every connection that waits in its
accept queue. Such a client may have sent a request already, and cannot know whether it was read. So a server
that stops does it in this order:

1. `ignore_new_connections`: the kernel drops every new SYN. All descriptors share one socket, so this holds
   in all processes that listen at it.
2. Go on accepting for a round trip, so that the handshakes that were under way end in the accept queue.
3. `accept_waiting`, then close. The queue is empty and stays empty, and the kernel refuses later connections.

A client whose SYN was dropped sends it again after one second, and is refused then.
"""

import ctypes
import errno
import socket
import sys
from collections.abc import Iterator

HANDSHAKE_S = 0.2
"""A round trip of a far client. Less than the second after which a dropped SYN is sent again."""

_SO_ATTACH_FILTER = 26
_FLAGS_OFFSET = 13
_SYN, _SYN_OR_ACK = 0x02, 0x12


class _Instruction(ctypes.Structure):
    """`struct sock_filter` of <linux/filter.h>."""

    _fields_ = (
        ("code", ctypes.c_ushort),
        ("jump_true", ctypes.c_ubyte),
        ("jump_false", ctypes.c_ubyte),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    """`struct sock_fprog` of <linux/filter.h>."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


# Connections that are accepted later inherit the filter. It does nothing to them: none of their packets is a
# SYN without ACK.
_DROP_SYN = (_Instruction * 5)(
    _Instruction(0x30, 0, 0, _FLAGS_OFFSET),  # load the byte with the flags of the TCP header
    _Instruction(0x54, 0, 0, _SYN_OR_ACK),  # and
    _Instruction(0x15, 0, 1, _SYN),  # equal: go on; otherwise skip one
    _Instruction(0x06, 0, 0, 0),  # drop the packet
    _Instruction(0x06, 0, 0, 0xFFFFFFFF),  # keep all of it
)


def ignore_new_connections(listener: socket.socket) -> None:
    """No-op for a closed socket, and without socket filters: there a connection can still be reset."""
    if sys.platform != "linux":
        return
    try:
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, bytes(_Program(len(_DROP_SYN), _DROP_SYN)))
    except OSError as error:
        # EBADF: the thread that watches over the demo's console closes its port as soon as a stop is known.
        if error.errno not in (errno.ENOPROTOOPT, errno.EINVAL, errno.EPERM, errno.EBADF):
            raise


def accept_waiting(listener: socket.socket) -> Iterator[socket.socket]:
    """The connections in the accept queue, until it is empty."""
    listener.settimeout(0)
    while True:
        try:
            connection, _ = listener.accept()
        except ConnectionAbortedError:
            continue
        except OSError:
            return
        yield connection
