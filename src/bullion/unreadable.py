"""Rows of the store that cannot be read: what each one stops, and how the desk repairs it.

Such a row never stops a node. What it describes is not traded until the desk replaces it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import structlog

_REASON_MAX = 200

_log = structlog.get_logger("store")


class Advice(NamedTuple):
    field: str
    """The field that names the row in the desk's lists."""
    effect: str
    remedy: str


ADVICE = {
    "broker": Advice(
        "tag",
        "All of its orders are refused, as if it were halted, paused and closed to production.",
        "Replace it: PUT /brokers/{subject}, or 'bullion desk brokers put'.",
    ),
    "switches": Advice(
        "broker",
        "The broker is halted, paused and closed to production.",
        "Set the trading hours again: PATCH /switches with trading_hours. Then resume trading, end the pause "
        "and open production.",
    ),
    "symbol": Advice(
        "code",
        "Orders are refused with symbol_not_trading.",
        "Replace it: PUT /symbols/{subject} with the whole symbol, or New symbol with this code.",
    ),
    "group": Advice(
        "code",
        "Orders of its accounts are refused with group_trading_disabled.",
        "Replace it: PUT /groups/{subject} with the whole group, or New group with this code.",
    ),
    "duty": Advice(
        "name",
        "Symbols that use it have no price: orders are refused with unpriced.",
        "Replace it: PUT /duties/{subject} with the whole table, or New duty table with this name.",
    ),
    "rate": Advice(
        "instrument",
        "Symbols that use it have no price: orders are refused with no_live_price or unpriced.",
        "Wait for the feed's next rate, or put one: PUT /rates/{subject}.",
    ),
    "account": Advice(
        "login_id",
        "Its API calls are refused with api_access_disabled, and the desk places no orders for it.",
        "Replace it: POST /accounts with this login_id, or New account. Its books, orders and keys stay.",
    ),
    "key": Advice(
        "key_id",
        "Calls with it are refused with invalid_credential.",
        "Revoke it: POST /keys/{subject}/revoke. Then issue a new key.",
    ),
    "token": Advice(
        "token_id",
        "It opens neither the desk nor the console.",
        "Delete it: DELETE /tokens/{subject}. Then make a new one.",
    ),
    "venue": Advice(
        "broker",
        "The simulated venue counts as down: production orders are refused with "
        "production_prerequisites_unmet.",
        "Set it again: PATCH /hedge with mode and instruments.",
    ),
}


@dataclass(frozen=True, slots=True)
class Unreadable:
    kind: str
    """One of `ADVICE`."""
    broker: str
    subject: str
    reason: str
    stand_in: object = None
    """The closed value that nodes use in its place. None: they treat it as missing."""

    @property
    def name(self) -> tuple[str, str, str]:
        return self.kind, self.broker, self.subject

    @property
    def effect(self) -> str:
        return ADVICE[self.kind].effect

    @property
    def remedy(self) -> str:
        return ADVICE[self.kind].remedy.format(subject=self.subject)

    def __str__(self) -> str:
        whose = f" of broker {self.broker}" if self.broker and self.subject != self.broker else ""
        return f"The stored {self.kind} {self.subject}{whose} cannot be read ({self.reason})."


class UnreadableRow(Exception):
    """A requested row cannot be read."""

    def __init__(self, entry: Unreadable) -> None:
        super().__init__(str(entry))
        self.entry = entry


def reason_of(error: Exception) -> str:
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return (text or type(error).__name__)[:_REASON_MAX]


class UnreadableRows:
    """The unreadable rows of one part of a node. Each is logged once, and again when it changes."""

    def __init__(self, *, logs: bool = True) -> None:
        self._logs = logs
        self._entries: dict[tuple[str, str, str], Unreadable] = {}
        self._logged: dict[tuple[str, str, str], str] = {}

    def __iter__(self) -> Iterator[Unreadable]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: tuple[str, str, str]) -> bool:
        return name in self._entries

    def add(self, entry: Unreadable) -> None:
        self._entries[entry.name] = entry
        if self._logs and self._logged.get(entry.name) != entry.reason:
            self._logged[entry.name] = entry.reason
            kind, broker, subject = entry.name
            _log.error(
                "row_unreadable",
                kind=kind,
                broker=broker,
                subject=subject,
                reason=entry.reason,
                effect=entry.effect,
                remedy=entry.remedy,
            )

    def discard(self, kind: str, broker: str, subject: str) -> bool:
        """The row was read. True if it was unreadable before."""
        name = (kind, broker, subject)
        if self._logged.pop(name, None) is not None:
            _log.info("row_readable", kind=kind, broker=broker, subject=subject)
        return self._entries.pop(name, None) is not None

    def clear(self) -> None:
        """Everything is read again. What is then still unreadable is not logged again."""
        self._entries.clear()
