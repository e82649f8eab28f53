"""The paths of the trading API and their handlers."""

from bullion.environment import Environment
from bullion.keys.key import Scope

from .app import Endpoint, Handler, Methods
from .event_stream import EventStreams
from .events import Events
from .market_data import MarketData
from .me import Me
from .orders import Orders, ProductionOrders
from .positions import Positions
from .quote_stream import QuoteStreams
from .scenarios import Scenarios
from .webhooks import Webhooks


def endpoints(
    me: Me,
    positions: Positions,
    test: tuple[Orders, MarketData],
    production: tuple[ProductionOrders, MarketData],
    events: Events,
    webhooks: Webhooks,
    scenarios: Scenarios,
    event_streams: EventStreams,
    quote_streams: tuple[QuoteStreams, QuoteStreams],
) -> dict[str, Methods]:
    """Each environment has its own handlers: test does not know the venue, production no scenarios."""
    return {
        **_paths(
            Environment.TEST,
            me,
            test[0],
            positions.test,
            test[1],
            events,
            event_streams,
            quote_streams[0],
            webhooks,
            scenarios,
        ),
        **_paths(
            Environment.PRODUCTION,
            me,
            production[0],
            positions.production,
            production[1],
            events,
            event_streams,
            quote_streams[1],
            webhooks,
        ),
    }


def _paths(
    environment: Environment,
    me: Me,
    orders: Orders,
    positions: Handler,
    market_data: MarketData,
    events: Events,
    event_streams: EventStreams,
    quote_streams: QuoteStreams,
    webhooks: Webhooks,
    scenarios: Scenarios | None = None,
) -> dict[str, Methods]:
    paths: dict[str, Methods] = {}

    def add(call: str, scope: Scope, answer: Handler, *, opens_stream: bool = False) -> None:
        method, path = call.split()
        simulate = None if scenarios is None else scenarios.of(call, answer)
        methods = paths.setdefault(environment.base_path + path, {})
        methods[method] = Endpoint(environment, scope, answer, simulate, opens_stream)

    add("GET /me", Scope.ACCOUNT_READ, me)
    add("POST /orders", Scope.ORDERS_WRITE, orders.place)
    add("GET /orders", Scope.ORDERS_READ, orders.list_orders)
    add("GET /orders/{order_id}", Scope.ORDERS_READ, orders.get_order)
    add("GET /positions", Scope.ORDERS_READ, positions)
    add("GET /symbols", Scope.ORDERS_READ, market_data.symbols)
    add("GET /quotes", Scope.ORDERS_READ, market_data.quotes)
    add("GET /events", Scope.ORDERS_READ, events.list_events)
    add("GET /events/stream", Scope.ORDERS_READ, event_streams.open, opens_stream=True)
    add("GET /quotes/stream", Scope.ORDERS_READ, quote_streams.open, opens_stream=True)
    for call, answer in webhooks.calls().items():
        add(call, Scope.WEBHOOKS_MANAGE, answer)
    return paths
