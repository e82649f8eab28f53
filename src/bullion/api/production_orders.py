"""Production orders: placed (judged, recorded, hedged), and read back with those of other channels."""

from http import HTTPStatus

from bullion.booking.faults_told import booking_refused
from bullion.booking.placing import Booked, Placing
from bullion.booking.production import Production
from bullion.faults import StoreFault
from bullion.keys.key import Scope
from bullion.orders import life
from bullion.orders.order import API, Order
from bullion.orders.reader import OrderReader
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.orders.verdict import REPLAYED, Refusal, Verdict
from bullion.refusals.catalogue import ORDER_NOT_FOUND, ORDER_REJECTED
from bullion.refusals.refusal import RefusalError
from bullion.web.answer import Answer
from bullion.web.body import read_body

from .gate import Gate
from .list_query import read_list_query
from .order_body import BODY_BYTES_MAX, read_place_order
from .order_view import OrderViews
from .orders import REPLAYED_LINE, UUID, of_book
from .request import Request
from .tracer import Tracer
from .wire.orders import order_view


class ProductionOrders:
    def __init__(self, production: Production, reader: OrderReader, tracer: Tracer, gate: Gate) -> None:
        self._production = production
        self._reader = reader
        self._tracer = tracer
        self._gate = gate
        self._views = OrderViews()

    async def place(self, request: Request) -> Answer:
        caller, call = request.caller, request.call
        placing = await self._read(request)
        try:
            outcome = await self._production.place(placing)
        except StoreFault as fault:
            refused = booking_refused(fault)
            self._tracer.judged(
                call, caller, placing, Refusal(refused.refusal, compared={"fault": repr(fault)})
            )
            raise refused from fault
        if isinstance(outcome, Refusal) and outcome.refusal.status == HTTPStatus.UNAUTHORIZED:
            await self._gate.count_failure(call, caller)
        self._tracer.judged(call, caller, placing, outcome)
        if isinstance(outcome, Refusal):
            raise outcome.refused()
        return self._booked(request, outcome)

    async def _read(self, request: Request) -> Placing:
        headers, caller, call = request.scope["headers"], request.caller, request.call
        try:
            body = await read_body(headers, request.receive, BODY_BYTES_MAX)
            idempotency_key, asked = self._read_order(request, body)
        except RefusalError as refused:
            self._tracer.refused(call, caller, refused)
            raise

        def judge() -> Verdict:
            """By what memory holds now: the caller, production's switches, and the market."""
            refusal = self._gate.still_admits(caller, call.address, Scope.ORDERS_WRITE)
            if refusal is not None:
                return Refusal(refusal)
            account = self._gate.account(caller)
            return self._production.closed(account) or self._production.judge(account, asked)

        return Placing(
            book_id=of_book(request),
            broker=caller.account.broker,
            source=API,
            idempotency_key=idempotency_key,
            asked=asked,
            key_id=caller.key.key_id,
            request_id=call.request_id.decode("ascii"),
            judge=judge,
            verdict=judge(),
            judged_by=caller.judged_by,
        )

    def _read_order(self, request: Request, body: bytes) -> tuple[str, PlaceOrder]:
        try:
            return read_place_order(request.scope["headers"], body)
        except RefusalError:
            # While production is off, that is what is told, whatever else is wrong with the call.
            closed = self._production.closed(request.caller.account)
            if closed is not None:
                raise closed.refused() from None
            raise

    def _booked(self, request: Request, booked: Booked) -> Answer:
        order = booked.order
        if order.status == Status.REJECTED:
            raise RefusalError(
                ORDER_REJECTED,
                fields={"order_id": order.id, "order": order_view(order)},
                headers=REPLAYED if booked.replayed else None,
            )
        written = self._views.one(order)
        if booked.replayed:
            request.more += REPLAYED_LINE
            return Answer(HTTPStatus.OK, written)
        return Answer(HTTPStatus.CREATED if _is_deal(order) else HTTPStatus.ACCEPTED, written)

    async def one(self, request: Request) -> Answer:
        order_id = request.item.lower()
        order = None
        if UUID.fullmatch(order_id):
            order = await self._reader.order(of_book(request), order_id)
        if order is None or life.hidden(order):
            raise RefusalError(ORDER_NOT_FOUND)
        return Answer(HTTPStatus.OK, self._views.one(order))

    async def listed(self, request: Request) -> Answer:
        query = read_list_query(request.scope["query_string"], with_status=True)
        orders, total = await self._reader.whole_page(of_book(request), query)
        items = b",".join([self._views.one(order) for order in orders])
        return Answer(HTTPStatus.OK, b'{"items":[%b],"total":%d}' % (items, total))


def _is_deal(order: Order) -> bool:
    return order.status not in (Status.PENDING, Status.DELETED)
