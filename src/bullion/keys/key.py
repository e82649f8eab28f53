"""An API key as the service knows it: everything but its secret."""

from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address

import msgspec

from bullion.environment import Environment

Network = IPv4Network | IPv6Network


class Scope(StrEnum):
    ACCOUNT_READ = "account:read"
    ORDERS_READ = "orders:read"
    ORDERS_WRITE = "orders:write"
    WEBHOOKS_MANAGE = "webhooks:manage"


ORDERS_WRITE = Scope.ORDERS_WRITE
"""For code that every call runs: to look a member up in its class costs more than a call of a function."""


DEFAULT_SCOPES = (Scope.ACCOUNT_READ, Scope.ORDERS_READ, Scope.ORDERS_WRITE)
"""A key gets those of the specification unless the desk says otherwise."""


@lru_cache(maxsize=64)
def scope_names(scopes: frozenset[Scope]) -> tuple[str, ...]:
    """In the order in which they are declared. Cached: iterating over an enum is slow."""
    return tuple(scope.value for scope in Scope if scope in scopes)


class Key(msgspec.Struct, frozen=True, gc=False):
    """Small, and not tracked by the garbage collector: there may be very many in memory."""

    key_id: str
    broker: str
    account_id: int
    environment: Environment
    name: str
    scopes: frozenset[Scope]
    secret_hash: bytes
    allowed_addresses: tuple[Network, ...]
    """Empty: from anywhere."""
    created_at_us: int
    expires_at_us: int | None = None
    revoked_at_us: int | None = None
    replaced_by: str | None = None
    overlap_ends_at_us: int | None = None
    """Set with `replaced_by`: until then the key and its successor both work."""

    @property
    def has_end(self) -> bool:
        """Whether it becomes invalid by time alone."""
        return self.expires_at_us is not None or self.overlap_ends_at_us is not None

    def allows_address(self, address: str) -> bool:
        if not self.allowed_addresses:
            return True
        if not address:  # A caller on a local socket.
            return False
        caller = ip_address(address)
        return any(caller in network for network in self.allowed_addresses)
