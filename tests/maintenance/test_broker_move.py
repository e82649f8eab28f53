"""`bullion store copy --broker`: one broker moves to another PostgreSQL server, while the others trade."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import pytest

from bullion.allocation.book import ACCOUNTS_IN_RANGE
from tests.support.command import bullion, sentence
from tests.support.deployments import Deployments, Unbroken, rows_of
from tests.support.held_lock import holding
from tests.support.hook_server import HookServer
from tests.support.host_proxy import host_proxy
from tests.support.node import SECRET, Node, running, until
from tests.support.orders import Market, Trader, booked, refused, replayed
from tests.support.production import LiveMarket, opened, store_says
from tests.support.servers import Postgres

T = TypeVar("T", bound=Trader)

PATIENCE_S = 30.0
ALL_SCOPES = ["account:read", "orders:read", "orders:write", "webhooks:manage"]


@pytest.fixture(scope="module")
def deployments(
    postgres: Postgres, schema_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployments]:
    second = Postgres()
    folders = [tmp_path_factory.mktemp(name) for name in ("old", "new", "command")]
    settings = {"BULLION_PRODUCTION": "on", "BULLION_WEBHOOK_ALLOW_PRIVATE": "on"}
    try:
        second.make()
        with (
            running(
                folders[0], BULLION_DATABASE_URL=postgres.new_database(schema_template), **settings
            ) as old,
            running(folders[1], BULLION_DATABASE_URL=second.new_database(), **settings) as new,
        ):
            yield Deployments(old, new, folders[2])
    finally:
        second.remove()


def at_rest(market: LiveMarket) -> None:
    market.switch(halted=True, paused=True)


HELD_BOOK = """
SELECT 1 FROM books JOIN accounts ON accounts.id = books.account_id
WHERE accounts.broker = '{broker}' ORDER BY books.id LIMIT 1 FOR UPDATE OF books
"""
LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 504121604"
GOES_ON = {
    "account_events",
    "books",
    "broker_events",
    "execution_cursors",
    "key_uses",
    "rate_candles",
    "webhook_attempts",
    "webhooks",
}
"""What nodes of the new deployment go on writing at once."""


def waiting(node: Node, query: str) -> bool:
    """Whether a session of the node's store waits for a lock, with such a query."""
    found = f"SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '{query}'"
    return bool(store_says(node, found))


def events_of(trader: Trader, after: int = 0) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = trader.get(f"{trader.base}/events", after=after, limit=200)["items"]
    return items


@pytest.mark.slow
def test_a_broker_moves_while_the_others_trade(deployments: Deployments) -> None:
    old, new = deployments.old, deployments.new
    with (
        Market.open(old) as stays,
        LiveMarket.open(old) as moves,
        Market.open(new) as there,
        HookServer() as receiver,
        contextlib.ExitStack() as clients,
    ):
        nodes = {
            name: urlsplit(node.api_url).netloc for name, node in (("bullion_a", old), ("bullion_b", new))
        }
        hosts = {stays.host: "bullion_a", moves.host: "bullion_a", there.host: "bullion_b"}
        front, send = clients.enter_context(host_proxy(nodes, hosts))

        def through_front(trader: T) -> T:
            issued = {"key_id": trader.key_id, "key": trader.key}
            headers = {"X-API-Key": trader.key, "Host": trader.http.headers["host"]}
            http = clients.enter_context(httpx.Client(base_url=front, headers=headers, timeout=20))
            return type(trader)(http, trader.login_id, issued)

        # What the broker has: orders of both environments, some archived, a deal that was closed, a webhook.
        live = through_front(moves.trader(scopes=ALL_SCOPES))
        test = through_front(moves.tester(live.login_id))
        booked(through_front(there.trader()).place())
        for number in range(5):
            booked(test.place(f"archived {number}"))
        moves.desk.do("POST", f"/accounts/{live.login_id}/test-book/reset")
        assert moves.desk.do("POST", "/archive/orders", {"before": "2100-01-01"})["orders"] == 5
        first = booked(test.place("first of the rest"))
        made = live.http.post(f"{live.base}/webhooks", json={"url": receiver.url})
        assert made.status_code == 201, made.text
        deal, closed = opened(live.place("a deal", client_order_id="₹ 1")), opened(live.place("closed"))
        moves.complete(closed["id"], "71000.00")
        receiver.events(4)
        positions, events = live.positions(), events_of(live)
        # What comes now is delivered by the other deployment.
        hook = f"{live.base}/webhooks/{made.json()['id']}"
        assert live.http.patch(hook, json={"enabled": False}).status_code == 200
        own = clients.enter_context(Unbroken(through_front(moves.tester()), until_refused=True))
        until(lambda: own.placed, within_s=PATIENCE_S)
        at_rest(moves)
        until(lambda: len(events_of(live)) == len(events) + 1, within_s=PATIENCE_S)

        with (
            Unbroken(through_front(stays.trader())) as others,
            Unbroken(through_front(there.trader())) as more,
        ):
            # A booking that is under way holds its book. The command waits for it, and is killed.
            held = HELD_BOOK.format(broker=moves.tag)
            with (
                holding(deployments.address(old), held),
                deployments.moving(moves.tag) as process,
            ):
                until(lambda: waiting(old, "%FOR SHARE OF books%"), within_s=PATIENCE_S)
                assert process.poll() is None
            assert store_says(new, f"SELECT 1 FROM brokers WHERE tag = '{moves.tag}'") == []
            refused(test.http.get(f"{test.base}/orders"), "service_unavailable")
            refused(live.place(), "booking_unavailable")
            (shown,) = moves.desk.do("GET", "/brokers")["items"]
            assert shown["moved_to"] == deployments.address(new).rpartition("@")[2]
            answer = moves.desk.patch("/switches", json={"halted": False})
            assert answer.status_code == 409
            assert "was moved to" in answer.json()["detail"]["message"]

            # It can be taken back as long as the other store does not have the broker.
            done = deployments.move(moves.tag, "--cancel")
            assert done.returncode == 0, done.stderr
            until(lambda: test.http.get(f"{test.base}/orders").status_code == 200, within_s=PATIENCE_S)

            # Killed in the middle of the copy: nothing is there, and the broker stays closed.
            with (
                holding(deployments.address(new), "LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE"),
                deployments.moving(moves.tag),
            ):
                until(lambda: waiting(new, "COPY%"), within_s=PATIENCE_S)
                assert "Another command is moving" in sentence(deployments.move(moves.tag, "--cancel"))
            until(lambda: store_says(new, LOCKS) == [("0",)], within_s=PATIENCE_S)
            assert store_says(new, f"SELECT 1 FROM brokers WHERE tag = '{moves.tag}'") == []
            refused(live.place(), "booking_unavailable")

            done = deployments.move(moves.tag)
            assert done.returncode == 0, done.stdout + done.stderr
            assert f"went up by {ACCOUNTS_IN_RANGE:,}." in done.stdout
            assert "All equal" in done.stdout
        send(hosts | {moves.host: "bullion_b"})
        assert (others.failed, more.failed) == ([], [])
        assert min(len(others.placed), len(more.placed)) > 3

        # At the old deployment it is closed for good; at the new one everything is as it was.
        originals = rows_of(old, moves.tag, moved_by=0)
        copies = rows_of(new, moves.tag, moved_by=ACCOUNTS_IN_RANGE)
        for name in originals.keys() - GOES_ON - {"tokens"}:
            assert copies[name] == originals[name], name
        (token,), (withdrawn,) = (map(json.loads, each["tokens"]) for each in (copies, originals))
        assert token == withdrawn | {"deleted_at_us": None}
        assert withdrawn["deleted_at_us"]
        copied_ids = {json.loads(row)["id"] for row in copies["orders"]}
        assert {*own.placed, deal["id"], first["id"]} <= copied_ids
        assert len(copies["books"]) == len(originals["books"]) > 0
        # As if it had been killed right after its commit: a repeated run says so, and does the rest.
        store_says(old, f"UPDATE tokens SET deleted_at_us = NULL WHERE broker = '{moves.tag}'")
        assert moves.desk.get("/switches").status_code == 200
        assert "the move is complete" in sentence(deployments.move(moves.tag))
        assert moves.desk.get("/switches").status_code == 401
        # The secret of one store was exchanged since, and with it the hashes of its trails.
        hashes = f"UPDATE audit SET hash = reverse(hash) WHERE broker = '{moves.tag}'"
        store_says(new, hashes)
        assert "the move is complete" in sentence(deployments.move(moves.tag, "--cancel"))
        store_says(new, hashes)
        with moves.at(old) as where_it_was:
            refused(where_it_was.back_at_work(live).place(), "booking_unavailable")
        until(lambda: live.http.get(f"{live.base}/positions").status_code == 200, within_s=PATIENCE_S)
        assert live.positions() == positions
        assert live.read(deal["id"]) == deal
        refused(live.place(), "production_prerequisites_unmet")
        with moves.at(new) as opens:
            opens.switch(halted=False, paused=False)
            opens.ready("GOLD")
            assert replayed(live.place("a deal", client_order_id="₹ 1")) == deal
            assert replayed(test.place("first of the rest")) == first
            replayed(test.place("archived 3"))
            following = opened(live.place("the first there"))
            assert following["deal_no"] == closed["deal_no"] + 1
            booked(test.place("the next test"))
            numbers = f"FROM venue_orders WHERE broker = '{moves.tag}' AND execution_no > 0"
            until(
                lambda: (
                    store_says(new, f"SELECT count(DISTINCT execution_no), count(*) {numbers}")
                    == [("3", "3")]
                ),
                within_s=PATIENCE_S,
            )
            assert live.http.patch(hook, json={"enabled": True}).status_code == 200
            until(
                lambda: "trading.resumed" in {each["type"] for each in events_of(live)}, within_s=PATIENCE_S
            )
            told = events_of(live)
            assert told[: len(events)] == events
            assert [each["number"] for each in told] == list(range(1, len(told) + 1))
            assert "trading.halted" in {each["type"] for each in told}
            ids = {each["number"]: each["id"] for each in told}
            hooked = {each["number"]: each["id"] for each in receiver.events(len(told))}
            assert hooked == ids
            # New accounts of the broker are numbered with those of the store, and beyond all others.
            numbers = "SELECT max(id % 1000000000000) FROM accounts"
            highest = int(store_says(new, numbers)[0][0])
            opens.account()
            assert store_says(new, "SELECT max(id) FROM accounts WHERE id < 1000000000000") == [
                (str(highest + 1),)
            ]
        for node in (old, new):
            deployments.verify(node)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    said = sentence(done)
    assert said.endswith("Nothing was copied."), said
    return said


@pytest.mark.slow
def test_a_broker_that_is_not_at_rest_stays(deployments: Deployments) -> None:
    old, new = deployments.old, deployments.new
    with LiveMarket.open(old) as market:
        live, tag = market.trader(), market.tag
        assert "trading is not halted, production is not paused." in refusal(deployments.move(tag))
        market.venue(mode="hold")
        waits = live.place()
        assert waits.status_code == 202
        at_rest(market)
        for table, columns in (
            (
                "covers",
                "'c', '{tag}', 'gold', 'X', '{}', 'v', 'buy', 1, 1, 'r', 'p', NULL, 'sent', 0, 0, 'p', '', 0",
            ),
            ("line_orders", "'spot', 'o', 'c', 1, '{tag}', '{}', 1, 'sent', 0"),
            ("line_states", "'spot', '{tag}', 9000000000000000, '{\"state\": \"up\"}'"),
        ):
            store_says(old, f"INSERT INTO {table} VALUES ({columns.replace('{tag}', tag)})")
        said = refusal(deployments.move(tag))
        assert "orders pending: 1, hedge requests waiting: 1, covers open at a venue: 1, " in said
        assert "orders open on a line: 1, line spot is not disconnected." in said
        # Asked to disconnect, and not yet done.
        store_says(old, "INSERT INTO line_wishes (line, connected, at_us) VALUES ('spot', 0, 1)")
        assert "line spot is not disconnected." in refusal(deployments.move(tag))
        assert store_says(old, f"SELECT moved_to IS NULL FROM brokers WHERE tag = '{tag}'") == [("t",)]
        assert live.order(waits.json()["id"]).status_code == 200
        assert store_says(new, f"SELECT 1 FROM brokers WHERE tag = '{tag}'") == []
        store_says(
            old,
            "DELETE FROM covers; DELETE FROM line_orders; DELETE FROM line_wishes; DELETE FROM line_states",
        )


@pytest.mark.slow
def test_a_store_that_is_not_fit_for_it_gets_nothing(deployments: Deployments, tmp_path: Path) -> None:
    old, new = deployments.old, deployments.new
    addresses = [f"--from={deployments.address(old)}", f"--to={deployments.address(new)}"]

    def said(*words: str, **settings: str) -> str:
        return sentence(bullion(tmp_path, "store", "copy", *words, **{"BULLION_SECRET": SECRET, **settings}))

    assert "there is no broker nobody" in said("--broker=nobody", *addresses)
    assert said(*addresses, "--cancel") == "--cancel needs --broker."
    assert "must be postgresql://" in said("--broker=main", "--from=sqlite:///x.db", addresses[1])
    assert "are the same store" in said("--broker=main", addresses[0], addresses[0].replace("from", "to"))
    assert "has a broker main already" in said("--broker=main", *addresses)
    assert "BULLION_SECRET" in said("--broker=main", *addresses, BULLION_SECRET="x" * 40)
    assert "BULLION_SECRET_OLD is set" in said("--broker=main", *addresses, BULLION_SECRET_OLD="x" * 40)
    fingerprint = "UPDATE deployment SET name = '{}' WHERE name = '{}'"
    store_says(new, fingerprint.format("kept", "secret_fingerprint"))
    assert "different secrets" in said("--broker=main", *addresses)
    store_says(new, fingerprint.format("secret_fingerprint", "kept"))
    with LiveMarket.open(old) as market, market.node.desk() as first, new.desk() as first_there:
        at_rest(market)
        one = (f"--broker={market.tag}", *addresses)
        assert "is not marked as moved" in said(*one, "--cancel")
        with holding(deployments.address(new), "SELECT pg_advisory_lock_shared(504121603, 1)"):
            assert "A node of an older version" in said(*one)
        with holding(
            deployments.address(new), f"SELECT pg_advisory_lock(504121604, hashtext('{market.tag}'))"
        ):
            assert "Another command is moving" in said(*one)
        # Its host name and its line are taken there.
        first_there.do("PUT", "/brokers/rival", {"name": "Rival", "hosts": [market.host]})
        line = "INSERT INTO line_wishes (line, connected, at_us) VALUES ('taken', 0, 1)"
        state = f"INSERT INTO line_states VALUES ('taken', '{market.tag}', 1, '{{\"state\": \"resting\"}}')"
        store_says(old, f"{line}; {state}")
        store_says(new, line)
        assert f"has these already: host name {market.host}, line taken." in refusal(
            bullion(tmp_path, "store", "copy", *one, BULLION_SECRET=SECRET)
        )
        assert store_says(old, f"SELECT moved_to IS NULL FROM brokers WHERE tag = '{market.tag}'") == [("t",)]
        first_there.do("PUT", "/brokers/rival", {"name": "Rival", "hosts": []})
        store_says(old, "DELETE FROM line_wishes; DELETE FROM line_states")
        store_says(new, "DELETE FROM line_wishes")
        # Another row that is taken there shows only when it is copied, and the broker is closed by then.
        entry = f"'{market.tag}', 1, 1, 'a', 'b', 'c', NULL, NULL, repeat('0', 64)"
        store_says(new, f"INSERT INTO audit VALUES ({entry})")
        assert "audit" in (failed := said(*one))
        assert failed.endswith("take the move back with --cancel: both say how far it got.")
        assert store_says(new, f"SELECT 1 FROM accounts WHERE broker = '{market.tag}'") == []
        (shown,) = [each for each in first.do("GET", "/brokers")["items"] if each["tag"] == market.tag]
        assert shown["moved_to"]
        assert store_says(old, "SELECT oldest_level FROM migrations WHERE number = 27") == [("27",)]
        # A broker with its tag that is not its copy: nothing was moved, and the mark can be taken back.
        store_says(new, f"DELETE FROM audit WHERE broker = '{market.tag}'")
        first_there.do("PUT", f"/brokers/{market.tag}", {"name": "Another", "hosts": []})
        assert "which is not a copy of this one" in said(*one)
        assert market.desk.get("/switches").status_code == 200
        assert deployments.move(market.tag, "--cancel").returncode == 0
        market.switch(halted=False, paused=False)
        opened(market.trader().place())


@pytest.mark.slow
def test_an_empty_database_gets_schema_and_numbers(deployments: Deployments, postgres: Postgres) -> None:
    empty = postgres.new_database()
    with LiveMarket.open(deployments.old) as market:
        order = opened(market.trader().place())
        at_rest(market)
        words = ("store", "copy", f"--broker={market.tag}", f"--from={deployments.address(deployments.old)}")
        done = bullion(deployments.folder, *words, BULLION_SECRET=SECRET, BULLION_DATABASE_URL=empty)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "are the same." in done.stdout
        database = empty.rpartition("/")[2]
        assert postgres.sql("SELECT id FROM orders", database) == order["id"]
        assert postgres.sql("SELECT tag FROM brokers", database) == market.tag
