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
from contextlib import AbstractAsyncContextManager
from functools import partial

import structlog
import uvicorn
import uvloop

from bullion.logs import end_logs, flush_logs
from bullion.settings import Settings, WrongSetting
from bullion.supervisor import report_serving
from bullion.web.address import SourceAddress
from bullion.web.connections import ConnectionCount
from bullion.web.health import DRAIN
from bullion.web.listener_shutdown import HANDSHAKE_S, accept_waiting, ignore_new_connections
from bullion.web.protocol import GuardedProtocol
from bullion.wiring.console import open_console
from bullion.wiring.node import Node, open_node

_GRACE_S = 20
_HAND_OVER_GRACE_S = 3
"""Where the store takes one node at a time: orders wait for the next node, for up to 5 seconds in all."""
_FORCED_EXIT_S = 24
_TELL_EVERY_S = 0.05
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
OnStop = Callable[[], None]
"""Called when the service stops for good, before any socket is closed."""


class Ports:
    """The listening sockets. Bound before anything else, so that a taken port is told at once."""

    def __init__(self, api: socket.socket, desk: socket.socket, console: socket.socket | None = None) -> None:
        self.api = api
        self.desk = desk
        self.console = console
        """Of the demo alone, which hands it to the process of its console."""

    @classmethod
    def bind(cls, settings: Settings, *, console: bool = False) -> "Ports":
        return cls(
            _bind(settings.host, settings.port, "BULLION_PORT"),
            _bind_desk(settings),
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

    def ignore_new_connections(self) -> None:
        """In every process that listens at these ports."""
        for bound in self._sockets():
            ignore_new_connections(bound)

    def close(self) -> None:
        for bound in self._sockets():
            bound.close()

    def _sockets(self) -> list[socket.socket]:
        return [bound for bound in (self.api, self.desk, self.console) if bound is not None]

    def log_listening(self) -> None:
        more = {} if self.console_url is None else {"console": self.console_url}
        _log.info("listening", api=self.api_url, desk=self.desk_url, **more, pid=os.getpid())
        report_serving()


def bind_console(settings: Settings) -> socket.socket:
    return _bind(settings.host, settings.console_port, "BULLION_CONSOLE_PORT")


class Serving:
    """What answers at the ports, until it is told to stop."""

    def __init__(
        self,
        node: Node | None,
        servers: Sequence["_Server"],
        *,
        drain_s: float = 0,
        leave_grace_s: float = _GRACE_S,
        on_stop: OnStop | None = None,
    ) -> None:
        self.node = node
        """None for the console alone."""
        self.servers = servers
        self._drain_s = drain_s
        self._leave_grace_s = leave_grace_s
        self._on_stop = on_stop
        self._closing = False

    @property
    def stopping(self) -> bool:
        return self._closing or DRAIN.active

    def drain(self) -> None:
        """Say that no call should be sent here any more, answer those that still are, and then stop.

        Asked a second time: stop now.
        """
        if DRAIN.active or not self._drain_s:
            self.stop()
            return
        self.start_drain()
        asyncio.get_running_loop().call_later(self._drain_s, self.stop)

    def start_drain(self) -> None:
        """Say that no call should be sent here any more, and answer those that still are."""
        DRAIN.active = True
        _log.info("draining", seconds=self._drain_s)

    def stop(self) -> None:
        """Take no new connection, finish the calls that are under way, and end."""
        DRAIN.active = True
        if self._closing:
            return
        if self._on_stop is not None:
            self._on_stop()
        self._close(_GRACE_S, listen_until=asyncio.get_running_loop().time() + HANDSHAKE_S)

    def leave(self) -> None:
        """The same where others answer at the same ports: they take the connections that wait there.

        Whoever asks is not told that this node goes.
        """
        if not self._closing:
            self._close(self._leave_grace_s, listen_until=None)

    def _close(self, grace_s: float, listen_until: float | None) -> None:
        self._closing = True
        _log.info("stopping")
        for server in self.servers:
            server.grace_s = grace_s
            server.listen_until = listen_until
            server.should_exit = True
        # Whatever hangs by then, a store that does not answer or a caller that does not read.
        asyncio.get_running_loop().call_later(_FORCED_EXIT_S, _force_exit)


class _Server(uvicorn.Server):
    """Leaves the signals alone: there are two servers in the process, and we stop both."""

    grace_s: float = _GRACE_S
    """What it gives the calls under way once it stops."""
    listen_until: float | None = None
    """When it closes its sockets, in the time of the loop, after it has emptied the accept queue.

    None: at once, and the queue is left to others.
    """

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """In place of uvicorn's own, which misses connections that were taken but not yet made known."""
        loop = asyncio.get_running_loop()
        listening = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.grace_s):
                while listening or self.server_state.connections or self.server_state.tasks:
                    if listening and loop.time() >= (self.listen_until or 0):
                        listening = False
                        await self._close_listeners(sockets or [])
                    for connection in list(self.server_state.connections):
                        connection.shutdown()
                    # Also for connections that were accepted just now: they are known after it.
                    await asyncio.sleep(_TELL_EVERY_S)
                return
        _log.warning("calls_aborted", connections=len(self.server_state.connections), after_s=self.grace_s)
        for task in self.server_state.tasks:
            task.cancel()

    async def _close_listeners(self, sockets: list[socket.socket]) -> None:
        rest = [] if self.listen_until is None else [bound.dup() for bound in sockets]
        for server in self.servers:
            server.close()
        for bound in sockets:
            bound.close()
        loop = asyncio.get_running_loop()
        for bound in rest:
            with bound:
                for accepted in accept_waiting(bound):
                    await loop.connect_accepted_socket(self._new_connection, accepted)

    def _new_connection(self) -> asyncio.Protocol:
        make: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state={})


def block_signals() -> None:
    """For this thread, and the threads that it starts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def unblock_signals() -> set[int]:
    """Return what was blocked before."""
    return set(signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS))


def run_node(
    settings: Settings,
    ports: Ports,
    on_ready: Ready,
    *,
    may_migrate: bool,
    on_hangup: OnHangup | None = None,
    on_stop: OnStop | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, or until told to leave. Afterwards our signals are blocked.

    `may_migrate`: see `open_node`.
    """
    _raise_open_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        node = open_node(settings, may_migrate=may_migrate)
        runner.run(_serve(settings, node, ports, on_ready, on_hangup, on_stop))
        # The loop takes its handlers with it. A signal that comes now waits for whoever asks for it next.
        block_signals()


async def _serve(
    settings: Settings,
    opening: AbstractAsyncContextManager[Node],
    ports: Ports,
    on_ready: Ready,
    on_hangup: OnHangup | None,
    on_stop: OnStop | None,
) -> None:
    async with opening as node:
        serving = Serving(
            node,
            [make_server(app, settings) for app in (node.api, node.desk_api)],
            drain_s=settings.drain_s,
            leave_grace_s=_GRACE_S if settings.shared else _HAND_OVER_GRACE_S,
            on_stop=on_stop,
        )
        await _answer(serving, [ports.api, ports.desk], on_ready, on_hangup)
    _log.info("stopped")


def serve_console(settings: Settings, bound: socket.socket) -> None:
    """The console alone, until SIGTERM or SIGINT."""

    async def on_ready(_serving: Serving) -> None:
        _log.info("listening", console=_url(bound), pid=os.getpid())
        report_serving()

    run_console(settings, bound, on_ready, on_stop=partial(ignore_new_connections, bound))


def run_console(
    settings: Settings,
    bound: socket.socket,
    on_ready: Ready,
    *,
    api_url: str | None = None,
    on_stop: OnStop | None = None,
) -> None:
    """The console until SIGTERM or SIGINT. `api_url` as for `open_console`.

    Without `on_stop` the socket goes on listening in the process that shares it, for the next console.
    """

    async def run() -> None:
        async with open_console(settings, api_url) as console:
            serving = Serving(None, [make_server(console, settings)], on_stop=on_stop)
            await _answer(serving, [bound], on_ready, None)
        _log.info("stopped")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())
    end_logs()


async def _answer(
    serving: Serving, sockets: Sequence[socket.socket], on_ready: Ready, on_hangup: OnHangup | None
) -> None:
    servers = serving.servers
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, serving.drain)
    # Whoever presses Ctrl+C waits for it, and there is no load balancer to tell.
    loop.add_signal_handler(signal.SIGINT, serving.stop)
    if on_hangup is not None:
        loop.add_signal_handler(signal.SIGHUP, on_hangup, serving)
    answering = [
        asyncio.create_task(server.serve(sockets=[bound]))
        for server, bound in zip(servers, sockets, strict=True)
    ]
    # Uvicorn tells of its start by a flag alone. The sockets are bound, so nothing is lost meanwhile.
    while not all(server.started for server in servers):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    _spare_the_collector()
    sys.setswitchinterval(TURN_S)
    await on_ready(serving)
    await asyncio.gather(*answering)


def _force_exit() -> None:
    _log.error("forced_exit", after_s=_FORCED_EXIT_S)
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


def _bind_desk(settings: Settings) -> socket.socket:
    if settings.desk_host is None:
        return _bind(settings.host, settings.desk_port, "BULLION_DESK_PORT")
    return _bind(settings.desk_host, settings.desk_port, "BULLION_DESK_PORT", "BULLION_DESK_HOST")


def _bind(host: str, port: int, setting: str, host_setting: str = "BULLION_HOST") -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, socket.EAI_NONAME, socket.EAI_NODATA, socket.EAI_AGAIN):
            raise WrongSetting(f"{host_setting}: {host!r} is not an address of this machine.") from error
        raise WrongSetting(
            f"{setting}: cannot listen on {host} port {port} ({os.strerror(error.errno or 0)}). "
            "Stop what uses it, or choose another."
        ) from error


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
