"""Follow what happens to an account: miss nothing and do nothing twice, also after a crash.

    API=https://trading.example KEY=key_test.… python follow_events.py [number of events]

The number of the last event that was handled is in a file. A program with a database keeps it there, and
writes it in the transaction in which it handles the event.
"""

import os
import sys
from pathlib import Path

from bullion_client import Client, Event, EventsGone, OrderEvent

HANDLED = Path("events.handled")


def handle(event: Event) -> None:
    """Do what your program has to do about an event."""
    match event:
        case OrderEvent(data=order):
            print(event.number, event.type, order.quantity, order.unit, order.symbol_code, order.status)
        case _:
            print(event.number, event.type)


def last_handled() -> int:
    return int(HANDLED.read_text("utf-8")) if HANDLED.exists() else 0


def remember(number: int) -> None:
    """Replace the file as a whole, so that a crash leaves either the old number or the new one."""
    new = HANDLED.with_suffix(".new")
    new.write_text(str(number), "utf-8")
    new.replace(HANDLED)


def read_everything_again(client: Client) -> None:
    """Some events can no longer be read, so look at the orders themselves."""
    for order in client.orders():
        print("now", order.id, order.status)


def follow(client: Client, count: float) -> None:
    while count > 0:
        try:
            with client.stream(last_handled()) as events:
                for event in events:
                    handle(event)
                    remember(event.number)
                    count -= 1
                    if count <= 0:
                        return
        except EventsGone as gone:
            read_everything_again(client)
            remember(gone.newest or 0)


if __name__ == "__main__":
    with Client(os.environ["API"], os.environ["KEY"]) as client:
        follow(client, float(sys.argv[1]) if len(sys.argv) > 1 else float("inf"))
