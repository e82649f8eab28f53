"""A node whose orders are covered over a FIX line, and its venue: processes of their own that may die."""

import contextlib
import csv
import re
import signal
import time
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bullion.orders.instant import instant_text
from tests.docs.markdown import ROOT
from tests.support.command import bullion
from tests.support.desk import refusal
from tests.support.fix_covers import Covers
from tests.support.fix_node import (
    CONTRACT,
    LINE,
    Acceptor,
    fix_market,
    fix_settings,
    market_file,
    venue_light,
)
from tests.support.metrics import metrics_of
from tests.support.node import Node, start, until
from tests.support.orders import refused
from tests.support.production import LiveMarket, LiveTrader, opened, pending, rejected, store_says

AGAIN_S = 30.0
"""How soon a line is up again after its venue is, on a busy machine."""


class Stage:
    """One node and one venue for all tests of this file. A test may end either, and leaves both well."""

    def __init__(self, node: Node, market: LiveMarket, venue: Acceptor) -> None:
        self.node = node
        self.market = market
        self.venue = venue
        self.trader = market.trader()

    def end_venue(self) -> None:
        """Until the node has noticed."""
        self.venue.kill()
        until(lambda: self.trader.quote()["reason"] == "production_prerequisites_unmet", within_s=AGAIN_S)

    def start_venue(self, *options: str) -> None:
        """Until the node trades again."""
        self.venue.start(*options)
        until(lambda: self.trader.quote()["reason"] is None, within_s=AGAIN_S)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("fix")
    with Acceptor(folder) as venue:
        venue.start()
        node = start(folder, **fix_settings(market_file(folder, venue.port, unknown_after_s="2.5")))
        with contextlib.ExitStack() as ends:
            ends.callback(node.stop, signal.SIGKILL)
            made = Stage(node, ends.enter_context(fix_market(node)), venue)
            yield made
            made.node.stop(signal.SIGKILL)


def test_an_order_is_executed_once_with_its_side_and_quantity(stage: Stage) -> None:
    bought = opened(stage.trader.place(quantity=25))
    sold = opened(stage.trader.place(trade_type="sell", quantity=12.34))
    assert stage.venue.executions_of(bought["id"]) == [(bought["id"], "1", "2.5")]
    assert stage.venue.executions_of(sold["id"]) == [(sold["id"], "2", "1.23")]
    assert venue_light(stage.market) == "ok: fix answers"


def test_the_venues_statement_of_the_day_agrees_and_every_planted_difference_is_found(stage: Stage) -> None:
    desk = stage.market.desk
    desk.do("PATCH", "/hedge/book/gold", {"limit": "1000"})
    for quantity in (25, 40, 10):
        opened(stage.trader.place(quantity=quantity))
    book = next(each for each in desk.do("GET", "/hedge/book")["items"] if each["metal"] == "gold")
    # Covered one by one: what is left is below the step of the line, and the covers move the profit.
    assert abs(float(book["residual"])) < 0.1
    assert book["profit"]["slippage"] != "0.00"
    parts = [int(value.replace(".", "")) for name, value in book["profit"].items() if name != "total"]
    assert sum(parts) == int(book["profit"]["total"].replace(".", ""))
    whole = stage.venue.statement()
    day = datetime.now(ZoneInfo("Asia/Kolkata")).date().isoformat()
    asked = {"venue": LINE, "day": day}
    found = desk.do("POST", "/hedge/statement", asked | {"csv": whole})
    trades = whole.splitlines()[1:]
    assert (found["agrees"], found["matched"]) == (True, len(trades)), found
    head, first, second, third, *rest = whole.splitlines()
    cells = first.split(",")
    dearer = ",".join([*cells[:5], str(float(cells[5]) + 1), *cells[6:]])
    foreign = ",".join(["E999999", *third.split(",")[1:]])
    found = desk.do(
        "POST", "/hedge/statement", asked | {"csv": "\n".join([head, dearer, third, third, foreign, *rest])}
    )
    assert [(each["execution_id"], each["field"]) for each in found["different"]] == [(cells[0], "price")]
    assert [each["execution_id"] for each in found["missing"]] == [second.split(",")[0]]
    assert [each["execution_id"] for each in found["extra"]] == ["E999999"]
    assert [each["line"] for each in found["bad_lines"]] == [4]
    assert found["matched"] == len(trades) - 2


def test_a_cover_is_executed_in_its_own_contract_and_lots(stage: Stage) -> None:
    covers, desk = Covers(stage.market.desk), stage.market.desk
    covers.open_book()
    before_mg = covers.book_mg()
    # The finest contract of the instrument, which orders are dealt in, is another one.
    desk.do("PUT", "/hedge/contracts/GOLDTEN", CONTRACT | {"step": "1", "venue_symbol": "GOLD"})
    desk.do("PUT", "/hedge/contracts/ELSEWHERE", CONTRACT | {"venue": "other", "step": "1"})
    bought = covers.becomes(covers.sent("3", "ten", contract="GOLDTEN"), "filled")
    sold = covers.becomes(covers.sent("0.2", "fine", "sell"), "filled")
    assert stage.venue.executions_of(bought["id"]) == [(bought["id"], "1", "3")]
    assert stage.venue.executions_of(sold["id"]) == [(sold["id"], "2", "0.2")]
    (deal,) = bought["deals"]
    assert (deal["quantity"], deal["fine"], bought["venue"]) == ("3.00000000", "29.970", "spot")
    assert float(bought["reference"]) > 0
    assert covers.book_mg() - before_mg == 28 * 999
    refused = covers.becomes(covers.sent("1", "elsewhere", contract="ELSEWHERE"), "refused")
    assert refused["words"] == "No contract of line spot covers it."
    # The reconciliation has compared all of them by now, or does so within seconds.
    cursor = "SELECT position FROM execution_cursors WHERE venue = 'fix'"
    last = "SELECT max(position) FROM line_executions"
    until(
        lambda: store_says(stage.node, cursor) == [(f"{LINE} {store_says(stage.node, last)[0][0]}",)],
        within_s=AGAIN_S,
    )
    assert desk.do("GET", "/hedge/breaks")["total"] == 0
    desk.do("PUT", "/hedge/contracts/GOLDTEN", CONTRACT | {"step": "1", "active": False})


def test_an_old_rate_of_the_desk_is_dealt_on(stage: Stage) -> None:
    """How old a rate may be is the symbol's affair, and this symbol sets no limit."""
    desk, at_us = stage.market.desk, time.time_ns() // 1000 - 60_000_000
    desk.do("PUT", "/rates/MUMBAI", {"bid": "150463", "ask": "150480", "at": instant_text(at_us)})
    desk.do("PUT", "/hedge/contracts/MUMBAI", CONTRACT | {"instrument": "MUMBAI"})
    limits = {"rate_age_s_max": None, "freeze_after_s": None}
    stage.market.live("MUMBAI", pricing={"kind": "direct", "instrument": "MUMBAI"}, **limits)
    order = opened(stage.trader.place(symbol_code="MUMBAI"))
    assert len(stage.venue.executions_of(order["id"])) == 1


def test_a_check_leaves_alone_a_line_that_a_node_holds(stage: Stage) -> None:
    done = bullion(stage.node.folder, "fix", "check", **stage.node.settings)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("A node holds the line spot")
    opened(stage.trader.place())
    assert len(stage.node.entries("line_logged_on")) == 1


def test_the_desk_sees_its_line(stage: Stage) -> None:
    opened(stage.trader.place())
    (line,) = stage.market.desk.do("GET", "/hedge/lines")["items"]
    assert {name: line[name] for name in ("name", "venue", "profile", "state", "wanted", "message")} == {
        "name": "spot",
        "venue": "VENUE",
        "profile": "demo",
        "state": "up",
        "wanted": "connected",
        "message": "",
    }
    assert line["held_by"].endswith(f":{stage.node.settings['BULLION_PORT']}")
    assert (line["opens_at"], line["closes_at"]) == (None, None), "it has no timetable"
    assert (line["open_orders"], line["unknown_orders"]) == (0, 0)
    assert line["incoming"] > 1
    assert line["outgoing"] > 1
    assert line["since"] < line["last_in_at"]


def test_monitoring_sees_the_line(stage: Stage) -> None:
    """All that the page about FIX tells of."""
    opened(stage.trader.place())
    found = metrics_of(stage.node)
    line = '{line="spot"}'
    assert (found[f"bullion_line_up{line}"], found[f"bullion_line_expected{line}"]) == (1, 1)
    assert (found[f"bullion_line_orders_unknown{line}"], found[f"bullion_orders_unknown_total{line}"]) == (
        0,
        0,
    )
    assert (found[f"bullion_line_logons_total{line}"], found[f"bullion_line_gaps_total{line}"]) == (1, 0)
    sent = found['bullion_line_messages_total{direction="out",kind="D",line="spot"}']
    assert sent == found[f"bullion_venue_answer_seconds_count{line}"] > 0
    assert found['bullion_line_messages_total{direction="in",kind="8",line="spot"}'] >= sent
    exported = {
        name.partition("{")[0] for name in found if name.startswith(("bullion_line_", "bullion_orders_un"))
    }
    page = (
        (ROOT / "docs/fix.md")
        .read_text("utf-8")
        .partition("## Metrics and alarms")[2]
        .partition("`deploy")[0]
    )
    told = set(re.findall(r"`(bullion_\w+)`", page))
    assert told == exported | {"bullion_venue_answer_seconds"}


def test_a_line_is_changed_by_admins_of_its_broker_alone(stage: Stage) -> None:
    why = {"reason": "a trial"}
    with stage.node.desk() as first:
        assert first.do("GET", "/hedge/lines")["items"] == [], "the line of another broker"
        for verb in ("connect", "disconnect", "reset"):
            refusal(first.post(f"/hedge/lines/spot/{verb}", json=why), 404, "not_found")
    desk = stage.market.desk
    token = desk.do("POST", "/tokens", {"name": "a dealer", "role": "dealer"})["token"]
    with stage.node.desk(token) as dealer:
        assert [each["name"] for each in dealer.do("GET", "/hedge/lines")["items"]] == ["spot"]
        for verb in ("connect", "disconnect", "reset"):
            refusal(dealer.post(f"/hedge/lines/spot/{verb}", json=why), 403, "role_too_low")
    refusal(desk.post("/hedge/lines/other/connect", json=why), 404, "not_found")
    refusal(desk.post("/hedge/lines/spot/disconnect", json={}), 422, "invalid_request")
    refused_reset = refusal(desk.post("/hedge/lines/spot/reset", json=why), 409, "conflict")
    assert refused_reset == "Line spot begins its numbers anew at every logon, and was not refused."
    assert line_of(stage.market)["wanted"] == "connected"


def test_a_disconnected_line_stays_so_until_it_is_connected(stage: Stage) -> None:
    """Also in a new process."""
    desk = stage.market.desk
    desk.do("POST", "/hedge/lines/spot/disconnect", {"reason": "the venue asked for it"})
    until(lambda: line_of(stage.market)["state"] == "disconnected", within_s=AGAIN_S)
    until(lambda: stage.trader.quote()["reason"] == "production_prerequisites_unmet", within_s=AGAIN_S)
    refused(stage.trader.place(), "production_prerequisites_unmet")
    (light,) = (each for each in desk.do("GET", "/health")["items"] if each["part"] == "line")
    assert (light["state"], light["name"], light["text"]) == ("warn", "spot", "disconnected by the desk")
    done = bullion(stage.node.folder, "fix", "check", **stage.node.settings)
    assert done.stdout.startswith("A node holds the line spot: disconnected since ")

    logons = len(stage.node.entries("line_logged_on"))
    stage.node.process.send_signal(signal.SIGHUP)
    until(lambda: stage.node.entries("restarted"), within_s=AGAIN_S)
    until(lambda: line_of(stage.market)["state"] == "disconnected", within_s=AGAIN_S)
    refused(stage.trader.place(), "production_prerequisites_unmet")
    assert len(stage.node.entries("line_logged_on")) == logons

    desk.do("POST", "/hedge/lines/spot/connect", {"reason": "it is back"})
    until(lambda: line_of(stage.market)["state"] == "up", within_s=AGAIN_S)
    until(lambda: stage.trader.quote()["reason"] is None, within_s=AGAIN_S)
    opened(stage.trader.place())
    trail = [each["text"] for each in desk.do("GET", "/audit?limit=2")["items"]]
    assert trail == ["line spot connected: it is back", "line spot disconnected: the venue asked for it"]


def line_of(market: LiveMarket) -> dict[str, Any]:
    (line,) = market.desk.do("GET", "/hedge/lines")["items"]
    return dict(line)


def test_a_venue_that_refuses_rejects_the_order(stage: Stage) -> None:
    stage.end_venue()
    stage.start_venue("--mode", "refuse")
    order = rejected(stage.trader.place("refused"))
    assert rejected(stage.trader.place("refused"), again=True)["id"] == order["id"]
    assert stage.venue.executions_of(order["id"]) == []
    stage.end_venue()
    stage.start_venue()


def test_a_killed_venue_closes_trading_until_it_is_back(stage: Stage) -> None:
    before = opened(stage.trader.place("before"))
    stage.venue.kill()
    unsure = stage.trader.place("unsure")
    stage.end_venue()
    refused(stage.trader.place(), "production_prerequisites_unmet")
    until(lambda: "down" in venue_light(stage.market), within_s=AGAIN_S)
    stage.start_venue()
    after = opened(stage.trader.place())
    assert stage.trader.place("before").json() == stage.trader.read(before["id"])
    # The node may not have noticed yet that the venue was gone. Then it sends the order now.
    if unsure.status_code == 202:
        order = stage.trader.becomes(pending(unsure)["id"], "open")
        assert len(stage.venue.executions_of(order["id"])) == 1
    else:
        refused(unsure, "production_prerequisites_unmet")
    counts = stage.venue.counts()
    assert (counts[before["id"]], counts[after["id"]]) == (1, 1)
    assert set(counts.values()) == {1}
    until(lambda: venue_light(stage.market) == "ok: fix answers", within_s=AGAIN_S)


def test_a_killed_node_learns_what_became_of_its_order(stage: Stage) -> None:
    """The venue takes the order, and a cover, while nobody is there to be told."""
    covers = Covers(stage.market.desk)
    covers.open_book()
    stage.venue.send_signal(signal.SIGSTOP)
    order = pending(stage.trader.place("under way"))
    cover_id = covers.sent("4", "under way")
    until(lambda: covers.read(cover_id)["reference"] is not None, within_s=AGAIN_S)
    stage.node.stop(signal.SIGKILL)
    stage.venue.send_signal(signal.SIGCONT)
    stage.node = start(stage.node.folder, **stage.node.settings)
    with stage.market.at(stage.node) as market:
        trader = market.back_at_work(stage.trader)
        assert isinstance(trader, LiveTrader)
        until(lambda: trader.read(order["id"])["status"] != "pending", within_s=AGAIN_S)
        assert trader.read(order["id"])["status"] == "open"
        assert stage.venue.counts()[order["id"]] == 1
        filled = Covers(market.desk).becomes(cover_id, "filled", AGAIN_S)
        assert [each["quantity"] for each in filled["deals"]] == ["4.00000000"]
        assert stage.venue.counts()[cover_id] == 1
        assert trader.place("under way").json()["id"] == order["id"]
        assert stage.venue.counts()[order["id"]] == 1


def test_a_cover_is_settled_by_hand_while_its_line_is_away(stage: Stage) -> None:
    """The venue executed both, and the desk was told of one: the line's later word changes nothing there."""
    with stage.market.at(stage.node) as market:
        trader = market.back_at_work(stage.trader)
        assert isinstance(trader, LiveTrader)
        until(lambda: trader.quote()["reason"] is None, within_s=AGAIN_S)
        _settle_by_hand(stage, market, trader)


def _settle_by_hand(stage: Stage, market: LiveMarket, trader: LiveTrader) -> None:
    desk, covers = market.desk, Covers(market.desk)
    covers.open_book()
    stage.venue.send_signal(signal.SIGSTOP)
    told, forgotten = covers.sent("3", "told"), covers.sent("2", "forgotten")
    for cover_id in (told, forgotten):
        until(lambda cover_id=cover_id: covers.read(cover_id)["words"] is not None, within_s=AGAIN_S)
    none = {"outcome": "none", "reason": "they found no such order"}
    refused_while_up = refusal(desk.post(f"/hedge/covers/{told}/settle", json=none), 409, "conflict")
    assert refused_while_up.startswith("The line spot is up, and the venue is being asked for this cover.")
    desk.do("POST", "/hedge/lines/spot/disconnect", {"reason": "their desk does not answer"})
    until(lambda: line_of(market)["state"] == "disconnected", within_s=AGAIN_S)
    stage.venue.send_signal(signal.SIGCONT)
    until(lambda: len(stage.venue.executions_of(told)) == 1, within_s=AGAIN_S)
    (deal,) = [each for each in csv.DictReader(StringIO(stage.venue.statement())) if each["order_id"] == told]
    fill = {name: deal[name] for name in ("execution_id", "quantity", "price")}
    for cover_id, body in (
        (told, {"outcome": "executed", "reason": "told by telephone", "fills": [fill]}),
        (forgotten, none),
    ):
        path = f"/hedge/covers/{cover_id}/settle"
        until(lambda path=path, body=body: desk.post(path, json=body).status_code == 200, within_s=AGAIN_S)
    book_mg = covers.book_mg()
    desk.do("POST", "/hedge/lines/spot/connect", {"reason": "it is back"})
    until(lambda: trader.quote()["reason"] is None, within_s=AGAIN_S)
    until(lambda: desk.do("GET", "/hedge/breaks")["total"], within_s=AGAIN_S)
    (shown,) = desk.do("GET", "/hedge/breaks")["items"]
    assert (shown["order_id"], shown["reason"], shown["quantity"]) == (forgotten, "differs", "20.0000")
    assert (covers.read(told)["state"], covers.read(forgotten)["state"]) == ("filled", "dropped")
    assert covers.book_mg() == book_mg
    assert (stage.venue.counts()[told], stage.venue.counts()[forgotten]) == (1, 1)
    desk.do("POST", f"/hedge/breaks/{shown['break_id']}/resolve", {"note": "sold back"})


def test_a_restart_refuses_no_order(stage: Stage) -> None:
    """The new process logs on before it answers calls; those wait for it."""
    orders: list[str] = []
    with stage.market.at(stage.node) as market:
        trader = market.back_at_work(stage.trader)
        until(lambda: trader.quote()["reason"] is None, within_s=AGAIN_S)
        logons = len(stage.node.entries("line_logged_on"))
        stage.node.process.send_signal(signal.SIGHUP)

        def has_restarted() -> bool:
            orders.append(opened(trader.place())["id"])
            return bool(stage.node.entries("restarted"))

        until(has_restarted, within_s=AGAIN_S)
        orders.append(opened(trader.place())["id"])
    until(lambda: len(stage.node.entries("line_logged_on")) > logons, within_s=AGAIN_S)
    assert len(stage.node.entries("line_logged_on")) == logons + 1
    assert [stage.venue.counts()[each] for each in orders] == [1] * len(orders)


def test_a_node_that_stops_logs_out_and_leaves_the_line_to_the_next(stage: Stage) -> None:
    until(lambda: stage.node.entries("line_logged_on"), within_s=AGAIN_S)
    assert stage.node.stop() == 0
    (log,) = (stage.node.folder / "var" / "fix").glob("spot-*.log")
    sent, received = log.read_text("latin-1").splitlines()[-2:]
    assert (" > " in sent, "\x0135=5\x01" in sent) == (True, True)
    assert (" < " in received, "\x0135=5\x01" in received) == (True, True)
    done = bullion(stage.node.folder, "fix", "check", **stage.node.settings)
    assert (done.returncode, done.stderr) == (0, ""), "the lease is free at once"
