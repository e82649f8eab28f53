"""The client for the Bullion trading API: gold and silver by weight.

    from bullion_client import Client

    with Client("https://trading.example", api_key) as client:
        order = client.buy("GOLD", 5)
        print(client.wait(order).status)

`AsyncClient` is the same with `async with` and `await`. Every error of a call is a `BullionError`;
the module `bullion_client.errors` shows the tree. An order is placed once, however often it is sent:
`bullion_client.placing` explains how.
"""

from bullion_client.async_client import AsyncClient
from bullion_client.client import Client
from bullion_client.enums import Environment, Metal, OrderStatus, TradeType, Unit
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
from bullion_client.models import (
    Account,
    MetalPosition,
    Order,
    OrderPage,
    Positions,
    ProductionOrder,
    Quote,
    Symbol,
    SymbolPosition,
    TestOrder,
)
from bullion_client.raw import RawResponse
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
    "RawResponse",
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
