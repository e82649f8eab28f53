"""The account and the key behind a call."""

from bullion.api.openapi.pieces import Json, object_of
from bullion.environment import Environment
from bullion.keys.key import Scope

ACCOUNT: Json = {
    "Account": object_of(
        {
            "login_id": {"type": "string", "description": "The account's login."},
            "firm_name": {
                "type": ["string", "null"],
                "description": "The firm that the account is kept for.",
            },
            "environment": {
                "type": "string",
                "enum": [environment.value for environment in Environment],
                "description": "The environment of the key that was sent.",
            },
            "key_id": {
                "type": "string",
                "description": "The key's public id. Unlike the key, it may be quoted to the operator.",
            },
            "key_name": {"type": "string", "description": "The name that the key was issued with."},
            "scopes": {
                "type": "array",
                "items": {"type": "string", "enum": [scope.value for scope in Scope]},
                "description": "What the key may do.",
            },
            "production_trading_available": {
                "type": "boolean",
                "description": (
                    "Whether the switches let the account place production orders at this moment; the same "
                    "in both environments. A hint: every order is checked again when it is placed."
                ),
            },
        },
        description="The account and the key behind a call.",
    ),
}
