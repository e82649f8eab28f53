"""Ports on one event loop: bound, served, and stopped without dropping a call."""

import asyncio
import contextlib
import errno
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any

import structlog
import uvicorn
import uvloop

from bullion.logs import end_logs, flush_logs
from bullion.settings import Settings, WrongSetting
from bullion.web.address import SourceAddress
from bullion.web.connections import ConnectionCount
from bullion.web.health import NOTICE
from bullion.web.protocol import GuardedProtocol
from bullion.wiring.console import open_console
from bullion.wiring.node import Node, open_node

_GRACE_S = 20
_HARD_STOP_S = 24
_TELL_EVERY_S = 0.05
_FIRST_REQUEST_S = 0.25
_NEVER_AGAIN = float("inf")
_OPEN_FILES = 65_536
_COLLECT_AFTER = (20_000, 20, 20)
"""Objects made beyond those gone; and how many times that before older ones are looked through too."""
TURN_S = 0.0001
"""How long the loop may keep SQLite's threads waiting for the interpreter; by default, fifty times as long.

A batch of bookings asks for it a dozen times. With less than this, taking turns costs more than it saves.
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_log = structlog.get_logger("bullion")

Ready = Callable[["Serving"], Awaitable[None]]
"""Called once both ports answer."""
OnHangup = Callable[["Serving"], None]
"""Called at SIGHUP."""


class Ports:
    """The listening sockets. Bound before anything else, so that a taken port is told at once."""

    def __init__(self, api: socket.socket, desk: socket.socket, console: socket.socket | None = None) -> None:
        self.api = api
        self.desk = desk
        self.console = console
        """Of the demo alone: elsewhere the console is a process of its own."""

    @classmethod
    def bind(cls, settings: Settings, *, console: bool = False) -> "Ports":
        return cls(
            _bind(settings.host, settings.port, "BULLION_PORT"),
            _bind(settings.host, settings.desk_port, "BULLION_DESK_PORT"),
            bind_console(settings) if console else None,
        )

    @property
    def api_url(self) -> str:
        return _url(self.api)

    @property
    def desk_url(self) -> str:
        return _url(self.desk)

    @property
    def console_url(self) -> str | None:
        return None if self.console is None else _url(self.console)

    def again(self) -> "Ports":
        """The same sockets by other descriptors: who closes those leaves the queues at the ports whole."""
        return Ports(self.api.dup(), self.desk.dup())

    def log_listening(self) -> None:
        more = {} if self.console_url is None else {"console": self.console_url}
        _log.info("listening", api=self.api_url, desk=self.desk_url, **more, pid=os.getpid())


def bind_console(settings: Settings) -> socket.socket:
    return _bind(settings.host, settings.console_port, "BULLION_CONSOLE_PORT")


class Serving:
    """What answers at the ports, until it is told to stop."""

    def __init__(self, node: Node | None, servers: Sequence["_Server"], drain_s: float) -> None:
        self.node = node
        """None for the console alone."""
        self._servers = servers
        self._drain_s = drain_s
        self._closing = False

    @property
    def stopping(self) -> bool:
        return self._closing or NOTICE.given

    def drain(self) -> None:
        """Say that no call should be sent here any more, answer those that still are, and then stop.

        Asked a second time: stop now.
        """
        if NOTICE.given or not self._drain_s:
            self.stop()
            return
        NOTICE.given = True
        _log.info("draining", seconds=self._drain_s)
        asyncio.get_running_loop().call_later(self._drain_s, self.stop)

    def stop(self) -> None:
        """Take no new connection, finish the calls that are under way, and end."""
        NOTICE.given = True
        self.leave()

    def leave(self) -> None:
        """The same where others answer at the same ports: whoever asks is not told that this node goes."""
        if self._closing:
            return
        self._closing = True
        _log.info("stopping")
        for server in self._servers:
            server.should_exit = True
        # Whatever hangs by then, a store that does not answer or a caller that does not read.
        asyncio.get_running_loop().call_later(_HARD_STOP_S, _stop_hard)


class _Server(uvicorn.Server):
    """Leaves the signals alone: there are two servers in the process, and we stop both."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """In place of uvicorn's own, which misses connections that were taken but not yet made known."""
        for server in self.servers:
            server.close()
        for bound in sockets or []:
            bound.close()
        seen_at: dict[object, float] = {}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                # One round more than it seems: those that were taken last are known after it.
                await self._tell(seen_at)
                while self.server_state.connections or self.server_state.tasks:
                    await self._tell(seen_at)
                return
        _log.warning("calls_cut_off", connections=len(self.server_state.connections), after_s=_GRACE_S)
        for task in self.server_state.tasks:
            task.cancel()

    async def _tell(self, seen_at: dict[object, float]) -> None:
        """Tell the connections that we stop; those made just now not before they had time for a request."""
        now = asyncio.get_running_loop().time()
        for connection in list(self.server_state.connections):
            if now - seen_at.setdefault(connection, now) >= _FIRST_REQUEST_S:
                seen_at[connection] = _NEVER_AGAIN
                connection.shutdown()
        await asyncio.sleep(_TELL_EVERY_S)


def block_signals() -> None:
    """For this thread, and the threads that it starts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def unblock_signals() -> set[int]:
    """Return what was blocked before."""
    return set(signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS))


def serve(settings: Settings, ports: Ports, on_ready: Ready) -> None:
    """Serve until SIGTERM or SIGINT, and end with that."""
    run_node(settings, ports, on_ready)
    end_logs()


def run_node(settings: Settings, ports: Ports, on_ready: Ready, on_hangup: OnHangup | None = None) -> None:
    """Serve until SIGTERM or SIGINT, or until told to leave. Afterwards our signals are blocked."""
    _raise_open_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, ports, on_ready, on_hangup))
        # The loop takes its handlers with it. A signal that comes now waits for whoever asks for it next.
        block_signals()


async def _serve(settings: Settings, ports: Ports, on_ready: Ready, on_hangup: OnHangup | None) -> None:
    async with contextlib.AsyncExitStack() as opened:
        node = await opened.enter_async_context(open_node(settings))
        apps = [(node.api, ports.api), (node.desk_api, ports.desk)]
        if ports.console is not None:
            console = await opened.enter_async_context(open_console(settings, ports.api_url))
            apps.append((console, ports.console))
        await _answer(settings, node, apps, settings.drain_s, on_ready, on_hangup)
    _log.info("stopped")


def serve_console(settings: Settings, bound: socket.socket) -> None:
    """The console alone, until SIGTERM or SIGINT."""

    async def told(_serving: Serving) -> None:
        _log.info("listening", console=_url(bound), pid=os.getpid())

    async def run() -> None:
        async with open_console(settings) as console:
            await _answer(settings, None, [(console, bound)], 0, told, None)
        _log.info("stopped")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())
    end_logs()


async def _answer(
    settings: Settings,
    node: Node | None,
    apps: Sequence[tuple[Any, socket.socket]],
    drain_s: float,
    on_ready: Ready,
    on_hangup: OnHangup | None,
) -> None:
    servers = [make_server(app, settings) for app, _ in apps]
    serving = Serving(node, servers, drain_s)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, serving.drain)
    # Whoever presses Ctrl+C waits for it, and there is no load balancer to tell.
    loop.add_signal_handler(signal.SIGINT, serving.stop)
    if on_hangup is not None:
        loop.add_signal_handler(signal.SIGHUP, on_hangup, serving)
    answering = [
        asyncio.create_task(server.serve(sockets=[bound]))
        for server, (_, bound) in zip(servers, apps, strict=True)
    ]
    # Uvicorn tells of its start by a flag alone. The sockets are bound, so nothing is lost meanwhile.
    while not all(server.started for server in servers):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    _spare_the_collector()
    sys.setswitchinterval(TURN_S)
    await on_ready(serving)
    await asyncio.gather(*answering)


def _stop_hard() -> None:
    _log.error("stopped_hard", after_s=_HARD_STOP_S)
    flush_logs()
    os._exit(1)


def _spare_the_collector() -> None:
    """What stands now, stays: the collector need not look through it again and again, nor so often.

    Calls leave next to no circles behind, so there is little to find between two looks.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def _raise_open_files() -> None:
    """Each connection is an open file, and the usual limit of a shell is low."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Not "without limit", where that is the most: some systems refuse it.
    enough = _OPEN_FILES if most == resource.RLIM_INFINITY else min(most, _OPEN_FILES)
    if now != resource.RLIM_INFINITY and now < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, most))


def make_server(app: object, settings: Settings) -> _Server:
    trusts = SourceAddress(settings.trusted_proxies).trusts
    count = ConnectionCount(settings.connections_per_address, exempt=trusts)
    return _Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]  # uvicorn's own ASGI types are narrower than the ASGI specification
            http=partial(GuardedProtocol, count=count),  # type: ignore[arg-type]  # uvicorn only calls it
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
