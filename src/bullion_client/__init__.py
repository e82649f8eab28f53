"""The client for the Bullion trading API: gold and silver by weight.

    from bullion_client import Client

    with Client("https://trading.example", api_key) as client:
        order = client.buy("GOLD", 5)
        print(client.wait(order).status)

`AsyncClient` is the same with `async with` and `await`. Everything that can go wrong with a call is a
`BullionError`; the module `bullion_client.errors` draws the tree. An order is placed once, however often it
has to be sent: `bullion_client.placing` tells how.
"""

from bullion_client.account import Account
from bullion_client.async_client import AsyncClient
from bullion_client.client import Client
from bullion_client.enums import Metal, OrderStatus, TradeType, Unit
from bullion_client.environment import Environment
from bullion_client.errors import (
    AccessRefused,
    BudgetRefused,
    BullionError,
    CredentialRefused,
    KeyReused,
    LimitExceeded,
    MarketRefused,
    NoAnswer,
    NotFound,
    NotPlaced,
    OrderRejected,
    OutcomeUnknown,
    PriceMoved,
    QuantityRefused,
    Refusal,
    RequestRefused,
    Unavailable,
    UnexpectedAnswer,
    UnknownSymbol,
    Unsettled,
)
from bullion_client.intent import Intent
from bullion_client.journal import Journal
from bullion_client.market import Quote, Symbol
from bullion_client.order import Order, OrderPage, ProductionOrder, TestOrder
from bullion_client.positions import MetalPosition, Positions, SymbolPosition
from bullion_client.version import __version__

__all__ = [
    "AccessRefused",
    "Account",
    "AsyncClient",
    "BudgetRefused",
    "BullionError",
    "Client",
    "CredentialRefused",
    "Environment",
    "Intent",
    "Journal",
    "KeyReused",
    "LimitExceeded",
    "MarketRefused",
    "Metal",
    "MetalPosition",
    "NoAnswer",
    "NotFound",
    "NotPlaced",
    "Order",
    "OrderPage",
    "OrderRejected",
    "OrderStatus",
    "OutcomeUnknown",
    "Positions",
    "PriceMoved",
    "ProductionOrder",
    "QuantityRefused",
    "Quote",
    "Refusal",
    "RequestRefused",
    "Symbol",
    "SymbolPosition",
    "TestOrder",
    "TradeType",
    "Unavailable",
    "UnexpectedAnswer",
    "Unit",
    "UnknownSymbol",
    "Unsettled",
    "__version__",
]
