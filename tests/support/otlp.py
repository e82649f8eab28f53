"""A receiver of OpenTelemetry's OTLP over HTTP on loopback, which keeps the spans that it is sent."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class ReceivedSpan:
    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    """Empty if it is the first of its trace."""
    status: int
    attributes: dict[str, Any]
    links: frozenset[str]
    """The ids of the spans that it is linked with."""
    service: str


@dataclass
class Receiver:
    url: str
    spans: list[ReceivedSpan] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def of_request(self, request_id: str) -> list[ReceivedSpan]:
        """The spans of the trace of a call; none before the call's own span is there."""
        spans = list(self.spans)
        traces = {each.trace_id for each in spans if each.attributes.get("bullion.request_id") == request_id}
        return [each for each in spans if each.trace_id in traces]


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.bodies.append(body)
            receiver.headers.append(dict(self.headers))
            receiver.spans += _decode(body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def log_message(self, *_: object) -> None:
            """The tests' output is not the place for it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _decode(body: bytes) -> Iterator[ReceivedSpan]:
    request = ExportTraceServiceRequest.FromString(body)
    for resource_spans in request.resource_spans:
        service = _values(resource_spans.resource.attributes)["service.name"]
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                yield ReceivedSpan(
                    span.name,
                    span.kind,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.status.code,
                    _values(span.attributes),
                    frozenset(link.span_id.hex() for link in span.links),
                    service,
                )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
