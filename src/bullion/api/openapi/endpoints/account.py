"""Who is calling."""

from bullion.api.openapi.endpoint import Endpoint
from bullion.api.openapi.headers import BUDGET
from bullion.api.openapi.pieces import Json, answer, schema_ref
from bullion.environment import Environment
from bullion.keys.key import Scope


def _me(environment: Environment) -> Json:
    example = {
        "login_id": "mehta-jewels",
        "firm_name": "Mehta Jewels Pvt Ltd",
        "environment": environment.value,
        "key_id": "9f2c41d07ab8e356",
        "key_name": "pricing engine",
        "scopes": [scope.value for scope in Scope],
        "production_trading_available": False,
    }
    return {
        "tags": ["Account"],
        "summary": "Read the account and the key",
        "description": "Tells whose key was sent and what it may do. A good first call: it changes nothing.",
        "responses": {"200": answer("The account.", schema_ref("Account"), example, BUDGET)},
    }


ME = Endpoint("me", "get", "/me", Scope.ACCOUNT_READ, _me)
