"""The asynchronous client."""

from collections.abc import AsyncIterator
from datetime import datetime
from types import TracebackType
from typing import Self

import httpx

from bullion_client.base_client import BaseClient
from bullion_client.enums import OrderStatus, TradeType
from bullion_client.flow import Flow, Value, run_async
from bullion_client.intent import Intent
from bullion_client.journal import Journal
from bullion_client.models import Account, Order, OrderPage, Positions, Quote, Symbol
from bullion_client.numbers import Number
from bullion_client.pagination import PAGE_SIZE_MAX, Pager
from bullion_client.transport import check_proxy


class AsyncClient(BaseClient):
    """A client for asyncio: `Client` with `await`. Tasks of one event loop may share it.

    The arguments and the calls are those of `Client`, with `transport` any `httpx.AsyncBaseTransport`;
    use `orders()` with `async for`. Close it with `await aclose()`, or use it with `async with`.
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
            proxy=check_proxy(proxy, given_transport=transport is not None),
            follow_redirects=False,
        )

    async def me(self) -> Account:
        """Return the account and the key behind this client. Needs the scope `account:read`."""
        return await self._run(self._me())

    async def symbols(self) -> tuple[Symbol, ...]:
        """Return the symbols that the account can trade, with sizes. Needs `orders:read`."""
        return await self._run(self._symbols())

    async def quotes(self, symbol_code: str | None = None) -> tuple[Quote, ...]:
        """Return the account's prices for all symbols, or for one. Needs `orders:read`.

        Raises `UnknownSymbol` if there is no such symbol. Codes are case-sensitive.
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
        """Place a market order. It is placed once, however often it is sent. Needs `orders:write`.

        In production the order may be `pending`: see `wait`. With `expected_price` it is refused if the price
        has moved too far from it. `idempotency_key` is a new key of your own; without one, a UUID is used. To
        continue with a key that was sent, use `resume`.

        Raises a `Refusal` if nothing is booked, finally; `NotPlaced` if the deadline passed and nothing is
        booked; `OutcomeUnknown` if it may be booked.
        """
        options = (expected_price, client_order_id, idempotency_key, deadline)
        return await self._run(self._place(symbol_code, trade_type, quantity, *options))

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
        options = (expected_price, client_order_id, idempotency_key, deadline)
        return await self._run(self._place(symbol_code, TradeType.BUY, quantity, *options))

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
        options = (expected_price, client_order_id, idempotency_key, deadline)
        return await self._run(self._place(symbol_code, TradeType.SELL, quantity, *options))

    async def resume(self, intent: Intent, *, deadline: float | None = None) -> Order:
        """Send an order again whose outcome is unknown, or that was not placed: same key, same body.

        Returns the order if it was booked, and places it now if it was not; there is never a second one.
        Check `intent.made_at` first: an order that was not booked then is booked at the current price. An
        intent of another environment or account raises `ValueError`. Other errors are those of `place`.
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
        """Iterate over the account's orders, newest first, reading pages as needed. Needs `orders:read`.

        No order appears twice, and none that was there at the start is missed, even if others come and go
        meanwhile. `status` is for production: one of `OrderStatus`, or `all`, which leaves out deleted
        orders. With a test key any status but `all` raises `ValueError`: the test environment has no such
        filter.
        """
        filters = self._filters(symbol_code, trade_type, since, status, client_order_id)
        return self._pages(Pager(page_size), filters)

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
        """Return one page of the orders, newest first, and the total. Needs `orders:read`."""
        filters = self._filters(symbol_code, trade_type, since, status, client_order_id)
        return await self._run(self._order_page(limit, offset, filters))

    async def positions(self) -> Positions:
        """Return the account's positions and the rest of its allocation. Needs `orders:read`."""
        return await self._run(self._positions())

    async def wait(self, order: Order | str, *, timeout: float = 30.0) -> Order:  # noqa: ASYNC109 - no error
        """Poll an order, or an order id, every one to two seconds until it is no longer pending.

        After `timeout` seconds return it as it is, perhaps still pending: then check again later, and do not
        place another order for it. Needs `orders:read`.
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

    async def _pages(self, pager: Pager, filters: dict[str, str | None]) -> AsyncIterator[Order]:
        while not pager.done:
            page = await self._run(self._order_page(pager.page_size, pager.offset, filters))
            for order in pager.take(page):
                yield order

    async def _run(self, flow: Flow[Value]) -> Value:
        return await run_async(flow, self._http.send)
