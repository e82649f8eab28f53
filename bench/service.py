"""Our service as it is measured: a real `bullion serve` in a temporary folder, set up through its desk."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.node import DeskClient, running

from .endpoint import Endpoint

_KEYS = 16
"""Several, because the most that the desk may allow one key is less than a fast machine can answer."""
_BUDGETS = {"reads_per_minute": 1_000_000}
_LOGIN_ID = "bench"


@dataclass(frozen=True, slots=True)
class Service:
    api_url: str
    endpoint: Endpoint
    keys: tuple[str, ...]


@contextlib.contextmanager
def running_service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory(prefix="bullion-bench-") as folder, running(Path(folder)) as node:
        with node.desk() as desk:
            keys = _set_up(desk)
        port = urlsplit(node.api_url).port
        assert port is not None
        yield Service(node.api_url, Endpoint(port, node.process.pid), keys)


def _set_up(desk: DeskClient) -> tuple[str, ...]:
    desk.furnish()
    desk.do("PATCH", "/switches", {"budgets": _BUDGETS})
    desk.account(_LOGIN_ID, firm_name="Bench and Sons")
    return tuple(desk.key(_LOGIN_ID)["key"] for _ in range(_KEYS))
