"""Which path of the interface is answered by what."""

from bullion.environment import Environment
from bullion.keys.key import Scope

from .app import Endpoint, Methods
from .market_data import MarketData
from .me import Me
from .orders import Orders
from .positions import Positions


def endpoints(me: Me, orders: Orders, positions: Positions, market_data: MarketData) -> dict[str, Methods]:
    found = {
        f"{environment.base_path}/me": {"GET": Endpoint(environment, Scope.ACCOUNT_READ, me)}
        for environment in Environment
    }
    test, base = Environment.TEST, Environment.TEST.base_path
    return found | {
        f"{base}/orders": {
            "POST": Endpoint(test, Scope.ORDERS_WRITE, orders.place),
            "GET": Endpoint(test, Scope.ORDERS_READ, orders.listed),
        },
        f"{base}/orders/{{order_id}}": {"GET": Endpoint(test, Scope.ORDERS_READ, orders.one)},
        f"{base}/positions": {"GET": Endpoint(test, Scope.ORDERS_READ, positions)},
        f"{base}/symbols": {"GET": Endpoint(test, Scope.ORDERS_READ, market_data.symbols)},
        f"{base}/quotes": {"GET": Endpoint(test, Scope.ORDERS_READ, market_data.quotes)},
    }
