"""How a caller shows who it is: with an API key, in a header, and in no other way."""

from bullion.environment import Environment
from bullion.keys.key import Scope

from .pieces import Json

SCHEME = "ApiKey"
SECURITY_SCHEMES: Json = {
    SCHEME: {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": (
            "The operator's desk issues keys. One that begins with `key_test.` works under "
            f"`{Environment.TEST.base_path}`, one that begins with `key_live.` under "
            f"`{Environment.PRODUCTION.base_path}`. A key has scopes: "
            f"{', '.join(f'`{scope.value}`' for scope in Scope)}."
        ),
    }
}
