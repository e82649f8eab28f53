"""Decides, once, whether calls are traced with OpenTelemetry."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bullion.settings import Settings, WrongSetting
from bullion.web.http_app import HttpApp

from .store import StoreEngine
from .trading import Trading


def require_tracing(settings: Settings) -> None:
    """Raise WrongSetting if BULLION_OTEL is on and cannot work: before a node makes way for this one."""
    if settings.otel:
        try:
            from .spans import make_provider, shut_down
        except ModuleNotFoundError as error:
            raise WrongSetting(
                "BULLION_OTEL is on, but OpenTelemetry is not installed: pip install 'bullion[otel]'."
            ) from error
        shut_down(make_provider())


@contextmanager
def traced(
    settings: Settings,
    engine: StoreEngine,
    trading: Trading,
    gates: Sequence[tuple[Any, str, str]],
    apps: Sequence[HttpApp],
) -> Iterator[list[Any]]:
    """The applications; with spans, if BULLION_OTEL is on.

    `gates`: what lets callers in, the method that does it, and the name of its span.
    """
    if not settings.otel:
        yield list(apps)
        return
    from .spans import Spans, make_provider, shut_down

    provider = make_provider()
    try:
        spans = Spans(provider)
        spans.trace_store(engine)
        spans.trace(trading.test_queue, "place", "booking")
        spans.trace(trading.production, "place", "booking")
        spans.trace(trading.venue, "submit", "venue submit", client=True)
        spans.trace(trading.venue, "order_status", "venue order_status", client=True)
        for owner, method, name in gates:
            spans.trace(owner, method, name)
        yield [spans.trace_app(app) for app in apps]
    finally:
        shut_down(provider)
