"""Net positions against the weight allocation."""

from bullion.api.openapi.pieces import Json, object_of, schema_ref
from bullion.api.openapi.values import METAL, UNIT, signed_weight, weight
from bullion.metals.metal import Metal

_METALS: Json = {metal.value: schema_ref("MetalPosition") for metal in Metal}

POSITION: Json = {
    "MetalPosition": object_of(
        {
            "net": signed_weight("What was bought less what was sold; below 0 when more was sold."),
            "limit": weight(
                "The allocation: the weight that the operator lets the account hold, either way."
            ),
            "used": weight("`net` without its sign."),
            "free": weight("What is left of `limit`; 0 also when `used` is past it."),
            "unit": UNIT | {"description": "The unit of all four: `g` for gold, `kg` for silver."},
        },
        description="A metal's position. Buys and sells net off, whatever the symbol.",
    ),
    "TestPositions": object_of(
        _METALS, description="The positions of the account's test book, against its real allocation."
    ),
    "SymbolPosition": object_of(
        {
            "symbol_code": {"type": "string", "description": "The symbol."},
            "metal": METAL | {"description": "Which allocation it counts against."},
            "buy": weight("What the open buys weigh together."),
            "sell": weight("What the open sells weigh together."),
            "net": signed_weight("`buy` less `sell`."),
            "unit": UNIT | {"description": "The unit of all three: `g` for gold, `kg` for silver."},
        },
        description="What is open in one symbol.",
    ),
    "ProductionPositions": object_of(
        _METALS
        | {
            "symbols": {
                "type": "array",
                "items": schema_ref("SymbolPosition"),
                "description": (
                    "One row for each symbol with an open order, also where buys and sells cancel out."
                ),
            }
        },
        description="The positions of the account's real book.",
    ),
}
