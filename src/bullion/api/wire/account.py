"""The account and the key behind a call."""

from typing import Annotated

from msgspec import Struct

from bullion.environment import Environment
from bullion.keys.key import DEFAULT_SCOPES, Scope

from .values import about, schema


class Account(Struct):
    """The account and the key behind a call."""

    login_id: Annotated[str, about("The account's login.", "mehta-jewels")]
    firm_name: Annotated[str | None, about("The firm that has the account.", "Mehta Jewels Pvt Ltd")]
    environment: Annotated[
        str,
        about("The environment of the key that was sent.", "test", enum=[each.value for each in Environment]),
    ]
    key_id: Annotated[
        str,
        about(
            "The key's public id. Unlike the key, it may be quoted to the operator.",
            "9f2c41d07ab8e356",
            pattern="^[0-9a-f]{16}$",
        ),
    ]
    key_name: Annotated[str, about("The name that the key was issued with.", "pricing engine")]
    scopes: Annotated[
        list[Annotated[str, schema(enum=[scope.value for scope in Scope])]],
        about("What the key may do.", [scope.value for scope in DEFAULT_SCOPES]),
    ]
    production_trading_available: Annotated[
        bool,
        about(
            "Whether the switches let the account place production orders now; the same in both "
            "environments. A hint: every order is checked again when it is placed.",
            example=False,
        ),
    ]
