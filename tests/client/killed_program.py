"""A caller's program for the tests that kill it: places one order with a journal, or resumes what is left.

    killed_program.py place <address> <journal> <where to die>
    killed_program.py resume <address> <journal>

The key is in the environment as KEY. It prints the ids of the orders that it knows of in the end.
"""

import os
import signal
import sys
from typing import Any

import httpx

from bullion_client import Client, Journal


class Dying(httpx.BaseTransport):
    """Kills its own process before an order is sent, or when its answer is there and nobody has seen it."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._inner = httpx.HTTPTransport(verify=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST" and self._where == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        response = self._inner.handle_request(request)
        if request.method == "POST" and self._where == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return response

    def close(self) -> None:
        self._inner.close()


def main(what: str, address: str, path: str, where: str = "nowhere") -> None:
    journal = Journal(path)
    options: dict[str, Any] = {"transport": Dying(where), "journal": journal}
    with Client(address, os.environ["KEY"], **options) as client:
        if what == "place":
            print(client.buy("GOLD", 5, client_order_id="meant once").id)
        else:
            for intent in journal.unsettled():
                print(client.resume(intent).id)


if __name__ == "__main__":
    main(*sys.argv[1:])
