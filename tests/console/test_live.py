"""The overview stays live beside a busy market: twenty symbols that tick, and clients who trade in them.

With `TEST_SCALE` above 1, as in a campaign, for longer, and the pace is held to the letter.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from uuid import uuid4

from playwright.sync_api import expect

from bullion.store.engine import Engine
from bullion.store.postgres import PostgresEngine
from bullion.store.sqlite import SqliteEngine
from tests.support.console import Visitor
from tests.support.dealing import Dealing
from tests.support.node import Node
from tests.support.orders import GOLD, ORDERS
from tests.support.scale import SCALE
from tests.support.ticking import ticking

CAMPAIGN = SCALE > 1
SECONDS = 30 if CAMPAIGN else 6
SYMBOLS = [f"LIVE{number:02d}" for number in range(20)]
CLIENTS = 4
ORDERS_PER_S = 200
COUNT_UPDATES = """
() => {
  window.updates = [];
  new MutationObserver(() => window.updates.push(performance.now())).observe(
    document.getElementById("rates-table"), {subtree: true, childList: true, characterData: true});
}
"""


class Traders:
    """Clients who place so many orders a second, together."""

    def __init__(self, dealing: Dealing) -> None:
        self.statuses: list[int] = []
        self._dealing = dealing
        self._keys = [dealing.desk.key("client")["key"] for _ in range(CLIENTS)]

    def trade(self, number: int) -> None:
        office = self._dealing.office
        with office.node.api(self._keys[number], Host=f"{office.broker}.example") as http:
            started = time.monotonic()
            for turn in range(ORDERS_PER_S // CLIENTS * SECONDS):
                due = started + turn * CLIENTS / ORDERS_PER_S
                time.sleep(max(0.0, due - time.monotonic()))
                if time.monotonic() > started + SECONDS:
                    return  # Late, on a busy machine.
                side = "buy" if turn % 2 else "sell"
                body = {"symbol_code": SYMBOLS[turn % 20], "trade_type": side, "quantity": 1}
                answer = http.post(ORDERS, json=body, headers={"Idempotency-Key": str(uuid4())})
                self.statuses.append(answer.status_code)

    @contextmanager
    def trading(self) -> Iterator[None]:
        threads = [threading.Thread(target=self.trade, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            for thread in threads:
                thread.join()


def test_the_overview_stays_live(someone: Visitor, node: Node, dealing: Dealing, admin: str) -> None:
    for name in SYMBOLS:
        pricing = {"kind": "direct", "instrument": name}
        dealing.desk.do("PUT", f"/symbols/{name}", GOLD | {"pricing": pricing})
    traders = Traders(dealing)
    url = node.settings.get("BULLION_DATABASE_URL")
    make_engine: Callable[[], Engine] = (
        partial(PostgresEngine, url) if url else partial(SqliteEngine, node.folder / "var" / "bullion.db")
    )
    with ticking(make_engine, dealing.office.broker, SYMBOLS):
        page = someone.open(admin)
        expect(page.locator("#rates-table")).to_contain_text("LIVE19")
        # A symbol that is live has no word about its state.
        expect(page.locator("tr[data-key=LIVE19] .state")).to_have_count(0)
        page.evaluate(COUNT_UPDATES)
        with traders.trading():
            page.wait_for_timeout(SECONDS * 1000)
        found: list[float] = page.evaluate("window.updates")
    starts = [each for before, each in zip([0.0, *found], found, strict=False) if each - before > 100]
    print(f"{len(starts)} updates and {len(traders.statuses)} orders in {SECONDS} s")
    assert set(traders.statuses) == {201}
    expect(page.locator("#activity")).to_contain_text("test")
    if CAMPAIGN:
        assert len(starts) >= SECONDS - 1
        assert len(traders.statuses) >= 0.95 * ORDERS_PER_S * SECONDS
    else:
        assert len(starts) >= SECONDS // 2
