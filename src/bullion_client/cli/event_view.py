"""Prints events: a line for each."""

from bullion_client import (
    AllocationEvent,
    Event,
    KeyEvent,
    Order,
    OrderEvent,
    SymbolEvent,
    TradingEvent,
)
from bullion_client.cli.formatting import instant, rupees, text, weight
from bullion_client.cli.json_output import line
from bullion_client.cli.order_view import deal


def event_line(event: Event) -> str:
    """When it happened, its number and type, and what it is about."""
    return f"{instant(event.timestamp)}  {event.number:>4}  {text(event.type):<18}  {about(event)}"


def about(event: Event) -> str:
    """What an event is about, in a few words."""
    match event:
        case OrderEvent(data=order):
            return _order(order)
        case AllocationEvent(data=positions):
            metals = (("gold", positions.gold), ("silver", positions.silver))
            return ", ".join(f"{name} {weight(each.limit)} {text(each.unit)}" for name, each in metals)
        case KeyEvent(data=key):
            until = "" if key.overlap_ends_at is None else f", both work until {instant(key.overlap_ends_at)}"
            by = "" if key.replaced_by is None else f", replaced by {text(key.replaced_by)}{until}"
            return f"{text(key.key_name)} ({text(key.key_id)}){by}"
        case TradingEvent(data=trading):
            return "orders are refused" if trading.halted else "orders are accepted"
        case SymbolEvent(data=symbol):
            return text(symbol.symbol_code)
        case _:
            return line(event.raw.get("data"))


def _order(order: Order) -> str:
    price = "" if order.price is None else f" at ₹ {rupees(order.price)}"
    what = f"{text(order.trade_type)} {weight(order.quantity)} {text(order.unit)} {text(order.symbol_code)}"
    return f"{what}{price}  {text(order.status)}  deal {deal(order)}  {text(order.id)}"
