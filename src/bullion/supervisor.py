"""Reports the state of the process to the service manager: systemd, or another that sets NOTIFY_SOCKET.

The protocol of sd_notify(3): datagrams of NAME=value lines. Without NOTIFY_SOCKET nothing is sent.
"""

import os
import socket
import time

import structlog

_log = structlog.get_logger("bullion")


def report_serving() -> None:
    """Call it once the ports are served: after the start, and after a restart, also a failed one."""
    _send("READY=1")


def report_reloading() -> None:
    """A restart by SIGHUP has begun. `report_serving` has to follow."""
    # systemd compares the time with that of its signal.
    _send(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")


def report_stopping() -> None:
    _send("STOPPING=1")


def _send(message: str) -> None:
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # A name in Linux's abstract namespace, not a path.
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.connect(address)
            channel.send(message.encode())
    except OSError as error:
        _log.warning("supervisor_unreachable", reason=error.strerror)
