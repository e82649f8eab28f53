"""The channels that a broker's orders came through, for the desk's search by Idempotency-Key."""

from collections.abc import Sequence
from time import monotonic

from .engine import Transaction

API = "api"
_KEPT_S = 30.0
"""A new channel, which hardly ever appears, is known after this time at the latest."""


class Channels:
    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, Sequence[str]]] = {}

    async def names(self, transaction: Transaction, broker: str) -> Sequence[str]:
        """Finding them takes a look into every production book."""
        read_at, names = self._kept.get(broker, (-_KEPT_S, ()))
        if monotonic() - read_at >= _KEPT_S:
            rows = await transaction.all("search_channels", broker)
            names = sorted({API, *(row["source"] for row in rows)})
            self._kept[broker] = (monotonic(), names)
        return names
