"""Net positions against the weight allocation."""

from bullion.api.openapi.pieces import Json, object_of, schema_ref
from bullion.api.openapi.values import UNIT, signed_weight, weight
from bullion.metals.metal import Metal

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
        {metal.value: schema_ref("MetalPosition") for metal in Metal},
        description="The positions of the account's test book, against its real allocation.",
    ),
}
