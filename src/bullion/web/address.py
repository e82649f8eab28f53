"""The address of a caller: the socket's peer, or what a trusted proxy says it is."""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network

_WITH_PORT = re.compile(r"\[([^]]*:[^]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")
"""Some proxies add the port of a hop. An IPv6 address is then in brackets, and may be without a port."""


class SourceAddress:
    def __init__(self, trusted_proxies: Sequence[Network]) -> None:
        self._trusted_proxies = tuple(trusted_proxies)

    def source(self, peer: str, forwarded: Sequence[bytes]) -> str:
        """The right-most hop that is not one of our proxies. A caller can forge everything left of it."""
        address = normalize_address(peer) or peer
        if not forwarded or not self.trusts(address):
            return address
        for hop in reversed(b",".join(forwarded).split(b",")):
            named = normalize_address(_without_port(hop.decode("latin-1").strip()))
            if named is None:
                return address
            address = named
            if not self.trusts(address):
                return address
        return address

    def trusts(self, address: str) -> bool:
        named = normalize_address(address) if self._trusted_proxies else None
        if named is None:
            return False
        parsed = ip_address(named)
        return any(parsed in network for network in self._trusted_proxies)


def _without_port(hop: str) -> str:
    match = _WITH_PORT.fullmatch(hop)
    return hop if match is None else match[1] or match[2]


@lru_cache(maxsize=4096)
def normalize_address(text: str) -> str | None:
    """The canonical spelling of an address: an IPv4 caller on an IPv6 socket gets its IPv4 address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


@lru_cache(maxsize=4096)
def client_network(text: str) -> str:
    """What is counted as one client: an IPv4 address, or the /64 network of an IPv6 address.

    Providers assign at least a /64 to each customer, who can use any address in it.
    """
    address = normalize_address(text) or text
    return str(ip_network(f"{address}/64", strict=False)) if ":" in address else address
