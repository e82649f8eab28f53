"""A journal file of orders, so that a program can continue after a crash.

It has one JSON object per line, and lines are only appended:

    {"journal": 1, "environment": "test", "account": "aurum"}
    {"event": "made", "idempotency_key": "…", "symbol_code": "GOLD", …}
    {"event": "settled", "idempotency_key": "…", "outcome": "order", "order_id": "…"}

A `made` line is on disk before the order is sent for the first time. A `settled` line need not be: an order
that is resumed without need is just found again. A line that a crash cut off is skipped: if it was a `made`
line, its order was never sent. The file contains no secret, but shows what was traded, so only its owner
may read it.

Threads and processes may share a file: each line is appended under a lock. A large file is replaced by one
with the unsettled orders only.
"""

import json
import logging
import os
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any

from bullion_client.enums import Environment, TradeType
from bullion_client.file_lock import locked, opened, replace, sync_folder
from bullion_client.intent import Intent

_log = logging.getLogger("bullion_client")

_VERSION = 1
_COMPACTED_FROM_BYTES = 1 << 20
_NOT_AN_INTENT = (KeyError, ValueError, TypeError, ArithmeticError)


class Journal:
    """Keeps intents across a crash of the program. Pass it to a client, which writes to it.

        journal = Journal("orders.journal")
        with Client(address, key, journal=journal) as client:
            for intent in journal.unsettled():
                client.resume(intent)

    A journal belongs to one account in one environment, from its first order on; a client of another one
    gets a `ValueError`. The client reads the account of its key once, which needs the scope `account:read`;
    or give the login as `account`. Use one file for each address of a service.
    """

    def __init__(self, path: str | os.PathLike[str], *, account: str | None = None) -> None:
        self._path = Path(path)
        self._account = account
        self._compacted_from = _COMPACTED_FROM_BYTES

    def __repr__(self) -> str:
        return f"<Journal {str(self._path)!r}>"

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    @property
    def account(self) -> str | None:
        """The login that was given."""
        return self._account

    def unsettled(self) -> tuple[Intent, ...]:
        """The orders without a recorded outcome, oldest first.

        They include orders that other threads and processes are placing now; resuming those is safe, too.
        """
        if not self._path.exists():
            return ()
        with locked(self._path) as file:
            return tuple(self._unsettled(file).values())

    def abandon(self, intent: Intent) -> None:
        """Mark an order as settled without sending it. Find out its outcome yourself first."""
        self.settle(intent, outcome="abandoned")

    def bind(self, environment: Environment, account: str) -> None:
        """Bind it to this account, or raise `ValueError` if it belongs to another. The client calls this."""
        with locked(self._path) as file:
            head = self._head(file)
            if head is None:
                self._begin(file, environment, account)
                return
        if (head.get("environment"), head.get("account")) != (environment, account):
            raise ValueError(
                f"{self._path} is the journal of {head.get('account')!r} in {head.get('environment')}, "
                f"and cannot be that of {account!r} in {environment}: use a file for each"
            )

    def note(self, intent: Intent) -> None:
        """Write an intent, and return once it is on disk. The client calls this before it sends."""
        with locked(self._path) as file:
            if self._head(file) is None:  # The file was removed since it was bound.
                self._begin(file, intent.environment, intent.account)
            _append(file, _made_line(intent))
            os.fsync(file.fileno())

    def settle(self, intent: Intent, *, outcome: str, **more: str | None) -> None:
        """Record the outcome of an intent. The client calls this."""
        line = {"event": "settled", "idempotency_key": intent.idempotency_key, "outcome": outcome, **more}
        with locked(self._path) as file:
            if self._head(file) is None:
                return  # The file was removed, and the intent with it.
            _append(file, line)
            if file.tell() >= self._compacted_from:
                self._compact(file)

    def _compact(self, file: IO[bytes]) -> None:
        """Replace this file, which is locked, by one with the head and the unsettled orders."""
        lines = [self._head(file) or {}, *map(_made_line, self._unsettled(file).values())]
        smaller = self._path.with_name(f"{self._path.name}.new")
        with opened(smaller, os.O_TRUNC) as new:
            for line in lines:
                _append(new, line)
            os.fsync(new.fileno())
            # Twice the rest, so that a journal with many unsettled orders is not rewritten at each order.
            self._compacted_from = max(_COMPACTED_FROM_BYTES, 2 * new.tell())
        replace(file, self._path, smaller)

    def _begin(self, file: IO[bytes], environment: str, account: str | None) -> None:
        _append(file, {"journal": _VERSION, "environment": environment, "account": account})
        os.fsync(file.fileno())
        sync_folder(self._path)

    def _head(self, file: IO[bytes]) -> dict[str, Any] | None:
        head = next(_lines(file), None)
        if head is not None and head.get("journal") != _VERSION:
            raise ValueError(f"{self._path} is not a journal, or one of another version")
        return head

    def _unsettled(self, file: IO[bytes]) -> dict[str, Intent]:
        head = self._head(file)
        return {} if head is None else _unsettled(file, Environment(head["environment"]), head["account"])


def _intent_of(line: dict[str, Any], environment: Environment, account: str | None) -> Intent:
    """The intent of a `made` line; another line raises one of `_NOT_AN_INTENT`."""
    price, until = line["expected_price"], line["unanswered_until"]
    return Intent(
        environment=environment,
        idempotency_key=line["idempotency_key"],
        symbol_code=line["symbol_code"],
        trade_type=TradeType(line["trade_type"]),
        quantity=Decimal(line["quantity"]),
        expected_price=None if price is None else Decimal(price),
        client_order_id=line["client_order_id"],
        made_at=datetime.fromisoformat(line["made_at"]),
        account=account,
        unanswered_until=None if until is None else datetime.fromisoformat(until),
    )


def _made_line(intent: Intent) -> dict[str, object]:
    return {
        "event": "made",
        "idempotency_key": intent.idempotency_key,
        "symbol_code": intent.symbol_code,
        "trade_type": intent.trade_type,
        "quantity": str(intent.quantity),
        "expected_price": None if intent.expected_price is None else str(intent.expected_price),
        "client_order_id": intent.client_order_id,
        "made_at": intent.made_at.isoformat(),
        "unanswered_until": None if intent.unanswered_until is None else intent.unanswered_until.isoformat(),
    }


def _unsettled(file: IO[bytes], environment: Environment, account: str | None) -> dict[str, Intent]:
    found: dict[str, Intent] = {}
    for line in islice(_lines(file), 1, None):
        key = line.get("idempotency_key")
        if line.get("event") == "settled":
            found.pop(str(key), None)
            continue
        try:
            intent = _intent_of(line, environment, account)
        except _NOT_AN_INTENT:
            _log.warning("skipped a line of the journal that is not an order")
            continue
        # A resumed order is noted again: the last line says until when a try may be in flight.
        found[intent.idempotency_key] = intent
    return found


def _lines(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Every complete line. A line that a crash cut off had no effect yet."""
    file.seek(0)
    for text in file:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line


def _append(file: IO[bytes], line: dict[str, Any]) -> None:
    size = file.seek(0, os.SEEK_END)
    torn = False
    if size:
        file.seek(size - 1)
        torn = file.read(1) != b"\n"
    file.seek(0, os.SEEK_END)
    file.write((b"\n" if torn else b"") + json.dumps(line).encode() + b"\n")
    file.flush()
