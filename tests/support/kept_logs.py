"""The logs of this process, as they were, after a test of what sets them up."""

import contextlib
import logging
from collections.abc import Iterator

import structlog


@contextlib.contextmanager
def kept_logs() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, configured = root.handlers, root.level, structlog.get_config()
    yield
    root.handlers, root.level = handlers, level
    structlog.configure(**configured)
