"""The floors: bare ASGI applications on plain uvicorn, each in a process of its own.

What an application on that server answers at the very best; our calls are measured as parts of it.
"""

import argparse
import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import uvicorn
import uvloop

from bullion.web.response import Receive, Scope, Send

from .endpoint import Endpoint

_CHECKOUT = Path(__file__).resolve().parent.parent
_STOP_S = 30

App = Callable[[Scope, Receive, Send], object]


def get_floor(body_bytes: int) -> App:
    """Answers whatever is asked with one constant JSON body of this size."""
    body = b'{"constant":"%b"}' % (b"x" * (body_bytes - len(b'{"constant":""}')))
    headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


class _Order(msgspec.Struct):
    """What the body of an order is read into, and nothing is done with it."""

    symbol_code: str
    trade_type: str
    quantity: float
    client_order_id: str | None = None


def post_floor(body_bytes: int) -> App:
    """Reads a typed body and answers 201 with a JSON body of this size, made for each call."""
    decode, encode = msgspec.json.Decoder(_Order).decode, msgspec.json.Encoder().encode
    padding = "x" * (body_bytes - len(b'{"symbol_code":"GOLD","constant":""}'))

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        order = decode(message["body"])
        body = encode({"symbol_code": order.symbol_code, "constant": padding})
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


FLOORS: dict[str, Callable[[int], App]] = {"get": get_floor, "post": post_floor}


@contextlib.contextmanager
def running_floor(name: str, body_bytes: int) -> Iterator[Endpoint]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.floors", name, str(body_bytes)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_CHECKOUT,
    )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the floor {name!r} did not start")
            yield Endpoint(int(line), (process.pid,))
        finally:
            process.terminate()
            process.wait(_STOP_S)


class _PlainServer(uvicorn.Server):
    """Leaves the signals to us: uvicorn would send itself the one that stopped it once more."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: App) -> uvicorn.Config:
    """Uvicorn with its own connection class and nothing around it, whatever our service runs on.

    The targets are parts of what this server answers. If the floor were our own server, a change to that
    would move both sides of a ratio, and no ratio would tell.
    """
    return uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
    )


async def _serve(app: App) -> None:
    bound = socket.create_server(("127.0.0.1", 0), backlog=2048)
    server = _PlainServer(_config(app))

    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    # The socket is bound, so whoever connects before the server has started merely waits a moment.
    print(bound.getsockname()[1], flush=True)
    await server.serve(sockets=[bound])


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.floors")
    parser.add_argument("name", choices=sorted(FLOORS))
    parser.add_argument("body_bytes", type=int)
    wanted = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(FLOORS[wanted.name](wanted.body_bytes)))


if __name__ == "__main__":
    main()
