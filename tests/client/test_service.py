"""Every call of both clients against the real service."""

import socket
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from bullion_client import (
    AsyncClient,
    BudgetRefused,
    Client,
    CredentialRefused,
    Environment,
    Journal,
    KeyReused,
    LimitExceeded,
    MarketRefused,
    Metal,
    NotFound,
    NotPlaced,
    OrderRejected,
    OrderStatus,
    OutcomeUnknown,
    PriceMoved,
    ProductionOrder,
    QuantityRefused,
    RequestRefused,
    TestOrder,
    TradeType,
    Unit,
    UnknownSymbol,
)
from bullion_client.intent import make_intent
from tests.client.fixtures import Deployment
from tests.client.openers import Opener
from tests.support.orders import BUY_PRICE, GOLD, SELL_PRICE
from tests.support.production import WIDE_OPEN


def test_a_day_in_the_test_environment(opener: Opener) -> None:
    client = opener()
    account = client.me()
    assert (account.environment, account.login_id[:6]) == (Environment.TEST, "client")
    (symbol,) = client.symbols()
    assert (symbol.symbol_code, symbol.metal, symbol.unit) == ("GOLD", Metal.GOLD, Unit.GRAM)
    (quote,) = client.quotes("GOLD")
    assert (quote.buy, quote.sell, quote.tradable) == (Decimal(BUY_PRICE), Decimal(SELL_PRICE), True)
    assert len(client.quotes()) == 1

    bought = client.buy("GOLD", "2.5", expected_price=quote.buy, client_order_id="shop-17")
    sold = client.sell("GOLD", 1)
    assert isinstance(bought, TestOrder)
    assert (bought.quantity, bought.price, bought.status) == (Decimal("2.5"), quote.buy, OrderStatus.FILLED)
    assert (bought.client_order_id, bought.deal_label) == ("shop-17", "T-1")
    assert bought.created_at is not None
    assert abs(bought.created_at - datetime.now(UTC)) < timedelta(minutes=1)
    assert client.order(bought.id) == bought
    assert list(client.orders()) == [sold, bought]
    assert client.order_page(limit=1).items == (sold,)
    assert (client.order_page(limit=1, offset=1).items, client.order_page(limit=1).total) == ((bought,), 2)
    assert list(client.orders(client_order_id="shop-17")) == [bought]
    assert list(client.orders(trade_type=TradeType.SELL, symbol_code="GOLD")) == [sold]
    assert list(client.orders(since=bought.created_at)) == [sold, bought]
    assert list(client.orders(since=datetime.now(UTC) + timedelta(days=1))) == []
    positions = client.positions()
    assert (positions.gold.net, positions.gold.unit, positions.symbols) == (Decimal("1.5"), Unit.GRAM, ())
    assert client.wait(bought) is bought


def test_one_quote_and_what_belongs_to_an_answer(opener: Opener) -> None:
    client = opener()
    quote = client.quote("GOLD")
    assert (quote, len(quote.request_id)) == (client.quotes("GOLD")[0], 24)
    with pytest.raises(UnknownSymbol):
        client.quote("gold")
    first, again = (client.with_raw_response.buy("GOLD", 5, idempotency_key="k-1") for _ in range(2))
    assert (first.status, first.replayed) == (201, False)
    assert (again.status, again.replayed, again.value) == (200, True, first.value)
    assert first.request_id == first.value.request_id != again.request_id == again.value.request_id
    assert int(again.headers["RateLimit-Remaining"]) >= 0


def test_scenarios_are_played_by_headers(opener: Opener, tmp_path: Path) -> None:
    client = opener(scenarios=True, journal=Journal(tmp_path / "orders.journal"))
    lost = {"X-Bullion-Scenario": "booking_outcome_unknown; order=booked; retry_after=1"}
    raw = client.with_raw_response.buy("GOLD", 5, headers=lost)
    assert (raw.value.deal_label, raw.replayed) == ("T-1", True)
    with pytest.raises(OutcomeUnknown) as caught:
        client.with_options(deadline=0, headers=lost).buy("GOLD", 5)
    assert client.find(caught.value.intent).deal_label == "T-2"
    with pytest.raises(BudgetRefused) as refused:
        client.with_options(deadline=0).me(headers={"X-Bullion-Scenario": "rate_limited; retry_after=5"})
    assert refused.value.retry_after == 5
    assert len(list(client.orders())) == 2


def test_what_became_of_an_intent_is_found_without_placing_it(opener: Opener, deployment: Deployment) -> None:
    for environment in Environment:
        client = opener(environment)
        intent = make_intent(environment, "k-1", datetime.now(UTC), "GOLD", "buy", 5, None, None)
        assert client.find(intent) is None
        in_doubt = replace(intent, in_doubt=True)
        with pytest.raises(OutcomeUnknown):
            client.find(in_doubt)
        assert list(client.orders()) == []
        order = client.resume(intent)
        assert client.find(intent) == client.find(in_doubt) == order
        with pytest.raises(KeyReused):
            client.find(replace(intent, quantity=Decimal(6)))
        moved = make_intent(environment, "k-2", datetime.now(UTC), "GOLD", "buy", 5, "1", None)
        for ask in (client.resume, client.find):
            with pytest.raises(PriceMoved):
                ask(moved)
        assert list(client.orders()) == [order]


def test_while_production_is_closed_an_intent_cannot_be_asked_about(
    opener: Opener, deployment: Deployment
) -> None:
    """Its answer would be the same whether there is an order or not."""
    client = opener(Environment.PRODUCTION)
    intent = make_intent(Environment.PRODUCTION, "k-1", datetime.now(UTC), "GOLD", "buy", 5, None, None)
    client.resume(intent)
    deployment.switch(production=False)
    try:
        with pytest.raises(OutcomeUnknown) as caught:
            client.find(replace(intent, in_doubt=True))
        assert caught.value.code == "production_trading_disabled"
    finally:
        deployment.switch(production=True)


@pytest.mark.parametrize("code", ["gold", "TIN", ""])
def test_quotes_of_an_unknown_symbol_raise(opener: Opener, code: str) -> None:
    """The service answers an empty list; a program that unpacks it would fail without a reason."""
    with pytest.raises(UnknownSymbol) as caught:
        opener().quotes(code)
    assert (caught.value.code, caught.value.status) == ("unknown_symbol", 200)
    assert f"There is no symbol {code!r}" in str(caught.value)
    assert "symbols()" in str(caught.value)
    assert caught.value.request_id is not None
    assert isinstance(caught.value, NotFound)


def test_an_order_for_an_unknown_symbol_raises_the_same_error(opener: Opener) -> None:
    with pytest.raises(UnknownSymbol) as caught:
        opener().buy("gold", 5)
    assert (caught.value.code, caught.value.status) == ("unknown_symbol", 404)


@pytest.mark.parametrize("status", [OrderStatus.OPEN, "closed", OrderStatus.FILLED, ""])
def test_a_status_filter_needs_production(opener: Opener, status: str) -> None:
    """The test environment ignores it, so the list would have orders that were not asked for."""
    client = opener()
    for read in (client.orders, client.order_page):
        with pytest.raises(ValueError, match="status is for production only"):
            read(status=status)


def test_the_status_all_is_no_filter_and_works_in_both_environments(opener: Opener) -> None:
    for environment in Environment:
        client = opener(environment)
        order = client.buy("GOLD", 5)
        assert list(client.orders(status="all")) == [order]
        assert client.order_page(status="all").total == 1


def test_a_day_in_production(opener: Opener, deployment: Deployment) -> None:
    client = opener(Environment.PRODUCTION)
    order = client.buy("GOLD", 5)
    assert isinstance(order, ProductionOrder)
    assert (order.status, order.source, order.environment) == (
        OrderStatus.OPEN,
        "api",
        Environment.PRODUCTION,
    )
    assert order.deal_no is not None
    assert list(client.orders(status=OrderStatus.OPEN)) == [order]
    assert list(client.orders(status="closed")) == []
    (row,) = client.positions().symbols
    assert (row.symbol_code, row.buy, row.net) == ("GOLD", Decimal(5), Decimal(5))


def test_a_pending_order_is_waited_for(opener: Opener, deployment: Deployment) -> None:
    client = opener(Environment.PRODUCTION)
    deployment.venue("hold")
    try:
        order = client.buy("GOLD", 5)
        assert (order.status, order.price) == (OrderStatus.PENDING, None)
        assert client.wait(order, timeout=0.5).status == OrderStatus.PENDING
    finally:
        deployment.venue("fill")
    done = client.wait(order.id)
    assert (done.status, done.price, done.id) == (OrderStatus.OPEN, Decimal(BUY_PRICE), order.id)


def test_an_order_that_the_hedge_refuses(opener: Opener, deployment: Deployment) -> None:
    client = opener(Environment.PRODUCTION)
    deployment.venue("refuse")
    try:
        with pytest.raises(OrderRejected) as caught:
            client.sell("GOLD", 5)
    finally:
        deployment.venue("fill")
    error = caught.value
    assert error.order is not None
    assert error.intent is not None
    assert (error.order.id, error.order.status) == (error.order_id, OrderStatus.REJECTED)
    assert client.order(error.order_id).status == OrderStatus.REJECTED
    with pytest.raises(OrderRejected, match="order_rejected"):
        client.resume(error.intent)


def test_refusals_are_told_as_their_families(opener: Opener, deployment: Deployment) -> None:
    client = opener(gold="10")
    with pytest.raises(LimitExceeded) as caught:
        client.buy("GOLD", 11)
    assert caught.value.intent is not None
    assert caught.value.intent.quantity == 11
    with pytest.raises(PriceMoved):
        client.buy("GOLD", 1, expected_price=1)
    with pytest.raises(NotFound, match="unknown_symbol"):
        client.buy("NOTHING", 1)
    with pytest.raises(NotFound, match="order_not_found"):
        client.order("no-such-order")
    with pytest.raises(RequestRefused, match="invalid_request"):
        client.order_page(trade_type="much too long")
    client.buy("GOLD", 1, idempotency_key="mine")
    with pytest.raises(KeyReused):
        client.buy("GOLD", 2, idempotency_key="mine")
    assert client.buy("GOLD", 1, idempotency_key="mine").deal_label == "T-1"
    deployment.desk.do("PATCH", "/symbols/GOLD", {"minimum": "2", "step": "1"})
    try:
        with pytest.raises(QuantityRefused, match="quantity_rule"):
            client.buy("GOLD", 1)
    finally:
        deployment.desk.do("PUT", "/symbols/GOLD", GOLD)
    deployment.switch(halted=True)
    try:
        with pytest.raises(MarketRefused, match="trading_halted"):
            client.buy("GOLD", 1)
        assert client.buy("GOLD", 1, idempotency_key="mine").deal_label == "T-1"
    finally:
        deployment.switch(halted=False)
    with pytest.raises(CredentialRefused):
        opener.at(deployment.url, "key_test.main.0000000000000000.nonsense").me()


def test_no_order_twice_and_none_missed_while_others_arrive(opener: Opener, deployment: Deployment) -> None:
    """Pages of three, and after each page two more orders."""
    login = deployment.account()
    key = deployment.key(login)
    other = Client(deployment.url, key)
    client = opener.at(deployment.url, key)
    there = [other.buy("GOLD", 1).id for _ in range(10)]
    if isinstance(client, Client):
        shown = []
        for number, order in enumerate(client.orders(page_size=3)):
            shown.append(order.id)
            if number % 3 == 2:
                other.buy("GOLD", 1)
                other.sell("GOLD", 1)
    else:
        stop = threading.Event()

        def trade() -> None:
            while not stop.is_set():
                other.buy("GOLD", 1)
                time.sleep(0.01)

        trading = threading.Thread(target=trade)
        trading.start()
        shown = [order.id for order in client.orders(page_size=3)]
        stop.set()
        trading.join()
    other.close()
    assert len(set(shown)) == len(shown)
    assert set(there) <= set(shown)


def test_budgets_are_waited_for_and_with_pacing_not_even_met(deployment: Deployment) -> None:
    deployment.switch(budgets=WIDE_OPEN | {"orders_per_10_seconds": 4})
    hasty_key, paced_key = (deployment.key(deployment.account()) for _ in range(2))
    try:
        with (
            Client(deployment.url, hasty_key) as hasty,
            Client(deployment.url, paced_key, pace=True) as paced,
        ):
            for _ in range(4):
                hasty.buy("GOLD", 1)
            with pytest.raises(NotPlaced, match="rate_limited") as caught:
                hasty.buy("GOLD", 1, deadline=0.5)
            assert caught.value.retry_after is not None
            assert 1 <= caught.value.retry_after <= 10
            began = time.monotonic()
            for _ in range(5):
                assert paced.buy("GOLD", 1, deadline=30).status == OrderStatus.FILLED
            assert 5 < time.monotonic() - began < 25
            assert len(list(paced.orders())) == 5
            assert isinstance(resumed := hasty.resume(caught.value.intent), TestOrder)
            assert resumed.deal_label == "T-5"
    finally:
        deployment.switch(budgets=WIDE_OPEN)


# --- Connections ------------------------------------------------------------------------------------------


class StaleServer:
    """Passes each connection's first call on to the service, and hangs up when the second comes."""

    def __init__(self, url: str) -> None:
        port = urlsplit(url).port
        assert port is not None
        self._to = port
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.hung_up = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            with link, socket.create_connection(("127.0.0.1", self._to)) as up:
                up.sendall(_whole(link))
                link.sendall(_whole(up))
                if link.recv(1):
                    self.hung_up += 1

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def _whole(link: socket.socket) -> bytes:
    text = b""
    while b"\r\n\r\n" not in text:
        text += link.recv(65536)
    head, _, body = text.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    ]
    while len(body) < int(lengths[0] if lengths else 0):
        body += link.recv(65536)
    return head + b"\r\n\r\n" + body


def test_time_may_be_endless(opener: Opener) -> None:
    client = opener(timeout=float("inf"), deadline=float("inf"))
    assert client.buy("GOLD", 1).id == next(iter(client.orders())).id


@pytest.mark.parametrize("deadline", [0, 60])
def test_a_connection_that_went_stale_does_not_fail_a_call(
    opener: Opener, deployment: Deployment, deadline: float
) -> None:
    server = StaleServer(deployment.url)
    try:
        client = opener.at(server.url, deployment.key(deployment.account()), deadline=deadline)
        for _ in range(3):
            client.me()
            client.buy("GOLD", 1)
        assert server.hung_up >= 2
        assert len(list(client.orders())) == 3
    finally:
        opener.opened.pop().close()
        server.close()


def test_calls_go_through_a_proxy(opener: Opener, deployment: Deployment) -> None:
    """A proxy for plain HTTP is the service itself: it is asked for whole addresses."""
    key = deployment.key(deployment.account())
    client = opener.at("http://nowhere.invalid", key, proxy=deployment.url, deadline=0)
    assert client.me().environment == Environment.TEST


@pytest.mark.parametrize("proxy", ["ftp://secret@proxy", "nonsense", "http://a:b:secret"])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_unusable_proxy_is_not_repeated(kind: Any, proxy: str) -> None:
    with pytest.raises(ValueError, match="proxy must be an address such as") as caught:
        kind("https://trading.example", "key_test.x", proxy=proxy)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("options", [{"timeout": -1}, {"deadline": -1}, {"deadline": float("nan")}])
def test_unusable_times(kind: Any, options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be a number of seconds"):
        kind("https://trading.example", "key_test.x", **options)
