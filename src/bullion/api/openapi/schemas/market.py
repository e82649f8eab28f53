"""What can be traded, and at what price. Both are extensions."""

from bullion.api.openapi.pieces import Json, object_of, schema_ref
from bullion.api.openapi.values import METAL, SIDE, UNIT, instant, or_null, rupees, weight


def _items_of(name: str, description: str) -> Json:
    return object_of({"items": {"type": "array", "items": schema_ref(name)}}, description=description)


MARKET: Json = {
    "Symbol": object_of(
        {
            "symbol_code": {"type": "string", "description": "What an order names it by."},
            "metal": METAL | {"description": "Which allocation its orders count against."},
            "unit": UNIT | {"description": "The unit of every weight here and in its orders."},
            "quoted_weight": weight("The weight that a price is for: `10.0000` means rupees per 10 g."),
            "minimum": weight("The smallest quantity of an order."),
            "maximum": weight("The largest quantity of an order."),
            "step": weight("A quantity must be a multiple of this."),
            "sides": {
                "type": "array",
                "items": SIDE,
                "uniqueItems": True,
                "description": "The sides that are offered to the account.",
            },
            "trading": {"type": "boolean", "description": "Whether trading is on for the symbol."},
        },
        description="A symbol as the account may trade it, after the terms of its group.",
    ),
    "Symbols": _items_of("Symbol", "The symbols of the broker."),
    "Quote": object_of(
        {
            "symbol_code": {"type": "string", "description": "The symbol."},
            "buy": or_null(rupees("What a buy would pay now, in rupees per quoted weight.")),
            "sell": or_null(rupees("What a sell would get now, in rupees per quoted weight.")),
            "at": or_null(
                instant("When the oldest rate behind the price was quoted; null for a fixed price.")
            ),
            "tradable": {"type": "boolean", "description": "Whether the market would take an order now."},
            "reason": {
                "type": ["string", "null"],
                "description": "If not tradable: the code of the refusal that an order would meet.",
            },
        },
        description="The account's own prices in a symbol. A glance, not a promise: an order is priced anew.",
    ),
    "Quotes": _items_of("Quote", "Prices of the moment."),
}
