"""The account and the key behind a call."""

from dataclasses import dataclass

from bullion_client.environment import Environment


@dataclass(frozen=True, slots=True)
class Account:
    """The account that a key belongs to, and what the key may do."""

    login_id: str
    """The account's login."""

    firm_name: str | None
    """The firm's name on the account."""

    environment: Environment
    """The environment of the key sent."""

    key_id: str
    """The key's public id; safe to quote to the operator."""

    key_name: str
    """The name the key was issued with."""

    scopes: tuple[str, ...]
    """What the key may do: of `account:read`, `orders:read` and `orders:write`."""

    production_trading_available: bool
    """Whether production orders are open to the account right now. A hint: every order is checked anew."""
