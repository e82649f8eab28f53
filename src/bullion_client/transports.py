"""How the network is reached: checked before httpx is, whose errors would show a proxy's password."""

import httpx


def check_network(proxy: str | httpx.Proxy | None, *, given_transport: bool) -> httpx.Proxy | None:
    """The proxy to use, if any. Raise `ValueError` on one that is unusable, without repeating it."""
    checked = _read(proxy) if isinstance(proxy, str) else proxy
    if checked is not None and given_transport:
        raise ValueError("give either a transport or a proxy: a transport reaches the network in its own way")
    return checked


def _read(address: str) -> httpx.Proxy:
    try:
        return httpx.Proxy(address)
    except (ValueError, httpx.InvalidURL):
        raise ValueError("proxy must be an address such as 'http://proxy.example:3128'") from None
