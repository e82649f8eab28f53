"""When a production order is at fault in two ways, the earlier fault in the ruled order answers.

As in `test_order_precedence`, each fault is one change to an order that would be booked. Here all faults from
one place of the table to its end are put into the same order; what the gate looks at first is tried there. An
exact replay is answered whatever the market and production's switches say.
"""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from bullion.refusals.catalogue import CATALOGUE
from tests.support.node import Node, until
from tests.support.orders import REPLAYED, refused, replayed
from tests.support.precedence import FAULTS, Case, Exchange, at_fault, together
from tests.support.production import PATIENCE_S, LiveMarket, closed_by, opened

INSTRUMENTS = {"SPOT": "tradable", "UNKNOWN": "unknown", "SUSPENDED": "suspended"}
ORDER = [*FAULTS][[*FAULTS].index("api_access_disabled") :]
NOT_OF_THE_MARKET = ORDER.index("production_trading_disabled global")
HIDDEN_BY_NO_FAULT = [
    name
    for name in ORDER[NOT_OF_THE_MARKET:]
    if name not in ("idempotency_key_required", "invalid_request", "idempotency_key_reused")
    and name not in ("unknown_symbol", "invalid_side", "price_moved")  # In the body: not the same order.
]


@pytest.fixture(scope="module")
def exchange(node: Node) -> Iterator[Exchange]:
    """Whose venue trades one instrument, has suspended another, and says nothing of a third."""
    with LiveMarket.open(node) as market:
        exchange = Exchange(market, INSTRUMENTS, production=True, paused=False)
        market.venue(instruments=INSTRUMENTS)
        with market.visit() as visited:
            watcher = visited.trader()
            for instrument, word in INSTRUMENTS.items():
                market.symbol(f"ON-{instrument}", pricing={"kind": "direct", "instrument": instrument})
                expected = {"tradable": None, "suspended": "symbol_unavailable"}
                code = expected.get(word, "tradeability_unverified")
                name = f"ON-{instrument}"
                until(lambda: watcher.quote(name)["reason"] == code, within_s=PATIENCE_S)  # noqa: B023
        market.ready("X")
        yield exchange


def test_the_faults_stand_in_the_order_of_the_catalogue() -> None:
    catalogue = [row.code for row in CATALOGUE]
    faults = [name.partition(" ")[0] for name in ORDER]
    assert faults == sorted(faults, key=catalogue.index)


def test_every_market_check_is_tried() -> None:
    codes = [row.code for row in CATALOGUE if row.specified]
    market = codes[codes.index("unknown_symbol") : codes.index("price_moved") + 1]
    assert [code for code in market if code not in ORDER] == ["rates_not_ready"]


def test_without_any_fault_the_order_is_booked(exchange: Exchange) -> None:
    assert exchange.code_of(Case()) == "201"


@pytest.mark.parametrize("fault", ORDER)
def test_each_fault_alone_answers_its_own_code(exchange: Exchange, fault: str) -> None:
    assert exchange.code_of(at_fault(fault)) == fault


@pytest.mark.parametrize("start", range(len(ORDER)), ids=ORDER)
def test_the_first_of_all_faults_from_here_on_answers(exchange: Exchange, start: int) -> None:
    assert exchange.code_of(at_fault(*together(ORDER[start:]))) == ORDER[start]


@pytest.mark.parametrize("fault", [*HIDDEN_BY_NO_FAULT, "all of them"])
def test_nothing_hides_an_order_that_exists(exchange: Exchange, fault: str) -> None:
    case = at_fault(*(HIDDEN_BY_NO_FAULT if fault == "all of them" else [fault]))
    case.settled_by = {"quantity": 1}
    assert exchange.code_of(case) == "200"


CLOSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "global": ({"production": False}, {}),
    "account": ({}, {"production_trading": False}),
    "prerequisites": ({"paused": True}, {}),
    "global, though the account's is off and the desk has paused": (
        {"production": False, "paused": True},
        {"production_trading": False},
    ),
    "account, though the desk has paused": ({"paused": True}, {"production_trading": False}),
}


@pytest.mark.parametrize("how", CLOSED)
def test_while_production_is_closed_only_an_exact_replay_of_an_order_is_answered(
    own_live_market: LiveMarket, how: str
) -> None:
    """Whatever else is told would be read as: nothing was booked, and nothing will be."""
    market, trader = own_live_market, own_live_market.trader()
    placed, settled, other, free = (str(uuid4()) for _ in range(4))
    order = opened(trader.place(placed))
    elsewhere = opened(trader.place(other, quantity=2, client_order_id="other"))
    refused(trader.place(settled, expected_price=1), "price_moved")
    switches, account = CLOSED[how]
    if switches:
        market.switch(**switches)
    if account:
        market.desk.do("PATCH", f"/accounts/{trader.login_id}", account)

    def closed(answer: Any) -> None:
        if how == "prerequisites":
            refused(answer, "production_prerequisites_unmet")
            assert REPLAYED not in answer.headers
        else:
            assert closed_by(answer) == how.partition(",")[0]

    closed(trader.place(free))
    closed(trader.place(placed, quantity=2))
    closed(trader.place(placed, trade_type="hold"))
    closed(trader.place(placed, quantity="1"))
    closed(trader.place(other))
    closed(trader.place(settled, expected_price=1))
    closed(trader.place(settled, expected_price=2))
    closed(trader.send(b"x"))
    closed(trader.send(b"x", placed))
    closed(trader.send(b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}'))
    closed(trader.send(b'{"symbol_code": "GOLD", "trade_type": "buy", "quantity": 1}', "x" * 65))
    closed(trader.place(free, symbol_code="NOWHERE"))
    closed(trader.send(b"{}", free, **{"Content-Type": "text/plain"}))
    assert replayed(trader.place(placed)) == order
    assert replayed(trader.place(other, quantity=2, client_order_id="other")) == elsewhere
    assert trader.orders()["items"] == [elsewhere, order]
    market.switch(production=True, paused=False)
    market.desk.do("PATCH", f"/accounts/{trader.login_id}", {"production_trading": True})
    # Nothing that was said meanwhile has settled a key, or freed one.
    opened(trader.place(free))
    refused(trader.place(placed, quantity=2), "idempotency_key_reused")
    again = trader.place(settled, expected_price=1)
    refused(again, "price_moved")
    assert again.headers[REPLAYED] == "true"


def test_a_refused_order_replays_as_refused_while_production_is_off(own_live_market: LiveMarket) -> None:
    market, trader, name = own_live_market, own_live_market.trader(), str(uuid4())
    market.venue(mode="refuse")
    first = trader.place(name)
    refused(first, "order_rejected")
    market.switch(production=False)
    again = trader.place(name)
    refused(again, "order_rejected")
    assert again.headers[REPLAYED] == "true"
    assert again.json() == first.json()
    assert closed_by(trader.place(name, quantity=2)) == "global"
