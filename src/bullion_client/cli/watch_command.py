"""The command `watch`: the orders and events of an account as they happen."""

import sys
from collections import deque
from types import TracebackType
from typing import Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from bullion_client import Event, Order, OrderEvent
from bullion_client.cli.event_loop import (
    after_option,
    each_event,
    for_option,
    note_how_to_go_on,
    run_until_stopped,
)
from bullion_client.cli.event_view import event_line
from bullion_client.cli.options import with_session
from bullion_client.cli.order_view import order_lines, print_orders
from bullion_client.cli.session import Session
from bullion_client.cli.tables import print_line

_ORDERS = 10
_EVENTS = 8


@click.command("watch")
@after_option
@for_option
@with_session
def watch_command(session: Session, after: int | None, for_s: float | None) -> int:
    """Show your orders and events as they happen.

    At a terminal this is a table that changes. In a pipe or a file, each event is a line; with --json it is
    the event as the API sends it. After a break of the connection it goes on without a gap. Ctrl+C ends it.

    \b
    Examples:
      bullion-client watch --after 0 --for 1
    """
    return run_until_stopped(_watch(session, after, for_s))


async def _watch(session: Session, after: int | None, for_s: float | None) -> None:
    async with session.async_client() as client, client.stream(after, deadline=session.deadline_s) as stream:
        try:
            if session.as_json:
                await each_event(stream, for_s, _Lines(session).show)
                return
            # Read after the stream was opened: whatever happens from now on comes as an event.
            orders = (await client.order_page(limit=_ORDERS)).items
            if not sys.stdout.isatty():
                _print_first(orders)
                await each_event(stream, for_s, _Lines(session).show)
                return
            with _Screen(orders) as screen:
                await each_event(stream, for_s, screen.show)
        finally:
            note_how_to_go_on(session, "watch", stream.position)


def _print_first(orders: tuple[Order, ...]) -> None:
    if orders:
        print_orders(orders)
    else:
        print_line("No orders yet.")
    sys.stdout.flush()


class _Lines:
    """Events in a file or a pipe."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def show(self, event: Event) -> None:
        if self._session.as_json:
            self._session.print_json_line(event.raw)
        else:
            print_line(event_line(event))
            sys.stdout.flush()


class _Screen:
    """Orders and events on a terminal, which change in place."""

    def __init__(self, orders: tuple[Order, ...]) -> None:
        self._orders = {order.id: order for order in reversed(orders)}
        self._events: deque[Event] = deque(maxlen=_EVENTS)
        self._live = Live(console=Console(highlight=False), auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Self:
        self._live.start()
        self._draw()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    async def show(self, event: Event) -> None:
        self._events.append(event)
        if isinstance(event, OrderEvent):
            self._orders[event.data.id] = event.data
            while len(self._orders) > _ORDERS:
                del self._orders[next(iter(self._orders))]
        self._draw()

    def _draw(self) -> None:
        newest_first = list(self._orders.values())[::-1]
        heading, *rows = order_lines(newest_first) if newest_first else ["No orders yet."]
        events = [event_line(event) for event in self._events] or ["No events yet."]
        lines = [Text(heading, style="bold"), *map(Text, rows), Text(""), *map(Text, events)]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        footer = Text("Ctrl+C ends this.", style="dim")
        self._live.update(Group(*lines, footer), refresh=True)
