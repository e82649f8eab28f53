"""What can be traded and at what price: two extensions, without which a client would have to guess."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.api.openapi.refused import WITH_KEY
from bullion.api.openapi.values import SYMBOL_CODE_LENGTH_MAX
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.metals.symbol import Side
from bullion.refusals.catalogue import INVALID_REQUEST, STALE_RATE

from .parameters import BEYOND, in_query

_GOLD: Json = {
    "symbol_code": "GOLD",
    "metal": "gold",
    "unit": "g",
    "quoted_weight": "10.0000",
    "minimum": "1.0000",
    "maximum": "10000.0000",
    "step": "1.0000",
    "sides": [side.value for side in Side],
    "trading": True,
}
_SILVER = _GOLD | {
    "symbol_code": "SILVER",
    "metal": "silver",
    "unit": "kg",
    "quoted_weight": "1.0000",
    "minimum": "1.0000",
    "maximum": "500.0000",
    "step": "1.0000",
}
_GOLD_QUOTE: Json = {
    "symbol_code": "GOLD",
    "buy": "150630.00",
    "sell": "150313.00",
    "at": "2026-11-15T04:31:20.904118+00:00",
    "tradable": True,
    "reason": None,
}
_SILVER_QUOTE = {
    "symbol_code": "SILVER",
    "buy": "300185.00",
    "sell": "299854.00",
    "at": "2026-11-15T04:29:02.310655+00:00",
    "tradable": False,
    "reason": STALE_RATE.code,
}
_PROBLEM = {
    "loc": ["query", "symbol_code"],
    "msg": "symbol_code has 40 characters; it may have up to 32.",
    "type": "too_long",
}


def _symbols(_: Environment) -> Json:
    example = {"items": [_GOLD, _SILVER]}
    return {
        "x-extension": True,
        "tags": ["Market"],
        "summary": "List the symbols",
        "description": (
            "Shows what the account may trade: in which sizes, on which sides, and the weight that a price "
            f"is for. {BEYOND}"
        ),
        "responses": {"200": answer("The symbols.", schema_ref("Symbols"), example, BUDGET)},
    }


def _quotes(_: Environment) -> Json:
    example = {"items": [_GOLD_QUOTE, _SILVER_QUOTE]}
    only = in_query(
        "symbol_code",
        {"type": "string", "maxLength": SYMBOL_CODE_LENGTH_MAX},
        "Only the quote of this symbol.",
    )
    return {
        "x-extension": True,
        "tags": ["Market"],
        "summary": "Read the prices",
        "description": (
            "Shows at what price an order of the account would be taken now, and if it would not, why. To "
            f"be sure of a price, send it with the order as `expected_price`. {BEYOND}"
        ),
        "parameters": [only],
        "responses": {"200": answer("The quotes.", schema_ref("Quotes"), example, BUDGET)},
    }


SYMBOLS = Endpoint("symbols", "get", "/symbols", Scope.ORDERS_READ, _symbols)
QUOTES = Endpoint(
    "quotes",
    "get",
    "/quotes",
    Scope.ORDERS_READ,
    _quotes,
    refusals=(*WITH_KEY, INVALID_REQUEST),
    further={INVALID_REQUEST: {"errors": [_PROBLEM]}},
)
