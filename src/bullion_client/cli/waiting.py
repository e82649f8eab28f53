"""Waiting for an order that is pending, and what the end of the wait means for a script."""

from dataclasses import dataclass

import click

from bullion_client import BullionError, Client, Order, OrderStatus
from bullion_client.cli.endings import Ending, Exit
from bullion_client.cli.order_view import print_order
from bullion_client.cli.session import Session
from bullion_client.cli.wire import fields

_WAIT_S = 30.0
"""As the service advises: after that, look again now and then."""

wait_option = click.option(
    "--wait", is_flag=True, help=f"Wait while the order is pending, up to {_WAIT_S:g} s."
)
wait_for_option = click.option(
    "--wait-for",
    "wait_s",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    help="The same, but up to so long.",
)


def patience_s(wait: bool, wait_s: float | None) -> float | None:
    """How long to wait by these two options; None for not at all."""
    return wait_s or (_WAIT_S if wait else None)


@dataclass(frozen=True, slots=True)
class Become:
    """An order as it was last seen, and how the command ends if not well."""

    order: Order
    ending: Ending | None


def waited(client: Client, order: Order, wait_s: float | None) -> Become:
    """Wait for a pending order, if that is wanted."""
    if wait_s is None:
        return Become(order, None)
    if order.status == OrderStatus.PENDING:
        try:
            order = client.wait(order, timeout=wait_s)
        except BullionError as error:
            # The order is there, whatever has become of the line: "nothing is booked" would be a lie.
            return Become(order, _still_pending(order, f"It was pending when last seen. {error}"))
        except KeyboardInterrupt:
            words = f"Broken off. The order is there, and was pending when last seen. {_look_again(order)}"
            return Become(order, Ending(Exit.INTERRUPTED, "interrupted", words, {"order": fields(order)}))
    if order.status == OrderStatus.PENDING:
        return Become(order, _still_pending(order, "It is still pending after waiting."))
    if order.status in (OrderStatus.REJECTED, OrderStatus.DELETED):
        words = f"The order is {order.status}: it is no deal."
        return Become(order, Ending(Exit.REFUSED, f"order_{order.status}", words, {"order": fields(order)}))
    if not order.status.known:
        words = (
            f"The order is {order.status}, which this version does not know: look for a newer bullion-client."
        )
        return Become(order, Ending(Exit.UNEXPECTED, "unknown_status", words, {"order": fields(order)}))
    return Become(order, None)


def finish(session: Session, client: Client, order: Order, wait_s: float | None) -> int:
    """Show the order, after waiting if that is wanted; say by the exit code what has become of it."""
    become = waited(client, order, wait_s)
    if session.as_json:
        session.print_json(become.order)
    else:
        print_order(become.order)
    if become.ending is not None:
        raise become.ending
    if become.order.status == OrderStatus.PENDING:
        session.note(f"It is pending, and no deal yet. {_look_again(become.order)}")
    return Exit.DONE


def _still_pending(order: Order, words: str) -> Ending:
    message = f"{words} Do not place it again. {_look_again(order)}"
    return Ending(Exit.PENDING, "still_pending", message, {"order": fields(order)})


def _look_again(order: Order) -> str:
    return f"Look again with: bullion-client order {order.id} --wait"
