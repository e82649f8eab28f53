"""Covers over a FIX line while the node or the venue is killed: each is executed once, and is in the book.

The venue executes a doubled id, so a cover that is sent twice is seen. `TEST_SCALE` above 1, as in a
campaign, sends more covers and kills more often.
"""

import json
import random
import signal
import time
from collections import defaultdict
from contextlib import ExitStack
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path

import httpx

from tests.support.command import bullion
from tests.support.fix_covers import Covers
from tests.support.fix_node import Acceptor, fix_market, fix_settings, market_file
from tests.support.node import start, until
from tests.support.production import LiveMarket
from tests.support.scale import SCALE

ROUNDS, COVERS = (6 * SCALE, 6) if SCALE > 1 else (3, 4)
PATIENCE_S = 90.0
CHANCES = {"late": 0.2, "unreported": 0.1, "twice": 0.1, "partial": 0.2, "refused": 0.1}


def send_all(market: LiveMarket, turn: int) -> None:
    """The node or its venue may be gone at any moment; what was made is sent in a later round."""
    try:
        for number in range(COVERS):
            Covers(market.desk).sent(f"{number + 1}", f"{turn}-{number}", "buy" if number % 2 else "sell")
    except (httpx.TransportError, AssertionError):
        return


def test_covers_are_executed_once_and_all_are_in_the_book(tmp_path: Path) -> None:
    seed = random.randrange(1 << 30) if SCALE > 1 else 3  # noqa: S311
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311
    options = ("--accept-doubles", "--faults", json.dumps({"seed": seed, "chances": CHANCES}))
    with Acceptor(tmp_path) as venue, ExitStack() as ends:
        venue.start(*options)
        settings = fix_settings(market_file(tmp_path, venue.port, unknown_after_s="2.5"))
        node = start(tmp_path, **settings)
        ends.callback(lambda: node.stop(signal.SIGKILL))
        with fix_market(node) as first:
            Covers(first.desk).open_book()
            for turn in range(ROUNDS):
                with first.at(node) as market:
                    send_all(market, turn)
                time.sleep(chance.uniform(0, 0.8))  # The moment of the kill.
                if turn % 2:
                    venue.kill()
                    venue.start(*options)
                else:
                    node.stop(signal.SIGKILL)
                    node = start(tmp_path, **settings)
            with first.at(node) as market:
                for turn in range(ROUNDS):
                    send_all(market, turn)
                covers = Covers(market.desk)
                until(lambda: all(each["state"] != "sent" for each in covers.all()), within_s=PATIENCE_S)
                found = covers.all()
                executed: dict[str, Decimal] = defaultdict(Decimal)
                for each in venue.executions():
                    executed[each.order_id] += Decimal(each.quantity)
                assert len(found) == ROUNDS * COVERS
                for cover in found:
                    dealt = sum((Decimal(deal["quantity"]) for deal in cover["deals"]), Decimal(0))
                    assert dealt == executed[cover["id"]] <= Decimal(cover["quantity"]), cover
                    whole = dealt == Decimal(cover["quantity"])
                    assert cover["state"] == ("filled" if whole else "partly" if dealt else "refused")
                signed = (executed[each["id"]] * (1 if each["side"] == "buy" else -1) for each in found)
                net = sum(signed, Decimal(0))
                assert covers.book_mg() == (net * 9990 + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
                assert market.desk.do("GET", "/hedge/breaks")["total"] == 0
        node.stop(signal.SIGKILL)
    done = bullion(tmp_path, "books", "verify", **node.settings)
    assert done.returncode == 0, done.stdout + done.stderr
