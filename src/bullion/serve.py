"""Binds the ports, serves them on one event loop, and stops without dropping a call."""

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
from bullion.web.ending import end_waiting_calls
from bullion.web.hand_over import HandOver, Place
from bullion.web.health import DRAIN
from bullion.web.listener_shutdown import HANDSHAKE_S, accept_waiting, ignore_new_connections
from bullion.web.protocol import GuardedProtocol
from bullion.web.received_connection import ReceivedConnection, Receiver
from bullion.wiring.console import open_console
from bullion.wiring.node import Node, open_node

_GRACE_S = 20
_HAND_OVER_GRACE_S = 3
"""For a store that takes one node at a time: orders wait for the next node, up to 5 seconds in all."""
_FORCED_EXIT_S = 24
_SHUTDOWN_POLL_S = 0.05
_TICK_S = 1.0
_OPEN_FILES = 65_536
_GC_THRESHOLD = (20_000, 20, 20)
"""Arguments of `gc.set_threshold`. Its defaults collect far more often than this service needs."""
SWITCH_INTERVAL_S = 0.0001
"""How long the event loop may make SQLite's threads wait for the GIL. Python's default is 50 times as long.

A batch of bookings acquires the GIL a dozen times. Below this value, switching costs more than it saves.
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_log = structlog.get_logger("bullion")

Ready = Callable[["Serving"], Awaitable[None]]
"""Called once both ports are served."""
OnHangup = Callable[["Serving"], None]
"""Called on SIGHUP."""
OnStop = Callable[[], None]
"""Called when the service stops for good, before any socket is closed."""


class Ports:
    """The listening sockets. They are bound first, so that a port in use is reported at once."""

    def __init__(self, api: socket.socket, desk: socket.socket, console: socket.socket | None = None) -> None:
        self.api = api
        self.desk = desk
        self.console = console
        """Only for the demo, which passes it to the process of its console."""
        # Read now: a stop may close the sockets before they are logged.
        self.api_url, self.desk_url = _url(api), _url(desk)
        self.console_url = None if console is None else _url(console)

    @classmethod
    def bind(cls, settings: Settings, *, console: bool = False) -> "Ports":
        return cls(
            _bind(settings.host, settings.port, "BULLION_PORT"),
            _bind_desk(settings),
            bind_console(settings) if console else None,
        )

    def duplicate(self) -> "Ports":
        """The same sockets with other descriptors. Closing those does not affect the accept queues."""
        return Ports(self.api.dup(), self.desk.dup())

    def ignore_new_connections(self) -> None:
        """This holds in every process that listens at these ports."""
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
    """The servers of the ports, until they are stopped."""

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
        """None for the console."""
        self.servers = servers
        self._drain_s = drain_s
        self._leave_grace_s = leave_grace_s
        self._on_stop = on_stop
        self._closing = False

    @property
    def stopping(self) -> bool:
        return self._closing or DRAIN.active

    def drain(self) -> None:
        """Report not ready so that load balancers send no more calls, answer calls for a while, then stop.

        A second request stops at once.
        """
        if DRAIN.active or not self._drain_s:
            self.stop()
            return
        self.start_drain()
        asyncio.get_running_loop().call_later(self._drain_s, self.stop)

    def start_drain(self) -> None:
        """Report not ready so that load balancers send no more calls, and go on answering calls."""
        DRAIN.active = True
        _log.info("draining", seconds=self._drain_s)

    def stop(self) -> None:
        """Accept no new connections, finish the calls in progress, and end."""
        DRAIN.active = True
        if self._closing:
            return
        if self._on_stop is not None:
            self._on_stop()
        self._close(_GRACE_S, listen_until=asyncio.get_running_loop().time() + HANDSHAKE_S)

    def leave(self) -> None:
        """Stop while other processes serve the same ports: they accept the waiting connections.

        The health check stays ready, because the service goes on.
        """
        if not self._closing:
            self._close(self._leave_grace_s, listen_until=None)

    def _close(self, grace_s: float, listen_until: float | None) -> None:
        self._closing = True
        for server in self.servers:
            if server.receiver is not None:
                server.receiver.leave()
        _log.info("stopping")
        end_waiting_calls()
        for server in self.servers:
            server.grace_s = grace_s
            server.listen_until = listen_until
            server.stop()
        # In case something hangs: a store that does not answer, or a client that does not read.
        asyncio.get_running_loop().call_later(_FORCED_EXIT_S, _force_exit)


class _Server(uvicorn.Server):
    """Handles no signals itself: there are two servers in the process, and `Serving` stops both."""

    grace_s: float = _GRACE_S
    """How long the calls in progress may take once it stops."""
    listen_until: float | None = None
    """When it empties the accept queue and closes its sockets, by the loop's clock.

    None: it closes them at once, and leaves the queue to other processes.
    """
    receiver: Receiver | None = None
    """Of the connections that other workers hand over."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Replaces uvicorn's loop, which wakes up ten times a second to see whether it should stop."""
        while not await self.on_tick(0):  # Renews the headers that every response has, because of the date.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S):
                    await self._stopped.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Replaces uvicorn's shutdown, which misses connections that were accepted but not yet registered."""
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
                    # Connections that were accepted just now are registered after this.
                    await asyncio.sleep(_SHUTDOWN_POLL_S)
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
        if self.receiver is not None:
            self.receiver.close()
        loop = asyncio.get_running_loop()
        for bound in rest:
            with bound:
                for accepted in accept_waiting(bound):
                    await loop.connect_accepted_socket(self._new_connection, accepted)

    def _new_connection(self) -> asyncio.Protocol:
        make: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state={})


def block_signals() -> None:
    """For this thread, and for the threads that it starts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def unblock_signals() -> set[int]:
    """Return the signals that were blocked before."""
    return set(signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS))


def run_node(
    settings: Settings,
    ports: Ports,
    on_ready: Ready,
    *,
    may_migrate: bool,
    on_hangup: OnHangup | None = None,
    on_stop: OnStop | None = None,
    place: Place | None = None,
) -> None:
    """Serve until SIGTERM, SIGINT or `Serving.leave`. Afterwards `SIGNALS` are blocked.

    `may_migrate`: see `open_node`. `place`: of this process among the workers of this machine.
    """
    _raise_open_files()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        node = open_node(settings, may_migrate=may_migrate)
        runner.run(_serve(settings, node, ports, on_ready, on_hangup, on_stop, place))
        # The handlers end with the loop. A signal that comes now stays pending until it is unblocked.
        block_signals()


async def _serve(
    settings: Settings,
    opening: AbstractAsyncContextManager[Node],
    ports: Ports,
    on_ready: Ready,
    on_hangup: OnHangup | None,
    on_stop: OnStop | None,
    place: Place | None,
) -> None:
    async with opening as node:
        api = make_server(node.api, settings) if place is None else _server_at(place, node, settings)
        serving = Serving(
            node,
            [api, make_server(node.desk_api, settings)],
            drain_s=settings.drain_s,
            leave_grace_s=_GRACE_S if settings.shared else _HAND_OVER_GRACE_S,
            on_stop=on_stop,
        )
        await _answer(serving, [ports.api, ports.desk], on_ready, on_hangup)
    _log.info("stopped")


def serve_console(settings: Settings, bound: socket.socket) -> None:
    """Serve the console until SIGTERM or SIGINT."""

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
    """Serve the console until SIGTERM or SIGINT. `api_url`: see `open_console`.

    Without `on_stop`, the process that shares the socket keeps it open for the next console.
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
    # No drain for Ctrl+C: a person waits, and there is no load balancer to inform.
    loop.add_signal_handler(signal.SIGINT, serving.stop)
    if on_hangup is not None:
        loop.add_signal_handler(signal.SIGHUP, on_hangup, serving)
    answering = [
        asyncio.create_task(server.serve(sockets=[bound]))
        for server, bound in zip(servers, sockets, strict=True)
    ]
    # Uvicorn reports its start only by a flag. The sockets are bound, so connections wait meanwhile.
    while not all(server.started for server in servers):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    _tune_garbage_collector()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    for server in servers:
        if server.receiver is not None:
            server.receiver.open()
    await on_ready(serving)
    await asyncio.gather(*answering)


def _force_exit() -> None:
    _log.error("forced_exit", after_s=_FORCED_EXIT_S)
    flush_logs()
    os._exit(1)


def _tune_garbage_collector() -> None:
    """Exclude the objects that exist now from garbage collection, and collect less often.

    They live as long as the process. Calls create almost no reference cycles, so there is little to collect.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLD)


def _raise_open_files() -> None:
    """Raise the limit of open files: each connection is one, and the usual limit of a shell is low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # If the hard limit is unlimited, use a number: some systems refuse an unlimited soft limit.
    enough = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))


def make_server(app: object, settings: Settings) -> _Server:
    return _server(app, partial(GuardedProtocol, count=_connection_count(settings)))


def _server_at(place: Place, node: Node, settings: Settings) -> _Server:
    """The trading API of one of several workers."""
    count = _connection_count(settings)
    hand_over = None if place.alone else HandOver(place, node.account_of, node.hand_overs)
    server = _server(node.api, partial(GuardedProtocol, count=count, hand_over=hand_over))
    make = partial(
        ReceivedConnection, server.config, server.server_state, {}, count=count, hand_over=hand_over
    )
    server.receiver = Receiver(place, make, count, server.server_state, node.hand_overs)
    return server


def _connection_count(settings: Settings) -> ConnectionCount:
    return ConnectionCount(
        settings.connections_per_address, exempt=SourceAddress(settings.trusted_proxies).trusts
    )


def _server(app: object, connection: Callable[..., asyncio.Protocol]) -> _Server:
    return _Server(
        uvicorn.Config(
            app,  # type: ignore[arg-type]  # uvicorn's own ASGI types are narrower than the ASGI specification
            http=connection,  # type: ignore[arg-type]  # uvicorn only calls it
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            # Uvicorn trusts X-Forwarded-For from loopback. BULLION_TRUSTED_PROXIES decides instead.
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
            "Stop the program that uses it, or choose another port."
        ) from error


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
