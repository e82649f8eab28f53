"""Which path of the interface is answered by what."""

from bullion.environment import Environment
from bullion.keys.key import Scope

from .app import Answering, Endpoint, Methods
from .market_data import MarketData
from .me import Me
from .orders import Orders, ProductionOrders
from .positions import Positions
from .scenarios import Scenarios


def endpoints(
    me: Me,
    positions: Positions,
    test: tuple[Orders, MarketData],
    production: tuple[ProductionOrders, MarketData],
    scenarios: Scenarios,
) -> dict[str, Methods]:
    """Orders and market data of each environment are its own: nothing of test knows a venue.

    Nor does anything of production know a scenario.
    """
    return {
        **_paths(Environment.TEST, me, test[0], positions.test, test[1], scenarios),
        **_paths(Environment.PRODUCTION, me, production[0], positions.production, production[1]),
    }


def _paths(
    environment: Environment,
    me: Me,
    orders: Orders,
    positions: Answering,
    market_data: MarketData,
    scenarios: Scenarios | None = None,
) -> dict[str, Methods]:
    paths: dict[str, Methods] = {}

    def add(call: str, scope: Scope, answer: Answering) -> None:
        method, path = call.split()
        pretend = None if scenarios is None else scenarios.of(call, answer)
        methods = paths.setdefault(environment.base_path + path, {})
        methods[method] = Endpoint(environment, scope, answer, pretend)

    add("GET /me", Scope.ACCOUNT_READ, me)
    add("POST /orders", Scope.ORDERS_WRITE, orders.place)
    add("GET /orders", Scope.ORDERS_READ, orders.listed)
    add("GET /orders/{order_id}", Scope.ORDERS_READ, orders.one)
    add("GET /positions", Scope.ORDERS_READ, positions)
    add("GET /symbols", Scope.ORDERS_READ, market_data.symbols)
    add("GET /quotes", Scope.ORDERS_READ, market_data.quotes)
    return paths
