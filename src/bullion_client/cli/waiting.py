"""Waits for a pending order, and turns its final state into an exit code."""

from dataclasses import dataclass

import click

from bullion_client import BullionError, Client, Order, OrderStatus
from bullion_client.cli.exit_codes import CommandError, ExitCode
from bullion_client.cli.json_output import fields
from bullion_client.cli.order_view import print_order
from bullion_client.cli.session import Session

_WAIT_S = 30.0
"""The specification advises to poll for about this long."""

wait_option = click.option(
    "--wait", is_flag=True, help=f"Wait while the order is pending, up to {_WAIT_S:g} s."
)
wait_for_option = click.option(
    "--wait-for",
    "wait_s",
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    help="Wait while the order is pending, up to this long.",
)


def wait_seconds(wait: bool, wait_s: float | None) -> float | None:
    """The seconds to wait by these two options; None to not wait."""
    return wait_s or (_WAIT_S if wait else None)


@dataclass(frozen=True, slots=True)
class WaitResult:
    """An order as it was last read, and the error if the command fails."""

    order: Order
    failure: CommandError | None


def wait_for_order(client: Client, order: Order, wait_s: float | None) -> WaitResult:
    """Wait for a pending order, if `wait_s` is given."""
    if wait_s is None:
        return WaitResult(order, None)
    if order.status == OrderStatus.PENDING:
        try:
            order = client.wait(order, timeout=wait_s)
        except BullionError as error:
            # The order exists, so this must not end with "nothing is booked".
            return WaitResult(order, _still_pending(order, f"The order was pending when last read. {error}"))
        except KeyboardInterrupt:
            message = f"Interrupted. The order exists, and was pending when last read. {_check_later(order)}"
            return WaitResult(
                order, CommandError(ExitCode.INTERRUPTED, "interrupted", message, {"order": fields(order)})
            )
    if order.status == OrderStatus.PENDING:
        return WaitResult(order, _still_pending(order, "The order is still pending."))
    if order.status in (OrderStatus.REJECTED, OrderStatus.DELETED):
        message = f"The order is {order.status}: not a deal."
        return WaitResult(
            order, CommandError(ExitCode.REFUSED, f"order_{order.status}", message, {"order": fields(order)})
        )
    if not order.status.known:
        message = (
            f"The order is {order.status}, which this version does not know: look for a newer bullion-client."
        )
        return WaitResult(
            order, CommandError(ExitCode.UNEXPECTED, "unknown_status", message, {"order": fields(order)})
        )
    return WaitResult(order, None)


def finish(session: Session, client: Client, order: Order, wait_s: float | None) -> int:
    """Wait if `wait_s` is given, print the order, and return the exit code."""
    result = wait_for_order(client, order, wait_s)
    if session.as_json:
        session.print_json(result.order)
    else:
        print_order(result.order)
    if result.failure is not None:
        raise result.failure
    if result.order.status == OrderStatus.PENDING:
        session.note(f"The order is pending, not a deal yet. {_check_later(result.order)}")
    return ExitCode.DONE


def _still_pending(order: Order, reason: str) -> CommandError:
    message = f"{reason} Do not place it again. {_check_later(order)}"
    return CommandError(ExitCode.PENDING, "still_pending", message, {"order": fields(order)})


def _check_later(order: Order) -> str:
    return f"Check it with: bullion-client order {order.id} --wait"
