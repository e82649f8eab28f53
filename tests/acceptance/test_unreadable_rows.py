"""A row that cannot be read is out of trade, is told, and is replaced by the desk. Nothing else stops."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.support.command import bullion
from tests.support.node import Node, running, until
from tests.support.orders import unique
from tests.support.production import LiveMarket, store_says
from tests.support.stacks import STACKS, stack
from tests.support.unreadable import WAYS, Spoiled, Victim


@pytest.fixture(params=WAYS, ids=lambda way: way.name)
def victim(request: pytest.FixtureRequest, node: Node) -> Iterator[Victim]:
    with LiveMarket.open(node) as market:
        victim = Victim(market, request.param)
        victim.until_code(None)
        try:
            yield victim
        finally:
            # The node is shared: a row that a failed test left spoiled would fail the tests after it.
            if victim.listed().get("unreadable"):
                victim.repair()


def logged(node: Node, event: str, victim: Victim) -> list[str]:
    return [
        entry["reason"] if event == "row_unreadable" else ""
        for entry in node.entries(event)
        if (entry["kind"], entry["broker"], entry["subject"])
        == (victim.way.kind, victim.market.tag, victim.subject)
    ]


def gauge(node: Node) -> float:
    text = httpx.get(f"{node.desk_url}/metrics").text
    (line,) = [line for line in text.splitlines() if line.startswith("bullion_rows_unreadable")]
    return float(line.split()[-1])


def is_ready(node: Node) -> bool:
    return httpx.get(f"{node.api_url}/health/ready").status_code == httpx.codes.OK


def test_a_row_that_becomes_unreadable_is_out_of_trade_until_the_desk_replaces_it(
    node: Node, victim: Victim
) -> None:
    until(lambda: gauge(node) == 0, within_s=10)
    victim.spoil()
    victim.notify_nodes()
    victim.until_code(victim.way.refusal)
    assert victim.others_code() == victim.way.others
    assert is_ready(node)
    assert gauge(node) == 1
    shown = victim.listed()
    assert shown["unreadable"]
    assert shown["remedy"]
    until(lambda: logged(node, "row_unreadable", victim), within_s=10)
    (reason,) = set(logged(node, "row_unreadable", victim))
    assert shown["unreadable"] == reason

    replaced = victim.subject
    victim.repair()
    victim.until_code(None)
    until(lambda: gauge(node) == 0, within_s=10)
    assert len(logged(node, "row_unreadable", victim)) == 1 or replaced != victim.subject
    victim.market.desk.do("GET", "/audit?limit=5")


def test_nothing_that_is_unreadable_keeps_a_service_from_starting(
    tmp_path: Path, request: pytest.FixtureRequest, stack_name: str
) -> None:
    settings = {"BULLION_PRODUCTION": "on", **stack(stack_name, request)}
    with ExitStack() as brokers:
        with running(tmp_path, **settings) as node:
            with node.desk() as desk:
                desk.add_group()
            victims = [
                Victim(brokers.enter_context(LiveMarket.open(node)), way) for way in _one_of_each_kind()
            ]
            for victim in victims:
                victim.spoil()
            told = bullion(tmp_path, "doctor", **node.settings)
            assert told.returncode == 1, told.stdout
            for victim in victims:
                (line,) = [line for line in told.stdout.splitlines() if f" {victim.subject} " in line]
                assert victim.way.kind in line
        with running(tmp_path, **settings) as node:
            assert is_ready(node)
            assert gauge(node) == len(victims)
            for victim in victims:
                moved = victim.at(brokers.enter_context(victim.market.at(node)))
                moved.until_code(victim.way.refusal)
                assert moved.others_code() == victim.way.others
                assert moved.listed()["unreadable"]
                moved.repair()
                moved.until_code(None)
                assert len(logged(node, "row_unreadable", victim)) == 1
            until(lambda: gauge(node) == 0, within_s=10)
        assert bullion(tmp_path, "doctor", **node.settings).returncode == 0


@pytest.fixture(params=STACKS)
def stack_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def _one_of_each_kind() -> list[Spoiled]:
    return list({way.kind: way for way in reversed(WAYS)}.values())


def test_what_is_unreadable_is_replaced_whole_and_not_changed_field_by_field(node: Node) -> None:
    with LiveMarket.open(node) as market:
        ways = {way.kind: Victim(market, way) for way in _one_of_each_kind() if way.kind != "broker"}
        for victim in ways.values():
            victim.spoil()
            victim.notify_nodes()
        calls = [
            ("PATCH", "/symbols/GOLD", {"frozen": True}, "PUT /symbols/GOLD"),
            ("PATCH", "/switches", {"halted": False}, "PATCH /switches with trading_hours"),
            ("PATCH", "/hedge", {"mode": "fill"}, "PATCH /hedge with mode and instruments"),
            ("PATCH", f"/accounts/{ways['account'].client.login_id}", {"active": True}, "POST /accounts"),
            ("POST", f"/keys/{ways['key'].client.key_id}/rotate", {}, "revoke"),
        ]
        for method, path, body, remedy in calls:
            answer = market.desk.request(method, path, json=body)
            assert answer.status_code == httpx.codes.CONFLICT, answer.text
            detail = answer.json()["detail"]
            assert detail["code"] == "unreadable"
            assert remedy in detail["message"]
        for path in (
            "/quotes",
            "/symbols",
            "/groups",
            "/duties",
            "/rates",
            "/accounts",
            "/switches",
            "/hedge",
        ):
            market.desk.do("GET", path)
        for victim in ways.values():
            victim.repair()


def test_the_metal_of_an_unreadable_symbol_stays(node: Node) -> None:
    """What is open in it is weighed in the metal's unit."""
    with LiveMarket.open(node) as market:
        victim = Victim(market, WAYS[0])
        victim.spoil()
        silver = {**market.desk.do("GET", "/symbols")["items"][2]}
        assert silver["code"] == "SILVER"
        body = {name: value for name, value in silver.items() if name not in ("code", "unit")}
        answer = market.desk.put("/symbols/GOLD", json=body)
        assert answer.status_code == httpx.codes.CONFLICT
        assert "gold" in answer.json()["detail"]["message"]
        victim.repair()


def test_a_desk_token_that_cannot_be_read_opens_nothing_and_is_deleted(node: Node) -> None:
    with LiveMarket.open(node) as market:
        made = market.desk.do("POST", "/tokens", {"name": unique("clerk"), "role": "viewer"})
        spoiled = f"UPDATE tokens SET secret_hash = '{'z' * 64}' WHERE token_id = '{made['token_id']}'"
        store_says(node, spoiled)
        with node.desk(made["token"]) as clerk:
            assert clerk.get("/symbols").status_code == httpx.codes.UNAUTHORIZED
        listed = {each["token_id"]: each for each in market.desk.do("GET", "/tokens")["items"]}
        assert listed[made["token_id"]]["unreadable"]
        told = bullion(node.folder, "doctor", **node.settings)
        assert told.returncode == 1
        assert made["token_id"] in told.stdout
        deleted = market.desk.do("DELETE", f"/tokens/{made['token_id']}")
        assert deleted["deleted_at"] is not None
        assert made["token_id"] not in bullion(node.folder, "doctor", **node.settings).stdout


def test_a_change_notice_of_an_unknown_kind_stops_no_node(node: Node) -> None:
    """A newer version may have noted it: what this one knows is read anew, all of it."""
    with LiveMarket.open(node) as market:
        trader = market.tester()
        store_says(
            node,
            "INSERT INTO changes (version, kind, broker, subject) "
            f"SELECT version + 1, 'horoscope', '{market.tag}', 'GOLD' FROM catalogue",
        )
        store_says(node, "UPDATE catalogue SET version = version + 1")
        market.change("GOLD", trading=False)
        until(lambda: trader.place().json()["detail"]["code"] == "symbol_not_trading", within_s=10)
        assert is_ready(node)
        market.change("GOLD", trading=True)
        until(lambda: trader.place().is_success, within_s=10)
