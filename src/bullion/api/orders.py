"""`POST /orders` in the test environment, and reading orders back. No way leads from here to a venue."""

import re
from http import HTTPStatus

from bullion.allocation.book import book_id
from bullion.booking.placing import Placing
from bullion.booking.queue import BookingQueue
from bullion.faults import StoreFault
from bullion.keys.key import Scope
from bullion.orders.market import Market
from bullion.orders.order import API
from bullion.orders.reader import OrderReader
from bullion.orders.verdict import Refusal, Verdict
from bullion.refusals.catalogue import ORDER_NOT_FOUND, SERVICE_UNAVAILABLE
from bullion.refusals.refusal import RefusalError
from bullion.web.answer import Answer, header_line
from bullion.web.body import read_body

from .gate import Gate
from .list_query import read_list_query
from .order_body import BODY_BYTES_MAX, read_place_order
from .order_view import OrderViews
from .request import Request
from .tracer import Tracer

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
REPLAYED_LINE = header_line(b"idempotent-replayed", b"true")


class Orders:
    def __init__(
        self,
        market: Market,
        queue: BookingQueue,
        reader: OrderReader,
        tracer: Tracer,
        gate: Gate,
    ) -> None:
        self._market = market
        self._queue = queue
        self._reader = reader
        self._tracer = tracer
        self._gate = gate
        self._views = OrderViews()

    def traced_by(self, tracer: Tracer) -> "Orders":
        return Orders(self._market, self._queue, self._reader, tracer, self._gate)

    async def place(self, request: Request) -> Answer:
        headers, caller, call = request.scope["headers"], request.caller, request.call
        try:
            body = await read_body(headers, request.receive, BODY_BYTES_MAX)
            idempotency_key, asked = read_place_order(headers, body)
        except RefusalError as refused:
            self._tracer.refused(call, caller, refused)
            raise

        def judge() -> Verdict:
            """By what memory holds now: the caller, who may no longer be let through, and the market."""
            refusal = self._gate.still_admits(caller, call.address, Scope.ORDERS_WRITE)
            return Refusal(refusal) if refusal else self._market.judge(self._gate.account(caller), asked)

        placing = Placing(
            book_id=of_book(request),
            broker=caller.account.broker,
            source=API,
            idempotency_key=idempotency_key,
            asked=asked,
            key_id=caller.key.key_id,
            request_id=call.request_id.decode("ascii"),
            judge=judge,
            verdict=self._market.judge(caller.account, asked),
            judged_by=caller.judged_by,
        )
        try:
            outcome = await self._queue.place(placing)
        except StoreFault as fault:
            self._tracer.judged(
                call, caller, placing, Refusal(SERVICE_UNAVAILABLE, compared={"fault": repr(fault)})
            )
            raise
        if isinstance(outcome, Refusal) and outcome.refusal.status == HTTPStatus.UNAUTHORIZED:
            await self._gate.count_failure(call, caller)
        self._tracer.judged(call, caller, placing, outcome)
        if isinstance(outcome, Refusal):
            raise outcome.refused()
        if outcome.replayed:
            request.more += REPLAYED_LINE
        return Answer(200 if outcome.replayed else 201, self._views.new(outcome.order))

    async def one(self, request: Request) -> Answer:
        order_id, book = request.item.lower(), of_book(request)
        order = None
        if UUID.fullmatch(order_id):
            kept = self._views.of_id(book, order_id)
            if kept is not None:
                return Answer(200, kept)
            order = await self._reader.order(book, order_id)
        if order is None:
            raise RefusalError(ORDER_NOT_FOUND)
        return Answer(200, self._views.one(order))

    async def listed(self, request: Request) -> Answer:
        query = read_list_query(request.scope["query_string"], with_status=False)
        book = of_book(request)
        ordinals, total = await self._reader.page(book, query)
        written = self._views.kept(book, ordinals)
        missing = [each for each in ordinals if each not in written]
        if missing:
            orders = await self._reader.orders(book, missing)
            written |= {ordinal: self._views.one(order) for ordinal, order in orders.items()}
        items = b",".join([written[each] for each in ordinals])
        return Answer(200, b'{"items":[%b],"total":%d}' % (items, total))


def of_book(request: Request) -> int:
    return book_id(request.caller.account.id, request.caller.key.environment)
