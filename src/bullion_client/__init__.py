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
from bullion_client.enums import Environment, EventType, Metal, OrderStatus, TradeType, Unit
from bullion_client.errors import (
    AccessRefused,
    BudgetRefused,
    BullionError,
    CredentialRefused,
    EventsGone,
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
    WebhookVerificationError,
)
from bullion_client.event_models import (
    AllocationEvent,
    Event,
    EventPage,
    KeyChange,
    KeyEvent,
    OrderEvent,
    SymbolEvent,
    SymbolState,
    TradingEvent,
    TradingState,
)
from bullion_client.event_stream import AsyncEventStream, EventStream
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
from bullion_client.webhook_calls import AsyncWebhooks, Webhooks
from bullion_client.webhook_models import DeadEvent, Webhook, WebhookAttempt, WebhookReceipt
from bullion_client.webhook_signature import verify_webhook

__all__ = [
    "AccessRefused",
    "Account",
    "AllocationEvent",
    "AsyncClient",
    "AsyncEventStream",
    "AsyncWebhooks",
    "BudgetRefused",
    "BullionError",
    "Client",
    "CredentialRefused",
    "DeadEvent",
    "Environment",
    "Event",
    "EventPage",
    "EventStream",
    "EventType",
    "EventsGone",
    "Intent",
    "Journal",
    "KeyChange",
    "KeyEvent",
    "KeyReused",
    "LimitExceeded",
    "MarketRefused",
    "Metal",
    "MetalPosition",
    "NoAnswer",
    "NotFound",
    "NotPlaced",
    "Order",
    "OrderEvent",
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
    "SymbolEvent",
    "SymbolPosition",
    "SymbolState",
    "TestOrder",
    "TradeType",
    "TradingEvent",
    "TradingState",
    "Unavailable",
    "UnexpectedAnswer",
    "Unit",
    "UnknownSymbol",
    "Unsettled",
    "Webhook",
    "WebhookAttempt",
    "WebhookReceipt",
    "WebhookVerificationError",
    "Webhooks",
    "__version__",
    "verify_webhook",
]
