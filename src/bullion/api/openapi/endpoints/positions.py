"""Reading net positions."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.environment import Environment
from bullion.keys.key import Scope

_METALS: Json = {
    "gold": {"net": "100.0000", "limit": "1000.0000", "used": "100.0000", "free": "900.0000", "unit": "g"},
    "silver": {"net": "-2.0000", "limit": "50.0000", "used": "2.0000", "free": "48.0000", "unit": "kg"},
}
_SYMBOLS: list[Json] = [
    {
        "symbol_code": "GOLD",
        "metal": "gold",
        "buy": "100.0000",
        "sell": "0.0000",
        "net": "100.0000",
        "unit": "g",
    },
    {
        "symbol_code": "SILVER",
        "metal": "silver",
        "buy": "0.0000",
        "sell": "2.0000",
        "net": "-2.0000",
        "unit": "kg",
    },
]
_OWN = {
    Environment.TEST: (
        "Test orders move the test book alone, but the allocation it is held against is the real one."
    ),
    Environment.PRODUCTION: (
        "This is the real book. It has every order that is pending, open or closing, from all channels, also "
        "those that the list does not show yet. `symbols` tells what is open in each symbol."
    ),
}
_ANSWERS = {
    Environment.TEST: answer("Both metals.", schema_ref("TestPositions"), _METALS, BUDGET),
    Environment.PRODUCTION: answer(
        "Both metals, and each symbol that has an open order.",
        schema_ref("ProductionPositions"),
        _METALS | {"symbols": _SYMBOLS},
        BUDGET,
    ),
}


def _positions(environment: Environment) -> Json:
    return {
        "tags": ["Positions"],
        "summary": "Read the positions",
        "description": (
            "Shows for each metal what the account holds, and how much of its allocation that takes.\n\n"
            f"{_OWN[environment]}"
        ),
        "responses": {"200": _ANSWERS[environment]},
    }


POSITIONS = Endpoint("positions", "get", "/positions", Scope.ORDERS_READ, _positions)
