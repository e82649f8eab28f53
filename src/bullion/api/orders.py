"""Orders in both environments: placing them, and reading them back."""

import re
from http import HTTPStatus
from typing import Protocol

import structlog

from bullion.allocation.book import book_id
from bullion.booking.attempt import Booked, OrderAttempt, OrderCheck, Outcome
from bullion.booking.booking_errors import booking_error
from bullion.faults import StoreFault
from bullion.orders.life import hidden
from bullion.orders.order import API, Order
from bullion.orders.reader import OrderReader
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.orders.verdict import REPLAYED, Refusal
from bullion.refusals.catalogue import ORDER_NOT_FOUND, ORDER_REJECTED, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.web.body import read_body
from bullion.web.response import Response, encode_json, header_line, json_response

from .gate import Gate
from .list_query import read_list_query
from .order_body import BODY_BYTES_MAX, read_place_order
from .order_check import ClientOrderCheck
from .order_view import WrittenOrders
from .request import Request
from .tracer import Tracer
from .wire.orders import order_view

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REPLAYED_LINE = header_line(b"idempotent-replayed", b"true")
_OK, _CREATED, _ACCEPTED = 200, 201, 202
_NOT_A_DEAL = (Status.PENDING, Status.DELETED)

_log = structlog.get_logger("api")


class OrderBooking(Protocol):
    """What books an order: the queue in test, `Production` in production. May raise StoreFault."""

    async def place(self, attempt: OrderAttempt, check: OrderCheck) -> Outcome: ...


class Orders:
    """The orders of the test environment."""

    def __init__(
        self,
        booking: OrderBooking,
        check: ClientOrderCheck,
        reader: OrderReader,
        tracer: Tracer,
        gate: Gate,
    ) -> None:
        self._booking = booking
        self._check = check
        self._reader = reader
        self._tracer = tracer
        self._gate = gate
        self._written = WrittenOrders()

    async def place(self, request: Request, scenario: str | None = None) -> Response:
        """`scenario` is noted in the trace: the answer that the caller asked the test environment for."""
        caller, call = request.caller, request.call
        try:
            idempotency_key, asked = await self._read(request)
        except RefusalError as refused:
            self._tracer.refused(call, caller, refused, scenario)
            raise
        attempt = OrderAttempt(
            book_id=of_book(request),
            broker=caller.account.broker,
            source=API,
            idempotency_key=idempotency_key,
            asked=asked,
            key_id=caller.key.key_id,
            request_id=call.request_id.decode("ascii"),
            address=call.address,
        )
        try:
            outcome = await self._booking.place(attempt, self._check)
        except StoreFault as fault:
            _log.warning("store_fault", request_id=attempt.request_id, fault=repr(fault))
            error = self._error(fault)
            refusal = Refusal(error.refusal, compared={"fault": repr(fault)})
            self._tracer.decided(attempt, refusal, scenario)
            raise error from fault
        if isinstance(outcome, Refusal) and outcome.refusal.status == HTTPStatus.UNAUTHORIZED:
            await self._gate.count_failure(call, caller)
        self._tracer.decided(attempt, outcome, scenario)
        if isinstance(outcome, Refusal):
            raise outcome.refused()
        return _booked(request, outcome)

    async def _read(self, request: Request) -> tuple[str, PlaceOrder]:
        headers = request.scope["headers"]
        body = await read_body(headers, request.receive, BODY_BYTES_MAX)
        try:
            return read_place_order(headers, body)
        except RefusalError:
            # While production is closed, that is the answer, whatever else is wrong with the call.
            closed = self._check.closed(request.caller.account)
            if closed is not None:
                raise closed.refused() from None
            raise

    def _error(self, _: StoreFault) -> RefusalError:
        return RefusalError(SERVICE_UNAVAILABLE)

    async def one(self, request: Request) -> Response:
        order_id = _order_id(request)
        written = self._written.find(of_book(request), order_id)
        if written is None:
            written = self._written.add(await self._order(request, order_id))
        return Response(_OK, written)

    async def _order(self, request: Request, order_id: str) -> Order:
        order = await self._reader.order(of_book(request), order_id)
        if order is None or hidden(order):
            raise RefusalError(ORDER_NOT_FOUND)
        return order

    async def listed(self, request: Request) -> Response:
        query = read_list_query(request.scope["query_string"], with_status=False)
        book = of_book(request)
        ordinals, total = await self._reader.page(book, query)
        written = self._written.find_all(book, ordinals)
        missing = [each for each in ordinals if each not in written]
        if missing:
            orders = await self._reader.orders(book, missing)
            written |= {ordinal: self._written.add(order) for ordinal, order in orders.items()}
        items = b",".join([written[each] for each in ordinals])
        return Response(_OK, b'{"items":[%b],"total":%d}' % (items, total))


class ProductionOrders(Orders):
    """The orders of the production environment, with those of other channels."""

    def _error(self, fault: StoreFault) -> RefusalError:
        return booking_error(fault)

    async def one(self, request: Request) -> Response:
        return json_response(order_view(await self._order(request, _order_id(request))))

    async def listed(self, request: Request) -> Response:
        query = read_list_query(request.scope["query_string"], with_status=True)
        orders, total = await self._reader.whole_page(of_book(request), query)
        return json_response({"items": [order_view(order) for order in orders], "total": total})


def of_book(request: Request) -> int:
    return book_id(request.caller.account.id, request.caller.key.environment)


def _order_id(request: Request) -> str:
    order_id = request.item.lower()
    if not _UUID.fullmatch(order_id):
        raise RefusalError(ORDER_NOT_FOUND)
    return order_id


def _booked(request: Request, booked: Booked) -> Response:
    order, replayed = booked.order, booked.replayed
    view = order_view(order)
    if order.status == Status.REJECTED:
        raise RefusalError(
            ORDER_REJECTED,
            fields={"order_id": order.id, "order": view},
            headers=REPLAYED if replayed else None,
        )
    status = _ACCEPTED if order.status in _NOT_A_DEAL else _CREATED
    if replayed:
        request.more += _REPLAYED_LINE
        status = _OK
    return Response(status, encode_json(view))
