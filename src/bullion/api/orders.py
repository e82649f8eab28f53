"""Places, reads and lists orders, in both environments."""

import re
from http import HTTPStatus
from typing import Protocol

import structlog

from bullion.allocation.book import book_id
from bullion.booking.attempt import Booked, OrderAttempt, OrderCheck, Outcome
from bullion.booking.booking_errors import booking_error
from bullion.events.recent_orders import RecentOrders
from bullion.faults import StoreFault
from bullion.orders.life import hidden
from bullion.orders.order import API, Order
from bullion.orders.reader import OrderReader
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.orders.verdict import REPLAYED, Refusal
from bullion.refusals.catalogue import ORDER_NOT_FOUND, ORDER_REJECTED, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.web.body import body_at_hand, read_body
from bullion.web.response import Response, encode_json, header_line, json_response

from .gate import Gate
from .list_query import read_list_query
from .order_body import BODY_BYTES_MAX, read_place_order
from .order_check import ClientOrderCheck
from .order_json_cache import OrderJsonCache
from .request import Request
from .tracer import Tracer
from .wire.orders import order_view

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REPLAYED_LINE = header_line(b"idempotent-replayed", b"true")
_OK, _CREATED, _ACCEPTED = 200, 201, 202
_NOT_A_DEAL = (Status.PENDING, Status.DELETED)
_REJECTED = Status.REJECTED

_log = structlog.get_logger("api")


class OrderBooking(Protocol):
    """Books an order: the queue in test, `Production` in production. May raise StoreFault."""

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
        recent: RecentOrders | None = None,
    ) -> None:
        self._booking = booking
        self._check = check
        self._reader = reader
        self._tracer = tracer
        self._gate = gate
        self._json_cache = OrderJsonCache()
        self._recent = recent

    async def place(self, request: Request, scenario: str | None = None) -> Response:
        """`scenario`: the simulated response that the caller requested, for the trace."""
        caller, call = request.caller, request.call
        try:
            body = body_at_hand(request.scope, request.headers, BODY_BYTES_MAX)
            if body is None:
                body = await read_body(request.scope["headers"], request.receive, BODY_BYTES_MAX)
            idempotency_key, asked = self._read(request, body)
        except RefusalError as refused:
            self._tracer.trace_refusal(call, caller, refused, scenario)
            raise
        attempt = OrderAttempt(
            book_id=book_id_of(request),
            broker=caller.account.broker,
            source=API,
            idempotency_key=idempotency_key,
            asked=asked,
            key_id=caller.key.key_id,
            request_id=call.request_id.decode("ascii"),
            address=call.address,
            admitted_serial=caller.admitted_serial,
        )
        try:
            outcome = await self._booking.place(attempt, self._check)
        except StoreFault as fault:
            _log.warning("store_fault", fault=repr(fault))
            error = self._error(fault)
            refusal = Refusal(error.refusal, compared={"fault": repr(fault)})
            self._tracer.trace_decision(attempt, refusal, scenario)
            raise error from fault
        if isinstance(outcome, Refusal) and outcome.refusal.status == HTTPStatus.UNAUTHORIZED:
            await self._gate.count_failure(call, caller)
        self._tracer.trace_decision(attempt, outcome, scenario)
        if isinstance(outcome, Refusal):
            raise outcome.to_error()
        if self._recent is not None and not outcome.replayed:
            self._recent.add(outcome.order)
        return _booked(request, outcome)

    def _read(self, request: Request, body: bytes) -> tuple[str, PlaceOrder]:
        try:
            return read_place_order(request.headers, body)
        except RefusalError:
            # The refusal of a closed production environment takes precedence over problems of the request.
            closed = self._check.why_closed(request.caller.account)
            if closed is not None:
                raise closed.to_error() from None
            raise

    def _error(self, _: StoreFault) -> RefusalError:
        return RefusalError(SERVICE_UNAVAILABLE)

    async def get_order(self, request: Request) -> Response:
        order_id = _order_id(request)
        self._json_cache.follow(self._reader.failovers)
        written = self._json_cache.find(book_id_of(request), order_id)
        if written is None:
            written = self._json_cache.add(await self._order(request, order_id))
        return Response(_OK, written)

    async def _order(self, request: Request, order_id: str) -> Order:
        order = await self._reader.order(book_id_of(request), order_id)
        if order is None or hidden(order):
            raise RefusalError(ORDER_NOT_FOUND)
        return order

    async def list_orders(self, request: Request) -> Response:
        query = read_list_query(request.scope["query_string"], with_status=False)
        book = book_id_of(request)
        ordinals, total = await self._reader.page_ordinals(book, query)
        self._json_cache.follow(self._reader.failovers)
        written = self._json_cache.find_all(book, ordinals)
        missing = [each for each in ordinals if each not in written]
        if missing:
            orders = await self._reader.orders(book, missing)
            written |= {ordinal: self._json_cache.add(order) for ordinal, order in orders.items()}
        items = b",".join([written[each] for each in ordinals])
        return Response(_OK, b'{"items":[%b],"total":%d}' % (items, total))


class ProductionOrders(Orders):
    """The orders of the production environment, including those of other channels."""

    def _error(self, fault: StoreFault) -> RefusalError:
        return booking_error(fault)

    async def get_order(self, request: Request) -> Response:
        return json_response(order_view(await self._order(request, _order_id(request))))

    async def list_orders(self, request: Request) -> Response:
        query = read_list_query(request.scope["query_string"], with_status=True)
        orders, total = await self._reader.page_orders(book_id_of(request), query)
        return json_response({"items": [order_view(order) for order in orders], "total": total})


def book_id_of(request: Request) -> int:
    return book_id(request.caller.account.id, request.caller.key.environment)


def _order_id(request: Request) -> str:
    order_id = request.params["order_id"].lower()
    if not _UUID.fullmatch(order_id):
        raise RefusalError(ORDER_NOT_FOUND)
    return order_id


def _booked(request: Request, booked: Booked) -> Response:
    order, replayed = booked.order, booked.replayed
    view = order_view(order)
    if order.status == _REJECTED:
        raise RefusalError(
            ORDER_REJECTED,
            fields={"order_id": order.id, "order": view},
            headers=REPLAYED if replayed else None,
        )
    status = _ACCEPTED if order.status in _NOT_A_DEAL else _CREATED
    if replayed:
        request.call.header_lines += _REPLAYED_LINE
        status = _OK
    return Response(status, encode_json(view))
