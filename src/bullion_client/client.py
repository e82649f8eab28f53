"""The client that blocks."""

from collections.abc import Iterator
from datetime import datetime
from types import TracebackType
from typing import Self

import httpx

from bullion_client.account import Account
from bullion_client.caller import Caller
from bullion_client.enums import OrderStatus, TradeType
from bullion_client.flow import Flow, Value, run
from bullion_client.intent import Intent
from bullion_client.journal import Journal
from bullion_client.market import Quote, Symbol
from bullion_client.numbers import Number
from bullion_client.order import Order, OrderPage
from bullion_client.paging import PAGE_SIZE_MAX, Walk
from bullion_client.positions import Positions
from bullion_client.transports import check_network


class Client(Caller):
    """A client that blocks. It may be shared between threads.

    `base_url` is the service's address without the `/api/trading/…` part; the key decides about that.
    `timeout` is in seconds: for connecting, and for each wait for the next bytes. `transport` is any
    `httpx.BaseTransport`; without one, `proxy` is used, or the proxies named in the process's environment.

    `deadline` is in seconds, too: for so long a call is tried again when it has no answer, or is refused for
    a reason that passes. No wait goes past it and no try begins after it; 0 means one try. With `pace`, calls
    wait for their turn before a budget is used up. A `journal` remembers orders across a crash of the
    program.

    Close it with `close()`, or use it as a context manager. An unusable argument raises `ValueError` or
    `TypeError`, before anything is sent. Every call can raise the errors of `bullion_client.errors`.
    Redirects are never followed.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 10.0,
        transport: httpx.BaseTransport | None = None,
        proxy: str | httpx.Proxy | None = None,
        deadline: float = 60.0,
        pace: bool = False,
        journal: Journal | None = None,
    ) -> None:
        super().__init__(base_url, api_key, timeout, deadline, journal, pace=pace)
        self._http = httpx.Client(
            timeout=timeout,
            transport=transport,
            proxy=check_network(proxy, given_transport=transport is not None),
            follow_redirects=False,
        )

    def me(self) -> Account:
        """Return the account and the key behind this client. Needs the scope `account:read`."""
        return self._run(self._me())

    def symbols(self) -> tuple[Symbol, ...]:
        """Return what the account can trade, with sizes. An extension of the service. Needs `orders:read`."""
        return self._run(self._symbols())

    def quotes(self, symbol_code: str | None = None) -> tuple[Quote, ...]:
        """Return the account's prices, of all symbols or of one. An extension. Needs `orders:read`.

        Raises `UnknownSymbol` if there is no symbol of that code; upper and lower case differ.
        """
        return self._run(self._quotes(symbol_code))

    def place(
        self,
        symbol_code: str,
        trade_type: TradeType | str,
        quantity: Number,
        *,
        expected_price: Number | None = None,
        client_order_id: str | None = None,
        idempotency_key: str | None = None,
        deadline: float | None = None,
    ) -> Order:
        """Place a market order, once, however often that takes. Needs `orders:write`.

        In production the order may be `pending`: see `wait`. With `expected_price` it is refused if the
        market has gone too far from it. `idempotency_key` is a name of your own for it that was never sent
        before; without one, a UUID is made. To go on with one that was sent, use `resume`.

        Raises the `Refusal` if nothing is booked for good; `NotPlaced` if time is up and nothing is booked;
        `OutcomeUnknown` if it may be.
        """
        return self._run(
            self._place(
                symbol_code, trade_type, quantity, expected_price, client_order_id, idempotency_key, deadline
            )
        )

    def buy(
        self,
        symbol_code: str,
        quantity: Number,
        *,
        expected_price: Number | None = None,
        client_order_id: str | None = None,
        idempotency_key: str | None = None,
        deadline: float | None = None,
    ) -> Order:
        """Place an order to buy: see `place`."""
        return self.place(
            symbol_code,
            TradeType.BUY,
            quantity,
            expected_price=expected_price,
            client_order_id=client_order_id,
            idempotency_key=idempotency_key,
            deadline=deadline,
        )

    def sell(
        self,
        symbol_code: str,
        quantity: Number,
        *,
        expected_price: Number | None = None,
        client_order_id: str | None = None,
        idempotency_key: str | None = None,
        deadline: float | None = None,
    ) -> Order:
        """Place an order to sell: see `place`."""
        return self.place(
            symbol_code,
            TradeType.SELL,
            quantity,
            expected_price=expected_price,
            client_order_id=client_order_id,
            idempotency_key=idempotency_key,
            deadline=deadline,
        )

    def resume(self, intent: Intent, *, deadline: float | None = None) -> Order:
        """Go on with an order whose outcome is not known, or that was not placed: same key, same body.

        Returns the order if it was booked, and places it now if it was not; there is never a second one. Look
        at `intent.made_at` first: what was not booked then is booked at the price of now. An intent of
        another environment or account raises `ValueError`. Otherwise it raises what `place` does.
        """
        return self._run(self._resume(intent, deadline))

    def order(self, order_id: str) -> Order:
        """Return an order as it is now, or raise `NotFound`. Needs `orders:read`."""
        return self._run(self._order(order_id))

    def orders(
        self,
        *,
        symbol_code: str | None = None,
        trade_type: TradeType | str | None = None,
        since: datetime | None = None,
        status: OrderStatus | str | None = None,
        client_order_id: str | None = None,
        page_size: int = PAGE_SIZE_MAX,
    ) -> Iterator[Order]:
        """Go through the account's orders, newest first, page by page as they are needed. Needs
        `orders:read`.

        No order comes twice, and none that was there at the beginning is left out, though others come and go
        meanwhile. `status` is for production: one of `OrderStatus`, or `all`, which leaves out deleted ones.
        With a test key any other than `all` raises `ValueError`: the test environment has no such filter.
        """
        filters = self._filters(symbol_code, trade_type, since, status, client_order_id)
        return self._walk(Walk(page_size), filters)

    def order_page(
        self,
        *,
        limit: int = 50,
        offset: int = 0,
        symbol_code: str | None = None,
        trade_type: TradeType | str | None = None,
        since: datetime | None = None,
        status: OrderStatus | str | None = None,
        client_order_id: str | None = None,
    ) -> OrderPage:
        """Return one page of the orders, newest first, and how many there are. Needs `orders:read`."""
        filters = self._filters(symbol_code, trade_type, since, status, client_order_id)
        return self._run(self._order_page(limit, offset, filters))

    def positions(self) -> Positions:
        """Return what the account holds and what is left of its allocation. Needs `orders:read`."""
        return self._run(self._positions())

    def wait(self, order: Order | str, *, timeout: float = 30.0) -> Order:
        """Ask for a pending order, or for one by its id, every second or two until it is no longer pending.

        After `timeout` seconds return it as it is, perhaps still pending: then look again later, and place
        nothing in its stead. Needs `orders:read`.
        """
        return self._run(self._wait(order, timeout))

    def close(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _walk(self, walk: Walk, filters: dict[str, str | None]) -> Iterator[Order]:
        while not walk.over:
            yield from walk.take(self._run(self._order_page(walk.page_size, walk.offset, filters)))

    def _run(self, flow: Flow[Value]) -> Value:
        return run(flow, self._http.send)
