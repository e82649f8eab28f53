"""The client for asynchronous programs: `Client` with `await`."""

from collections.abc import AsyncIterator
from datetime import datetime
from types import TracebackType
from typing import Self

import httpx

from bullion_client.account import Account
from bullion_client.caller import Caller
from bullion_client.enums import OrderStatus, TradeType
from bullion_client.flow import Flow, Value, run_async
from bullion_client.intent import Intent
from bullion_client.journal import Journal
from bullion_client.market import Quote, Symbol
from bullion_client.numbers import Number
from bullion_client.order import Order, OrderPage
from bullion_client.paging import PAGE_SIZE_MAX, Walk
from bullion_client.positions import Positions
from bullion_client.transports import check_network


class AsyncClient(Caller):
    """A client for programs on asyncio: `Client` with `await`. It may be shared between tasks of one event
    loop.

    The arguments and the calls are those of `Client`, with `transport` any `httpx.AsyncBaseTransport`;
    `orders()` is for `async for`. Close it with `await aclose()`, or use it with `async with`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | httpx.Proxy | None = None,
        deadline: float = 60.0,
        pace: bool = False,
        journal: Journal | None = None,
    ) -> None:
        super().__init__(base_url, api_key, timeout, deadline, journal, pace=pace)
        self._http = httpx.AsyncClient(
            timeout=timeout,
            transport=transport,
            proxy=check_network(proxy, given_transport=transport is not None),
            follow_redirects=False,
        )

    async def me(self) -> Account:
        """Return the account and the key behind this client. Needs the scope `account:read`."""
        return await self._run(self._me())

    async def symbols(self) -> tuple[Symbol, ...]:
        """Return what the account can trade, with sizes. An extension of the service. Needs `orders:read`."""
        return await self._run(self._symbols())

    async def quotes(self, symbol_code: str | None = None) -> tuple[Quote, ...]:
        """Return the account's prices, of all symbols or of one. An extension. Needs `orders:read`.

        Raises `UnknownSymbol` if there is no symbol of that code; upper and lower case differ.
        """
        return await self._run(self._quotes(symbol_code))

    async def place(
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
        return await self._run(
            self._place(
                symbol_code, trade_type, quantity, expected_price, client_order_id, idempotency_key, deadline
            )
        )

    async def buy(
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
        return await self.place(
            symbol_code,
            TradeType.BUY,
            quantity,
            expected_price=expected_price,
            client_order_id=client_order_id,
            idempotency_key=idempotency_key,
            deadline=deadline,
        )

    async def sell(
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
        return await self.place(
            symbol_code,
            TradeType.SELL,
            quantity,
            expected_price=expected_price,
            client_order_id=client_order_id,
            idempotency_key=idempotency_key,
            deadline=deadline,
        )

    async def resume(self, intent: Intent, *, deadline: float | None = None) -> Order:
        """Go on with an order whose outcome is not known, or that was not placed: same key, same body.

        Returns the order if it was booked, and places it now if it was not; there is never a second one. Look
        at `intent.made_at` first: what was not booked then is booked at the price of now. An intent of
        another environment or account raises `ValueError`. Otherwise it raises what `place` does.
        """
        return await self._run(self._resume(intent, deadline))

    async def order(self, order_id: str) -> Order:
        """Return an order as it is now, or raise `NotFound`. Needs `orders:read`."""
        return await self._run(self._order(order_id))

    def orders(
        self,
        *,
        symbol_code: str | None = None,
        trade_type: TradeType | str | None = None,
        since: datetime | None = None,
        status: OrderStatus | str | None = None,
        client_order_id: str | None = None,
        page_size: int = PAGE_SIZE_MAX,
    ) -> AsyncIterator[Order]:
        """Go through the account's orders, newest first, page by page as they are needed. Needs
        `orders:read`.

        No order comes twice, and none that was there at the beginning is left out, though others come and go
        meanwhile. `status` is for production: one of `OrderStatus`, or `all`, which leaves out deleted ones.
        With a test key any other than `all` raises `ValueError`: the test environment has no such filter.
        """
        filters = self._filters(symbol_code, trade_type, since, status, client_order_id)
        return self._walk(Walk(page_size), filters)

    async def order_page(
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
        return await self._run(self._order_page(limit, offset, filters))

    async def positions(self) -> Positions:
        """Return what the account holds and what is left of its allocation. Needs `orders:read`."""
        return await self._run(self._positions())

    async def wait(self, order: Order | str, *, timeout: float = 30.0) -> Order:  # noqa: ASYNC109 - no error
        """Ask for a pending order, or for one by its id, every second or two until it is no longer pending.

        After `timeout` seconds return it as it is, perhaps still pending: then look again later, and place
        nothing in its stead. Needs `orders:read`.
        """
        return await self._run(self._wait(order, timeout))

    async def aclose(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _walk(self, walk: Walk, filters: dict[str, str | None]) -> AsyncIterator[Order]:
        while not walk.over:
            page = await self._run(self._order_page(walk.page_size, walk.offset, filters))
            for order in walk.take(page):
                yield order

    async def _run(self, flow: Flow[Value]) -> Value:
        return await run_async(flow, self._http.send)
