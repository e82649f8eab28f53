"""The command `listen`: webhooks on a laptop, by way of the stream."""

import os
import sys
from contextlib import AsyncExitStack

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
    headers and body, signed with a secret that is printed first. A failed delivery is tried a few times. The
    service itself is not changed, and needs no webhook.

    \b
    Examples:
      bullion-client listen --forward-to http://localhost:4242/webhooks --for 1
    """
    if url is None:
        secret = None
    else:
        _check_url(url)
        secret = secret or new_secret(os.urandom(24))
        try:
            sign(b"", "", 0, secret)
        except ValueError as error:
            raise usage_error(f"--{error}.") from None
    return run_until_stopped(_listen(session, url, secret, frozenset(types), after, for_s))


def _check_url(url: str) -> None:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in {"http", "https"} or not address.host:
        raise usage_error("--forward-to must be an address such as http://localhost:4242/webhooks.")


async def _listen(
    session: Session,
    url: str | None,
    secret: str | None,
    types: frozenset[str],
    after: int | None,
    for_s: float | None,
) -> None:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(session.async_client())
        stream = await stack.enter_async_context(client.stream(after, deadline=session.deadline_s))
        forwarder = None
        if url is not None and secret is not None:
            forwarder = await stack.enter_async_context(open_forwarder(url, secret))
        show = _Deliveries(session, forwarder, url)
        show.begin(client.environment, stream.position, secret)

        async def handle(event: Event) -> None:
            if not types or event.type in types:
                await show.event(event)

        try:
            await each_event(stream, for_s, handle)
        finally:
            note_how_to_go_on(session, "listen", stream.position)


class _Deliveries:
    """Prints events and what came of their deliveries."""

    def __init__(self, session: Session, forwarder: WebhookForwarder | None, url: str | None) -> None:
        self._session = session
        self._forwarder = forwarder
        self._url = url

    def begin(self, environment: str, position: int | None, secret: str | None) -> None:
        """Say that it is connected, and the secret."""
        if self._session.as_json:
            self._session.print_json_line(
                {"listening": True, "environment": environment, "after": position, "secret": secret}
            )
            return
        _print(f"Listening for events in {environment}, after number {position}. Ctrl+C ends this.")
        if secret is not None:
            _print(f"Forwarding to {self._url}, signed with the secret {secret}")

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
