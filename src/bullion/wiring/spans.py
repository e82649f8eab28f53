"""Spans of OpenTelemetry: from a call to the gate, the booking, the store and the venue.

Imported only if BULLION_OTEL is on. The methods that get a span are replaced on their objects, once, when the
node is made. So the code that runs without spans knows nothing of them.
"""

import atexit
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

from opentelemetry.context import Context, attach, detach
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from bullion import __version__
from bullion.refusals.refusal import RefusalError
from bullion.request_ids import CURRENT, current_ids
from bullion.settings import WrongSetting
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from bullion.web.calls import METHODS, Call
from bullion.web.headers import Headers
from bullion.web.http_app import HttpApp
from bullion.web.response import App, Receive, Scope, Send

_TRACED_PATHS = ("/api/", "/desk/")
"""Health checks and metrics are asked for all the time, and get no spans."""
_TRACEPARENT, _TRACESTATE = b"traceparent", b"tracestate"
_HEADER_LENGTH_MAX = 512
_LAST_EXPORT_S = 1.0
"""How long a process that ends waits for the receiver of its last spans."""
_SERVER_ERRORS = 500

Attributes = Mapping[str, str | int]


def make_provider() -> TracerProvider:
    """With exporter and sampler as the standard OTEL_ variables describe them."""
    try:
        with _signals_blocked():
            provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    except ValueError as error:
        raise WrongSetting(f"BULLION_OTEL is on, but an OTEL_ variable is wrong: {error}.") from error
    return provider


def shut_down(provider: TracerProvider) -> None:
    """Export the last spans. A receiver that does not answer delays no hand-over to the next node."""
    exporting = threading.Thread(target=provider.shutdown, daemon=True)
    with _signals_blocked():
        exporting.start()
    atexit.register(exporting.join, _LAST_EXPORT_S)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """For threads that start here. A signal that waits for the main thread would end the process there."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _resource() -> Resource:
    resource = Resource.create({"service.version": __version__, "process.pid": os.getpid()})
    if str(resource.attributes["service.name"]).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "bullion"}))
    return resource


class Spans:
    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("bullion", __version__)
        self._propagator = TraceContextTextMapPropagator()
        self._of_calls: WeakValueDictionary[str, Span] = WeakValueDictionary()
        """The innermost span of each call, by request id: for work that is done for several calls at once."""

    def trace_app(self, app: HttpApp) -> App:
        """The application, with a span for each call."""
        handle, record_call = app.handle, app.record_call

        async def traced_handle(call: Call, scope: Scope, receive: Receive) -> Any:
            span = get_current_span()
            if span.is_recording():
                self._of_calls[call.request_id.decode("ascii")] = span
            return await handle(call, scope, receive)

        def traced_record_call(call: Call) -> None:
            span = get_current_span()
            if span.is_recording():
                _describe(span, call)
            record_call(call)

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            if not scope["path"].startswith(_TRACED_PATHS):
                # A task inherits the span of the call before it on the same connection.
                token = attach(Context())
                try:
                    await app(scope, receive, send)
                finally:
                    detach(token)
                return
            with self._tracer.start_as_current_span(
                _method(scope["method"]),
                context=self._context_of_caller(scope["headers"]),
                kind=SpanKind.SERVER,
                record_exception=False,
                set_status_on_exception=False,
            ):
                await app(scope, receive, send)

        _replace(app, "handle", traced_handle)
        _replace(app, "record_call", traced_record_call)
        return traced

    def trace_store(self, engine: PostgresEngine | SqliteEngine) -> None:
        """The methods that take the name of a statement or transaction first."""
        if isinstance(engine, PostgresEngine):
            system, methods = "postgresql", ["statement", "write", "read", "write_on_new_connection"]
        else:
            system, methods = "sqlite", ["run_in_writer", "run_in_reader", "write_on_new_connection"]
        attributes = {"db.system.name": system}
        for method in methods:
            self._trace(engine, method, lambda name, *_: f"store {name}", attributes, client=True)
        if isinstance(engine, SqliteEngine):
            for method in ("look_up", "look_up_for"):
                self._trace_look_up(engine, method, attributes)

    def trace(self, owner: Any, method: str, name: str, *, client: bool = False) -> None:
        """Give each call of an asynchronous method a span."""
        self._trace(owner, method, lambda *_: name, {}, client=client)

    def _trace(
        self, owner: Any, method: str, name: Callable[..., str], attributes: Attributes, *, client: bool
    ) -> None:
        inner: Callable[..., Awaitable[Any]] = getattr(owner, method)

        async def traced(*arguments: Any, **named: Any) -> Any:
            parents = self._parents()
            if not parents:
                return await inner(*arguments, **named)
            with self._span(name(*arguments), parents, attributes, client=client):
                return await inner(*arguments, **named)

        _replace(owner, method, traced)

    def _trace_look_up(self, engine: SqliteEngine, method: str, attributes: Attributes) -> None:
        inner = getattr(engine, method)

        def traced(query: str, *values: Any) -> Any:
            parents = self._parents()
            if not parents:
                return inner(query, *values)
            with self._span(f"store {query}", parents, attributes, client=True):
                return inner(query, *values)

        _replace(engine, method, traced)

    @contextmanager
    def _span(
        self, name: str, parents: Sequence[Span], attributes: Attributes, *, client: bool
    ) -> Iterator[None]:
        """Below the first of the parents, with links to and from the others."""
        first, *others = parents
        with (
            self._tracer.start_as_current_span(
                name,
                context=set_span_in_context(first),
                kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
                attributes=dict(attributes),
                links=[Link(each.get_span_context()) for each in others],
                record_exception=False,  # The text of an error may contain what callers sent.
                set_status_on_exception=False,
            ) as span,
            self._innermost(span),
        ):
            for each in others:
                if each.is_recording():
                    each.add_link(span.get_span_context())
            try:
                yield
            except RefusalError as refused:
                span.set_attribute("bullion.code", refused.refusal.code)
                raise
            except Exception as error:
                span.set_status(StatusCode.ERROR)
                span.set_attribute("error.type", type(error).__name__)
                raise

    @contextmanager
    def _innermost(self, span: Span) -> Iterator[None]:
        """Meanwhile, what is done for this call and others at once belongs to this span."""
        current = CURRENT.get()
        if not isinstance(current, bytes):
            yield
            return
        request_id = current.decode("ascii")
        outer = self._of_calls.get(request_id)
        self._of_calls[request_id] = span
        try:
            yield
        finally:
            # Not if it is that of a call to the venue for which nobody waits any more.
            if outer is not None and self._of_calls.get(request_id) is span:
                self._of_calls[request_id] = outer

    def _parents(self) -> Sequence[Span]:
        """The span of the call that this is done for, or those of all calls of a batch.

        None for work that belongs to no call, or to none that is sampled.
        """
        if isinstance(CURRENT.get(), bytes):
            spans = [get_current_span()]
        else:
            spans = [span for each in current_ids() if (span := self._of_calls.get(each)) is not None]
        return [span for span in spans if span.get_span_context().trace_flags.sampled]

    def _context_of_caller(self, headers: Headers) -> Context:
        """From the caller's `traceparent`, if it is valid; otherwise the call begins a trace of its own."""
        parents = [value for name, value in headers if name == _TRACEPARENT]
        states = b",".join(value for name, value in headers if name == _TRACESTATE)
        if len(parents) != 1 or len(parents[0]) > _HEADER_LENGTH_MAX:
            return Context()
        carrier = {"traceparent": parents[0].decode("latin-1")}
        if 0 < len(states) <= _HEADER_LENGTH_MAX:
            carrier["tracestate"] = states.decode("latin-1")
        return self._propagator.extract(carrier, Context())


def _describe(span: Span, call: Call) -> None:
    """Only what we chose ourselves: paths, queries and headers may contain secrets."""
    method = _method(call.method)
    if call.route != "unknown":
        span.update_name(f"{method} {call.route}")
        span.set_attribute("http.route", call.route)
    span.set_attribute("http.request.method", method)
    span.set_attribute("http.response.status_code", call.status)
    span.set_attribute("bullion.request_id", call.request_id.decode("ascii"))
    if call.code is not None:
        span.set_attribute("bullion.code", call.code)
    if call.status >= _SERVER_ERRORS or not call.status:
        span.set_status(StatusCode.ERROR)


def _method(sent: str) -> str:
    return sent if sent in METHODS else "_OTHER"


def _replace(owner: Any, method: str, traced: Callable[..., Any]) -> None:
    object.__setattr__(owner, method, traced)  # Also where a dataclass is frozen.
