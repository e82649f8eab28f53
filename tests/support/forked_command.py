"""A module's command for a shell, by the fork server: `python -SE forked_command.py <module> <words>`.

It runs in an interpreter that imports as little as possible, so it uses nothing but the standard library. The
process has the streams, folder and environment of this one, and gets its signals.
"""

import json
import os
import signal
import socket
import struct
import sys

SERVER = "FORK_SERVER_DESCRIPTOR"
"""The variable with the descriptor on which the fork server takes requests."""
_NUMBER = struct.Struct("=i")


def main() -> int:
    environment = dict(os.environ)
    descriptor = int(environment.pop(SERVER))
    request = {
        "module": sys.argv[1],
        "arguments": sys.argv[2:],
        "folder": os.getcwd(),  # noqa: PTH109 - pathlib takes longer to import than everything else here
        "environment": environment,
    }
    ours, theirs = socket.socketpair()
    with theirs, socket.socket(fileno=descriptor) as server:
        socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2, theirs.fileno()])
    (pid,) = _NUMBER.unpack(ours.recv(_NUMBER.size))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    (status,) = _NUMBER.unpack(ours.recv(_NUMBER.size))
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
