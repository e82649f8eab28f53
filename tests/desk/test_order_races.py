"""Two at the desk, or the desk and the venue, at one order at once: one wins, and the other is told so."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx
import pytest

from tests.support.dealing import Dealing, whole
from tests.support.desk import Caller, refusal
from tests.support.node import until
from tests.support.scale import SCALE

pytestmark = pytest.mark.both_stacks

ROUNDS = 4 if SCALE == 1 else 8 * SCALE


class Table:
    """Two dealers who act at the same moment."""

    def __init__(self, dealing: Dealing) -> None:
        self.dealing = dealing
        self.dealers = [dealing.office.hire("dealer") for _ in range(2)]
        self._start = Barrier(2)

    def race(self, order: dict[str, Any], *acts: tuple[str, Any]) -> list[httpx.Response]:
        def act(dealer: Caller, what: str, body: Any) -> httpx.Response:
            self._start.wait(timeout=10)
            return dealer.post(f"/orders/{order['id']}/{what}", json={} if body is None else body)

        with ThreadPoolExecutor(2) as threads:
            under_way = [
                threads.submit(act, dealer, *one) for dealer, one in zip(self.dealers, acts, strict=True)
            ]
            return [each.result() for each in under_way]

    def won(self, order: dict[str, Any], *acts: tuple[str, Any]) -> str:
        """Which of the two acts was done: exactly one; the order is what it says, and the other knows."""
        answers = self.race(order, *acts)
        statuses = [answer.status_code for answer in answers]
        assert sorted(statuses) == [200, 409], [answer.text for answer in answers]
        winner = answers[statuses.index(200)].json()
        words = refusal(answers[statuses.index(409)], 409, "conflict")
        assert f"this one is {winner['status']}, by a dealer (" in words
        assert self.dealing.order(order)["status"] == winner["status"]
        return acts[statuses.index(200)][0]


def entries(dealing: Dealing, order: dict[str, Any]) -> list[str]:
    return [each["action"] for each in dealing.desk.all("/audit") if each["subject"] == order["id"]][::-1]


def test_two_who_close(dealing: Dealing) -> None:
    table = Table(dealing)
    for _ in range(ROUNDS):
        order = dealing.placed()
        assert table.won(order, ("close", None), ("close", None)) == "close"
        assert entries(dealing, order) == ["place_order", "close_order"]
    dealing.check()
    assert whole(dealing.office.node)


def test_one_completes_and_one_deletes(dealing: Dealing) -> None:
    table = Table(dealing)
    for _ in range(ROUNDS):
        order = dealing.placed(quantity="2")
        dealing.do(order, "close")
        won = table.won(order, ("complete", {"close_price": "71000"}), ("delete", {"reason": "a race"}))
        found = dealing.order(order)
        assert (found["closed_at"] is not None) == (won == "complete")
        assert dealing.positions()["gold"]["net"] == "0.0000"
    dealing.check()
    assert whole(dealing.office.node)


def executions(dealing: Dealing, order: dict[str, Any]) -> int:
    return int(dealing.desk.do("GET", f"/hedge/executions?order_id={order['id']}")["total"])


def test_one_confirms_and_one_refuses(by_hand: Dealing) -> None:
    table = Table(by_hand)
    for _ in range(ROUNDS):
        order = by_hand.placed()
        won = table.won(order, ("confirm", None), ("refuse", None))
        found = by_hand.order(order)
        assert (found["deal_no"] is not None) == (won == "confirm")
        assert found["hedge"]["state"] == "answered"
        assert executions(by_hand, order) == 1
    by_hand.check()
    assert whole(by_hand.office.node)


def test_one_confirms_and_one_deletes(by_hand: Dealing) -> None:
    """It is deleted in the end: as a deal if it was confirmed first, else without ever being one."""
    table = Table(by_hand)
    deals = []
    for _ in range(ROUNDS):
        order = by_hand.placed()
        confirmed, deleted = table.race(order, ("confirm", None), ("delete", {"reason": "a race"}))
        found = by_hand.order(order)
        assert (deleted.status_code, found["status"]) == (200, "deleted")
        lived = [event["status"] for event in found["events"]]
        if confirmed.status_code == 200:
            assert lived == ["pending", "open", "deleted"]
            assert (found["hedge"]["state"], executions(by_hand, order)) == ("answered", 1)
            deals.append(found["deal_no"])
        else:
            assert "this one is deleted, by a dealer (" in refusal(confirmed, 409, "conflict")
            assert lived == ["pending", "deleted"]
            assert (found["hedge"]["state"], executions(by_hand, order)) == ("withdrawn", 0)
            assert found["deal_no"] is None
    assert len(set(deals)) == len(deals)
    assert None not in deals
    assert by_hand.desk.do("GET", "/hedge/breaks")["total"] == 0
    assert by_hand.positions()["gold"]["net"] == "0.0000"
    by_hand.check()
    assert whole(by_hand.office.node)


def test_the_desk_deletes_while_the_venue_answers(dealing: Dealing) -> None:
    """Whichever comes first: an order that the venue filled is a deal and deleted after, or it is a break."""
    outcomes: Counter[str] = Counter()
    for number in range(ROUNDS // 2):
        dealing.venue(mode="hold")
        order = dealing.placed()
        dealing.venue(mode="fill")
        if number % 2:
            dealing.becomes(order, "open")
        answer = dealing.desk.post(f"/orders/{order['id']}/delete", json={"reason": "a race"})
        assert answer.status_code == 200, answer.text
        until(lambda order=order: dealing.order(order)["hedge"]["state"] != "waiting", within_s=15)
        found = dealing.order(order)
        assert found["status"] == "deleted"
        was_a_deal = "open" in [event["status"] for event in found["events"]]
        assert found["hedge"]["state"] == ("answered" if was_a_deal else "broken")
        assert (found["deal_no"] is not None) == was_a_deal
        outcomes["deal" if was_a_deal else "break"] += 1
    assert outcomes["deal"] >= ROUNDS // 4
    assert dealing.desk.do("GET", "/hedge/breaks")["total"] == outcomes["break"]
    dealing.check()
    assert whole(dealing.office.node)


def test_the_desk_closes_while_the_client_trades(dealing: Dealing) -> None:
    """Books are held by one after the other: nothing is lost, nothing hangs."""
    orders = [dealing.placed(quantity="3") for _ in range(ROUNDS)]
    traders = [dealing.office.hire("dealer") for _ in range(4)]

    def buy(caller: Caller) -> list[int]:
        return [dealing.place(caller, quantity="2").status_code for _ in range(10)]

    with ThreadPoolExecutor(5) as threads:
        buying = [threads.submit(buy, caller) for caller in traders]
        for order in orders:
            dealing.do(order, "delete")
        assert all(set(each.result()) == {201} for each in buying)
    assert dealing.positions()["gold"]["net"] == "80.0000"
    dealing.check()
    assert whole(dealing.office.node)


def test_no_booking_is_lost_when_the_desk_patches_a_symbol(dealing: Dealing) -> None:
    """A patch that does not name the stock must not write back what it read."""
    dealing.desk.do("PATCH", "/symbols/GOLD", {"stock": "1000"})
    dealer = dealing.office.hire("dealer")

    def freeze() -> None:
        for number in range(2 * ROUNDS):
            dealer.do("PATCH", "/symbols/GOLD", {"frozen": number % 2 == 0})

    bought = 0
    with ThreadPoolExecutor(2) as threads:
        freezing = [threads.submit(freeze)]
        while not freezing[0].done():
            answer = dealing.place(quantity="1")
            assert answer.status_code in (201, 400), answer.text
            bought += answer.status_code == 201
        freezing[0].result()
    bought += sum(dealing.place(quantity="1").status_code == 201 for _ in range(3))
    (gold,) = [each for each in dealing.desk.all("/symbols") if each["code"] == "GOLD"]
    assert gold["stock"] == f"{1000 - bought}.0000"
    assert bought >= 3
    dealing.check()


def test_setting_the_stock_is_seen_in_the_trail(dealing: Dealing) -> None:
    dealing.desk.do("PATCH", "/symbols/GOLD", {"stock": "50"})
    dealing.placed(quantity="20")
    dealing.desk.do("PATCH", "/symbols/GOLD", {"stock": "90"})
    (entry,) = dealing.desk.do("GET", "/audit?limit=1")["items"]
    assert (entry["before"]["stock"], entry["after"]["stock"]) == ("30.0000", "90.0000")
