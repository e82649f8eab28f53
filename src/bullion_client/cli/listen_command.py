"""The command `listen`: webhooks on a laptop, by way of the stream."""

import os
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import click
import httpx

from bullion_client import Event, EventType
from bullion_client.cli.event_loop import (
    after_option,
    each_event,
    for_option,
    note_how_to_go_on,
    run_until_stopped,
)
from bullion_client.cli.event_view import event_line
from bullion_client.cli.exit_codes import usage_error
from bullion_client.cli.formatting import text
from bullion_client.cli.json_output import Json
from bullion_client.cli.options import with_session
from bullion_client.cli.session import Session
from bullion_client.cli.tables import print_line
from bullion_client.cli.webhook_forwarder import Delivery, WebhookForwarder, open_forwarder
from bullion_client.webhook_signature import new_secret, sign

_SECRET = "BULLION_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable


@click.command("listen")
@click.option(
    "--forward-to",
    "url",
    metavar="URL",
    help="Post each event to this address, such as http://localhost:4242/webhooks.",
)
@click.option(
    "--secret",
    envvar=_SECRET,
    metavar="TEXT",
    help=f"The secret to sign with, whsec_…. Default: {_SECRET}, or a new one, which is printed.",
)
@click.option(
    "--type",
    "types",
    multiple=True,
    type=click.Choice([str(each) for each in EventType]),
    metavar="TYPE",
    help="Only events of this type, such as order.opened. May be repeated.",
)
@after_option
@for_option
@with_session
def listen_command(
    session: Session,
    url: str | None,
    secret: str | None,
    types: tuple[str, ...],
    after: int | None,
    for_s: float | None,
) -> int:
    """Try your receiver of webhooks on your own machine.

    Webhooks need an address that the service can reach, which a laptop does not have. This command gets the
    events by the stream instead, and posts each to your program as the service would: in order, with the same
    headers and body, signed with your secret or with a new one, which is printed first. A failed delivery is
    tried a few times. The service itself is not changed, and needs no webhook.

    \b
    Examples:
      bullion-client listen --forward-to http://localhost:4242/webhooks --for 1
    """
    target = None if url is None else _target(url, secret)
    return run_until_stopped(_listen(session, target, frozenset(types), after, for_s))


@dataclass(frozen=True, slots=True)
class _Target:
    """Where to post events, and what to sign them with."""

    url: str
    secret: str = field(repr=False)
    secret_is_new: bool
    """Made here, and so printed: nobody else knows it."""


def _target(url: str, secret: str | None) -> _Target:
    _check_url(url)
    target = _Target(url, secret or new_secret(os.urandom(24)), secret_is_new=not secret)
    try:
        sign(b"", "", 0, target.secret)
    except ValueError as error:
        raise usage_error(f"--{error}.") from None
    return target


def _check_url(url: str) -> None:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in {"http", "https"} or not address.host:
        raise usage_error("--forward-to must be an address such as http://localhost:4242/webhooks.")


async def _listen(
    session: Session,
    target: _Target | None,
    types: frozenset[str],
    after: int | None,
    for_s: float | None,
) -> None:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(session.async_client())
        stream = await stack.enter_async_context(client.stream(after, deadline=session.deadline_s))
        forwarder = None
        if target is not None:
            forwarder = await stack.enter_async_context(open_forwarder(target.url, target.secret))
        show = _Deliveries(session, forwarder)
        show.begin(client.environment, stream.position, target)
        handled = stream.position

        async def handle(event: Event) -> None:
            nonlocal handled
            if not types or event.type in types:
                await show.event(event)
            handled = event.number

        try:
            await each_event(stream, for_s, handle)
        finally:
            note_how_to_go_on(session, "listen", handled)


class _Deliveries:
    """Prints events and what came of their deliveries."""

    def __init__(self, session: Session, forwarder: WebhookForwarder | None) -> None:
        self._session = session
        self._forwarder = forwarder

    def begin(self, environment: str, position: int | None, target: _Target | None) -> None:
        """Say that it is connected, and a secret that is new."""
        secret = target.secret if target is not None and target.secret_is_new else None
        if self._session.as_json:
            self._session.print_json_line(
                {"listening": True, "environment": environment, "after": position, "secret": secret}
            )
            return
        _print(f"Listening for events in {environment}, after number {position}. Ctrl+C ends this.")
        if target is not None:
            signed = "your secret" if secret is None else f"the secret {secret}"
            _print(f"Forwarding to {target.url}, signed with {signed}")

    async def event(self, event: Event) -> None:
        """Print an event, and deliver it if there is an address."""
        tries: list[Delivery] = []
        if not self._session.as_json:
            _print(f"{event_line(event)}  {text(event.id)}")
        if self._forwarder is not None:
            async for tried in self._forwarder.deliver(event):
                tries.append(tried)
                if not self._session.as_json:
                    _print(_result(tried))
        if self._session.as_json:
            self._session.print_json_line({"event": event.raw, "tries": [_view(each) for each in tries]})


def _result(tried: Delivery) -> str:
    what = f"no response: {text(tried.error)}" if tried.status is None else f"status {tried.status}"
    then = "" if tried.done else ", given up" if tried.final else ", trying again"
    return f"  -> {what} ({tried.took_ms} ms){then}"


def _view(tried: Delivery) -> Json:
    return {"status": tried.status, "error": tried.error, "ms": tried.took_ms}


def _print(words: str) -> None:
    print_line(words)
    sys.stdout.flush()
