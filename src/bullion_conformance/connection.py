"""The connection to the service: sends calls within the rate limits, and records each with its response."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from bullion_conformance.exchange import Exchange
from bullion_conformance.open_stream import PATIENCE_S, OpenStream
from bullion_conformance.pace import Pace, Payer

UNAUTHORIZED = 401
TOO_MANY = 429
_TRIES_MAX = 4
_PATIENCE_S = 60
"""A longer Retry-After is cut to this."""

_SECRET_LENGTH_MIN = 16

TEST_PATH = "/api/trading/test/v1"
PRODUCTION_PATH = "/api/trading/v1"


def environment_of(target: str) -> str:
    if target.startswith(TEST_PATH):
        return "test"
    return "production" if target.startswith(PRODUCTION_PATH) else ""


@dataclass(slots=True)
class Connection:
    http: httpx.Client
    pace: Pace
    host: str | None = None
    """The Host header, if it is not the host of the service's address."""
    seen: list[Exchange] = field(default_factory=list)
    """Every call of the run."""
    current: list[Exchange] = field(default_factory=list)
    """The calls of the check that is running."""
    leaks: list[Exchange] = field(default_factory=list)
    """Responses that repeat the secret of the key that was sent."""
    unpaced: bool = False
    """While a check uses up a budget on purpose."""

    def send(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str] | list[tuple[str, str]],
        content: bytes | None = None,
        payer: Payer | None = None,
    ) -> Exchange:
        """Send one call. After a 429 that no check provoked, wait and retry."""
        for _ in range(_TRIES_MAX):
            if not self.unpaced:
                self.pace.before_refusal() if payer is None else self.pace.before(payer)
            exchange = self._send(method, target, headers, content)
            if exchange.made_up:
                break
            if exchange.status == UNAUTHORIZED:
                self.pace.after_refusal()
            elif payer is not None:
                self.pace.after(payer, exchange.headers)
            if exchange.status != TOO_MANY or self.unpaced:
                break
            self.pace.throttled += 1
            self.pace.wait(_seconds(exchange.headers.get("retry-after")))
        self.seen.append(exchange)
        self.current.append(exchange)
        return exchange

    @contextmanager
    def open(self, target: str, headers: Mapping[str, str]) -> Iterator[OpenStream]:
        """A stream. What it told is recorded when it is closed."""
        pairs = [*headers.items(), *([] if self.host is None else [("Host", self.host)])]
        started = time.perf_counter()
        with self.http.stream("GET", target, headers=pairs, timeout=PATIENCE_S) as answer:
            stream = OpenStream(answer)
            try:
                yield stream
            finally:
                exchange = Exchange(
                    environment=environment_of(target),
                    method="GET",
                    target=target,
                    sent_headers=_readable(pairs),
                    sent="",
                    status=answer.status_code,
                    headers={name.lower(): value for name, value in answer.headers.items()},
                    text=stream.text,
                    seconds=time.perf_counter() - started,
                )
                self.seen.append(exchange)
                self.current.append(exchange)

    def _send(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | list[tuple[str, str]],
        content: bytes | None,
    ) -> Exchange:
        pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
        if self.host is not None:
            pairs.append(("Host", self.host))
        started = time.perf_counter()
        answer = self.http.request(method, target, headers=pairs, content=content)
        exchange = Exchange(
            environment=environment_of(target),
            method=method,
            target=target,
            sent_headers=_readable(pairs),
            sent=(content or b"").decode("utf-8", "replace"),
            status=answer.status_code,
            headers={name.lower(): value for name, value in answer.headers.items()},
            text=answer.text,
            seconds=time.perf_counter() - started,
        )
        if any(secret in answer.text for secret in _secrets(pairs)):
            self.leaks.append(exchange)
        return exchange


def _readable(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Only the prefix of a key is kept, even of an invalid key: it may be almost a valid one."""
    kept: dict[str, str] = {}
    for name, value in pairs:
        shown = f"{value[:9]}…" if name.lower() == "x-api-key" and value.startswith("key_") else value
        if name.lower() == "authorization":
            shown = "…"
        kept[name] = f"{kept[name]}, {shown}" if name in kept else shown
    return kept


def _secrets(pairs: list[tuple[str, str]]) -> list[str]:
    """The last part of each key, unless it is too short to be a secret."""
    parts = [value.rpartition(".")[2] for name, value in pairs if name.lower() == "x-api-key"]
    return [part for part in parts if len(part) >= _SECRET_LENGTH_MIN]


def _seconds(retry_after: str | None) -> float:
    if retry_after is None or not retry_after.isascii() or not retry_after.isdigit():
        return 1.0
    # Python refuses to parse a number of some thousand digits.
    return float(min(int(retry_after), _PATIENCE_S) if len(retry_after) < 10 else _PATIENCE_S)
