"""What a node answers from memory while its store is away, and for how long."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.support.node import Node, running, until
from tests.support.orders import QUOTES, SYMBOLS, Market
from tests.support.servers import Postgres, Redis
from tests.support.short_trust import TRUSTED_S
from tests.support.tcp_proxy import tcp_proxy

ME = "/api/trading/test/v1/me"
LIVE_ORDERS = "/api/trading/v1/orders"
PRICES_S = 2.0
"""How long prices are told without the store."""
SLACK_S = 1.0
"""Memory may be a quarter of a second old when the store goes away, and the machine may be busy."""


@dataclass
class Store:
    settings: dict[str, str]
    cut: Callable[[], object]
    mend: Callable[[], object]


@pytest.fixture(params=["sqlite", "postgres cut", "postgres silent"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        path, away = tmp_path / "var" / "bullion.db", tmp_path / "away.db"
        yield Store({}, lambda: path.rename(away), lambda: away.rename(path))
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    redis: Redis = request.getfixturevalue("redis")
    with tcp_proxy(postgres.port) as line:
        url = postgres.new_database().replace(f":{postgres.port}/", f":{line.port}/")
        settings = {"BULLION_DATABASE_URL": url, "BULLION_REDIS_URL": redis.url}
        if request.param == "postgres cut":
            yield Store(settings, line.cut, line.restore)
        else:

            def go_silent() -> None:
                line.swallow_new()
                line.silence()

            yield Store(settings, go_silent, line.pass_new)


def code(answer: httpx.Response) -> str:
    return str(answer.json()["detail"]["code"])


@dataclass
class Outage:
    node: Node
    host: str
    """Of the broker's own."""
    began_s: float

    def call(self, key: str, path: str, method: str = "GET") -> httpx.Response:
        # Each from an address of its own, so that failures throttle nobody.
        with self.node.api(key, Host=self.host) as api:
            return api.request(method, path)

    def early(self, within_s: float) -> bool:
        """Whether a call that was answered just now was so before memory was too old."""
        return time.monotonic() - self.began_s < within_s - SLACK_S

    def wait_until_late(self, within_s: float) -> None:
        until(lambda: time.monotonic() - self.began_s > within_s, within_s=within_s + SLACK_S)

    def unavailable(self, key: str, path: str, method: str = "GET") -> str:
        answer = self.call(key, path, method)
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["retry-after"]) >= 1
        return code(answer)


def test_what_is_answered_from_memory_and_for_how_long(store: Store, tmp_path: Path) -> None:
    with (
        running(tmp_path, "tests.support.short_trust", **store.settings) as node,
        Market.open(node) as market,
    ):
        trader, revoked = market.trader(), market.trader()
        other = market.trader().key
        market.desk.do("POST", f"/keys/{revoked.key_id}/revoke")
        key = trader.key
        wrong_secret = key.rpartition(".")[0] + "." + other.rpartition(".")[2]
        unknown_id = key.replace(trader.key_id, "0" * len(trader.key_id))
        bad = {
            wrong_secret: "invalid_credential",
            unknown_id: "invalid_credential",
            revoked.key: "credential_revoked",
        }
        outage = Outage(node, trader.http.headers["host"], 0)
        for text, expected in bad.items():
            assert code(outage.call(text, ME)) == expected
        store.cut()
        outage.began_s = time.monotonic()

        # Both from memory: it is not too old to tell who calls, nor what the prices are.
        seen_early = 0
        for path in (SYMBOLS, QUOTES):
            answer = outage.call(key, path)
            if outage.early(PRICES_S):
                seen_early += 1
                assert answer.status_code == 200, answer.text
        assert seen_early

        # Then prices are no longer told, and who calls still is.
        seen_early = 0
        outage.wait_until_late(PRICES_S)
        for path in (SYMBOLS, QUOTES):
            assert outage.unavailable(key, path) == "service_unavailable"
        for text, expected in bad.items():
            answer = outage.call(text, ME)
            if outage.early(TRUSTED_S):
                seen_early += 1
                assert (answer.status_code, code(answer)) == (401, expected)
        assert seen_early
        if outage.early(TRUSTED_S):
            assert outage.call(key, ME).status_code == 200

        # And then nothing.
        outage.wait_until_late(TRUSTED_S)
        for text in (key, *bad):
            assert outage.unavailable(text, ME) == "service_unavailable"
        live = unknown_id.replace("key_test", "key_live")
        assert outage.unavailable(live, LIVE_ORDERS, "POST") == "booking_unavailable"
        # What the text of a key shows is told with or without a store.
        assert code(outage.call(live, ME)) == "wrong_environment"

        store.mend()
        until(lambda: outage.call(key, QUOTES).status_code == 200, within_s=5)
        for text, expected in bad.items():
            assert code(outage.call(text, ME)) == expected
