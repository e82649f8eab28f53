"""Receive webhooks, verify each, and do nothing twice.

    SECRET=whsec_… python webhook_receiver.py [port]

Put a web server with TLS in front of it. On your own machine, the command line can deliver the events:

    bullion-client listen --forward-to http://localhost:4242/webhooks --secret "$SECRET"
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bullion_client import Event, OrderEvent, WebhookVerificationError, verify_webhook

BODY_BYTES_MAX = 1_000_000
handled: set[str] = set()
"""The ids of events that were handled. A program with a database keeps them there."""


def handle(event: Event) -> None:
    """Do what your program has to do about an event. Be quick: the service waits for 10 seconds."""
    if isinstance(event, OrderEvent):
        print(event.number, event.type, event.data.id, event.data.status, flush=True)
    else:
        print(event.number, event.type, flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_BYTES_MAX:
            self.send_error(413)
            return
        body = self.rfile.read(int(length))  # As it arrived: the signature is of these bytes.
        try:
            event = verify_webhook(body, dict(self.headers), os.environ["SECRET"].split())
        except WebhookVerificationError as error:
            print(error, flush=True)
            self.send_error(400)
            return
        if event.id not in handled:
            handle(event)
            handled.add(event.id)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print events and errors only."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 4242
    with ThreadingHTTPServer(("127.0.0.1", port), Receiver) as server:
        print("Listening on port", server.server_port, flush=True)
        server.serve_forever()
