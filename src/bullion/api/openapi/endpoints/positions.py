"""Reading net positions."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.environment import Environment
from bullion.keys.key import Scope

_EXAMPLE = {
    "gold": {"net": "100.0000", "limit": "1000.0000", "used": "100.0000", "free": "900.0000", "unit": "g"},
    "silver": {"net": "-2.5000", "limit": "50.0000", "used": "2.5000", "free": "47.5000", "unit": "kg"},
}


def _positions(_: Environment) -> Json:
    return {
        "tags": ["Positions"],
        "summary": "Read the positions",
        "description": (
            "Shows for each metal what the account holds, and how much of its allocation that takes. Test "
            "orders move the test book alone, but the allocation it is held against is the real one."
        ),
        "responses": {"200": answer("Both metals.", schema_ref("TestPositions"), _EXAMPLE, BUDGET)},
    }


POSITIONS = Endpoint(
    "positions", "get", "/positions", Scope.ORDERS_READ, _positions, environments=(Environment.TEST,)
)
