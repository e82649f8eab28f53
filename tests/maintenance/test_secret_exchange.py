"""Another secret for a store: with both known nobody is refused, and in the end the old one opens nothing."""

import asyncio
import contextlib
import sqlite3
import time
from base64 import b32decode
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from bullion.budgets.memory import MemoryLimiter
from bullion.desk.second_factors import SecondFactors
from bullion.keys.totp import STEP_S, code_at
from bullion.records.token import Actor, Role
from bullion.settings import read_settings
from bullion.wiring.desk import make_desk, no_refresh
from bullion.wiring.store import open_store
from tests.support.command import bullion, sentence
from tests.support.hook_server import HookServer
from tests.support.node import DESK_TOKEN, Node, running, until
from tests.support.orders import Market, Trader, booked
from tests.support.scale import SCALE
from tests.support.stacks import STACKS, stack

T = TypeVar("T")
OLD = "the-old-secret-of-this-deployment-000"
NEW = "the-new-secret-of-this-deployment-111"
ONLY_OLD = {"BULLION_SECRET": OLD}
ONLY_NEW = {"BULLION_SECRET": NEW}
BOTH = {"BULLION_SECRET": NEW, "BULLION_SECRET_OLD": OLD}


if SCALE == 1:  # Each of the two tests exchanges the secret of a store.
    pytestmark = pytest.mark.stacks_in_turn


@pytest.fixture(params=STACKS)
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    return stack(request.param, request)


class Deployment:
    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.folder = folder
        self.settings = settings

    def status(self, secrets: dict[str, str]) -> tuple[int, list[str]]:
        done = bullion(self.folder, "secret", "status", **self.settings, **secrets)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    def whole(self, secrets: dict[str, str]) -> None:
        done = bullion(self.folder, "books", "verify", **self.settings, **secrets)
        assert done.returncode == 0, done.stdout + done.stderr

    def trades(self, node: Node, *traders: Trader) -> None:
        """Each with its own key, on this node."""
        for trader in traders:
            with node.api(trader.key, Host=trader.http.headers["host"]) as http:
                again = Trader(http, trader.login_id, {"key_id": trader.key_id, "key": trader.key})
                booked(again.place())


def test_nobody_is_refused_while_the_secret_is_exchanged(tmp_path: Path, settings: dict[str, str]) -> None:
    here = Deployment(tmp_path, settings)
    with running(tmp_path, **settings, **ONLY_OLD) as node, Market.open(node) as market:
        first, second = market.trader(), market.trader()
        here.trades(node, first, second)
        tag, token = market.tag, market.desk.headers["authorization"].removeprefix("Bearer ")
    # A node that knows both goes on as before: others may not know the new one yet.
    with running(tmp_path, **settings, **BOTH) as node:
        here.trades(node, first, second)
        with node.desk(token) as desk:
            desk.account("between", allocation={"gold": "1000", "silver": "1"})
            third = _trader(node, tag, "between", desk.key("between"))
            assert here.status(BOTH)[1][:2] == [
                "BULLION_SECRET is not the secret of the store yet: run 'bullion secret exchange'.",
                "Keys under another secret: 3 of 3, in force: 3.",
            ]
            done = bullion(tmp_path, "secret", "exchange", **settings, **BOTH)
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout.startswith("BULLION_SECRET is the secret of the store now.")
            # The node has not heard of it, and its desk goes on with the trails.
            here.trades(node, first, third)
            desk.account("behind", allocation={"gold": "1", "silver": "1"})
            newest = [entry["action"] for entry in desk.do("GET", "/audit?limit=2")["items"]]
            assert newest == ["create_account", "exchange_secret"]
        here.whole(BOTH)
    # Whoever starts now gives each key that is used a new hash.
    with running(tmp_path, **settings, **BOTH) as node:
        here.trades(node, first)
        with node.desk(token) as desk:
            fourth = _trader(node, tag, "behind", desk.key("behind"))
        until(lambda: "Keys under another secret: 2 of 4, in force: 2." in here.status(BOTH)[1], within_s=30)
        code, lines = here.status(BOTH)
        assert code == 1
        assert lines[1:] == [
            "Tokens under another secret: 0 of 1, in force: 0.",
            "Second factors under another secret: 0 of 0, in force: 0.",
            "Webhooks under another secret: 0 of 0, in force: 0.",
            "Audit trails under another secret: 0 of 2, in force: 0.",
            "Keep BULLION_SECRET_OLD until nothing in force needs it.",
        ]
        with node.desk(token) as desk:
            desk.do("POST", f"/keys/{third.key_id}/revoke")
        here.trades(node, second)
        until(lambda: here.status(BOTH)[0] == 0, within_s=30)
        assert "Keys under another secret: 1 of 4, in force: 0." in here.status(BOTH)[1]
    with running(tmp_path, **settings, **ONLY_NEW) as node:
        here.trades(node, first, second, fourth)
        with node.desk(token) as desk:
            desk.do("GET", "/accounts")
        with node.desk(DESK_TOKEN) as desk:
            desk.do("GET", "/accounts")
        here.whole(ONLY_NEW)
    refused = bullion(tmp_path, "books", "verify", **settings, **ONLY_OLD)
    assert "is not the one this store was made with" in sentence(refused)


def _trader(node: Node, tag: str, login_id: str, issued: dict[str, str]) -> Trader:
    return Trader(node.api(issued["key"], Host=f"{tag}.example"), login_id, issued)


def test_a_broken_trail_is_not_made_whole(tmp_path: Path) -> None:
    with running(tmp_path, **ONLY_OLD) as node, node.desk() as desk:
        desk.add_group()
    with closing(sqlite3.connect(tmp_path / "var/bullion.db", isolation_level=None)) as store:
        store.execute("UPDATE audit SET actor = 'somebody else' WHERE ordinal = 1")
    done = bullion(tmp_path, "secret", "exchange", **BOTH)
    assert done.returncode == 1
    assert done.stdout.startswith("main: the audit trail is broken (entry 1: changed, or not where it was")
    told = bullion(tmp_path, "audit", "verify", **BOTH)
    assert told.returncode == 1
    assert "main, entry 1: changed, or not where it was written" in told.stdout


def test_it_needs_both_secrets(tmp_path: Path) -> None:
    with running(tmp_path, **ONLY_OLD):
        pass
    both = "Set BULLION_SECRET to the new secret and BULLION_SECRET_OLD to the old one first."
    assert sentence(bullion(tmp_path, "secret", "exchange", **ONLY_OLD)) == both
    other = {"BULLION_SECRET": NEW, "BULLION_SECRET_OLD": "a-third-secret-of-32-characters-or-more"}
    assert "is not the one this store was made with" in sentence(
        bullion(tmp_path, "secret", "exchange", **other)
    )
    alone = sentence(bullion(tmp_path, "secret", "status", BULLION_SECRET_OLD=OLD))
    assert alone == "BULLION_SECRET_OLD is set, so BULLION_SECRET must be set to the new secret."


def test_second_factors_are_encrypted_with_the_new_secret(tmp_path: Path, settings: dict[str, str]) -> None:
    here = Deployment(tmp_path, settings)
    assert bullion(tmp_path, "migrate", **settings, **ONLY_OLD).returncode == 0
    assert bullion(tmp_path, "desk", "tokens", "list", **settings, **ONLY_OLD).returncode == 0
    first = Actor("first token", Role.ADMIN, "main", first=True)

    def with_factors(secrets: dict[str, str], work: Callable[[SecondFactors], Awaitable[T]]) -> T:
        async def opened() -> T:
            given = read_settings({"BULLION_DATABASE_URL": "sqlite:///var/bullion.db", **settings, **secrets})
            with contextlib.chdir(tmp_path):
                async with open_store(given, migrate=False) as store:
                    desk = make_desk(given, store, no_refresh)
                    return await work(SecondFactors(desk, store.hashers.factors, MemoryLimiter()))

        return asyncio.run(opened())

    async def enrol(factors: SecondFactors) -> list[str]:
        await factors.begin(first)
        status = await factors.status(first, "")
        assert status.setup is not None
        secret = b32decode(status.setup.secret)
        return await factors.confirm(first, code_at(secret, int(time.time()) // STEP_S))

    codes = with_factors(ONLY_OLD, enrol)
    assert "Second factors under another secret: 1 of 1, in force: 1." in here.status(BOTH)[1]
    with_factors(BOTH, lambda factors: factors.verify(first, codes[0]))
    assert bullion(tmp_path, "secret", "exchange", **settings, **BOTH).returncode == 0
    assert "Second factors under another secret: 0 of 1, in force: 0." in here.status(BOTH)[1]
    with_factors(ONLY_NEW, lambda factors: factors.verify(first, codes[1]))


def test_secrets_of_webhooks_are_encrypted_with_the_new_secret(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    here = Deployment(tmp_path, settings)
    private = {"BULLION_WEBHOOK_ALLOW_PRIVATE": "on"}
    base, scopes = "/api/trading/test/v1/webhooks", ["orders:read", "webhooks:manage"]

    def created(client: httpx.Client, url: str) -> str:
        return str(client.post(base, json={"url": url}).json()["secret"])

    with HookServer() as receiver, HookServer() as late:
        with running(tmp_path, **settings, **ONLY_OLD, **private) as node, node.desk() as desk:
            desk.add_group().account("client")
            key = desk.key("client", scopes=scopes)["key"]
            with node.api(key) as client:
                first = created(client, receiver.url)
        with running(tmp_path, **settings, **BOTH, **private) as node:
            assert "Webhooks under another secret: 1 of 1, in force: 1." in here.status(BOTH)[1]
            assert bullion(tmp_path, "secret", "exchange", **settings, **BOTH).returncode == 0
            assert "Webhooks under another secret: 0 of 1, in force: 0." in here.status(BOTH)[1]
            # This node started before the exchange, and still encrypts with the old secret.
            with node.api(key) as client:
                second = created(client, late.url)
            assert "Webhooks under another secret: 1 of 2, in force: 1." in here.status(BOTH)[1]
        with running(tmp_path, **settings, **BOTH, **private) as node, node.desk() as desk:
            desk.do("PATCH", "/accounts/client", {"allocation": {"gold": "1"}})
            late.events(1)
            until(lambda: "Webhooks under another secret: 0 of 2, in force: 0." in here.status(BOTH)[1], 30)
        with running(tmp_path, **settings, **ONLY_NEW, **private) as node, node.desk() as desk:
            desk.do("PATCH", "/accounts/client", {"allocation": {"gold": "2"}})
            for server, secret in ((receiver, first), (late, second)):
                server.events(2)
                headers, body = server.received[-1]
                assert Verifier(secret).verify(body, headers)
