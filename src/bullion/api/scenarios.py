"""Simulated responses that a client of the test environment requests, to test its own program.

Scenarios run after the gate, and only for accounts that the desk allows them for. The response is made from
the refusal catalogue and the call's description. Production paths have no scenarios: see `endpoints`.
"""

from http import HTTPStatus
from random import getrandbits

from bullion.allocation.book import book_id
from bullion.booking.decide import limit_exceeded
from bullion.budgets.limiter import BudgetState
from bullion.catalogue.catalogue import Catalogue
from bullion.environment import Environment
from bullion.metals.metal import Metal
from bullion.metals.symbol import Side
from bullion.orders.order import API, Order, signed_e4
from bullion.orders.order_id import RANDOM_BITS, order_id
from bullion.orders.reader import OrderReader
from bullion.orders.request import PlaceOrder
from bullion.orders.status import Status
from bullion.refusals.catalogue import (
    AUTH_THROTTLED,
    INVALID_REQUEST,
    INVALID_SIDE,
    LIMIT_EXCEEDED,
    ORDER_REJECTED,
    PRECEDENCE,
    PRODUCTION_TRADING_DISABLED,
    RATE_LIMITED,
    RATE_LIMITER_UNAVAILABLE,
    REQUEST_TIMEOUT,
    SCENARIO_NOT_ALLOWED,
    UNKNOWN_SYMBOL,
)
from bullion.refusals.refusal import RefusalCode, RefusalError
from bullion.web.body import read_body
from bullion.web.response import AbortConnection, Response, header_line, refusal_response

from .app import Handler
from .gate import scope_message
from .openapi.endpoint import Endpoint as Described
from .openapi.endpoints import ENDPOINTS, PLACE_ORDER
from .order_body import BODY_BYTES_MAX, read_place_order
from .orders import Orders, book_id_of
from .rate_limits import limit_lines
from .request import Request
from .scenario import HEADER, CallScenarios, Scenario, requestable
from .tracer import SCENARIO, Tracer
from .wire.orders import order_view

_HEADER = HEADER.lower().encode("ascii")
_CALLS = {f"{described.method.upper()} {described.path}": described for described in ENDPOINTS}
_CALL_OF = {code: call for call, described in _CALLS.items() for code in requestable(described.refusals)}

Placed = tuple[str, PlaceOrder]
"""An idempotency key and its order."""


class Scenarios:
    def __init__(self, catalogue: Catalogue, reader: OrderReader, tracer: Tracer, orders: Orders) -> None:
        self._catalogue = catalogue
        self._reader = reader
        self._tracer = tracer
        self._orders = orders

    def of(self, call: str, answer: Handler) -> Handler:
        """A handler for calls with the scenario header. `answer` is the handler of the real call."""
        described = _CALLS[call]
        scenarios = CallScenarios(
            call, requestable(described.refusals), _CALL_OF, places_order=described is PLACE_ORDER
        )

        async def simulate(request: Request) -> Response:
            scenario = self._read(request, scenarios)
            if scenario.until_us is not None and self._catalogue.now_us() >= scenario.until_us:
                return await answer(request)
            if scenario.booked:
                placed = await self._orders.place(request, scenario.text)
                # A replay gets the real response: a retry must find the order.
                return _simulated(request, scenario) if placed.status == HTTPStatus.CREATED else placed
            return await self._respond(request, scenario, described)

        return simulate

    def _read(self, request: Request, scenarios: CallScenarios) -> Scenario:
        try:
            if not request.caller.account.scenarios:
                raise RefusalError(SCENARIO_NOT_ALLOWED)
            return scenarios.read(request.caller.scenario)
        except RefusalError as refused:
            if scenarios.places_order:
                self._tracer.trace_refusal(request.call, request.caller, refused)
            raise

    async def _respond(self, request: Request, scenario: Scenario, described: Described) -> Response:
        row = scenario.row
        if described is PLACE_ORDER:
            placed = await self._read_order(request, row)
            refused = None if row is None else await self._order_refused(request, scenario, row, placed)
            self._tracer.trace_simulated(request.call, request.caller, scenario.text, placed)
        else:
            refused = None if row is None else _refused(scenario, row, described)
        return _simulated(request, scenario, refused)

    # --- Orders ---------------------------------------------------------------------------------------

    async def _read_order(self, request: Request, row: RefusalCode | None) -> Placed | None:
        """The order, if the refusal comes after the order is read. An invalid order is refused as such."""
        if row is None or PRECEDENCE[row.code] <= PRECEDENCE[INVALID_REQUEST.code]:
            return None
        try:
            body = await read_body(request.scope["headers"], request.receive, BODY_BYTES_MAX)
            placed = read_place_order(request.headers, body)
            self._check_names(request, row, placed[1])
        except RefusalError as refused:
            self._tracer.trace_refusal(request.call, request.caller, refused)
            raise
        return placed

    def _check_names(self, request: Request, row: RefusalCode, asked: PlaceOrder) -> None:
        """Refuse an unknown symbol or side if the scenario's refusal comes after those checks."""
        known = (request.caller.account.broker, asked.symbol_code) in self._catalogue.symbols
        if PRECEDENCE[row.code] > PRECEDENCE[UNKNOWN_SYMBOL.code] and not known:
            raise RefusalError(UNKNOWN_SYMBOL)
        if PRECEDENCE[row.code] > PRECEDENCE[INVALID_SIDE.code] and asked.trade_type not in list(Side):
            raise RefusalError(INVALID_SIDE)

    async def _order_refused(
        self, request: Request, scenario: Scenario, row: RefusalCode, placed: Placed | None
    ) -> RefusalError:
        if placed is not None and row in (LIMIT_EXCEEDED, ORDER_REJECTED):
            key, asked = placed
            metal = self._catalogue.symbols[request.caller.account.broker, asked.symbol_code].metal
            if row is LIMIT_EXCEEDED:
                book = await self._reader.book(book_id_of(request))
                return limit_exceeded(metal, book.position(metal), signed_e4(asked)).to_error()
            order = _rejected(request, metal, key, asked, self._catalogue.now_us())
            return RefusalError(row, fields={"order_id": order.id, "order": order_view(order)})
        return _refused(scenario, row, PLACE_ORDER)


def _refused(scenario: Scenario, row: RefusalCode, described: Described) -> RefusalError:
    """The refusal, with the fields that the call's description has for it."""
    fields = described.further.get(row)
    if row is PRODUCTION_TRADING_DISABLED:
        fields = {"reason": scenario.reason}
    return RefusalError(
        row,
        scope_message(row, described.scope),
        retry_after_s=scenario.retry_after_s,
        fields=fields,
        headers={"Connection": "close"} if row is REQUEST_TIMEOUT else None,
    )


def _rejected(request: Request, metal: Metal, key: str, asked: PlaceOrder, now_us: int) -> Order:
    """The order as production would have recorded it. Ordinal 0 is never used, so it is never found."""
    caller = request.caller
    return Order(
        book_id=book_id(caller.account.id, Environment.PRODUCTION),
        ordinal=0,
        id=order_id(now_us, 0, getrandbits(RANDOM_BITS)),
        source=API,
        idempotency_key=key,
        asked=asked,
        metal=metal,
        price_paise=0,
        total_paise=0,
        status=Status.REJECTED.value,
        key_id=caller.key.key_id,
        request_id=request.call.request_id.decode("ascii"),
        created_at_us=now_us,
        price_anatomy="",
    )


def _simulated(request: Request, scenario: Scenario, refused: RefusalError | None = None) -> Response:
    """The response. Log and metrics show it as simulated, so that it raises no alert."""
    call = request.call
    call.code, call.note = SCENARIO, f"{SCENARIO} {scenario.text}"
    call.route = f"{call.route} {SCENARIO}"
    marked = header_line(_HEADER, scenario.name.encode("ascii"))
    if scenario.row is None:
        if any(name == b"x-forwarded-for" for name, _ in request.scope["headers"]):
            # As a proxy would answer. But nginx would also take a node that closes the connection for dead,
            # and refuse the calls of other clients.
            call.header_lines += marked
            return Response(HTTPStatus.BAD_GATEWAY, b"Bad Gateway\n", ((b"content-type", b"text/plain"),))
        raise AbortConnection
    call.header_lines = _budget(request, scenario, scenario.row) + marked
    return refusal_response(refused or RefusalError(scenario.row, retry_after_s=scenario.retry_after_s))


def _budget(request: Request, scenario: Scenario, row: RefusalCode) -> bytes:
    """The rate limit headers that the real refusal would have."""
    budget_state, budgets = request.caller.budget_state, request.caller.switches.budgets
    if row is AUTH_THROTTLED:
        limit = budgets.failed_auth_per_minute
    elif row is RATE_LIMITED:
        limit = budgets.reads_per_minute if budget_state is None else budget_state.limit
    else:
        counted = PRECEDENCE[row.code] > PRECEDENCE[RATE_LIMITER_UNAVAILABLE.code]
        return request.call.header_lines if counted else b""
    return limit_lines(BudgetState(limit, 0, scenario.retry_after_s or 0))
