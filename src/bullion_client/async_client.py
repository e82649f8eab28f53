"""The asynchronous client."""

import math
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Literal, Self, TypedDict, Unpack, overload

import httpx

from bullion_client.base_client import BaseClient
from bullion_client.enums import Environment, OrderStatus, TradeType
from bullion_client.event_models import Event, EventPage
from bullion_client.event_stream import AsyncEventStream
from bullion_client.flow import Flow, NotSentError, Value, run_async
from bullion_client.intent import Intent
from bullion_client.journal import Journal
from bullion_client.models import (
    Account,
    Order,
    OrderPage,
    OrderT_co,
    Positions,
    ProductionOrder,
    Quote,
    Symbol,
    TestOrder,
)
from bullion_client.numbers import Number
from bullion_client.pagination import PAGE_SIZE_MAX, Pager
from bullion_client.paths import EVENT_LIMIT_MAX, events_path, order_filters
from bullion_client.raw import AsyncRawCalls
from bullion_client.transport import check_proxy
from bullion_client.webhook_calls import AsyncWebhooks


class _Options(TypedDict, total=False):
    """The other arguments of `AsyncClient`, for type checkers."""

    timeout: float
    transport: httpx.AsyncBaseTransport | None
    proxy: str | httpx.Proxy | None
    http_client: httpx.AsyncClient | None
    deadline: float
    pace: bool
    journal: Journal | None
    headers: Mapping[str, str] | None
    application: str | None


class AsyncClient(BaseClient[OrderT_co]):
    """A client for asyncio: `Client` with `await`. Tasks of one event loop may share it.

    The arguments and the calls are those of `Client`, with `transport` any `httpx.AsyncBaseTransport` and
    `http_client` an `httpx.AsyncClient`; use `orders()` with `async for`. Close it with `await aclose()`, or
    use it with `async with`.
    """

    @overload
    def __init__(
        self: "AsyncClient[TestOrder]",
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        environment: Literal["test", Environment.TEST],
        **options: Unpack[_Options],
    ) -> None: ...

    @overload
    def __init__(
        self: "AsyncClient[ProductionOrder]",
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        environment: Literal["production", Environment.PRODUCTION],
        **options: Unpack[_Options],
    ) -> None: ...

    @overload
    def __init__(
        self: "AsyncClient[Order]",
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        environment: Environment | None = None,
        **options: Unpack[_Options],
    ) -> None: ...

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        environment: Environment | str | None = None,
        timeout: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | httpx.Proxy | None = None,
        http_client: httpx.AsyncClient | None = None,
        deadline: float = 60.0,
        pace: bool = False,
        journal: Journal | None = None,
        headers: Mapping[str, str] | None = None,
        application: str | None = None,
    ) -> None:
        super().__init__(
            base_url,
            api_key,
            timeout,
            deadline,
            journal,
            pace=pace,
            environment=environment,
            headers=headers,
            application=application,
        )
        checked = check_proxy(proxy, transport, http_client, httpx.AsyncClient)
        self._owns_connections = http_client is None
        self._http = http_client or httpx.AsyncClient(
            timeout=timeout, transport=transport, proxy=checked, follow_redirects=False
        )

    @property
    def webhooks(self) -> AsyncWebhooks:
        """The calls that create and manage webhooks. They need the scope `webhooks:manage`."""
        return AsyncWebhooks(self._webhook_flows(), self._run)

    @property
    def with_raw_response(self) -> AsyncRawCalls[OrderT_co]:
        """The same calls, each of which returns a `RawResponse`: the result, status, headers, request id."""
        return AsyncRawCalls(self, self._recorded)

    async def me(self, *, headers: Mapping[str, str] | None = None) -> Account:
        """Return the account and the key behind this client. Needs the scope `account:read`."""
        return await self._run(self._me(headers))

    async def symbols(self, *, headers: Mapping[str, str] | None = None) -> tuple[Symbol, ...]:
        """Return the symbols that the account can trade, with sizes. Needs `orders:read`."""
        return await self._run(self._symbols(headers))

    async def quotes(
        self, symbol_code: str | None = None, *, headers: Mapping[str, str] | None = None
    ) -> tuple[Quote, ...]:
        """Return the account's prices for all symbols, or for one. Needs `orders:read`.

        Raises `UnknownSymbol` if there is no such symbol. Codes are case-sensitive.
        """
        return await self._run(self._quotes(symbol_code, headers))

    async def quote(self, symbol_code: str, *, headers: Mapping[str, str] | None = None) -> Quote:
        """Return the account's prices for one symbol, or raise `UnknownSymbol`. Needs `orders:read`."""
        return await self._run(self._quote(symbol_code, headers))

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
        headers: Mapping[str, str] | None = None,
    ) -> OrderT_co:
        """Place a market order. It is placed once, however often it is sent. Needs `orders:write`.

        In production the order may be `pending`: see `wait`. With `expected_price` it is refused if the price
        has moved too far from it. `idempotency_key` is a new key of your own; without one, a UUID is used. To
        continue with a key that was sent, use `resume`.

        Raises a `Refusal` if nothing is booked, finally; `NotPlaced` if the deadline passed and nothing is
        booked; `OutcomeUnknown` if it may be booked.
        """
        options = (expected_price, client_order_id, idempotency_key, deadline, headers)
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
        headers: Mapping[str, str] | None = None,
    ) -> OrderT_co:
        """Place an order to buy: see `place`."""
        options = (expected_price, client_order_id, idempotency_key, deadline, headers)
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
        headers: Mapping[str, str] | None = None,
    ) -> OrderT_co:
        """Place an order to sell: see `place`."""
        options = (expected_price, client_order_id, idempotency_key, deadline, headers)
        return await self._run(self._place(symbol_code, TradeType.SELL, quantity, *options))

    async def resume(
        self,
        intent: Intent,
        *,
        deadline: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> OrderT_co:
        """Send an order again whose outcome is unknown, or that was not placed: same key, same body.

        Returns the order if it was booked, and places it now if it was not; there is never a second one.
        Check `intent.made_at` first: an order that was not booked then is booked at the current price. An
        intent of another environment or account raises `ValueError`. Other errors are those of `place`.
        """
        return await self._run(self._resume(intent, deadline, headers))

    async def find(
        self,
        intent: Intent,
        *,
        deadline: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> OrderT_co | None:
        """Return the order of an intent, or None if nothing is booked; place nothing. Needs `orders:write`.

        None means that nothing will be booked either, unless the intent is sent again: `resume` it or not.
        If the intent ended with `price_moved` or `order_rejected`, that is raised. Raises `OutcomeUnknown` if
        nothing is recorded so far, but a lost try may still arrive, or if the service cannot be asked.
        """
        return await self._run(self._find(intent, deadline, headers))

    async def order(self, order_id: str, *, headers: Mapping[str, str] | None = None) -> OrderT_co:
        """Return an order as it is now, or raise `NotFound`. Needs `orders:read`."""
        return await self._run(self._order(order_id, headers))

    def orders(
        self,
        *,
        symbol_code: str | None = None,
        trade_type: TradeType | str | None = None,
        since: datetime | None = None,
        status: OrderStatus | str | None = None,
        client_order_id: str | None = None,
        page_size: int = PAGE_SIZE_MAX,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[OrderT_co]:
        """Iterate over the account's orders, newest first, reading pages as needed. Needs `orders:read`.

        No order appears twice, and none that was there at the start is missed, even if others come and go
        meanwhile. `status` is for production: one of `OrderStatus`, or `all`, which leaves out deleted
        orders. With a test key any status but `all` raises `ValueError`: the test environment has no such
        filter.
        """
        filters = order_filters(self.environment, symbol_code, trade_type, since, status, client_order_id)
        return self._pages(Pager(page_size), filters, headers)

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
        headers: Mapping[str, str] | None = None,
    ) -> OrderPage[OrderT_co]:
        """Return one page of the orders, newest first, and the total. Needs `orders:read`."""
        filters = order_filters(self.environment, symbol_code, trade_type, since, status, client_order_id)
        return await self._run(self._order_page(limit, offset, filters, headers))

    async def positions(self, *, headers: Mapping[str, str] | None = None) -> Positions:
        """Return the account's positions and the rest of its allocation. Needs `orders:read`."""
        return await self._run(self._positions(headers))

    def events(
        self,
        after: int | None = None,
        *,
        wait: int = 0,
        page_size: int = EVENT_LIMIT_MAX,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Event]:
        """Iterate over the account's events, oldest first, reading pages as needed. Needs `orders:read`.

        Begins after the event with this number, or with the oldest that is kept. Ends with the newest; with
        `wait`, once nothing has happened for so many seconds, at most 30. Raises `EventsGone` if events after
        this number are no longer kept. To get events as they happen, use `stream`.
        """
        events_path(after, page_size, wait)
        return self._event_pages(after, page_size, wait, headers)

    async def event_page(
        self,
        after: int | None = None,
        *,
        limit: int = 50,
        wait: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> EventPage:
        """Return one page of the events, oldest first. Needs `orders:read`.

        With `wait`, an empty page is only returned if nothing happens for so many seconds, at most 30. Raises
        `EventsGone` if events after this number are no longer kept.
        """
        return await self._run(self._event_page(after, limit, wait, headers))

    def stream(
        self,
        after: int | None = None,
        *,
        deadline: float = math.inf,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncEventStream:
        """Iterate over events as they happen, without end. Needs `orders:read`.

        Begins after the event with this number, or with what happens from now on. Use it as a context
        manager. It goes on after any break, without a gap and without an event twice, and by long polling
        where there is no stream. `deadline` is how long to reconnect after a break before the error is
        raised. Raises `EventsGone` if events after this number are no longer kept.
        """
        return AsyncEventStream(self._event_feed(after, deadline, headers), self._run)

    async def wait(
        self,
        order: Order | str,
        *,
        timeout: float = 30.0,  # noqa: ASYNC109 - no error
        headers: Mapping[str, str] | None = None,
    ) -> OrderT_co:
        """Wait until an order, or the order with this id, is no longer pending. Needs `orders:read`.

        Events of the service tell when to look; without them the order is polled every one to two seconds.
        After `timeout` seconds return it as it is, perhaps still pending: then check again later, and do not
        place another order for it.
        """
        return await self._run(self._wait(order, timeout, headers))

    async def aclose(self) -> None:
        """Close the connections. The client cannot be used afterwards.

        An `http_client` of your own stays open, and so do the connections after `with_options`.
        """
        if self._owns_connections:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _pages(
        self, pager: Pager[OrderT_co], filters: dict[str, str | None], headers: Mapping[str, str] | None
    ) -> AsyncIterator[OrderT_co]:
        while not pager.done:
            page = await self._run(self._order_page(pager.page_size, pager.offset, filters, headers))
            for order in pager.take(page):
                yield order

    async def _event_pages(
        self, after: int | None, limit: int, wait: int, headers: Mapping[str, str] | None
    ) -> AsyncIterator[Event]:
        page: EventPage | None = None
        while page is None or page.has_more or (wait and page.items):
            page = await self._run(self._event_page(after, limit, wait, headers))
            for event in page.items:
                yield event
            after = page.next_after

    async def _run(self, flow: Flow[Value]) -> Value:
        return await run_async(flow, self._send, self._open)

    async def _send(self, request: httpx.Request) -> httpx.Response:
        if self._http.is_closed:
            raise NotSentError("the client is closed, so nothing was sent")
        # Redirects are not followed, whatever an http_client of the caller's does otherwise.
        return self._note(await self._http.send(request, follow_redirects=False))

    async def _open(self, request: httpx.Request) -> httpx.Response:
        return await self._http.send(request, stream=True, follow_redirects=False)
