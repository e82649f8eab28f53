"""Which path of the interface is answered by what."""

from bullion.environment import Environment
from bullion.keys.key import Scope

from .app import Answering, Endpoint, Methods
from .market_data import MarketData
from .me import Me
from .orders import Orders
from .positions import Positions
from .production_orders import ProductionOrders


def endpoints(
    me: Me,
    positions: Positions,
    test: tuple[Orders, MarketData],
    production: tuple[ProductionOrders, MarketData],
) -> dict[str, Methods]:
    """Orders and market data of each environment are its own: nothing of test knows a venue."""
    return {
        **_paths(Environment.TEST, me, test[0], positions.test, test[1]),
        **_paths(Environment.PRODUCTION, me, production[0], positions.production, production[1]),
    }


def _paths(
    environment: Environment,
    me: Me,
    orders: Orders | ProductionOrders,
    positions: Answering,
    market_data: MarketData,
) -> dict[str, Methods]:
    base = environment.base_path

    def reads(answer: Answering) -> Methods:
        return {"GET": Endpoint(environment, Scope.ORDERS_READ, answer)}

    return {
        f"{base}/me": {"GET": Endpoint(environment, Scope.ACCOUNT_READ, me)},
        f"{base}/orders": {
            "POST": Endpoint(environment, Scope.ORDERS_WRITE, orders.place),
            **reads(orders.listed),
        },
        f"{base}/orders/{{order_id}}": reads(orders.one),
        f"{base}/positions": reads(positions),
        f"{base}/symbols": reads(market_data.symbols),
        f"{base}/quotes": reads(market_data.quotes),
    }
