"""Metrics in Prometheus form: of this process, or of all workers when there are several."""

import os

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from .response import Response

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The library's own name for the folder in which workers keep their counts."""

_TEXT = ((b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()

    def response(self) -> Response:
        registry = self.registry
        if os.environ.get(SHARED_FOLDER):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(200, generate_latest(registry), _TEXT)
