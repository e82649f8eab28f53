"""Both ports on one event loop: bound, served, and stopped without dropping a call that is under way."""

import asyncio
import contextlib
import errno
import os
import resource
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator

import structlog
import uvicorn
import uvloop

from bullion.logs import end_logs, flush_logs
from bullion.settings import Settings, WrongSetting
from bullion.web.protocol import GuardedProtocol
from bullion.wiring.node import Node, open_node

_GRACE_S = 20
_HARD_STOP_S = 24
_OPEN_FILES = 65_536
_log = structlog.get_logger("bullion")

Ready = Callable[[Node], Awaitable[None]]
"""Called once both ports answer."""


class Ports:
    """The two listening sockets. Bound before anything else, so that a taken port is told at once."""

    def __init__(self, api: socket.socket, desk: socket.socket) -> None:
        self.api = api
        self.desk = desk

    @classmethod
    def bind(cls, settings: Settings) -> "Ports":
        return cls(
            _bind(settings.host, settings.port, "BULLION_PORT"),
            _bind(settings.host, settings.desk_port, "BULLION_DESK_PORT"),
        )

    @property
    def api_url(self) -> str:
        return _url(self.api)

    @property
    def desk_url(self) -> str:
        return _url(self.desk)

    def log_listening(self) -> None:
        _log.info("listening", api=self.api_url, desk=self.desk_url, pid=os.getpid())


class _Server(uvicorn.Server):
    """Leaves the signals alone: there are two servers in the process, and we stop both."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(settings: Settings, ports: Ports, on_ready: Ready) -> None:
    """Serve until SIGTERM or SIGINT."""
    _raise_open_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, ports, on_ready))
    end_logs()


async def _serve(settings: Settings, ports: Ports, on_ready: Ready) -> None:
    async with open_node(settings) as node:
        servers = [make_server(node.api), make_server(node.desk_api)]
        loop = asyncio.get_running_loop()

        def stop() -> None:
            _log.info("stopping")
            for server in servers:
                server.should_exit = True
            # Whatever hangs by then, a store that does not answer or a caller that does not read.
            loop.call_later(_HARD_STOP_S, _stop_hard)

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        serving = [
            asyncio.create_task(server.serve(sockets=[bound]))
            for server, bound in zip(servers, (ports.api, ports.desk), strict=True)
        ]
        # Uvicorn tells of its start by a flag alone. The sockets are bound, so nothing is lost meanwhile.
        while not all(server.started for server in servers):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        await on_ready(node)
        await asyncio.gather(*serving)
    _log.info("stopped")


def _stop_hard() -> None:
    _log.error("stopped_hard", after_s=_HARD_STOP_S)
    flush_logs()
    os._exit(1)


def _raise_open_files() -> None:
    """Each connection is an open file, and the usual limit of a shell is low."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Not "without limit", where that is the most: some systems refuse it.
    enough = _OPEN_FILES if most == resource.RLIM_INFINITY else min(most, _OPEN_FILES)
    if now != resource.RLIM_INFINITY and now < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, most))


def make_server(app: object) -> _Server:
    return _Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]  # uvicorn's own ASGI types are narrower than the ASGI specification
            http=GuardedProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            # Uvicorn would believe X-Forwarded-For from loopback; whom we believe is a setting of ours.
            proxy_headers=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=_GRACE_S,
        )
    )


def _bind(host: str, port: int, setting: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, socket.EAI_NONAME, socket.EAI_NODATA, socket.EAI_AGAIN):
            raise WrongSetting(f"BULLION_HOST: {host!r} is not an address of this machine.") from error
        raise WrongSetting(
            f"{setting}: cannot listen on {host} port {port} ({os.strerror(error.errno or 0)}). "
            "Stop what uses it, or choose another."
        ) from error


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
